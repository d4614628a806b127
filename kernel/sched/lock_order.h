/*
 * Debug builds: two locks must always be taken in the same order. The first time they are seen the
 * other way round, directly or through others in between, the kernel panics, whether or not anyone
 * waits for anyone at that moment.
 *
 * Only locks that live in the kernel's image are watched: the address of one that is allocated may
 * belong to another lock tomorrow. Spin locks and mutexes are watched apart; a mutex is never taken
 * inside a spin lock anyway.
 *
 * Context: as the locks themselves. Locking: none.
 */
#ifndef KERNEL_LOCK_ORDER_H
#define KERNEL_LOCK_ORDER_H

#include <kernel/lock.h>

/* Before waiting for `lock`: each of `held` has come before it. */
void lock_order_check(const struct held_locks *held, const void *lock);
/* `lock` is held now, or no longer. */
void lock_order_add(struct held_locks *held, const void *lock);
void lock_order_remove(struct held_locks *held, const void *lock);

#endif
