/*
 * Buffers that are emptied while they are read, or while latencies are measured: what open
 * files then show, on the fake machine.
 */
#include "unit.h"
#include <trace/host_tracepoints.h>
#include "tracefs.h"

#define US 1000u

static struct trace_handle *open_handle;
static uint64_t open_pos;
static char shown[1 << 20];

static void open_trace(const char *path)
{
	open_handle = open_file(path, TRACE_FS_READ);
	open_pos = 0;
}

/* Read on: `bytes` of it, or all that is left. */
static void read_trace(size_t bytes)
{
	size_t len = 0;
	int64_t got;

	while (len < bytes && (got = trace_fs_read(open_handle, shown + len, 64, &open_pos)) > 0)
		len += (size_t)got;
	shown[len] = '\0';
	assert_true(len + 64 < sizeof(shown));
}

static void close_trace(void)
{
	assert_int_equal(trace_fs_close(open_handle), 0);
}

static void mark(uint32_t cpu, const char *word, uint32_t nr)
{
	char text[64];

	fake_bind(cpu);
	for (uint32_t i = 0; i < nr; i++) {
		fake_clock += US;
		snprintf(text, sizeof(text), "%s %u of cpu %u", word, i, cpu);
		assert_int_equal(echo(text, "trace_marker"), 0);
	}
	fake_bind(0);
}

static void must_not_show(const char *text)
{
	if (strstr(shown, text))
		fail_msg("`%s` in:\n%s", text, shown);
}

/* All of the new ones, in order; nothing that is lost, and no number that went below 0. */
static void check_new(uint32_t nr)
{
	char text[64];
	char *at = shown;

	must_not_show("LOST");
	must_not_show("18446744");
	must_not_show(" -");
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(text, sizeof(text), ": new %u of cpu 0\n", i);
		at = strstr(at, text);
		if (!at)
			fail_msg("no `%s` in:\n%s", text, shown);
	}
	/* Text that was made before may be left, and no more. */
	at = strchr(shown, '\n');
	if (at && strstr(at, ": old"))
		fail_msg("old events in:\n%s", shown);
}

static void empty(void)
{
	assert_int_equal(echo("", "trace"), 0);
}

static void empty_each_cpu(void)
{
	assert_int_equal(echo("", "per_cpu/cpu0/trace"), 0);
	assert_int_equal(echo("", "per_cpu/cpu1/trace"), 0);
}

static void to_counter(void)
{
	assert_int_equal(echo("counter", "trace_clock"), 0);
}

static void to_mono(void)
{
	assert_int_equal(echo("mono", "trace_clock"), 0);
}

static void other_tracer(void)
{
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

static void (*const ways[])(void) = { empty, empty_each_cpu, to_counter, to_mono, other_tracer };
static const char *const forms[] = { "overwrite", "latency-format", "raw", "verbose" };
#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void set_form(size_t form, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "options/%s", forms[form]);
	if (form)
		assert_int_equal(echo(value, path), 0);
}

static void under_trace(void **state)
{
	(void)state;
	for (size_t form = 0; form < NR(forms); form++) {
		for (size_t way = 0; way < NR(ways); way++) {
			set_form(form, "1");
			mark(0, "old", 400);
			mark(1, "old", 400);
			open_trace("trace");
			read_trace(way * 3000 + 2000);
			ways[way]();
			mark(0, "new", 250);
			read_trace(sizeof(shown));
			close_trace();
			set_form(form, "0");
			if (form != 2)
				check_new(250);
			must_not_show("18446744");
			assert_int_equal(echo("local", "trace_clock"), 0);
			empty();
		}
	}
}

/* A snapshot that is being read is forgotten, and another one taken. */
static void under_snapshot(void **state)
{
	(void)state;
	for (size_t round = 0; round < 2; round++) {
		mark(0, "old", 400);
		assert_int_equal(echo("1", "snapshot"), 0);
		open_trace("snapshot");
		read_trace(5000);
		assert_int_equal(echo("2", "snapshot"), 0);
		/* The one that was opened is recorded into, now. */
		assert_int_equal(echo("1", "snapshot"), 0);
		mark(0, "new", 250);
		if (round)
			assert_int_equal(echo("1", "snapshot"), 0);
		read_trace(sizeof(shown));
		close_trace();
		check_new(250);
		assert_int_equal(echo("0", "snapshot"), 0);
		empty();
	}
}

