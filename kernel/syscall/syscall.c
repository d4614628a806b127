/* The dispatch of system calls, and their table: see syscall.h. */
#include <kernel/upcall.h>
#include "syscall.h"

#define SYSCALL_MAX_ARGS 6

/* A row of the table. */
struct syscall {
	const char *name;
	const char *types[SYSCALL_MAX_ARGS]; /* NULL behind the last */
	const char *args[SYSCALL_MAX_ARGS];
	long (*call)(const struct trap_frame *regs); /* NULL: there is no such call */
};

/* Argument `i`, in the registers of the convention. */
static TRACE_ALWAYS_INLINE uint64_t syscall_arg(const struct trap_frame *regs, unsigned int i)
{
	const uint64_t args[] = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 };

	return args[i];
}

#define SYSCALL_VALUE(i, type, name) (type) syscall_arg(regs, i)
#define SYSCALL_TYPE(i, type, name)  #type
#define SYSCALL_NAME(i, type, name)  #name

#define SYSCALL_CALLER(nr, name, ARGS, ...)                                                        \
	static long call_##name(const struct trap_frame *regs)                                     \
	{                                                                                          \
		(void)regs;                                                                        \
		return sys_##name(ARGS(SYSCALL_VALUE, , __VA_ARGS__));                             \
	}
SYSCALLS(SYSCALL_CALLER)

#define SYSCALL_ROW(nr, name_, ARGS, ...)                                                          \
	[nr] = { .name = #name_,                                                                   \
		 .types = { ARGS(SYSCALL_TYPE, , __VA_ARGS__) },                                   \
		 .args = { ARGS(SYSCALL_NAME, , __VA_ARGS__) },                                    \
		 .call = call_##name_ },
static const struct syscall syscalls[SYSCALL_MAX] = { SYSCALLS(SYSCALL_ROW) };

/* Name a call that is not there, once for each program. */
static void syscall_log_unknown(const struct trap_frame *regs, uint64_t nr)
{
	struct process *process = current_process();
	uint64_t bit = 1ull << nr % 64, *word = &process->unknown[nr % SYSCALL_MAX / 64];

	if (*word & bit)
		return;
	*word |= bit;
	pr_info("%s[%d]: system call %lu is not there: 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx\n",
		current_thread()->name, process->pid, nr, regs->rdi, regs->rsi, regs->rdx,
		regs->r10, regs->r8, regs->r9);
}

void upcall_syscall(struct trap_frame *regs)
{
	uint64_t nr = regs->error;

	if (nr < SYSCALL_MAX && syscalls[nr].call) {
		regs->rax = (uint64_t)syscalls[nr].call(regs);
		return;
	}
	syscall_log_unknown(regs, nr);
	regs->rax = (uint64_t)-ENOSYS;
}
