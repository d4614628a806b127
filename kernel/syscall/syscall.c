/* The dispatch of system calls, and their table: see syscall.h. */
#include <kernel/upcall.h>
#include <stdatomic.h>
#include <trace/events/raw_syscalls.h>
#include "syscall.h"

#define SYSCALL_VALUE(i, type, name) (type) arch_syscall_arg(regs, i)
#define SYSCALL_CALLER(nr, name, ARGS, ...)                                                        \
	static long call_##name(struct trap_frame *regs)                                           \
	{                                                                                          \
		(void)regs;                                                                        \
		return sys_##name(ARGS(SYSCALL_VALUE, , __VA_ARGS__));                             \
	}
SYSCALLS(SYSCALL_CALLER)

#define SYSCALL_HANDLER(nr, name, ...) [nr] = call_##name,
const syscall_fn syscall_handlers[SYSCALL_MAX] = { SYSCALLS(SYSCALL_HANDLER) };
_Atomic syscall_fn sys_call_table[SYSCALL_MAX] = { SYSCALLS(SYSCALL_HANDLER) };

/* Each is named once for each program. */
/*
 * Was the last call that the log has named this one, of a program of this name? Children of one program
 * make it each for itself.
 */
static bool syscall_is_named(uint64_t nr)
{
	static _Atomic uint64_t last;
	uint64_t key = nr;

	for (const char *c = current_thread()->name; *c; c++)
		key = (key ^ (unsigned char)*c) * 0x100000001b3; /* as FNV-1a */
	return atomic_exchange(&last, key) == key;
}

long syscall_unknown(const struct trap_frame *regs, uint64_t nr)
{
	struct process *process = current_process();
	uint64_t bit = 1ull << nr % 64, *word = &process->unknown[nr % SYSCALL_MAX / 64];

	if (*word & bit)
		return -ENOSYS;
	*word |= bit;
	if (syscall_is_named(nr))
		return -ENOSYS;
	pr_info("%s[%d]: system call %lu is not there: 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx\n",
		current_thread()->name, process->pid, nr, regs->rdi, regs->rsi, regs->rdx,
		regs->r10, regs->r8, regs->r9);
	return -ENOSYS;
}

static TRACE_ALWAYS_INLINE long syscall_dispatch(struct trap_frame *regs, uint64_t nr)
{
	syscall_fn call = nr < SYSCALL_MAX
				  ? atomic_load_explicit(&sys_call_table[nr], memory_order_relaxed)
				  : NULL;

	if (TRACE_LIKELY(call))
		return call(regs);
	return current_task()->trace.tracer ? syscall_ptraced(regs) : syscall_unknown(regs, nr);
}

/* The result is read from the frame again: so nothing of it has to be kept beside. */
void upcall_syscall(struct trap_frame *regs)
{
	uint64_t nr = regs->error;

	trace_sys_enter(regs, (long)nr);
	regs->rax = (uint64_t)syscall_dispatch(regs, nr);
	trace_sys_exit((long)nr, (long)regs->rax);
}
