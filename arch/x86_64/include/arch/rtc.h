/*
 * The clock that runs when the machine is off (MC146818), in seconds.
 *
 * Context:   thread; up to a few milliseconds.
 * Locking:   the caller's: one reader at a time, for the chip has an index register.
 * Ownership: none.
 */
#ifndef ARCH_RTC_H
#define ARCH_RTC_H

#include <stdint.h>

/* Seconds since 1970, taking the clock to show UTC and a year of this century; 0: no clock. */
uint64_t rtc_read(void);

#endif
