/*
 * Monitors at an event: from the occurrence to the next state. See monitor.h.
 *
 * Context: any, NMI included, preemption off.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "monitor_private.h"
#include "monitor_react.h"
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
static uint64_t monitor_run_id_of(const struct monitor_tap *tap, const struct trace_event_hit *hit)
{
	const struct expr_program *key = tap->key;

	if (tap->about.class == EXPR_CLASS_CPU)
		return trace_plat_cpu_id();
	if (!key || hit->bytes < key->min_len)
		return 0;
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

/* The place that the event is about, and in *out_tag its owner; NULL: there is none. */
static monitor_word *find_place(struct trace_monitor *monitor, uint64_t id, uint64_t *out_tag)
{
	*out_tag = 0;
	switch (monitor->per) {
	case MONITOR_GLOBAL:
		return monitor->place;
	case MONITOR_CPU:
		return id < monitor->nr_cpus ? monitor_cpu_of(monitor, (uint32_t)id)->place : NULL;
	case MONITOR_THREAD:
		*out_tag = id << 32;
		return trace_monitor_threads_find(&monitor->threads, (int32_t)id);
	default:
		return monitor_run_find_field(monitor, id);
	}
}

/* ---- Clocks ---- */

uint64_t trace_monitor_read_clocks(const struct trace_monitor *monitor, const monitor_word *place,
				   uint64_t word, uint64_t *out_times)
{
	uint64_t now = trace_plat_clock_ns();

	for (uint32_t i = 0; i < monitor->nr_clocks; i++) {
		uint64_t since = atomic_load_explicit(&place[1 + i], memory_order_relaxed);
		bool is_being_reset = word >> MONITOR_RESET_SHIFT(i) & MONITOR_RESETS_MAX;

		out_times[i] = is_being_reset || since > now ? 0 : now - since;
	}
	return now;
}

/* One reset of a clock is over. The place may have another owner by now, who knows of no reset. */
static void monitor_run_end_reset(monitor_word *place, uint64_t tag, uint32_t shift)
{
	uint64_t word = atomic_load_explicit(place, memory_order_relaxed);

	do {
		if ((word ^ tag) >> 32 || !(word >> shift & MONITOR_RESETS_MAX))
			return;
	} while (!atomic_compare_exchange_weak(place, &word, word - (1ull << shift)));
}

