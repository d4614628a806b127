/*
 * Load averages: how many threads have run or could run, over 1, 5 and 15 minutes.
 *
 * Every five seconds each average moves towards the number of that moment. The tick does it, which CPUs without work do not have:
 * moments at which no CPU had a tick count as none running, and are made up for at the next tick or look.
 */
#include <arch/smp.h>
#include <kernel/process.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "fs/vfs_mount.h"
#include "proc_machine.h"

#define LOADAVG_PERIOD_NS (5 * NSEC_PER_SEC)
#define LOADAVG_TICKS_NS  (20 * NSEC_PER_MSEC) /* a CPU that has work has a tick in that time */
#define LOADAVG_IDLE_MAX  8192u		       /* after so many periods without work all are 0 */

_Atomic uint64_t loadavg_next_ns = LOADAVG_PERIOD_NS;

/* The part of an average that is left after a period: e to the power of -5 s by its minutes, in units of 1 / LOADAVG_ONE. */
static const uint32_t loadavg_left[NR_LOADAVGS] = { 1884, 2014, 2037 };
static _Atomic uint64_t
	avenrun[NR_LOADAVGS]; /* in units of 1 / LOADAVG_ONE; tools look for it by Linux's name */

static void loadavg_step(size_t which, uint64_t running)
{
	uint64_t load = atomic_load(&avenrun[which]), left = loadavg_left[which];
	uint64_t sum = load * left + running * (LOADAVG_ONE - left);

	if (running >= load)
		sum += LOADAVG_ONE - 1; /* so that it gets there */
	atomic_store(&avenrun[which], sum / LOADAVG_ONE);
}

static void loadavg_move(uint64_t nr_idle, uint64_t running)
{
	if (nr_idle > LOADAVG_IDLE_MAX)
		nr_idle = LOADAVG_IDLE_MAX;
	for (size_t i = 0; i < NR_LOADAVGS; i++) {
		for (uint64_t nr = 0; nr < nr_idle; nr++)
			loadavg_step(i, 0);
		loadavg_step(i, running);
	}
}

void loadavg_sample(uint64_t now_ns)
{
	uint64_t next = atomic_load(&loadavg_next_ns), nr;

	if (now_ns < next)
		return;
	nr = (now_ns - next) / LOADAVG_PERIOD_NS; /* that have passed without a tick */
	/* The CPU that moves the time has five seconds for the rest. */
	if (!atomic_compare_exchange_strong(&loadavg_next_ns, &next,
					    next + (nr + 1) * LOADAVG_PERIOD_NS))
		return;
	if (now_ns - next - nr * LOADAVG_PERIOD_NS <= LOADAVG_TICKS_NS)
		loadavg_move(nr, (uint64_t)vfs_machine_nr_running() * LOADAVG_ONE);
	else
		loadavg_move(nr, 0);
}

void loadavg_get(uint64_t out[NR_LOADAVGS])
{
	loadavg_sample(local_clock_ns());
	for (size_t i = 0; i < NR_LOADAVGS; i++)
		out[i] = atomic_load(&avenrun[i]);
}
