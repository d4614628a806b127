/*
 * The steps of kernel_main() that the files of kernel/ offer, apart from those in public headers.
 *
 * Context: boot; once each, in the order of main.c.
 */
#ifndef KERNEL_INIT_H
#define KERNEL_INIT_H

/* Read the boot parameter panic=SECONDS. A panic before this never reboots. */
void panic_init(void);
void timers_init(void);
/* The boot context becomes the idle thread of CPU 0. */
void threads_init(void);
/* Start a worker thread for each CPU that is online and has none. 0 or -ENOMEM. Thread context. */
int work_start_threads(void);
/* The timers of a CPU that is offline go to this one. Thread context. */
void timers_take_from(uint32_t cpu);
/* Begin to run the work that probes defer. After work_start_threads(). */
void trace_defer_init(void);
/* Give the profiler its clocks. Before trace_init(). */
void profile_init(void);
/* Give the tracers of noise their threads. Before trace_init(). */
void noise_init(void);

#endif
