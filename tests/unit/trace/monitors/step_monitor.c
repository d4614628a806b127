/*
 * Monitors, compiled as in the kernel: an NMI before every single instruction of a hit is a hit, too.
 * Each makes one step, and a violation is told of once.
 *
 * links: trace/monitors/monitor_run.c trace/monitors/monitor_memory.c trace/monitors/monitor_threads.c trace/hist/hist_map.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include "fast.h"
#include "events/event_file.h"
#include "instance/stacktrace.h"
#include "monitors/monitor_private.h"
#include "monitors/monitor_react.h"

#define MAX_INSNS 2048u

/* Of four occurrences the first begins, two are steps, the last is a violation. */
enum {
	A,
	B,
	C,
	NR_STATES
};
static uint32_t nr_steps, nr_errors, nr_reactions, nr_nmis, nr_guards;
#define LONG_NS 1000000000000ull
static struct expr_program soon, always;
static bool reacts_with_hits; /* so many that one of them is a violation again */

static void hit(void *arg);

static void react(struct trace_array *tr, const struct trace_violation *violation)
{
	(void)tr;
	assert_string_equal(violation->state, "c");
	nr_reactions++;
	for (uint32_t i = 0; reacts_with_hits && i < 4; i++)
		hit(NULL);
}

static const struct trace_reactor reactor = { .name = "count", .react = react };
static struct trace_event_call call;
static struct trace_event_file file = { .call = &call };
static struct {
	struct trace_entry ent;
	int32_t who;
} entry = { .who = 1 };
static struct trace_monitor monitor = {
	.name = "one",
	.nr_states = NR_STATES,
	.nr_symbols = 1,
	.nr_taps = 1,
	.states = { "a", "b", "c" },
	.symbols = { { .label = "x" } },
	.taps = { { .monitor = &monitor, .call = &call, .symbols = 1 } },
	.allowed = { 1, 1, 0 },
	.next = { { B }, { C }, { 0 } },
	.starts = 1,
	.start_state = { A },
	.reactor = &reactor,
	.size = 16,
};

/* A key: the entry's number. */
static struct expr_program *who_key;

static void make_key(void)
{
	const struct expr_insn who = {
		.op = EXPR_FIELD,
		.offset = offsetof(__typeof__(entry), who) + sizeof(entry.who) - 8,
		.shift = 32,
		.mask = UINT64_MAX,
	};

	who_key = calloc(1, sizeof(*who_key) + 2 * sizeof(who));
	assert_non_null(who_key);
	who_key->nr = 2;
	who_key->min_len = sizeof(entry);
	who_key->insns[0] = who;
	who_key->insns[1].op = EXPR_END;
}

/* ---- The functions that it is linked against ---- */

uint64_t trace_expr_run(struct expr_run *run, const struct expr_insn *insn)
{
	(void)run, (void)insn;
	fail_msg("keys of one number need no loop");
	return 0;
}

/*
 * Guards: that a clock has not run for long; and another one, which is only asked while all hits
 * reset the clock.
 */
bool trace_expr_match(const struct expr_program *guard, const void *data, uint32_t len)
{
	const uint64_t *times = data;

	assert_int_equal(len, sizeof(uint64_t[MONITOR_CLOCKS_MAX]));
	nr_guards++;
	if (guard == &soon)
		return times[0] < LONG_NS;
	assert_true(times[0] < LONG_NS);
	return true;
}

void trace_plat_current_comm(char *out)
{
	memcpy(out, "nmi", 4);
}

uint32_t trace_stacktrace_place(uintptr_t frame, const struct trace_stack_start *start,
				uint32_t *out_ips, uint32_t max)
{
	(void)frame, (void)start, (void)out_ips, (void)max;
	return 0;
}

void trace_monitor_write_step(struct trace_monitor *of, uint64_t id, uint32_t state,
			      uint32_t symbol, uint32_t next)
{
	(void)id, (void)symbol;
	if (of == &monitor)
		assert_int_equal(next, state + 1);
	nr_steps++;
}

void trace_monitor_write_error(struct trace_monitor *of, uint64_t id, uint32_t state,
			       uint32_t symbol)
{
	(void)id, (void)symbol;
	if (of == &monitor)
		assert_int_equal(state, C);
	nr_errors++;
}

