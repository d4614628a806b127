/*
 * Load averages, against the sums that Linux's rule gives.
 *
 * links: kernel/process/loadavg.c
 */
#include "unit.h"
#include <stdint.h>
#include <kernel/process.h>
#include <kernel/time.h>
#include "fs/vfs_mount.h"
#include "process/proc_machine.h"

#define SECOND NSEC_PER_SEC

static uint32_t running;
static uint64_t now_ns;

uint32_t vfs_machine_nr_running(void)
{
	return running;
}

uint64_t local_clock_ns(void)
{
	return now_ns;
}

/* An average in hundredths, as it is shown. */
static unsigned long cents(size_t which)
{
	uint64_t loads[NR_LOADAVGS];

	loadavg_get(loads);
	return (unsigned long)((loads[which] * 100 + LOADAVG_ONE / 2) / LOADAVG_ONE);
}

static void tick_for(unsigned int seconds, uint32_t nr)
{
	running = nr;
	for (unsigned int i = 0; i < seconds * 250; i++) {
		now_ns += SECOND / 250;
		loadavg_sample(now_ns);
	}
}

/* One thread that always runs: after a minute the first is 1 - 1 / e. */
static void test_busy(void **state)
{
	(void)state;
	assert_int_equal(cents(0), 0);
	tick_for(4, 1);
	assert_int_equal(cents(0), 0);
	tick_for(56, 1);
	assert_in_range(cents(0), 62, 65);
	assert_in_range(cents(1), 17, 20);
	assert_in_range(cents(2), 6, 8);
	tick_for(3600, 1);
	assert_int_equal(cents(0), 100);
	assert_int_equal(cents(1), 100);
	assert_in_range(cents(2), 97, 100);
	tick_for(3600, 3);
	assert_int_equal(cents(0), 300);
}

/* No tick for a minute: what was missed is made up for by a look, or by a tick that then counts none or one moment. */
static void test_idle(void **state)
{
	(void)state;
	running = 1;
	now_ns = loadavg_next_ns - 5 * SECOND + 60 * SECOND + SECOND;
	assert_in_range(cents(0), 108, 113);
	now_ns += 60 * SECOND;
	loadavg_sample(now_ns);
	assert_in_range(cents(0), 38, 43);
	now_ns = loadavg_next_ns + SECOND / 1000; /* it runs at the very moment */
	loadavg_sample(now_ns);
	assert_in_range(cents(0), 44, 48);
	now_ns += 1000000 * SECOND; /* as many steps as are needed, no more */
	running = 0;
	for (size_t i = 0; i < NR_LOADAVGS; i++)
		assert_int_equal(cents(i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
