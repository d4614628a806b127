/*
 * The list of all threads and their numbers.
 *
 * Context: thread; interrupts off for the list's lock.
 */
#ifndef KERNEL_THREAD_LIST_H
#define KERNEL_THREAD_LIST_H

#include <kernel/thread.h>

/* Gives the thread its pid. */
void thread_list_add(struct thread *thread);
void thread_list_add_idle(struct thread *thread);
void thread_list_remove(struct thread *thread);
/*
 * A reference, unless the last one is gone and the thread is about to be freed. For threads that
 * thread_each() shows: the list's lock keeps their memory.
 */
bool thread_try_get(struct thread *thread);

/* thread.c */
void threads_start_reaper(void);
/* A thread that has ended is off its CPU, and may be gone by now. Interrupts off, no lock held. */
void thread_left_cpu(void);
/* Give up what ended threads still hold; returns when all that ended before the call are done. */
void thread_reap(void);

#endif
