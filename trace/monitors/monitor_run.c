/*
 * Monitors at an event: from the occurrence to the next state. See monitor.h.
 *
 * Context: any, NMI included, preemption off.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "monitor_private.h"
#include "events/event_stack.h"
#include "instance/array.h"
#include "text/str.h"

/* Reactions that may be running on a CPU at once: one in each context. */
#define REACTIONS_MAX 4u

_Atomic bool trace_monitors_are_on = true, trace_monitors_react = true;

static void monitor_run_count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- The symbols and the instance of an event ---- */

/* Of the tap's symbols those that the occurrence passes. */
static uint32_t symbols_of(const struct monitor_tap *tap, const struct trace_event_hit *hit)
{
	const struct trace_monitor *monitor = tap->monitor;
	uint32_t found = tap->symbols;

	if (!monitor->has_filters)
		return found;
	for (uint32_t left = tap->symbols; left; left &= left - 1) {
		uint32_t symbol = (uint32_t)__builtin_ctz(left);
		const struct expr_program *filter = monitor->symbols[symbol].filter;

		if (filter && !trace_expr_match(filter, hit->entry, hit->bytes))
			found &= ~(1u << symbol);
	}
	return found;
}

/* A function of its own: the scratch of a run takes no room of all others. */
static TRACE_NOINLINE uint64_t monitor_run_compute(const struct expr_program *key,
						   const struct trace_event_hit *hit)
{
	struct expr_run run;

	run.data = hit->entry;
	run.len = hit->bytes;
	return trace_expr_run(&run, key->insns);
}

/* The key's number; 0 when the event is too short. */
static uint64_t monitor_run_id_of(const struct expr_program *key, const struct trace_event_hit *hit)
{
	if (!key || hit->bytes < key->min_len)
		return 0;
	if (key->insns[0].op == EXPR_CPU)
		return trace_plat_cpu_id();
	if (key->nr == 2)
		return expr_field(&key->insns[0], hit->entry);
	return monitor_run_compute(key, hit);
}

static monitor_word *monitor_run_find_field(struct trace_monitor *monitor, uint64_t id)
{
	struct hist_key key = { .words = &id, .nr_words = 1, .hash = hist_hash(0, id) };
	struct hist_entry *entry = hist_map_find(&monitor->fields, &id, 1, key.hash);

	if (!entry)
		entry = trace_hist_map_add(&monitor->fields, &key);
	return entry ? &entry->words[1] : NULL;
}

/* The state that the event is about, and in *out_tag its high half; NULL: there is none. */
static monitor_word *find_state(struct trace_monitor *monitor, uint64_t id, uint64_t *out_tag)
{
	*out_tag = 0;
	switch (monitor->per) {
	case MONITOR_GLOBAL:
		return &monitor->state;
	case MONITOR_CPU:
		return id < monitor->nr_cpus ? &monitor_cpu_of(monitor, (uint32_t)id)->state : NULL;
	case MONITOR_THREAD:
		*out_tag = id << 32;
		return trace_monitor_threads_find(&monitor->threads, (int32_t)id);
	default:
		return monitor_run_find_field(monitor, id);
	}
}

/* ---- Violations ---- */

/* The addresses where the event occurred, and who called that. */
static uint32_t monitor_run_find_place(const struct trace_event_hit *hit, uint32_t *out_ips)
{
	const struct trace_stack_start start =
		trace_event_stack_start(hit->file->call, hit->entry, hit->caller);

	return trace_stacktrace_place((uintptr_t)__builtin_frame_address(0), &start, out_ips,
				      MONITOR_PLACE_MAX);
}

/* Keep a violation for `hits`, unless the place is busy. */
static void monitor_run_keep(struct trace_monitor *monitor, const struct monitor_violation *found)
{
	struct monitor_violation *last = &monitor->last;

	if (atomic_exchange_explicit(&last->is_busy, true, memory_order_acquire))
		return;
	last->is_valid = true;
	last->state = found->state;
	last->symbol = found->symbol;
	last->cpu = found->cpu;
	last->pid = found->pid;
	memcpy(last->comm, found->comm, sizeof(last->comm));
	last->time_ns = found->time_ns;
	last->id = found->id;
	last->nr_ips = found->nr_ips;
	memcpy(last->ips, found->ips, sizeof(last->ips));
	atomic_store_explicit(&last->is_busy, false, memory_order_release);
}

