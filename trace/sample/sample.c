/*
 * Hits: instances that want a sample write one. See sample.h.
 *
 * Each hit brings its period. An instance with a longer one saves them up, so that its samples have the
 * right distance on average. The time that samples take is owed; each period pays for a part of it. When
 * more is owed than SAMPLE_BURST_PERIODS pay, hits are left out until it is less: so samples take no more
 * than the file `max_percent` says, however expensive a histogram makes them.
 *
 * Context: interrupt or NMI.
 */
#include <trace/platform.h>
#include "events/event_call.h"
#include "events/event_claim.h"
#include "events/event_file.h"
#include "events/event_stack.h"
#include "feature/feature.h"
#include "sample.h"
#include "sample_watch.h"

#define SAMPLE_STEP TRACE_EVENT_STEP(sizeof(struct sample_entry))
/* Flags of an event that is recorded without conditions, with or without stacks. */
#define SAMPLE_PLAIN ((uint32_t)(TRACE_EVENT_RECORDS | TRACE_EVENT_STACK))

static enum sample_context sample_context_of(const struct trace_sample_hit *hit)
{
	if (hit->is_user)
		return SAMPLE_USER;
	if (hit->preempt_count & TRACE_HARDIRQ_MASK)
		return SAMPLE_IRQ;
	if (hit->preempt_count & TRACE_SOFTIRQ_SERVING)
		return SAMPLE_SOFTIRQ;
	return trace_plat_current_pid() ? SAMPLE_KERNEL : SAMPLE_IDLE;
}

/* Is the limit kept with this sample? `nr` periods have passed. */
static bool sample_may_cost(struct sample_array *sample, struct sample_cpu *cpu, uint64_t nr)
{
	uint64_t allowed = atomic_load_explicit(&sample->allowed_ns, memory_order_relaxed);
	uint64_t paid = nr * allowed;

	cpu->debt_ns -= cpu->debt_ns < paid ? cpu->debt_ns : paid;
	return cpu->debt_ns <= allowed * SAMPLE_BURST_PERIODS;
}

/*
 * A sample took `ns` by the clock. A virtual CPU may have stood still meanwhile, which is no fault of the
 * sample: the cost grows by an eighth at most with each one.
 */
static void sample_owe(struct sample_cpu *cpu, uint64_t ns)
{
	uint64_t cost = cpu->cost_ns, most = cost + cost / 8 + SAMPLE_COST_STEP_NS;

	cost = ns < cost ? cost - (cost - ns) / 8 : ns < most ? ns : most;
	cpu->cost_ns = cost;
	cpu->debt_ns += cost;
}

static TRACE_NOINLINE void sample_throttle(struct sample_array *sample, struct sample_cpu *cpu)
{
	trace_plat_local_add(&cpu->throttled, 1);
	if (!atomic_exchange(&sample->is_noted, true))
		trace_plat_log("profile: samples of CPU %u take more than %u%% of its time: some "
			       "are left out",
			       trace_plat_cpu_id(), sample->percent);
}

/* Does the instance want hits of this clock, on this CPU, of this thread? */
static bool sample_is_wanted(const struct sample_array *sample, const struct sample_cpu *cpu,
			     const struct trace_sample_hit *hit)
{
	const struct trace_pids *pids;

	if (atomic_load_explicit(&sample->clock, memory_order_relaxed) != hit->clock ||
	    atomic_load_explicit(&cpu->is_out, memory_order_relaxed))
		return false;
	pids = trace_atomic_load_acquire(&sample->pids);
	return !pids || trace_pids_has(pids, trace_plat_current_pid());
}

/* The number of periods of the instance that end with this hit. */
static uint64_t sample_periods(const struct sample_array *sample, struct sample_cpu *cpu,
			       const struct trace_sample_hit *hit)
{
	uint64_t period = atomic_load_explicit(&sample->period_ns, memory_order_relaxed), nr;

	if (TRACE_LIKELY(period <= hit->period_ns))
		return hit->periods;
	cpu->credit_ns += (uint64_t)hit->period_ns * hit->periods;
	nr = cpu->credit_ns / period;
	cpu->credit_ns -= nr * period;
	return nr;
}

static TRACE_ALWAYS_INLINE void sample_fill(struct sample_entry *entry,
					    const struct trace_sample_hit *hit, uint32_t period_ns)
{
	entry->ip = hit->ip;
	entry->period = period_ns;
	entry->context = (uint8_t)sample_context_of(hit);
	entry->irqs_off = hit->irqs_off;
	entry->unused = 0;
}

/* `frame` is the __builtin_frame_address(0) of the caller. */
static TRACE_ALWAYS_INLINE void sample_kernel_stack(const struct trace_event_file *file,
						    const struct trace_sample_hit *hit,
						    uintptr_t frame)
{
	const struct trace_stack_start start = { .ip = hit->ip, .span = TRACE_EVENT_PLACE_SPAN };

	if (hit->frame)
		trace_stacktrace_code(file->tr->buffer, hit->frame, 0);
	else
		trace_stacktrace_probe(file->tr->buffer, frame, &start, 0);
}

