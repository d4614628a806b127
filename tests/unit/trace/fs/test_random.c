/*
 * Anything written into any file, in any order, with memory running out at any moment: no wrong
 * access (the sanitisers watch), no lost memory, and tracing works afterwards. The sequence is the
 * same in every run; a number as argument gives another.
 */
#include "unit.h"
#include "tracefs.h"

#define ROUNDS 40000

static unsigned int seed = 1;

static unsigned int pick(unsigned int limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

static struct trace_node *leaves[4000];
static unsigned int nr_leaves;

static void collect(struct trace_node *dir)
{
	for (struct trace_node *node = NULL; (node = trace_fs_next_child(dir, node));) {
		if (node->is_dir)
			collect(node);
		else
			leaves[nr_leaves++] = node;
	}
}

static const char *const words[] = {
	"0",
	"1",
	"2",
	"-1",
	"64",
	"1408",
	"nop",
	"function",
	"local",
	"counter",
	"schedule",
	"*k*",
	"!*",
	"!kfree",
	"[a-s]*",
	"?ield",
	"nosuch",
	"nooverwrite",
	"overwrite",
	"latency-format",
	"nolatency-format",
	"verbose",
	"noverbose",
	"raw",
	"noraw",
	"3",
	",",
	"ffffffffffffffffff",
	"99999999999999999999",
	":mod:",
	"a:b:c:d",
	"\t",
	"\n\n",
	"%s%n",
	"1 2 3",
	"",
};

static size_t random_text(char *text)
{
	size_t len = 0;

	if (pick(8) == 0) {
		for (len = pick(600); len < 5 || pick(300);)
			text[len++] = (char)pick(256);
		return len;
	}
	for (unsigned int nr = 1 + pick(3); nr; nr--)
		len += (size_t)sprintf(text + len, "%s%s",
				       words[pick(sizeof(words) / sizeof(*words))],
				       nr > 1	 ? " "
				       : pick(3) ? "\n"
						 : "");
	return len;
}

/* Several files are open at a time; each round one of them is opened, used a little, or closed. */
#define NR_OPEN 5

static struct open_file {
	struct trace_handle *handle;
	uint64_t read_pos;
	uint64_t write_pos;
} open_files[NR_OPEN];

static void open_one(struct open_file *file, struct trace_node *node)
{
	unsigned int flags = (pick(4) ? TRACE_FS_READ : 0) | (pick(3) ? TRACE_FS_WRITE : 0) |
			     (pick(2) ? TRACE_FS_TRUNC : 0) | TRACE_FS_NONBLOCK;

	file->read_pos = file->write_pos = 0;
	if (trace_fs_open(node, flags, &file->handle))
		file->handle = NULL;
}

static void use_one(struct open_file *file)
{
	static char text[10000];

	for (unsigned int nr = pick(4); nr; nr--)
		trace_fs_write(file->handle, text, random_text(text), &file->write_pos);
	for (unsigned int nr = pick(5); nr; nr--)
		trace_fs_read(file->handle, text, 1 + pick(sizeof(text)), &file->read_pos);
	if (pick(10) == 0)
		file->read_pos = pick(3); /* going back, and beyond any end */
}

static void close_one(struct open_file *file)
{
	if (file->handle)
		trace_fs_close(file->handle);
	file->handle = NULL;
}

static void use(struct trace_node *node)
{
	struct open_file *file = &open_files[pick(NR_OPEN)];

	fake_alloc_budget = pick(4) ? -1 : (long)pick(6);
	if (!file->handle)
		open_one(file, node);
	if (file->handle)
		use_one(file);
	if (pick(2))
		close_one(file);
	fake_alloc_budget = -1;
}

static void restore(void)
{
	static const char *const options[] = {
		"print-parent",
		"nosym-offset",
		"nosym-addr",
		"noverbose",
		"noraw",
		"nohex",
		"nobin",
		"annotate",
		"context-info",
		"nolatency-format",
		"record-cmd",
		"norecord-tgid",
		"overwrite",
		"irq-info",
		"markers",
		"nopause-on-trace",
		"nofunction-fork",
		"nodisable_on_free",
		"noprintk-msg-only",
		"trace_printk",
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		assert_int_equal(echo(options[i], "trace_options"), 0);
	assert_int_equal(echo("3", "tracing_cpumask"), 0);
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
	assert_int_equal(echo("", "set_ftrace_notrace_pid"), 0);
	assert_int_equal(echo("", "set_event"), 0);
	/* One that could not be switched on, for want of memory, has given back its states. */
	assert_int_equal(echo("wip", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("wwnr", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	clear_filters();
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_int_equal(echo("", "set_event_notrace_pid"), 0);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	assert_int_equal(echo("", "set_ftrace_notrace"), 0);
	assert_int_equal(echo("", "set_graph_function"), 0);
	assert_int_equal(echo("", "set_graph_notrace"), 0);
	assert_int_equal(echo("", "stack_trace_filter"), 0);
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("128", "saved_cmdlines_size"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
	assert_int_equal(echo("local", "trace_clock"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("", "trace"), 0);
}

static void anything_anywhere(void **state)
{
	(void)state;
	for (int32_t pid = 1; pid <= 8; pid++)
		fake_thread_add(pid, "worker");
	collect(trace_fs_root());
	assert_true(nr_leaves > 50);
	assert_int_equal(echo("64", "buffer_size_kb"), 0);
	fake_clock_step = 17;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		use(leaves[pick(nr_leaves)]);
		for (unsigned int nr = pick(20); nr; nr--)
			call(pick(2), (int32_t)pick(10), pick(NR_FUNCS));
		trace_printk("round %u\n", round);
	}
	fake_clock_step = 0;
	for (size_t i = 0; i < NR_OPEN; i++)
		close_one(&open_files[i]);
	restore();
	call(0, 1, KFREE);
	assert_non_null(strstr(cat_body("trace"), "worker-1       [000] ....."));
	assert_int_equal(fake_nr_bugs, 0);
}

/*
 * The first snapshot leaves a slim buffer behind, the first func-no-repeats its memory, a monitor
 * that was on its states: they last as long as the instance.
 */
static int reset(void **state)
{
	tracefs_reset(state);
	assert_int_equal(echo("1", "options/func-no-repeats"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("0", "options/func-no-repeats"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("wip", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("wwnr", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	return tracefs_reset(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, tracefs_check)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { TEST(anything_anywhere) };

	if (argc > 1)
		seed = (unsigned int)atoi(argv[1]);
	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
