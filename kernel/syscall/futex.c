/* futex() and the lists of locks that a thread leaves when it ends. The work is in process/futex.c. */
#include <kernel/time.h>
#include "process/futex.h"
#include "sleep.h"
#include "syscall.h"

enum {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP = 5,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10
};
#define FUTEX_PRIVATE_FLAG   128
#define FUTEX_CLOCK_REALTIME 256

/* args: address, value and in bit 32 whether it is private, bits, deadline. */
static long futex_wait_until(void *arg)
{
	const uint64_t *args = arg;
	const struct futex_at at = { .mm = current_task()->mm,
				     .addr = args[0],
				     .is_private = args[1] >> 32 };
	struct task_signals *own = &current_task()->signals;
	int err = futex_wait(&at, (uint32_t)args[1], (uint32_t)args[2], args[3]);

	if (err != -EINTR)
		return err;
	if (args[3] == WAIT_FOREVER)
		return -ERESTARTSYS;
	own->restart = futex_wait_until;
	for (size_t i = 0; i < 4; i++)
		own->restart_args[i] = args[i];
	return -ERESTART_RESTARTBLOCK;
}

/* FUTEX_WAIT has a length of time, FUTEX_WAIT_BITSET a time of one of two clocks. */
static int futex_deadline(int op, const struct user_timespec *utime, uint64_t *out_ns)
{
	uint64_t ns, ahead;
	int err;

	*out_ns = WAIT_FOREVER;
	if (!utime)
		return 0;
	err = user_timespec_ns(utime, &ns);
	if (err)
		return err;
	if (op == FUTEX_WAIT) {
		*out_ns = ktime_after(ns);
		return 0;
	}
	ahead = op & FUTEX_CLOCK_REALTIME ? ktime_get_real_ns() - ktime_get_ns() : 0;
	*out_ns = ns > ahead ? ns - ahead : 0;
	return 0;
}

static long futex_begin_wait(const struct futex_at *at, int op, uint32_t value, uint32_t bitset,
			     const struct user_timespec *utime)
{
	uint64_t args[] = { at->addr, value | (uint64_t)at->is_private << 32, bitset, 0 };
	int err = bitset ? futex_deadline(op, utime, &args[3]) : -EINVAL;

	return err ? err : futex_wait_until(args);
}

/* The operations on two words: the numbers to wake and to move are signed on their way here. */
static long futex_two(const struct futex_at *at, uintptr_t addr2, int op, const uint32_t numbers[2],
		      uint32_t value)
{
	const struct futex_at to = { .mm = at->mm, .addr = addr2, .is_private = at->is_private };

	if (addr2 % sizeof(uint32_t))
		return -EINVAL;
	if (op == FUTEX_WAKE_OP)
		return futex_wake_op(at, &to, numbers, value);
	if ((int32_t)numbers[0] < 0 || (int32_t)numbers[1] < 0)
		return -EINVAL;
	return futex_requeue(at, &to, numbers, op == FUTEX_CMP_REQUEUE ? &value : NULL);
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_futex(uint32_t *uaddr, int op, uint32_t val, const struct user_timespec *utime,
	       uint32_t *uaddr2, uint32_t val3)
{
	const struct futex_at at = { .mm = current_task()->mm,
				     .addr = (uintptr_t)uaddr,
				     .is_private = op & FUTEX_PRIVATE_FLAG };
	const uint32_t numbers[] = { val, (uint32_t)(uintptr_t)utime };

	op &= ~FUTEX_PRIVATE_FLAG;
	if (op & FUTEX_CLOCK_REALTIME && op != (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME))
		return -ENOSYS;
	if (at.addr % sizeof(uint32_t))
		return -EINVAL;
	switch (op & ~FUTEX_CLOCK_REALTIME) {
	case FUTEX_WAIT:
		return futex_begin_wait(&at, op, val, FUTEX_ANY_BIT, utime);
	case FUTEX_WAIT_BITSET:
		return futex_begin_wait(&at, op, val, val3, utime);
	case FUTEX_WAKE:
		return futex_wake(&at, val, FUTEX_ANY_BIT);
	case FUTEX_WAKE_BITSET:
		return val3 ? futex_wake(&at, val, val3) : -EINVAL;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
		return futex_two(&at, (uintptr_t)uaddr2, op, numbers, val3);
	default: /* among them those that lend priorities */
		return -ENOSYS;
	}
}

long sys_set_robust_list(void *head, size_t len)
{
	if (len != sizeof(struct user_robust_list_head))
		return -EINVAL;
	current_task()->robust_list = (uintptr_t)head;
	return 0;
}

long sys_get_robust_list(int pid, void **head_ptr, size_t *len_ptr)
{
	const size_t len = sizeof(struct user_robust_list_head);
	struct thread *thread = pid ? thread_find(pid) : current_thread();
	uintptr_t head = thread && thread->task ? thread->task->robust_list : 0;
	bool is_there = thread && thread->task;

	if (pid)
		thread_put(thread);
	if (!is_there)
		return -ESRCH;
	return copy_to_user(len_ptr, &len, sizeof(len)) ||
			       copy_to_user(head_ptr, &head, sizeof(head))
		       ? -EFAULT
		       : 0;
}
