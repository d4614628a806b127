/*
 * Locks that a thread holds when it ends: they are in a list in its program's memory, set_robust_list(), and each gets
 * the mark that its owner has died. The list may hold anything, so every address is checked, and its length is bounded.
 */
#include "process.h"
#include "futex.h"

#define ROBUST_LIST_LIMIT 2048u
#define ROBUST_PI	  1ul /* lowest bit of a link: a lock that lends its priority */

static bool robust_read(uint64_t addr, uint64_t *out)
{
	return !copy_from_user(out, (const void *)addr, sizeof(*out));
}

/* The lock at `addr` is marked if the thread holds it, and one that waits for it is woken. */
static bool robust_lock_dies(struct task *task, uintptr_t addr, bool is_pi, bool is_pending)
{
	const struct futex_at at = { .mm = task->mm, .addr = addr };
	uint32_t seen = 0, old, dead;

	if (addr % sizeof(seen) || futex_exchange(&at, &seen, seen))
		return false;
	/* It was given back, and the thread has died before it could wake the next. */
	if (is_pending && !is_pi && !seen)
		futex_wake(&at, 1, FUTEX_ANY_BIT);
	do {
		if ((seen & FUTEX_TID_MASK) != (uint32_t)task->thread->pid)
			return true;
		old = seen;
		dead = (old & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
		if (futex_exchange(&at, &seen, dead))
			return false;
	} while (seen != old);
	if (!is_pi && old & FUTEX_WAITERS)
		futex_wake(&at, 1, FUTEX_ANY_BIT);
	return true;
}

static void robust_walk(struct task *task, const struct user_robust_list_head *head)
{
	uint64_t entry = head->next, next, pending = head->pending & ~ROBUST_PI;
	bool goes_on = true;

	for (uint32_t i = 0; i < ROBUST_LIST_LIMIT && goes_on; i++) {
		uint64_t at = entry & ~ROBUST_PI;

		if (at == task->robust_list)
			break;
		/* The link is read first: the lock may be gone as soon as another has it. */
		goes_on = robust_read(at, &next);
		if (at != pending)
			goes_on &= robust_lock_dies(task, at + (uint64_t)head->offset,
						    entry & ROBUST_PI, false);
		entry = next;
	}
	if (pending)
		robust_lock_dies(task, pending + (uint64_t)head->offset, head->pending & ROBUST_PI,
				 true);
}

void exit_robust_list(struct task *task)
{
	struct user_robust_list_head head;

	if (task->robust_list &&
	    !copy_from_user(&head, (const void *)task->robust_list, sizeof(head)))
		robust_walk(task, &head);
	task->robust_list = 0;
}
