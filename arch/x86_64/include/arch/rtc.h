/*
 * The clock that runs when the machine is off (MC146818), in seconds.
 *
 * Context:   thread; up to a few milliseconds.
 * Locking:   the caller's: one reader at a time, because the chip has one index register.
 * Ownership: none.
 */
#ifndef ARCH_RTC_H
#define ARCH_RTC_H

#include <stdint.h>

/*
 * Seconds since 1970. The clock tells neither its time zone nor the century: they are taken to be
 * UTC and this one. 0 when there is no clock, or it shows no time.
 */
uint64_t rtc_read(void);

#endif