/* Store the time of the resets that a step has announced: the latest one stays. */
static void monitor_run_reset(monitor_word *place, uint64_t tag, uint32_t clocks, uint64_t now)
{
	for (; clocks; clocks &= clocks - 1) {
		uint32_t clock = (uint32_t)__builtin_ctz(clocks);
		monitor_word *since = &place[1 + clock];
		uint64_t before = atomic_load_explicit(since, memory_order_relaxed);

		while (before < now && !atomic_compare_exchange_weak(since, &before, now))
			;
		monitor_run_end_reset(place, tag, MONITOR_RESET_SHIFT(clock));
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
	memcpy(last->clocks, found->clocks, sizeof(last->clocks));
	last->nr_ips = found->nr_ips;
	memcpy(last->ips, found->ips, sizeof(last->ips));
	atomic_store_explicit(&last->is_busy, false, memory_order_release);
}

/* A step that the monitor does not allow. */
struct monitor_offence {
	const struct trace_event_hit *hit;
	uint64_t id;
	uint32_t state, symbol;
	const uint64_t *times; /* of all clocks; NULL: there is none */
};

static void react(struct trace_monitor *monitor, const struct monitor_offence *offence)
{
	uint32_t state = offence->state, symbol = offence->symbol;
	const struct trace_reactor *reactor =
		atomic_load_explicit(&monitor->reactor, memory_order_relaxed);
	struct monitor_violation found = { .state = (uint8_t)state,
					   .symbol = (uint8_t)symbol,
					   .cpu = trace_plat_cpu_id(),
					   .pid = trace_plat_current_pid(),
					   .time_ns = trace_plat_clock_ns(),
					   .id = offence->id };
	struct trace_violation violation = { .monitor = monitor->name,
					     .state = monitor->states[state],
					     .event = monitor->symbols[symbol].label,
					     .comm = found.comm,
					     .pid = found.pid,
					     .cpu = found.cpu,
					     .ips = found.ips,
					     .clocks = monitor->clocks,
					     .times = found.clocks,
					     .nr_clocks = monitor->nr_clocks };

	if (offence->times)
		memcpy(found.clocks, offence->times, sizeof(found.clocks));
	trace_plat_current_comm(found.comm);
	found.nr_ips = monitor_run_find_place(offence->hit, found.ips);
	violation.nr_ips = found.nr_ips;
	monitor_run_keep(monitor, &found);
	trace_monitor_write_error(monitor, offence->id, state, symbol);
	if (atomic_load_explicit(&trace_monitors_react, memory_order_relaxed) && reactor->react)
		reactor->react(offence->hit->file->tr, &violation);
}

/* A reaction may cause events itself; those are judged, but not reacted to without end. */
static TRACE_NOINLINE void violate(struct trace_monitor *monitor,
				   const struct monitor_offence *offence)
{
	struct monitor_cpu *cpu = monitor_cpu_of(monitor, trace_plat_cpu_id());

	if (atomic_fetch_add_explicit(&cpu->depth, 1, memory_order_relaxed) < REACTIONS_MAX)
		react(monitor, offence);
	else
		monitor_run_count(&cpu->nr_silent);
	atomic_fetch_sub_explicit(&cpu->depth, 1, memory_order_relaxed);
}

/* ---- A step ---- */

/* The step of an event from a state. */
struct step {
	uint32_t symbol;
	uint32_t next;	 /* a state + 1; 0: it is not known */
	uint32_t resets; /* a bit for each clock */
	bool is_late;	 /* a condition does not hold */
};

/* Of the symbols those whose conditions hold. */
static uint32_t monitor_run_in_time(const struct trace_monitor *monitor, uint32_t symbols,
				    const uint64_t *times)
{
	uint32_t found = symbols;

	for (uint32_t left = symbols; left; left &= left - 1) {
		uint32_t symbol = (uint32_t)__builtin_ctz(left);
		const struct expr_program *guard = monitor->symbols[symbol].guard;

		if (guard && !trace_expr_match(guard, times, sizeof(uint64_t[MONITOR_CLOCKS_MAX])))
			found &= ~(1u << symbol);
	}
	return found;
}

/* `state` is one + 1, or 0: not known. False: nothing happens. */
static TRACE_ALWAYS_INLINE bool find_step(const struct trace_monitor *monitor, uint32_t state,
					  uint32_t symbols, struct step *out_step)
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

/* The same where there are clocks; all of them begin with the first state. */
static bool monitor_run_find_timed(const struct trace_monitor *monitor, uint32_t state,
				   uint32_t symbols, const uint64_t *times, struct step *out_step)
{
	uint32_t allowed = state ? symbols & monitor->allowed[state - 1] : 0;
	uint32_t fit = monitor_run_in_time(monitor, allowed, times);

	out_step->is_late = allowed && !fit;
	if (!find_step(monitor, state, fit ? fit : symbols, out_step))
		return false;
	if (out_step->is_late)
		out_step->next = 0;
	out_step->resets =
		state ? monitor->symbols[out_step->symbol].resets : (1u << monitor->nr_clocks) - 1;
	return true;
}

/* The word behind a step: another state, and resets that begin. */
static uint64_t monitor_run_word_of(uint64_t word, const struct step *step)
{
	uint32_t low = ((uint32_t)word & ~MONITOR_STATE_MASK) | step->next;

	if (step->resets)
		low += MONITOR_CHANGE;
	for (uint32_t clock = 0; step->resets >> clock; clock++)
		low += (step->resets >> clock & 1) << MONITOR_RESET_SHIFT(clock);
	return (word >> 32 << 32) | low;
}

/* Report a step: write its events, and react to a violation. `state` is one + 1, or 0. */
// NOLINTNEXTLINE(readability-function-size): it is inlined, the numbers stay in registers
static TRACE_ALWAYS_INLINE void tell(struct trace_monitor *monitor,
				     const struct trace_event_hit *hit, uint64_t id, uint32_t state,
				     const struct step *step, const uint64_t *times)
{
	struct monitor_cpu *cpu = monitor_cpu_of(monitor, trace_plat_cpu_id());
	uint32_t row = state - 1;

	if (!state) {
		monitor_run_count(&cpu->nr_starts);
		return;
	}
	if (times && step->is_late)
		row += monitor->nr_states;
	monitor_run_count(&cpu->cells[row * monitor->nr_symbols + step->symbol]);
	if (step->next)
		trace_monitor_write_step(monitor, id, state - 1, step->symbol, step->next - 1);
	else
		violate(monitor,
			&(struct monitor_offence){ hit, id, state - 1, step->symbol, times });
}

/*
 * Make the step of an event which may be each of `symbols`, and is about the state at a place, or
 * NULL. `times` is an array for those of the clocks; or NULL, a constant: there are none.
 */
// NOLINTNEXTLINE(readability-function-size): it is inlined, the numbers stay in registers
static TRACE_ALWAYS_INLINE void monitor_run_step(struct trace_monitor *monitor,
						 const struct trace_event_hit *hit, uint64_t id,
						 uint32_t symbols, monitor_word *place,
						 uint64_t tag, uint64_t *times)
{
	uint64_t word = place ? atomic_load_explicit(place, memory_order_acquire) : 0, now = 0;
	uint32_t state;
	struct step step;
	bool is_found;

	do {
		if (!place || (word ^ tag) >> 32) {
			/* A thread's place may be another one's by now. */
			monitor_run_count(&monitor_cpu_of(monitor, trace_plat_cpu_id())->nr_others);
			return;
		}
		state = (uint32_t)word & MONITOR_STATE_MASK;
		if (times) {
			now = trace_monitor_read_clocks(monitor, place, word, times);
			is_found = monitor_run_find_timed(monitor, state, symbols, times, &step);
		} else {
			is_found = find_step(monitor, state, symbols, &step);
		}
		if (!is_found) {
			monitor_run_count(&monitor_cpu_of(monitor, trace_plat_cpu_id())->nr_early);
			return;
		}
	} while (!atomic_compare_exchange_weak(
		place, &word, times ? monitor_run_word_of(word, &step) : tag | step.next));
	if (times && step.resets)
		monitor_run_reset(place, tag, step.resets, now);
	tell(monitor, hit, id, state, &step, times);
}

/* An event that a monitor has seen, as the arguments of monitor_run_step(). */
struct monitor_seen {
	const struct trace_event_hit *hit;
	uint64_t id;
	uint32_t symbols;
	monitor_word *place;
	uint64_t tag;
};

static TRACE_NOINLINE void monitor_run_timed(struct trace_monitor *monitor,
					     const struct monitor_seen *seen)
{
	uint64_t times[MONITOR_CLOCKS_MAX] = { 0 };

	monitor_run_step(monitor, seen->hit, seen->id, seen->symbols, seen->place, seen->tag,
			 times);
}

void trace_monitor_watch_hit(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	struct monitor_tap *tap = (void *)((char *)watch - offsetof(struct monitor_tap, watch));
	struct trace_monitor *monitor = tap->monitor;
	monitor_word *place;
	uint32_t symbols;
	uint64_t id, tag;

	if (!atomic_load_explicit(&monitor->is_running, memory_order_acquire))
		return;
	symbols = monitor->has_filters ? symbols_of(tap, hit) : tap->symbols;
	if (!symbols)
		return;
	id = monitor_run_id_of(tap, hit);
	place = find_place(monitor, id, &tag);
	if (monitor->nr_clocks)
		monitor_run_timed(monitor, &(struct monitor_seen){ hit, id, symbols, place, tag });
	else
		monitor_run_step(monitor, hit, id, symbols, place, tag, NULL);
}

/* ---- All states at once ---- */

static void monitor_run_forget(monitor_word *word)
{
	atomic_fetch_and(word, ~(uint64_t)MONITOR_STATE_MASK);
}

void trace_monitor_forget(struct trace_monitor *monitor)
{
	struct hist_entry *entry;
	size_t at = 0;

	monitor_run_forget(monitor->place);
	for (uint32_t cpu = 0; cpu < monitor->nr_cpus; cpu++)
		monitor_run_forget(monitor_cpu_of(monitor, cpu)->place);
	for (uint32_t i = 0; monitor->threads.slots && i <= monitor->threads.mask; i++)
		monitor_run_forget(monitor_threads_slot(&monitor->threads, i));
	while (monitor->fields.slots && (entry = trace_hist_map_next(&monitor->fields, &at)))
		monitor_run_forget(&entry->words[1]);
}
