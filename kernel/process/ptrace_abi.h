/* Numbers and structures of ptrace(), as Linux has them on x86-64. */
#ifndef KERNEL_PROCESS_PTRACE_ABI_H
#define KERNEL_PROCESS_PTRACE_ABI_H

#include <kernel/base.h>

#define PTRACE_TRACEME		0
#define PTRACE_PEEKTEXT		1
#define PTRACE_PEEKDATA		2
#define PTRACE_PEEKUSER		3
#define PTRACE_POKETEXT		4
#define PTRACE_POKEDATA		5
#define PTRACE_POKEUSER		6
#define PTRACE_CONT		7
#define PTRACE_KILL		8
#define PTRACE_SINGLESTEP	9
#define PTRACE_GETREGS		12
#define PTRACE_SETREGS		13
#define PTRACE_GETFPREGS	14
#define PTRACE_SETFPREGS	15
#define PTRACE_ATTACH		16
#define PTRACE_DETACH		17
#define PTRACE_SYSCALL		24
#define PTRACE_ARCH_PRCTL	30
#define PTRACE_SETOPTIONS	0x4200
#define PTRACE_GETEVENTMSG	0x4201
#define PTRACE_GETSIGINFO	0x4202
#define PTRACE_SETSIGINFO	0x4203
#define PTRACE_GETREGSET	0x4204
#define PTRACE_SETREGSET	0x4205
#define PTRACE_SEIZE		0x4206
#define PTRACE_INTERRUPT	0x4207
#define PTRACE_LISTEN		0x4208
#define PTRACE_GETSIGMASK	0x420a
#define PTRACE_SETSIGMASK	0x420b
#define PTRACE_GET_SYSCALL_INFO 0x420e

/* Options; that of an event is 1 << its number. */
#define PTRACE_O_TRACESYSGOOD 0x1u
#define PTRACE_O_EXITKILL     0x100000u
#define PTRACE_O_KNOWN	      0x10007fu

/* Events, in the bits above the signal of a stop. */
#define PTRACE_EVENT_FORK	1
#define PTRACE_EVENT_VFORK	2
#define PTRACE_EVENT_CLONE	3
#define PTRACE_EVENT_EXEC	4
#define PTRACE_EVENT_VFORK_DONE 5
#define PTRACE_EVENT_EXIT	6
#define PTRACE_EVENT_STOP	128

/* Kinds of stops at a system call, for PTRACE_GETEVENTMSG and PTRACE_GET_SYSCALL_INFO. */
#define PTRACE_SYSCALL_ENTRY 1
#define PTRACE_SYSCALL_EXIT  2

#define NT_PRSTATUS   1
#define NT_PRFPREG    2
#define NT_X86_XSTATE 0x202

#define AUDIT_ARCH_X86_64 0xc000003eu

struct ptrace_syscall_info {
	uint8_t op; /* PTRACE_SYSCALL_*; 0: the stop is another */
	uint8_t pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	union {
		struct {
			uint64_t nr, args[6];
		} entry;
		struct {
			int64_t result;
			uint8_t is_error;
		} exit;
	};
};

#endif
