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

#define MAX_INSNS 2048u

/* Of four occurrences the first begins, two are steps, the last is a violation. */
enum {
	A,
	B,
	C,
	NR_STATES
};
static uint32_t nr_steps, nr_errors, nr_reactions, nr_nmis;
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

/* Programs of keys: the CPU, and the entry's number. */
static struct expr_program *cpu_key, *who_key;

static struct expr_program *make_key(const struct expr_insn *load, uint32_t min_len)
{
	struct expr_program *key = calloc(1, sizeof(*key) + 2 * sizeof(*load));

	assert_non_null(key);
	key->nr = 2;
	key->min_len = min_len;
	key->insns[0] = *load;
	key->insns[1].op = EXPR_END;
	return key;
}

static void make_keys(void)
{
	const struct expr_insn cpu = { .op = EXPR_CPU };
	const struct expr_insn who = {
		.op = EXPR_FIELD,
		.offset = offsetof(__typeof__(entry), who) + sizeof(entry.who) - 8,
		.shift = 32,
		.mask = UINT64_MAX,
	};

	cpu_key = make_key(&cpu, 0);
	who_key = make_key(&who, sizeof(entry));
}

/* ---- The functions that it is linked against ---- */

uint64_t trace_expr_run(struct expr_run *run, const struct expr_insn *insn)
{
	(void)run, (void)insn;
	fail_msg("keys of one number need no loop");
	return 0;
}

bool trace_expr_match(const struct expr_program *filter, const void *data, uint32_t len)
{
	(void)filter, (void)data, (void)len;
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
	(void)of, (void)id, (void)symbol;
	assert_int_equal(next, state + 1);
	nr_steps++;
}

void trace_monitor_write_error(struct trace_monitor *of, uint64_t id, uint32_t state,
			       uint32_t symbol)
{
	(void)of, (void)id, (void)symbol;
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
	nr_steps = nr_errors = nr_reactions = nr_nmis = 0;
	while (nr--)
		hit(NULL);
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
	each(MONITOR_CPU, cpu_key);
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
			assert_int_equal(trace_monitor_threads_init(&threads, 8), 0);
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
		cmocka_unit_test(for_all),	  cmocka_unit_test(of_a_cpu),
		cmocka_unit_test(of_a_thread),	  cmocka_unit_test(of_a_value),
		cmocka_unit_test(reactions_end),  cmocka_unit_test(threads_come_and_go),
		cmocka_unit_test(event_is_short),
	};

	fast_init();
	make_keys();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
