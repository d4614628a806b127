/* Declarations that the files of this program share. */
#ifndef PROCESS_H
#define PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The host of the library. None of it is traced. ---- */

/*
 * Call this first, once. From then on the thread that has called it is CPU 0, and there is a
 * tracefs. False when this Linux has no barrier that serialises all threads: nothing can be traced.
 */
bool process_start(void);

/* cpus.c: threads that may call traced functions. */

/* The running thread is CPU 0: process_start() calls it. */
void cpus_init(void);
/* Start a thread that calls fn(arg), as another CPU. Returns the CPU's number or -errno. */
int cpu_start(const char *name, void (*fn)(void *arg), void *arg);
/* Wait until the function of a CPU has returned; then the CPU is free for another thread. */
void cpu_join(int cpu);
/* Run fn(signal) when the signal comes; it may call traced functions. 0 or -errno. */
int cpu_on_signal(int signal, void (*fn)(int signal));
/* The number of threads that are CPUs now. */
uint32_t cpus_online(void);

/* text.c: make the text one that can be changed. False: see process_start(). */
bool text_init(void);
/* trap.c: handle int3, and reads of bad addresses. */
void trap_init(void);
/* The mask for a signal's handler: all other signals are blocked, but those that trap.c handles. */
void trap_block_others(sigset_t *out_mask);
/* text_lock.c: with false, no trampoline can be made, as if there were no room. For tests. */
extern bool text_has_room;
/* symbols.c: find the names of functions. */
void symbols_init(void);

/* trace_host.c: print a line, and abort. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t now_ns(void);

#endif
