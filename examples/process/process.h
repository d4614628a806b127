/* What the files of this program know of each other. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The host of the library. None of it is traced. ---- */

/*
 * First of all, once: the thread that calls it is CPU 0 from then on, and there is a tracefs. False
 * when this kernel has no barrier that serialises all threads: then nothing can be traced.
 */
bool process_start(void);

/* cpus.c: threads that may call traced functions. */

/* The running thread is CPU 0: process_start() calls it. */
void cpus_init(void);
/* A thread that calls fn(arg), as another CPU. Its number, or a negative error. */
int cpu_start(const char *name, void (*fn)(void *arg), void *arg);
/* Wait until its function has returned. */
void cpu_join(int cpu);
/* Run fn(signal) when the signal comes: it may call traced functions. 0 or a negative error. */
int cpu_on_signal(int signal, void (*fn)(int signal));
/* Threads that are CPUs now. */
uint32_t cpus_online(void);

/* text.c, symbols.c: text that can be changed, and the int3 in it; the names of functions. */
bool text_init(void);
void symbols_init(void);

/* trace_host.c: print a line, and end. */
void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
uint64_t now_ns(void);

#endif
