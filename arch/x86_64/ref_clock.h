/*
 * Clocks of known rate, to measure others with. Each is a counter that can be read at any time.
 *
 * Context: boot CPU, interrupts off.
 */
#ifndef REF_CLOCK_H
#define REF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct ref_clock {
	const char *name;
	uint32_t (*read)(void); /* counts up */
	uint32_t mask;		/* bits it has */
	uint64_t hz;
};

/*
 * The best one of this machine, running: HPET, ACPI PM timer, PIT. Never NULL: every PC has a PIT.
 */
const struct ref_clock *ref_clock_find(void);

/* A counter and the TSC read together; `width` is how far apart they may be, in TSC cycles. */
struct ref_sample {
	uint64_t tsc;
	uint64_t width;
	uint32_t count;
};
/* The tightest of several. */
struct ref_sample ref_clock_sample(uint32_t (*read)(void));

#endif