/* ---- Hits ---- */

static TRACE_NOINLINE void hit(void *arg)
{
	const struct trace_event_hit at = { .file = &file,
					    .entry = &entry,
					    .bytes = sizeof(entry) };

	(void)arg;
	trace_monitor_watch_hit(&monitor.taps[0].watch, &at);
}

static void nmi(void)
{
	nr_nmis++;
	hit(NULL);
}

/* Two at once, so that the state is another one twice. */
static void two_nmis(void)
{
	nmi();
	nmi();
}

/* Nothing is known, but for `nr` hits. */
static void begin(uint32_t nr)
{
	assert_int_equal(trace_monitor_memory_make(&monitor), 0);
	if (monitor.per == MONITOR_THREAD)
		trace_monitor_threads_add(&monitor.threads, entry.who);
	monitor.is_running = true;
	nr_steps = nr_errors = nr_reactions = nr_nmis = nr_guards = 0;
	while (nr--)
		hit(NULL);
}

/* All resets have ended, and both clocks were reset with the first state. */
static void check_clocks(void)
{
	const monitor_word *place = monitor.place;

	if (!monitor.nr_clocks)
		return;
	if (monitor.per == MONITOR_CPU)
		place = monitor_cpu_of(&monitor, 0)->place;
	if (monitor.per == MONITOR_THREAD)
		place = trace_monitor_threads_find(&monitor.threads, entry.who);
	assert_int_equal((*place & UINT32_MAX) >> 8 & 0x3ffff, 0);
	assert_in_range(place[1], 1, UINT64_MAX);
	assert_in_range(place[2], 1, place[1]);
}

static void check(uint32_t nr)
{
	const struct monitor_cpu *cpu = monitor_cpu_of(&monitor, 0);

	assert_int_equal(cpu->nr_starts, (nr + 3) / 4);
	assert_int_equal(cpu->cells[A], (nr + 2) / 4);
	assert_int_equal(cpu->cells[B], (nr + 1) / 4);
	assert_int_equal(cpu->cells[C], nr / 4);
	assert_int_equal(nr_steps, (nr + 2) / 4 + (nr + 1) / 4);
	assert_int_equal(nr_errors, nr / 4);
	assert_int_equal(nr_reactions, nr / 4);
	assert_int_equal(cpu->nr_early + cpu->nr_others + cpu->nr_silent + cpu->depth, 0);
	assert_false(monitor.last.is_busy);
	assert_int_equal(monitor.last.is_valid, nr / 4 > 0);
	check_clocks();
}

/* At each instruction of the hit that comes behind `nr` others. */
static void at_each(uint32_t nr, void (*irq)(void))
{
	uint8_t *insns[MAX_INSNS];
	size_t nr_insns, nr_came = 0;

	begin(nr);
	fast_trace(hit, NULL, insns, MAX_INSNS, &nr_insns);
	assert_in_range(nr_insns, 20, MAX_INSNS - 1);
	check(nr + 1);
	for (size_t i = 0; i < nr_insns; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = irq };

		begin(nr);
		nr_came += fast_run_at(hit, NULL, &point, 1);
		check(nr + 1 + nr_nmis);
	}
	assert_in_range(nr_came, nr_insns * 9 / 10, nr_insns);
	trace_monitor_memory_free(&monitor);
}

static void each(uint8_t per, struct expr_program *key)
{
	monitor.per = per;
	monitor.taps[0].key = key;
	for (uint32_t nr = 0; nr < 4; nr++) {
		at_each(nr, nmi);
		at_each(nr, two_nmis);
	}
	assert_int_equal(fast_alloc_out, 0);
}

static void for_all(void **state)
{
	(void)state;
	each(MONITOR_GLOBAL, NULL);
}

static void of_a_cpu(void **state)
{
	(void)state;
	monitor.taps[0].about.class = EXPR_CLASS_CPU;
	each(MONITOR_CPU, NULL);
	monitor.taps[0].about.class = EXPR_CLASS_NUMBER;
}

static void of_a_thread(void **state)
{
	(void)state;
	each(MONITOR_THREAD, who_key);
}

/* With the first hit its place in the table comes into being. */
static void of_a_value(void **state)
{
	(void)state;
	each(MONITOR_FIELD, who_key);
}

