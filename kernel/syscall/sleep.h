/*
 * Times that programs give.
 *
 * Context: thread of a program.
 */
#ifndef KERNEL_SYSCALL_SLEEP_H
#define KERNEL_SYSCALL_SLEEP_H

#include <kernel/base.h>

struct pollfd;
struct user_timespec;

#define POLLIN	 0x01
#define POLLOUT	 0x04
#define POLLNVAL 0x20

#define POLL_STEP_NS NSEC_PER_MSEC /* between two looks at files that wait */

/* In ns; what is too much for them is INT64_MAX. 0, -EFAULT, -EINVAL. */
int user_timespec_ns(const struct user_timespec *from, uint64_t *out_ns);

/* Those of poll->events that the descriptor has now, or POLLNVAL. */
int16_t user_poll_events(const struct pollfd *poll);

/*
 * signal.c: the mask of signals while a call waits, in a program's memory; NULL: it stays. begin: 0,
 * -EFAULT, -EINVAL. end takes what the call has come to, and returns it: the mask from before is put back, after
 * a signal by its delivery.
 */
int sigmask_begin(const uint64_t *sigmask, size_t sigsetsize);
long sigmask_end(const uint64_t *sigmask, long result);

#endif
