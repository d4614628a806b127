/*
 * Times that programs give.
 *
 * Context: thread of a program.
 */
#ifndef KERNEL_SYSCALL_SLEEP_H
#define KERNEL_SYSCALL_SLEEP_H

#include <kernel/base.h>

struct poll_table;
struct pollfd;
struct user_timespec;

/* In ns; what is too much for them is INT64_MAX. 0, -EFAULT, -EINVAL. */
int user_timespec_ns(const struct user_timespec *from, uint64_t *out_ns);

/* The events that the descriptor has now, those of poll->events and others, or POLLNVAL; `table`: see vfs_poll(). */
uint32_t user_poll_events(const struct pollfd *poll, struct poll_table *table);

/*
 * signal.c: the mask of signals while a call waits, in a program's memory; NULL: it stays. begin: 0,
 * -EFAULT, -EINVAL. end takes what the call has come to, and returns it: the mask from before is put back, after
 * a signal by its delivery.
 */
int sigmask_begin(const uint64_t *sigmask, size_t sigsetsize);
long sigmask_end(const uint64_t *sigmask, long result);

#endif
