/*
 * One time of watching the clock: see hwlat.h.
 *
 * A turn reads the clock twice. The time from the first reading to the second is the inner one, that from
 * the second to the first of the next turn the outer one. Times that are longer than tracing_thresh by
 * whole microseconds count, as on Linux.
 */
#include <trace/platform.h>
#include "hwlat.h"

/* NMIs of a CPU while it is watched. That CPU alone uses it. */
struct hwlat_cpu {
	_Atomic bool is_watched;
	_Atomic uint64_t entered_ns;
	_Atomic uint64_t total_ns;
	_Atomic uint32_t nr;
} __attribute__((aligned(64)));

static struct hwlat_cpu
	*_Atomic hwlat_watch_cpus; /* by number; NULL before the start, and without a host */

void (*_Atomic trace_noise_nmi_next)(bool enters);

int trace_hwlat_watch_init(void)
{
	hwlat_watch_cpus = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*hwlat_watch_cpus));
	return hwlat_watch_cpus ? 0 : -ENOMEM;
}

void trace_noise_nmi(bool enters)
{
	struct hwlat_cpu *cpu = atomic_load_explicit(&hwlat_watch_cpus, memory_order_relaxed);
	void (*next)(bool enters) =
		atomic_load_explicit(&trace_noise_nmi_next, memory_order_relaxed);

	if (TRACE_UNLIKELY(next))
		next(enters);
	if (!cpu)
		return;
	cpu += trace_plat_cpu_id();
	if (TRACE_LIKELY(!atomic_load_explicit(&cpu->is_watched, memory_order_relaxed)))
		return;
	if (enters) {
		cpu->entered_ns = trace_plat_clock_ns();
		cpu->nr++;
	} else {
		cpu->total_ns += trace_plat_clock_ns() - cpu->entered_ns;
	}
}

static void hwlat_watch_nmis(struct hwlat_cpu *cpu)
{
	cpu->total_ns = 0;
	cpu->nr = 0;
	cpu->is_watched = true;
}

static void hwlat_watch_nmis_end(struct hwlat_cpu *cpu, struct hwlat_found *found)
{
	cpu->is_watched = false;
	found->nmi_ns = cpu->total_ns;
	found->nr_nmis = cpu->nr;
}

/* A turn was too long. */
static TRACE_NOINLINE void hwlat_watch_count(struct hwlat_found *found)
{
	if (!found->count++)
		trace_noise_host->real(&found->first_ns);
}

static void hwlat_watch_clock(uint64_t width_ns, const _Atomic bool *is_ending,
			      struct hwlat_found *found)
{
	uint64_t limit_ns = (tracing_thresh_ns() / HWLAT_US_NS + 1) * HWLAT_US_NS;
	uint64_t start_ns = trace_plat_clock_ns(), last_ns = start_ns, first_ns, inner_ns, outer_ns;

	do {
		first_ns = trace_plat_clock_ns();
		outer_ns = first_ns - last_ns;
		last_ns = trace_plat_clock_ns();
		inner_ns = last_ns - first_ns;
		if (TRACE_UNLIKELY(inner_ns >= limit_ns || outer_ns >= limit_ns))
			hwlat_watch_count(found);
		if (inner_ns > found->inner_ns)
			found->inner_ns = inner_ns;
		if (outer_ns > found->outer_ns)
			found->outer_ns = outer_ns;
	} while (last_ns - start_ns <= width_ns &&
		 !atomic_load_explicit(is_ending, memory_order_relaxed));
}

void trace_hwlat_watch(uint64_t width_ns, const _Atomic bool *is_ending, struct hwlat_found *out)
{
	struct hwlat_cpu *cpu = &hwlat_watch_cpus[trace_plat_cpu_id()];

	*out = (struct hwlat_found){ 0 };
	hwlat_watch_nmis(cpu);
	hwlat_watch_clock(width_ns, is_ending, out);
	hwlat_watch_nmis_end(cpu, out);
}
