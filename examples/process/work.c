/*
 * The traced code: numbers are made, sorted, and computed with in floating point, whose registers
 * are not saved on the way into a callback. Apart from its call sites this is an ordinary file.
 * Functions that the compiler inlines would have no site: hence NOINLINE.
 */
#include "work.h"
#include <stdatomic.h>
#include <stddef.h>

#define NR_VALUES  6
#define NOINLINE   __attribute__((noinline))
#define NR_STEPS   8
#define MULTIPLIER 1664525u
#define INCREMENT  1013904223u

static _Atomic uint32_t nr_signals;

static NOINLINE void fill(uint32_t *values, uint32_t seed)
{
	for (size_t i = 0; i < NR_VALUES; i++) {
		seed = seed * MULTIPLIER + INCREMENT;
		values[i] = seed >> 16;
	}
}

/* Move what is smaller than the last value to the front, and that behind it. Returns its index. */
static NOINLINE size_t partition(uint32_t *values, size_t nr)
{
	uint32_t last = values[nr - 1];
	size_t middle = 0;

	for (size_t i = 0; i + 1 < nr; i++) {
		uint32_t value = values[i];

		if (value >= last)
			continue;
		values[i] = values[middle];
		values[middle++] = value;
	}
	values[nr - 1] = values[middle];
	values[middle] = last;
	return middle;
}

static NOINLINE void sort(uint32_t *values, size_t nr)
{
	size_t middle;

	if (nr < 2)
		return;
	middle = partition(values, nr);
	sort(values, middle);
	sort(values + middle + 1, nr - middle - 1);
}

static NOINLINE double square(double x)
{
	return x * x;
}

static NOINLINE double square_root(double x)
{
	double root = x > 1 ? x / 2 : 1;

	for (int i = 0; i < NR_STEPS; i++)
		root = (root + x / root) / 2;
	return root;
}

static NOINLINE double mean(const uint32_t *values)
{
	double sum = 0;

	for (size_t i = 0; i < NR_VALUES; i++)
		sum += values[i];
	return sum / NR_VALUES;
}

static NOINLINE double deviation(const uint32_t *values)
{
	double middle = mean(values), sum = 0;

	for (size_t i = 0; i < NR_VALUES; i++)
		sum += square(values[i] - middle);
	return square_root(sum / NR_VALUES);
}

double work(uint32_t seed)
{
	uint32_t values[NR_VALUES];

	fill(values, seed);
	sort(values, NR_VALUES);
	return deviation(values);
}

void work_note_signal(int signal)
{
	(void)signal;
	nr_signals++;
}

uint32_t work_nr_signals(void)
{
	return nr_signals;
}
