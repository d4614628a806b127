/*
 * Clocks of known rate, by which others are measured. Each is a counter that can be read at any
 * time.
 *
 * Context: boot CPU, interrupts off.
 */
#ifndef REF_CLOCK_H
#define REF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct ref_clock {
	const char *name;
	uint32_t (*read)(void); /* the counter, which counts up and wraps */
	uint32_t mask;		/* the bits that it has */
	uint64_t hz;
};

/*
 * Start the best one that this machine has: HPET, else ACPI PM timer, else PIT. Never NULL, because
 * every PC has a PIT.
 */
const struct ref_clock *ref_clock_find(void);

/*
 * A counter and the TSC read together; `width` is the largest distance between the two reads, in
 * TSC cycles.
 */
struct ref_sample {
	uint64_t tsc;
	uint64_t width;
	uint32_t count;
};
/* Read the TSC and the counter of read() several times; returns the sample with the least width. */
struct ref_sample ref_clock_sample(uint32_t (*read)(void));

#endif
