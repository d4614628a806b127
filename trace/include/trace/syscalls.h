/*
 * Events of system calls. The host names its calls in a table, and makes those calls that are to
 * be seen go through trace_syscall_enter() and trace_syscall_exit(); from the table come, for
 * each call, the events syscalls:sys_enter_NAME and syscalls:sys_exit_NAME with Linux's fields, text
 * and `format`.
 *
 *   event switched on --> divert() of the host --> calls of that number, and no others, go through
 *   trace_syscall_enter() --> handler --> trace_syscall_exit()
 *
 * Arguments of the type `const char *` point to texts in the caller's memory, which the event holds
 * as field __ARGUMENT_val; with an argument of type size_t behind it, to that many bytes.
 *
 * Context:   trace_syscall_enter(), trace_syscall_exit() - thread that made the call, preemption on,
 *            no lock held: the first may fault. The rest as stated.
 * Ownership: the table belongs to the host, and is there for good.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_SYSCALLS_H
#define TRACE_SYSCALLS_H

#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/platform_events.h>

TRACE_BEGIN_DECLS

#define TRACE_SYSCALL_ARGS 6u

struct trace_syscall {
	const char *name;		       /* without `sys_` */
	const char *types[TRACE_SYSCALL_ARGS]; /* in C; NULL behind the last argument */
	const char *args[TRACE_SYSCALL_ARGS];  /* names */
};

/* Parts of a call that are wanted. */
enum trace_syscall_part {
	TRACE_SYSCALL_ENTER = 1,
	TRACE_SYSCALL_EXIT = 2,
	TRACE_SYSCALL_LATENCY = 4, /* of all calls */
};

struct trace_syscall_host {
	const struct trace_syscall *const *calls; /* by number; NULL: no call has it */
	uint32_t nr_calls;			  /* at most 65,536 */
	/*
	 * From now on, calls of number `nr` go through the functions of `parts`, of enum
	 * trace_syscall_part, and no others. Calls that are on their way may still end as they began.
	 * Thread, config lock held: it may not wait for a call.
	 */
	void (*divert)(uint32_t nr, unsigned int parts);
	/*
	 * The caller's memory, in the context of trace_syscall_enter(). strncpy_from_user: copy a text
	 * with its NUL to `size` bytes; its length, -EFAULT, or -ENAMETOOLONG: those bytes are its
	 * beginning. copy_from_user: how many bytes could not be copied.
	 */
	long (*strncpy_from_user)(char *to, const char *from, size_t size);
	size_t (*copy_from_user)(void *to, const void *from, size_t bytes);
};

/* The call `nr`, of the host's table, begins with these arguments. */
void trace_syscall_enter(uint32_t nr, const uint64_t args[TRACE_SYSCALL_ARGS]);
/* It is about to return `ret`. */
void trace_syscall_exit(uint32_t nr, int64_t ret);
/*
 * The same, for the event latency:syscall_latency. It began at `begin_ns`, by trace_plat_clock_mono_ns().
 */
void trace_syscall_latency(uint32_t nr, uint64_t begin_ns, int64_t ret);

/* The call of a number; NULL when there is none. Any context. */
static inline const struct trace_syscall *trace_syscall_of(uint64_t nr)
{
	const struct trace_syscall_host *host = trace_plat_syscalls();

	return host && nr < host->nr_calls ? host->calls[nr] : NULL;
}

TRACE_END_DECLS

#endif
