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

/* Nanoseconds since boot; never goes back, not even when one CPU reads it after another. */
uint64_t ktime_get_ns(void);
/*
 * Nanoseconds since 1970, by the mainboard's clock, which is read once; 0: it has none. Thread context,
 * may sleep.
 */
uint64_t ktime_get_real_ns(void);
/* ktime_get_ns() + ns; when that does not fit, UINT64_MAX, which is WAIT_FOREVER. */
static inline uint64_t ktime_after(uint64_t ns)
{
	uint64_t now_ns = ktime_get_ns();

	return now_ns + ns < now_ns ? UINT64_MAX : now_ns + ns;
}
/* The part of a time that `part` of `whole` ticks are; 0 without ticks. Any unit. */
static inline uint64_t time_part(uint64_t time, uint64_t part, uint64_t whole)
{
	return whole ? time / whole * part + time % whole * part / whole : 0;
}
/*
 * The same time by this CPU's counter alone: cheaper, but another CPU may read a little less
 * afterwards, for their counters differ. Does not go back on one CPU.
 */
uint64_t local_clock_ns(void);

#endif
