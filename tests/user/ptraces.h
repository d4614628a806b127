/* Numbers and helpers of the programs that test ptrace(). */
#ifndef PTRACES_H
#define PTRACES_H

#include "nolib.h"

enum {
	NR_KILL = 62,
	NR_GETPPID = 110,
	NR_PTRACE = 101,
	NR_GETTID = 186,
	NR_TGKILL = 234,
	NR_PROCESS_VM_READV = 310,
	NR_PROCESS_VM_WRITEV = 311
};

enum {
	TRACEME,
	PEEK = 2,
	PEEKUSER = 3,
	POKETEXT = 4,
	POKEUSER = 6,
	CONT = 7,
	STEP = 9,
	GETREGS = 12,
	SETREGS = 13,
	GETFPREGS = 14,
	SETFPREGS = 15,
	ATTACH = 16,
	DETACH = 17,
	TO_CALL = 24,
	SETOPTIONS = 0x4200,
	GETEVENTMSG = 0x4201,
	GETSIGINFO = 0x4202,
	SETSIGINFO = 0x4203,
	GETREGSET = 0x4204,
	SETREGSET = 0x4205,
	SEIZE = 0x4206,
	INTERRUPT = 0x4207,
	LISTEN = 0x4208,
	GET_SYSCALL_INFO = 0x420e
};

enum {
	EPERM = 1,
	ESRCH = 3,
	EIO = 5,
	ECHILD = 10,
	EFAULT = 14,
	EINVAL = 22,
	ENOSYS = 38
};

enum {
	SIGTRAP = 5,
	SIGKILL = 9,
	SIGUSR1 = 10,
	SIGSEGV = 11,
	SIGCHLD = 17,
	SIGCONT = 18,
	SIGSTOP = 19
};

enum {
	EVENT_FORK = 1,
	EVENT_CLONE = 3,
	EVENT_EXEC = 4,
	EVENT_EXIT = 6,
	EVENT_STOP = 128
};

#define OPTION(event)	  (1l << (event))
#define OPTION_SYSGOOD	  1
#define OPTION_EXITKILL	  0x100000
#define WALL		  0x40000000l
#define WNOHANG		  1l
#define WUNTRACED	  2l
#define FLAG_TF		  0x100ul
#define STOPPED(code)	  ((code) << 8 | 0x7f)
#define STOPPED_BY(event) STOPPED(SIGTRAP | (event) << 8)
#define AT_CALL		  STOPPED(SIGTRAP | 0x80)

struct regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	unsigned long orig_rax, rip, cs, flags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
};

struct iovec {
	void *base;
	unsigned long len;
};

/* The compiler calls it for structs. */
void *memcpy(void *to, const void *from, size_t bytes);
__attribute__((weak)) void *memcpy(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
	return to;
}

static inline long ptrace(long request, long pid, long addr, void *data)
{
	return syscall6(NR_PTRACE, request, pid, addr, (long)data, 0, 0);
}

static inline long get_pid(void)
{
	return CALL0(NR_GETPID);
}

static inline void kill_own(int sig)
{
	CALL2(NR_KILL, get_pid(), sig);
}

/* The next news of a child or tracee. */
static inline int status_of(long pid)
{
	int status = 0;

	CHECK(syscall6(NR_WAIT4, pid, (long)&status, WALL, 0, 0, 0) == pid);
	return status;
}

static inline int ask(long request, long pid, void *data)
{
	CHECK(ptrace(request, pid, 0, data) == 0);
	return status_of(pid);
}

static inline long peek(long pid, const volatile void *at)
{
	long value;

	CHECK(ptrace(PEEK, pid, (long)at, &value) == 0);
	return value;
}

static inline struct regs regs_of(long pid)
{
	struct regs regs;

	CHECK(ptrace(GETREGS, pid, 0, &regs) == 0);
	return regs;
}

/* A child that has asked to be traced, and has stopped. */
static inline long tracee(void (*work)(void))
{
	long pid = CALL0(NR_FORK);

	if (!pid) {
		CHECK(ptrace(TRACEME, 0, 0, 0) == 0);
		kill_own(SIGSTOP);
		work();
		sys_exit(0);
	}
	CHECK(status_of(pid) == STOPPED(SIGSTOP));
	return pid;
}

static inline void ends(long pid, int code)
{
	CHECK(ask(CONT, pid, 0) == code << 8);
	CHECK(syscall6(NR_WAIT4, pid, 0, WALL, 0, 0, 0) == -ECHILD);
}

struct test {
	const char *name;
	void (*test)(void);
};

/* The test with that name, or all. */
static inline void run_tests(const struct test *tests, const char *name)
{
	for (; tests->name; tests++) {
		if (*name && !text_equal(name, tests->name))
			continue;
		tests->test();
		put(tests->name);
		put(" ");
	}
	put("are right\n");
	sys_exit(0);
}

#endif