static void react(struct trace_monitor *monitor, const struct trace_event_hit *hit, uint64_t id,
		  uint32_t state, uint32_t symbol)
{
	const struct trace_reactor *reactor =
		atomic_load_explicit(&monitor->reactor, memory_order_relaxed);
	struct monitor_violation found = { .state = (uint8_t)state,
					   .symbol = (uint8_t)symbol,
					   .cpu = trace_plat_cpu_id(),
					   .pid = trace_plat_current_pid(),
					   .time_ns = trace_plat_clock_ns(),
					   .id = id };
	struct trace_violation violation = { .monitor = monitor->name,
					     .state = monitor->states[state],
					     .event = monitor->symbols[symbol].label,
					     .comm = found.comm,
					     .pid = found.pid,
					     .cpu = found.cpu,
					     .ips = found.ips };

	trace_plat_current_comm(found.comm);
	found.nr_ips = monitor_run_find_place(hit, found.ips);
	violation.nr_ips = found.nr_ips;
	monitor_run_keep(monitor, &found);
	trace_monitor_write_error(monitor, id, state, symbol);
	if (atomic_load_explicit(&trace_monitors_react, memory_order_relaxed) && reactor->react)
		reactor->react(hit->file->tr, &violation);
}

/* A reaction may cause events itself; those are judged, but not reacted to without end. */
static TRACE_NOINLINE void violate(struct trace_monitor *monitor, const struct trace_event_hit *hit,
				   uint64_t id, uint32_t state, uint32_t symbol)
{
	struct monitor_cpu *cpu = monitor_cpu_of(monitor, trace_plat_cpu_id());

	if (atomic_fetch_add_explicit(&cpu->depth, 1, memory_order_relaxed) < REACTIONS_MAX)
		react(monitor, hit, id, state, symbol);
	else
		monitor_run_count(&cpu->nr_silent);
	atomic_fetch_sub_explicit(&cpu->depth, 1, memory_order_relaxed);
}

/* ---- A step ---- */

/* The step of an event from a state. */
struct step {
	uint32_t symbol;
	uint32_t next; /* a state + 1; 0: it is not known */
};

/* `state` is one + 1, or 0: not known. False: nothing happens. */
static bool find_step(const struct trace_monitor *monitor, uint32_t state, uint32_t symbols,
		      struct step *out_step)
{
	uint32_t fit = symbols & (state ? monitor->allowed[state - 1] : monitor->starts);

	if (!fit && !state)
		return false;
	out_step->symbol = (uint32_t)__builtin_ctz(fit ? fit : symbols);
	out_step->next = 0;
	if (fit)
		out_step->next = 1u + (state ? monitor->next[state - 1][out_step->symbol]
					     : monitor->start_state[out_step->symbol]);
	return true;
}

/* Report a step: write its events, and react to a violation. */
static void tell(struct trace_monitor *monitor, const struct trace_event_hit *hit, uint64_t id,
		 uint32_t state, const struct step *step)
{
	struct monitor_cpu *cpu = monitor_cpu_of(monitor, trace_plat_cpu_id());

	if (!state) {
		monitor_run_count(&cpu->nr_starts);
		return;
	}
	monitor_run_count(&cpu->cells[(state - 1) * monitor->nr_symbols + step->symbol]);
	if (step->next)
		trace_monitor_write_step(monitor, id, state - 1, step->symbol, step->next - 1);
	else
		violate(monitor, hit, id, state - 1, step->symbol);
}

void trace_monitor_watch_hit(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	struct monitor_tap *tap = (void *)((char *)watch - offsetof(struct monitor_tap, watch));
	struct trace_monitor *monitor = tap->monitor;
	uint32_t symbols, state;
	monitor_word *place;
	uint64_t id, tag, word;
	struct step step;

	if (!atomic_load_explicit(&monitor->is_running, memory_order_acquire))
		return;
	symbols = symbols_of(tap, hit);
	if (!symbols)
		return;
	id = monitor_run_id_of(tap->key, hit);
	place = find_state(monitor, id, &tag);
	word = place ? atomic_load_explicit(place, memory_order_relaxed) : 0;
	do {
		if (!place || (word ^ tag) >> 32) {
			/* A thread's place may be another one's by now. */
			monitor_run_count(&monitor_cpu_of(monitor, trace_plat_cpu_id())->nr_others);
			return;
		}
		state = (uint32_t)word & 0xff;
		if (!find_step(monitor, state, symbols, &step)) {
			monitor_run_count(&monitor_cpu_of(monitor, trace_plat_cpu_id())->nr_early);
			return;
		}
	} while (!atomic_compare_exchange_weak(place, &word, tag | step.next));
	tell(monitor, hit, id, state, &step);
}

/* ---- All states at once ---- */

static void monitor_run_forget(monitor_word *word)
{
	atomic_fetch_and(word, ~(uint64_t)0xff);
}

void trace_monitor_forget(struct trace_monitor *monitor)
{
	struct hist_entry *entry;
	size_t at = 0;

	monitor_run_forget(&monitor->state);
	for (uint32_t cpu = 0; cpu < monitor->nr_cpus; cpu++)
		monitor_run_forget(&monitor_cpu_of(monitor, cpu)->state);
	for (uint32_t i = 0; monitor->threads.slots && i <= monitor->threads.mask; i++)
		monitor_run_forget(&monitor->threads.slots[i]);
	while (monitor->fields.slots && (entry = trace_hist_map_next(&monitor->fields, &at)))
		monitor_run_forget(&entry->words[1]);
}
