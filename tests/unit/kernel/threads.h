/*
 * Kernel threads for code under test on the build host: each is a thread of the process, locks keep
 * others out, and a wait queue lets its waiters sleep until they are woken. The time stands still
 * unless the test moves it.
 */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The calling thread of the process becomes a kernel thread. */
void threads_begin(void);
/* Start one that never ends. */
void threads_start(int (*fn)(void *arg), void *arg);
/* Was the calling thread interrupted? */
bool threads_is_interrupted(void);
/* Wait for the condition; when nothing comes for 20 seconds the process ends. */
void threads_wait(pthread_cond_t *changed, pthread_mutex_t *lock);
/* Sleep until the next interrupt or wake-up of any thread, counted from `wakes` on. */
uint64_t threads_nr_wakes(void);
void threads_sleep(uint64_t wakes);
/* How often a thread has slept for a time. */
uint32_t threads_nr_naps(void);
void threads_let_pass(uint64_t ns);

#endif