/* The stacks that the options ask for. */
static TRACE_NOINLINE void sample_stacks(const struct trace_event_file *file,
					 const struct trace_sample_hit *hit)
{
	if (!hit->is_user && trace_stacktrace_wanted(file->tr))
		sample_kernel_stack(file, hit, (uintptr_t)__builtin_frame_address(0));
	if (trace_userstack_wanted(file->tr))
		trace_sample_user_stack(file);
}

/* Without conditions: the event is built in the ring, as the fast path of events is for threads alone. */
static void sample_record(const struct trace_event_file *file, const struct trace_sample_hit *hit,
			  uint32_t period_ns, bool has_stacks)
{
	struct trace_ring_cpu *rc = trace_event_ring_of(file->tr);
	struct sample_entry *entry = trace_ring_reserve(rc, sizeof(*entry));

	if (TRACE_UNLIKELY(!entry))
		return;
	trace_entry_init(&entry->ent, file->type, 0);
	sample_fill(entry, hit, period_ns);
	trace_ring_commit(rc, entry);
	if (has_stacks)
		sample_stacks(file, hit);
}

static void sample_write_special(const struct trace_event_file *file,
				 const struct trace_sample_hit *hit, uint32_t period_ns)
{
	struct sample_entry entry;

	sample_fill(&entry, hit, period_ns);
	trace_event_write_special(&file->front, &entry, SAMPLE_STEP, &trace_event_any, NULL);
}

static void sample_write(const struct trace_event_file *file, const struct trace_sample_hit *hit)
{
	struct sample_array *sample = trace_sample_of(file->tr);
	struct sample_cpu *cpu = &sample->cpus[trace_plat_cpu_id()];
	uint64_t nr = sample_periods(sample, cpu, hit);
	uint32_t period_ns, flags;

	if (!nr || !sample_is_wanted(sample, cpu, hit))
		return;
	if (TRACE_UNLIKELY(nr > 1))
		trace_plat_local_add(&cpu->lost, nr - 1);
	if (TRACE_UNLIKELY(!sample_may_cost(sample, cpu, nr))) {
		sample_throttle(sample, cpu);
		return;
	}
	period_ns = atomic_load_explicit(&sample->period_ns, memory_order_relaxed);
	flags = trace_event_flags(&file->front);
	if (TRACE_LIKELY((flags | TRACE_EVENT_STACK) == SAMPLE_PLAIN))
		sample_record(file, hit, period_ns, flags & TRACE_EVENT_STACK);
	else
		sample_write_special(file, hit, period_ns);
	trace_plat_local_add(&cpu->nr, 1);
	sample_owe(cpu, trace_plat_clock_ns() - hit->now_ns);
}

void trace_sample(const struct trace_sample_hit *hit)
{
	const struct trace_event_file *file = trace_atomic_load_acquire(&trace_sample_call.files);

	for (; file; file = atomic_load_explicit(&file->next_of_call, memory_order_acquire)) {
		if (trace_event_flags(&file->front) & TRACE_EVENT_WANTED)
			sample_write(file, hit);
	}
	trace_sample_watches_call(hit);
}

/* ---- The feature ---- */

const struct trace_sample_host *trace_sample_host;

void trace_sample_host_set(const struct trace_sample_host *host)
{
	trace_sample_host = host;
}

static bool sample_is_there(void)
{
	return trace_sample_host;
}

static int sample_made(struct trace_array *tr)
{
	struct sample_array *sample = trace_sample_of(tr);

	if (!trace_sample_host)
		return 0;
	sample->cpus = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*sample->cpus));
	if (!sample->cpus)
		return -ENOMEM;
	trace_sample_set_rate(sample, SAMPLE_HZ_DEFAULT, SAMPLE_PERCENT);
	sample->bit = trace_sample_take_bit();
	return 0;
}

static void sample_free(struct trace_array *tr)
{
	struct sample_array *sample = trace_sample_of(tr);

	if (sample->cpus)
		trace_plat_free(sample->cpus, trace_plat_nr_cpus() * sizeof(*sample->cpus));
	trace_sample_free_pids(sample->pids);
}

static int sample_init(void)
{
	int err = trace_sample_host ? trace_sample_set_init() : -ENODEV;

	if (!err)
		err = sample_made(&trace_global);
	if (!err) {
		trace_plat_lock(&trace_config_lock);
		err = trace_event_call_add(&trace_sample_call);
		trace_plat_unlock(&trace_config_lock);
	}
	if (!err)
		trace_sample_files_init();
	return err == -ENODEV ? 0 : err;
}

/* The other CPUs have come online. */
static void sample_boot_finish(void)
{
	if (!trace_sample_host)
		return;
	trace_plat_lock(&trace_config_lock);
	trace_sample_apply();
	trace_plat_unlock(&trace_config_lock);
}

static void sample_cpus_change(bool is_done)
{
	if (!trace_sample_host)
		return;
	if (is_done)
		trace_sample_apply();
	else
		trace_sample_pause();
}

const struct trace_feature trace_feature_sample = {
	.name = "sample",
	.is_there = sample_is_there,
	.init = sample_init,
	.boot_finish = sample_boot_finish,
	.cpus_change = sample_cpus_change,
	.instance_made = sample_made,
	.instance_free = sample_free,
};
