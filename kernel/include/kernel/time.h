/*
 * Time since boot.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include <kernel/base.h>

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define TICK_HZ	      250u
#define TICK_NS	      (NSEC_PER_SEC / TICK_HZ)

/* Nanoseconds since boot; never goes back, on no CPU and across CPUs. */
uint64_t ktime_ns(void);
/* The same, of this CPU's counter only: cheaper, may differ between CPUs by their skew. */
uint64_t local_clock_ns(void);

#endif
