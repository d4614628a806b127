/*
 * Comparing the TSCs of two CPUs, which pass `turn` to and fro and read their counters meanwhile.
 * See <arch/tsc.h>.
 *
 *   boot CPU   t0, turn = odd ------------------------> t1
 *   AP                     sees odd, ap_tsc, turn = even
 *
 * If both counters agree, ap_tsc lies between t0 and t1. The round with the smallest t1 - t0 is the
 * most exact. A skew of at most half of that may be none, and is taken for none.
 */
#include "raw_lock.h"
#include <arch/cpu_local.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/tsc.h>
#include <kernel/base.h>

#define ROUNDS	    10
#define FEW_ROUNDS  3
#define LONG_NS	    1000000ull /* when a few took that long, the host has no two processors for us */
#define GOOD_NS	    2000       /* after a round as short as this no more are needed */
#define PATIENCE_NS 10000000000ull

/*
 * The exchange of one pair at a time. A CPU that sees `turn` change (acquire) sees the writes
 * before it (release).
 */
static struct {
	_Atomic uint32_t turn;
	_Atomic uint32_t is_over; /* 1 + the AP's number, when `skew` is valid */
	uint64_t ap_tsc;
	int64_t skew;
} exchange;

static int64_t skews[MAX_CPUS]; /* cycles; written by the boot CPU at the start of that CPU */

/* The boot CPU's part of one round; false when the AP does not answer. */
static bool play_round(uint32_t round, uint64_t *out_width, int64_t *out_skew)
{
	uint64_t patience = tsc_cycles_of_ns(PATIENCE_NS);
	uint64_t flags = arch_irq_save();
	uint64_t t0 = rdtsc_ordered(), t1;
	bool is_answered = true;

	atomic_store_explicit(&exchange.turn, 2 * round + 1, memory_order_release);
	while (atomic_load_explicit(&exchange.turn, memory_order_acquire) != 2 * round + 2) {
		arch_cpu_relax();
		if (rdtsc() - t0 > patience) {
			is_answered = false;
			break;
		}
	}
	t1 = rdtsc_ordered();
	arch_irq_restore(flags);
	*out_width = t1 - t0;
	*out_skew = (int64_t)(exchange.ap_tsc - (t0 + (t1 - t0) / 2));
	return is_answered;
}

static bool is_enough(uint32_t nr_done, uint64_t best, uint64_t cycles)
{
	return best <= tsc_cycles_of_ns(GOOD_NS) || nr_done == ROUNDS ||
	       (nr_done >= FEW_ROUNDS && cycles > tsc_cycles_of_ns(LONG_NS));
}

bool tsc_sync_boot_cpu(uint32_t cpu)
{
	uint64_t start = rdtsc(), width, best = UINT64_MAX;
	int64_t skew, best_skew = 0;
	uint32_t round;

	for (round = 0; !is_enough(round, best, rdtsc() - start); round++) {
		if (!play_round(round, &width, &skew)) {
			atomic_store(&exchange.turn, 0); /* the next AP must not answer this one */
			return false;
		}
		if (width < best) {
			best = width;
			best_skew = skew;
		}
	}
	if (best_skew <= (int64_t)(best / 2) && -best_skew <= (int64_t)(best / 2))
		best_skew = 0;
	skews[cpu] = best_skew;
	exchange.skew = best_skew;
	atomic_store_explicit(&exchange.turn, 0, memory_order_relaxed);
	atomic_store_explicit(&exchange.is_over, 1 + cpu, memory_order_release);
	return true;
}

void tsc_sync_prepare(void)
{
	atomic_store(&exchange.is_over, 0);
}

void tsc_sync_ap(uint32_t cpu)
{
	uint32_t turn;

	while (atomic_load_explicit(&exchange.is_over, memory_order_acquire) != 1 + cpu) {
		turn = atomic_load_explicit(&exchange.turn, memory_order_acquire);
		if (!(turn & 1)) {
			arch_cpu_relax();
			continue;
		}
		exchange.ap_tsc = rdtsc_ordered();
		atomic_store_explicit(&exchange.turn, turn + 1, memory_order_release);
	}
	cpu_local_of(cpu)->tsc_base += (uint64_t)exchange.skew;
}

int64_t tsc_skew_ns(uint32_t cpu)
{
	int64_t skew = cpu < MAX_CPUS ? skews[cpu] : 0, hz = (int64_t)tsc_hz();

	/* In two parts, so that neither product overflows. */
	return skew / hz * 1000000000 + skew % hz * 1000000 / (hz / 1000);
}
