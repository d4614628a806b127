/*
 * Times that programs give.
 *
 * Context: thread of a program.
 */
#ifndef KERNEL_SYSCALL_SLEEP_H
#define KERNEL_SYSCALL_SLEEP_H

#include <kernel/base.h>

struct user_timespec;

/* In ns; what is too much for them is INT64_MAX. 0, -EFAULT, -EINVAL. */
int user_timespec_ns(const struct user_timespec *from, uint64_t *out_ns);

#endif
