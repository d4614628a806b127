/*
 * The list of all threads and their numbers.
 *
 * Context: thread; interrupts off for the list's lock.
 */
#ifndef KERNEL_THREAD_LIST_H
#define KERNEL_THREAD_LIST_H

#include <kernel/thread.h>

/* Give the thread its pid and add it. */
void thread_list_add(struct thread *thread);
/* The same for an idle thread, which keeps pid 0. */
void thread_list_add_idle(struct thread *thread);
void thread_list_remove(struct thread *thread);

/* The rest is in thread.c. Start kreaper, the thread that frees threads that have ended. */
void threads_start_reaper(void);
/* Called when a thread that has ended has left its CPU. Interrupts off, no lock held. */
void thread_left_cpu(void);

#endif
