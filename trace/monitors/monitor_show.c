/*
 * Monitors as text, for files. See monitor.h.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "monitor_private.h"
#include "text/str.h"

#define NS_PER_SEC 1000000000u
#define NS_PER_US  1000u

static const char unknown[] = "unknown";

/*
 * Write a monitor's line. Those that come with trace/ are marked in a comment, so that the text can
 * be written back.
 */
void trace_monitor_show_line(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%sm:%s%s\n", monitor->desc ? "# " : "", monitor->name,
			 monitor->text);
}

/* ---- Present states ---- */

/* `nr` has room for all states, and in front of them for what is unknown. */
static void count_threads(const struct trace_monitor *monitor, uint64_t *nr)
{
	const struct monitor_threads *threads = &monitor->threads;

	for (uint32_t i = 0; threads->slots && i <= threads->mask; i++) {
		uint64_t word = *monitor_threads_slot(threads, i);

		if (word && word >> 32 != UINT32_MAX)
			nr[word & MONITOR_STATE_MASK]++;
	}
}

static void count_fields(const struct trace_monitor *monitor, uint64_t *nr)
{
	struct hist_entry *entry;
	size_t at = 0;

	while (monitor->fields.slots && (entry = trace_hist_map_next(&monitor->fields, &at)))
		nr[entry->words[1] & MONITOR_STATE_MASK]++;
}

static void count_states(const struct trace_monitor *monitor, uint64_t *nr)
{
	if (monitor->per == MONITOR_GLOBAL)
		nr[monitor->place[0] & MONITOR_STATE_MASK]++;
	for (uint32_t cpu = 0; monitor->per == MONITOR_CPU && cpu < monitor->nr_cpus; cpu++)
		nr[monitor_cpu_of(monitor, cpu)->place[0] & MONITOR_STATE_MASK]++;
	count_threads(monitor, nr);
	count_fields(monitor, nr);
}

static void show_clocks(const struct trace_monitor *monitor, const uint64_t *times,
			struct trace_seq *seq)
{
	for (uint32_t i = 0; i < monitor->nr_clocks; i++)
		trace_seq_printf(seq, ", %s %llu.%03llu us", monitor->clocks[i],
				 (unsigned long long)(times[i] / NS_PER_US),
				 (unsigned long long)(times[i] % NS_PER_US));
}

/* Write the state at a place, and its clocks. */
static void show_place(const struct trace_monitor *monitor, const monitor_word *place,
		       struct trace_seq *seq)
{
	uint64_t times[MONITOR_CLOCKS_MAX], word = *place;
	uint32_t state = (uint32_t)word & MONITOR_STATE_MASK;

	trace_seq_puts(seq, state ? monitor->states[state - 1] : unknown);
	if (state) {
		trace_monitor_read_clocks(monitor, place, word, times);
		show_clocks(monitor, times, seq);
	}
	trace_seq_putc(seq, '\n');
}

static void show_each_thread(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	const struct monitor_threads *threads = &monitor->threads;
	char comm[TRACE_COMM_LEN];

	for (uint32_t i = 0; threads->slots && i <= threads->mask; i++) {
		const monitor_word *slot = monitor_threads_slot(threads, i);
		int32_t pid = (int32_t)(*slot >> 32);

		if (pid <= 0)
			continue;
		if (!trace_plat_thread_comm(pid, true, comm))
			trace_strcpy(comm, "<...>", sizeof(comm));
		trace_seq_printf(seq, "%s-%d: ", comm, pid);
		show_place(monitor, slot, seq);
	}
}

static void show_each_field(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	struct hist_entry *entry;
	size_t at = 0;

	while (monitor->fields.slots && (entry = trace_hist_map_next(&monitor->fields, &at))) {
		trace_seq_printf(seq, "%s 0x%llx: ", monitor->per_field,
				 (unsigned long long)entry->words[0]);
		show_place(monitor, &entry->words[1], seq);
	}
}

static void show_each(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	if (monitor->per == MONITOR_GLOBAL)
		show_place(monitor, monitor->place, seq);
	for (uint32_t cpu = 0; monitor->per == MONITOR_CPU && cpu < monitor->nr_cpus; cpu++) {
		trace_seq_printf(seq, "cpu%u: ", cpu);
		show_place(monitor, monitor_cpu_of(monitor, cpu)->place, seq);
	}
	show_each_thread(monitor, seq);
	show_each_field(monitor, seq);
}

void trace_monitor_show_states(struct trace_monitor *monitor, struct trace_seq *seq)
{
	uint64_t nr[1 + MONITOR_STATES_MAX] = { 0 };

	if (!monitor->is_enabled) {
		trace_seq_puts(seq, "# the monitor is off\n");
		return;
	}
	count_states(monitor, nr);
	trace_seq_printf(seq, "# %s %llu", unknown, (unsigned long long)nr[0]);
	for (uint32_t i = 0; i < monitor->nr_states; i++)
		trace_seq_printf(seq, ", %s %llu", monitor->states[i],
				 (unsigned long long)nr[i + 1]);
	trace_seq_putc(seq, '\n');
	show_each(monitor, seq);
}

/* ---- Counts ---- */

