/*
 * Debug builds: two locks must always be taken in the same order. The first time they are seen the
 * other way round, directly or through others in between, the kernel panics, whether or not a
 * thread waits at that moment.
 *
 * Only locks that live in the kernel's image are watched, because the address of one that was
 * allocated may later belong to another lock. Spin locks and mutexes are watched apart; a mutex is
 * never taken inside a spin lock anyway.
 *
 * Context: as the locks themselves.
 * Locking: none; `held` belongs to the calling thread (mutexes) or to this CPU (spin locks).
 */
#ifndef KERNEL_LOCK_ORDER_H
#define KERNEL_LOCK_ORDER_H

#include <kernel/lock.h>

/* Before `lock` is taken: learn that it comes after each lock in `held`; panics if it must not. */
void lock_order_check(const struct held_locks *held, const void *lock);
/* After `lock` was taken. Panics (ASSERT) at more than LOCK_ORDER_DEPTH. */
void lock_order_add(struct held_locks *held, const void *lock);
/* `lock` is about to be released. */
void lock_order_remove(struct held_locks *held, const void *lock);

#endif