/*
 * A hit between a step and the time that it stores finds the clock at 0, and not at the time of
 * long ago.
 */
static void clocks(void **state)
{
	(void)state;
	monitor.nr_clocks = 2;
	monitor.symbols[0].guard = &always;
	monitor.symbols[0].resets = 1;
	each(MONITOR_GLOBAL, NULL);
	each(MONITOR_THREAD, who_key);
	monitor.taps[0].about.class = EXPR_CLASS_CPU;
	each(MONITOR_CPU, NULL);
	monitor.taps[0].about.class = EXPR_CLASS_NUMBER;
	assert_true(nr_guards > 0);
	monitor.nr_clocks = 0;
	monitor.symbols[0].guard = NULL;
	monitor.symbols[0].resets = 0;
}

/* An automaton with one state and two symbols: the first has a condition, the other resets the clock. */
static struct trace_monitor timed = {
	.name = "timed",
	.nr_states = 1,
	.nr_symbols = 2,
	.nr_taps = 2,
	.nr_clocks = 1,
	.states = { "c" },
	.symbols = { { .label = "judged", .guard = &soon }, { .label = "reset", .resets = 1 } },
	.taps = { { .monitor = &timed, .call = &call, .symbols = 1 },
		  { .monitor = &timed, .call = &call, .symbols = 2 } },
	.allowed = { 3 },
	.starts = 2,
	.reactor = &reactor,
	.size = 1,
};

static TRACE_NOINLINE void timed_hit(void *tap)
{
	const struct trace_event_hit at = { .file = &file,
					    .entry = &entry,
					    .bytes = sizeof(entry) };
	struct monitor_tap *of = tap;

	trace_monitor_watch_hit(&of->watch, &at);
}

static void reset_by_nmi(void)
{
	timed_hit(&timed.taps[1]);
}

/* The state is known, and its clock was reset long ago, if `is_late`. */
static void timed_begin(bool is_late)
{
	assert_int_equal(trace_monitor_memory_make(&timed), 0);
	if (timed.per == MONITOR_THREAD)
		trace_monitor_threads_add(&timed.threads, entry.who);
	timed.is_running = true;
	nr_errors = nr_reactions = nr_guards = 0;
	timed_hit(&timed.taps[1]);
	if (is_late)
		timed.place[1] = 1;
}

/*
 * The clock is reset at each instruction of a hit that is late: the violation is before the reset,
 * which then begins anew, or the hit is in time behind it.
 */
static void reset_while_judged(void **state)
{
	const struct monitor_cpu *cpu;
	uint8_t *insns[MAX_INSNS];
	uint32_t nr_late = 0;
	size_t nr;

	(void)state;
	timed_begin(true);
	fast_trace(timed_hit, &timed.taps[0], insns, MAX_INSNS, &nr);
	assert_int_equal(nr_errors, 1);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = reset_by_nmi };

		timed_begin(true);
		if (!fast_run_at(timed_hit, &timed.taps[0], &point, 1))
			continue;
		cpu = monitor_cpu_of(&timed, 0);
		nr_late += nr_errors;
		assert_int_equal(cpu->nr_starts, 1 + nr_errors);
		assert_int_equal(cpu->cells[0], !nr_errors);
		assert_int_equal(cpu->cells[1], !nr_errors);
		assert_int_equal(cpu->cells[2], nr_errors); /* late */
	}
	assert_in_range(nr_late, 1, nr - 1);
	trace_monitor_memory_free(&timed);
}

static void thread_goes_and_comes(void)
{
	trace_monitor_threads_remove(&timed.threads, entry.who);
	trace_monitor_threads_add(&timed.threads, entry.who);
}

#define OWNER_AND_RESETS (UINT64_MAX << 32 | 0x3ffff00)
/* The word of another thread, a reset of whose clock is under way. */
#define OTHER_WORD (2ull << 32 | 1u << MONITOR_RESET_SHIFT(0))
static ptrdiff_t place_at; /* of the thread that the hits are about */

static void another_thread_comes(void)
{
	atomic_store(timed.threads.slots + place_at, OTHER_WORD);
}