/* How often a symbol occurred in a state; `is_late`: but for a condition that did not hold. */
static uint64_t cell(const struct trace_monitor *monitor, uint32_t state, uint32_t symbol,
		     bool is_late)
{
	uint32_t at = (state + is_late * monitor->nr_states) * monitor->nr_symbols + symbol;
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < monitor->nr_cpus; cpu++)
		sum += monitor_cpu_of(monitor, cpu)->cells[at];
	return sum;
}

/* All that CPUs count besides. */
struct sums {
	uint64_t nr_starts, nr_early, nr_others, nr_silent, nr_steps, nr_violations;
};

static void sum_up(const struct trace_monitor *monitor, struct sums *sums)
{
	*sums = (struct sums){ 0 };
	for (uint32_t cpu = 0; cpu < monitor->nr_cpus; cpu++) {
		const struct monitor_cpu *one = monitor_cpu_of(monitor, cpu);

		sums->nr_starts += one->nr_starts;
		sums->nr_early += one->nr_early;
		sums->nr_others += one->nr_others;
		sums->nr_silent += one->nr_silent;
	}
	for (uint32_t state = 0; state < monitor->nr_states; state++) {
		for (uint32_t symbol = 0; symbol < monitor->nr_symbols; symbol++) {
			if (!(monitor->allowed[state] & 1u << symbol))
				sums->nr_violations += cell(monitor, state, symbol, false);
			else
				sums->nr_steps += cell(monitor, state, symbol, false);
			if (monitor->nr_clocks)
				sums->nr_violations += cell(monitor, state, symbol, true);
		}
	}
}

static void show_cell(const struct trace_monitor *monitor, uint32_t state, uint32_t symbol,
		      bool is_late, struct trace_seq *seq)
{
	bool has_step = monitor->allowed[state] & 1u << symbol;

	trace_seq_printf(seq, "%10llu  %s x %s -> %s\n",
			 (unsigned long long)cell(monitor, state, symbol, is_late),
			 monitor->states[state], monitor->symbols[symbol].label,
			 is_late     ? "late: violation"
			 : !has_step ? "violation"
				     : monitor->states[monitor->next[state][symbol]]);
}

static void show_table(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	for (uint32_t state = 0; state < monitor->nr_states; state++) {
		for (uint32_t symbol = 0; symbol < monitor->nr_symbols; symbol++) {
			show_cell(monitor, state, symbol, false, seq);
			if (monitor->symbols[symbol].guard &&
			    monitor->allowed[state] & 1u << symbol)
				show_cell(monitor, state, symbol, true, seq);
		}
	}
}

/* Write the owner of a state. */
static void show_id(const struct trace_monitor *monitor, uint64_t id, struct trace_seq *seq)
{
	if (monitor->per == MONITOR_CPU)
		trace_seq_printf(seq, ", of cpu%llu", (unsigned long long)id);
	else if (monitor->per == MONITOR_THREAD)
		trace_seq_printf(seq, ", of thread %d", (int)id);
	else if (monitor->per == MONITOR_FIELD)
		trace_seq_printf(seq, ", of %s 0x%llx", monitor->per_field, (unsigned long long)id);
}

static void show_last(const struct trace_monitor *monitor, struct trace_seq *seq)
{
	const struct monitor_violation *last = &monitor->last;

	if (!last->is_valid)
		return;
	trace_seq_printf(seq, "last: event %s not expected in the state %s",
			 monitor->symbols[last->symbol].label, monitor->states[last->state]);
	show_id(monitor, last->id, seq);
	show_clocks(monitor, last->clocks, seq);
	trace_seq_printf(seq, "\n      by %s-%d on cpu%u at %llu.%06llu\n", last->comm, last->pid,
			 last->cpu, (unsigned long long)(last->time_ns / NS_PER_SEC),
			 (unsigned long long)(last->time_ns % NS_PER_SEC / NS_PER_US));
	for (uint32_t i = 0; i < last->nr_ips; i++)
		trace_seq_printf(seq, "      => %pB\n", (void *)trace_plat_ip_unpack(last->ips[i]));
}

void trace_monitor_show_hits(struct trace_monitor *monitor, struct trace_seq *seq)
{
	struct sums sums;

	sum_up(monitor, &sums);
	trace_seq_printf(seq, "steps: %llu\nviolations: %llu\nbegun: %llu\nbefore that: %llu\n",
			 (unsigned long long)sums.nr_steps, (unsigned long long)sums.nr_violations,
			 (unsigned long long)sums.nr_starts, (unsigned long long)sums.nr_early);
	if (monitor->per == MONITOR_THREAD || monitor->per == MONITOR_CPU)
		trace_seq_printf(seq, "of nobody: %llu\n", (unsigned long long)sums.nr_others);
	if (monitor->per == MONITOR_THREAD)
		trace_seq_printf(seq, "threads without room: %llu\n",
				 (unsigned long long)monitor->threads.nr_lost);
	if (monitor->per == MONITOR_FIELD)
		trace_seq_printf(seq, "drops: %llu\n", (unsigned long long)sums.nr_others);
	if (sums.nr_silent)
		trace_seq_printf(seq, "without reaction: %llu\n",
				 (unsigned long long)sums.nr_silent);
	show_table(monitor, seq);
	/* A violation that happens now is not noted. */
	while (atomic_exchange(&monitor->last.is_busy, true))
		;
	show_last(monitor, seq);
	atomic_store(&monitor->last.is_busy, false);
}
