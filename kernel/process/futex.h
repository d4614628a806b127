/*
 * Futexes: threads that wait at a word of a program's memory until another says that it has changed.
 *
 *   futex_wait()      bucket of the key:  waiter -> waiter -> waiter      on the stacks of their threads
 *   futex_wake()      takes those with its key out, the oldest first
 *   futex_requeue()   moves some to another key
 *
 * The key of a word is its address in an address space; of memory that programs share, the address of the word
 * itself. Words are read and changed through the kernel's own view of their page, with mm->lock held, which keeps it
 * in place. So the words never fault, and the bucket's lock may be held: no wake-up comes between a look at the word
 * and the waiter's place in the queue.
 *
 * Context:   thread of a program.
 * Locking:   mm->lock, then the bucket's lock; of two buckets, that at the lower address first.
 * Ownership: a waiter belongs to its thread, which leaves it only after it has held the lock of its bucket.
 */
#ifndef KERNEL_PROCESS_FUTEX_H
#define KERNEL_PROCESS_FUTEX_H

#include <kernel/base.h>

struct mm;
struct task;

#define FUTEX_ANY_BIT UINT32_MAX

/* A word of the running program. */
struct futex_at {
	struct mm *mm;
	uintptr_t addr;
	bool is_private; /* the program says that it shares it with no other */
};

/*
 * Wait while the word is `value`, until `deadline_ns` (as ktime_get_ns() counts; WAIT_FOREVER: never), for a wake-up that
 * has a bit of `bitset`. 0: woken; -EAGAIN: the word has another value; -EFAULT, -EINTR, -ETIMEDOUT.
 */
int futex_wait(const struct futex_at *at, uint32_t value, uint32_t bitset, uint64_t deadline_ns);
/* Wake at most `nr`, and at least one. How many, or -EFAULT. */
int futex_wake(const struct futex_at *at, uint32_t nr, uint32_t bitset);
/*
 * Wake nr_wake, and let nr_requeue more wait at `to`. `expected`: only if the word is that, otherwise -EAGAIN; NULL: in
 * any case. How many were woken or moved, or -EFAULT.
 */
int futex_requeue(const struct futex_at *at, const struct futex_at *to, const uint32_t numbers[2],
		  const uint32_t *expected);
/*
 * Change the word at `to` as FUTEX_OP() of Linux says, wake numbers[0] at `at`, and, if the old word is as `op` says,
 * numbers[1] at `to`. How many, -EFAULT, or -ENOSYS for an operation that there is not.
 */
int futex_wake_op(const struct futex_at *at, const struct futex_at *to, const uint32_t numbers[2],
		  uint32_t op);
/*
 * Set the word at `at` to `value` if it is `*expected`, which becomes what it was. 0 or -EFAULT.
 */
int futex_exchange(const struct futex_at *at, uint32_t *expected, uint32_t value);

/* futex_robust.c. The running thread leaves its memory: the locks in its list are told so. */
void exit_robust_list(struct task *task);

#endif
