/*
 * System calls: one table, from which come the dispatch, the prototypes of the handlers, and all that
 * tells of calls and their arguments.
 *
 *   CALL(number, name, ARGSn for n arguments, type, argument, type, argument ...)
 *
 * sys_NAME() is the handler. It gets what the program gave, unchecked: pointers are the program's, and
 * are used with copy_from_user() and copy_to_user() only. The result is 0 or more, or -errno.
 *
 * Context: thread of a program, interrupts on.
 */
#ifndef KERNEL_SYSCALL_H
#define KERNEL_SYSCALL_H

#include <arch/trap.h>
#include <arch/user.h>
#include <kernel/base.h>
#include "process/process.h"
#include "syscalls.h"

/* M(index, type, name) for each argument; NONE when there is none. */
#define ARGS0(M, NONE, ...)		       NONE
#define ARGS1(M, NONE, t, a)		       M(0, t, a)
#define ARGS2(M, NONE, t, a, u, b)	       M(0, t, a), M(1, u, b)
#define ARGS3(M, NONE, t, a, u, b, v, c)       M(0, t, a), M(1, u, b), M(2, v, c)
#define ARGS4(M, NONE, t, a, u, b, v, c, w, d) ARGS3(M, NONE, t, a, u, b, v, c), M(3, w, d)
#define ARGS5(M, NONE, t, a, u, b, v, c, w, d, x, e)                                               \
	ARGS4(M, NONE, t, a, u, b, v, c, w, d), M(4, x, e)
#define ARGS6(M, NONE, t, a, u, b, v, c, w, d, x, e, y, f)                                         \
	ARGS5(M, NONE, t, a, u, b, v, c, w, d, x, e), M(5, y, f)

#define SYSCALL_PARAM(i, type, name) type name
#define SYSCALL_PROTOTYPE(nr, name, ARGS, ...)                                                     \
	long sys_##name(ARGS(SYSCALL_PARAM, void, __VA_ARGS__));
SYSCALLS(SYSCALL_PROTOTYPE)
#undef SYSCALL_PROTOTYPE

/* The thread `pid`, with a reference; NULL: there is none that runs a program. 0 is the running one. */
struct thread *syscall_get_thread(int pid);

/*
 * names.c. Give an open file, or one by its path, the attributes that `which` (VFS_SET_*) names; `flags` are those of the *at()
 * calls. 0 or -errno.
 */
int names_set_open(unsigned int fd, unsigned int which, const struct vfs_stat *to);
int names_set(int dfd, const char *filename, int flags, unsigned int which,
	      const struct vfs_stat *to);

/* lock.c. The calls of fcntl() that are about locks; -EINVAL: it is none of these. */
long lock_fcntl(unsigned int fd, unsigned int cmd, unsigned long arg);

#define SYSCALL_TYPE(i, type, name) #type
#define SYSCALL_NAME(i, type, name) #name

/* ---- Dispatch ---- */

typedef long (*syscall_fn)(struct trap_frame *regs);

/* The handlers; NULL: there is no such call. */
extern const syscall_fn syscall_handlers[SYSCALL_MAX];
/* The functions that calls go to: the handlers, or functions of syscall_trace.c around them. */
extern _Atomic syscall_fn sys_call_table[SYSCALL_MAX];
/* -ENOSYS, for a number without a handler, which is logged. */
long syscall_unknown(const struct trap_frame *regs, uint64_t nr);
/* syscall_trace.c. A call of a program that is traced by another, of any number. */
long syscall_ptraced(struct trap_frame *regs);

#endif