/* The place of a thread whose clock is reset gets another owner at each instruction. */
static void owner_while_reset(void (*irq)(void), uint64_t want)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr;

	timed.per = MONITOR_THREAD;
	timed.taps[0].key = timed.taps[1].key = who_key;
	timed_begin(false);
	fast_trace(timed_hit, &timed.taps[1], insns, MAX_INSNS, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = irq };

		timed_begin(false);
		place_at =
			trace_monitor_threads_find(&timed.threads, entry.who) - timed.threads.slots;
		if (fast_run_at(timed_hit, &timed.taps[1], &point, 1))
			assert_int_equal(timed.threads.slots[place_at] & OWNER_AND_RESETS, want);
	}
	trace_monitor_memory_free(&timed);
}

/* A new thread of the same pid has no reset under way, and one of another pid ends its own. */
static void owner_goes_while_reset(void **state)
{
	(void)state;
	owner_while_reset(thread_goes_and_comes, (uint64_t)entry.who << 32);
	owner_while_reset(another_thread_comes, OTHER_WORD);
}

/* ---- Without interrupts ---- */

/* A reaction that is a violation itself, and so on, ends; afterwards the CPU reacts as before. */
static void reactions_end(void **state)
{
	const struct monitor_cpu *cpu;

	(void)state;
	monitor.per = MONITOR_GLOBAL;
	monitor.taps[0].key = NULL;
	for (uint32_t round = 1; round <= 5; round++) {
		if (round == 1)
			begin(0);
		cpu = monitor_cpu_of(&monitor, 0);
		reacts_with_hits = true;
		for (uint32_t i = 0; i < 4; i++)
			hit(NULL);
		reacts_with_hits = false;
		assert_int_equal(nr_reactions, 4 * round); /* one in each context */
		assert_int_equal(cpu->nr_silent, round);
		assert_int_equal(cpu->cells[C], 5 * round);
		assert_int_equal(cpu->depth, 0);
	}
	trace_monitor_memory_free(&monitor);
}

/* A thread that goes takes none along that was found behind it. */
static void threads_come_and_go(void **state)
{
	struct monitor_threads threads;

	(void)state;
	for (int32_t step = 1; step < 60; step++) {
		for (int32_t gone = 0; gone < 8; gone++) {
			assert_int_equal(trace_monitor_threads_init(&threads, 8, 0), 0);
			for (int32_t i = 0; i < 8; i++)
				trace_monitor_threads_add(&threads, 100 + i * step);
			trace_monitor_threads_remove(&threads, 100 + gone * step);
			for (int32_t i = 0; i < 8; i++)
				assert_int_equal(
					!trace_monitor_threads_find(&threads, 100 + i * step),
					i == gone);
			trace_monitor_threads_add(&threads, 10000 + step);
			assert_non_null(trace_monitor_threads_find(&threads, 10000 + step));
			assert_int_equal(threads.nr, 8);
			trace_monitor_threads_destroy(&threads);
		}
	}
}

/* The last byte of the field is behind the end of the event: it is the state of value 0. */
static void event_is_short(void **state)
{
	struct trace_event_hit at = { .file = &file, .entry = &entry, .bytes = sizeof(entry) - 1 };

	(void)state;
	monitor.per = MONITOR_FIELD;
	monitor.taps[0].key = who_key;
	begin(0);
	trace_monitor_watch_hit(&monitor.taps[0].watch, &at);
	assert_int_equal(monitor_cpu_of(&monitor, 0)->nr_starts, 1);
	hit(NULL);
	assert_int_equal(monitor_cpu_of(&monitor, 0)->nr_starts, 2);
	entry.who = 0;
	hit(NULL);
	entry.who = 1;
	assert_int_equal(monitor_cpu_of(&monitor, 0)->nr_starts, 2);
	assert_int_equal(nr_steps, 1);
	trace_monitor_memory_free(&monitor);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(for_all),
		cmocka_unit_test(of_a_cpu),
		cmocka_unit_test(of_a_thread),
		cmocka_unit_test(of_a_value),
		cmocka_unit_test(reactions_end),
		cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(event_is_short),
		cmocka_unit_test(clocks),
		cmocka_unit_test(reset_while_judged),
		cmocka_unit_test(owner_goes_while_reset),
	};

	fast_init();
	make_key();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