/* Times in trace_pipe after another clock was chosen are in that clock's unit. */
static void under_pipe(void **state)
{
	uint64_t pos = 0;
	int64_t got;

	(void)state;
	assert_int_equal(trace_fs_open(node_of("trace_pipe"), TRACE_FS_READ | TRACE_FS_NONBLOCK,
				       &open_handle),
			 0);
	mark(0, "old", 3);
	assert_true(trace_fs_read(open_handle, shown, 1, &pos) == 1);
	to_counter();
	mark(0, "new", 5);
	got = trace_fs_read(open_handle, shown, sizeof(shown) - 1, &pos);
	assert_true(got > 0);
	shown[got] = '\0';
	close_trace();
	check_new(5);
	must_not_show("0.0000");
}

/* ---- Latency tracers ---- */

static void irqs_section(uint64_t us)
{
	fake_bind(0);
	fake_this->irqs_off = true;
	trace_irq_disable_call(fake_func(YIELD) + 4, 0);
	fake_clock += us * US;
	trace_irq_enable_call(fake_func(YIELD) + 4, 0);
	fake_this->irqs_off = false;
}

/* The header counts what is shown, even if that has become less than what it was to leave out. */
static void fewer_than_were_skipped(void **state)
{
	(void)state;
	strcpy(fake_sched_comm, "worker");
	fake_sched = (struct trace_sched_thread){ .prio = 120, .state = 'R' };
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	mark(0, "old", 30);
	irqs_section(50);
	open_trace("trace");
	empty();
	read_trace(sizeof(shown));
	must_not_show("18446744");
	close_trace();
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

static uint32_t nr_locks, section_at;

static void section_at_lock(void)
{
	if (nr_locks++ == section_at)
		irqs_section(50 + section_at);
}

/*
 * A maximum comes while the last one is forgotten. Either it is shown with its events, or it has
 * never been.
 */
static void maximum_while_emptied(void **state)
{
	bool is_kept;

	(void)state;
	strcpy(fake_sched_comm, "worker");
	fake_sched = (struct trace_sched_thread){ .prio = 120, .state = 'R' };
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	for (section_at = 0; section_at < nr_locks + 1; section_at++) {
		irqs_section(20);
		nr_locks = 0;
		fake_on_lock = section_at_lock;
		assert_int_equal(echo(section_at % 2 ? "0" : "1", "options/display-graph"), 0);
		fake_on_lock = NULL;
		is_kept = strcmp(cat("tracing_max_latency"), "0\n") != 0;
		strcpy(shown, cat("trace"));
		assert_int_equal(strstr(shown, "# latency: ") != NULL, is_kept);
		assert_int_equal(strstr(shown, "yield") != NULL, is_kept);
		must_not_show("#0/");
	}
	assert_int_equal(echo("0", "options/display-graph"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

/* A snapshot that is taken while the trace is emptied is not emptied, as a whole or in part. */
static void take_at_lock(void)
{
	if (nr_locks++ == section_at)
		tracing_snapshot();
}

static void snapshot_while_emptied(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "snapshot"), 0);
	for (section_at = 0; section_at < nr_locks + 1; section_at++) {
		bool has0, has1;

		assert_int_equal(echo("2", "snapshot"), 0);
		empty();
		mark(0, "one", 1);
		mark(1, "two", 1);
		nr_locks = 0;
		fake_on_lock = take_at_lock;
		empty();
		fake_on_lock = NULL;
		has0 = strstr(cat("snapshot"), ": one");
		has1 = strstr(cat("snapshot"), ": two");
		assert_int_equal(has0, has1);
		assert_string_equal(cat_body("trace"), "");
	}
	assert_true(nr_locks > 2);
	assert_int_equal(echo("0", "snapshot"), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(under_trace),
		T(under_snapshot),
		T(under_pipe),
		T(fewer_than_were_skipped),
		T(maximum_while_emptied),
		T(snapshot_while_emptied),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
