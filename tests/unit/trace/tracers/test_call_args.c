/*
 * Arguments of calls by their types: func-args, funcgraph-args, and results of function_graph.
 */
#include "unit.h"
#include <errno.h>
#include "tracefs.h"
#include "trace/types/btf_help.h"
#include "tracers/call_args.h"
#include "types/btf.h"

#define PID 120

static struct btf_maker made;
static char page[2 * FAKE_PAGE_BYTES] __attribute__((aligned(FAKE_PAGE_BYTES)));

/*
 * enum mode schedule(struct thread *next, const char *why, unsigned int flags);
 * void yield(void);
 * int do_work(struct pair pair, const char *first, const char *second, char *buf, long a, long b);
 */
static void make_types(void)
{
	struct btf_maker *m = &made;
	uint32_t int_id, uint_id, long_id, char_id, text_id, buf_id, mode_id, pair_id, thread_id;
	uint32_t next_id, schedule, yield, do_work;

	int_id = make_int(m, "int", 4, MAKE_SIGNED);
	uint_id = make_int(m, "unsigned int", 4, 0);
	long_id = make_int(m, "long int", 8, MAKE_SIGNED);
	char_id = make_int(m, "char", 1, MAKE_SIGNED);
	text_id = make_type(m, BTF_PTR, "", 0, make_type(m, BTF_CONST, "", 0, char_id));
	buf_id = make_type(m, BTF_PTR, "", 0, char_id);
	mode_id = make_type(m, BTF_ENUM, "mode", 1, 4);
	make_word(m, make_string(m, "IDLE"));
	make_word(m, 3);
	pair_id = make_type(m, BTF_STRUCT, "pair", 2, 16);
	make_member(m, "a", long_id, 0);
	make_member(m, "b", long_id, 64);
	thread_id = make_type(m, BTF_FWD, "thread", 0, 0);
	next_id = make_type(m, BTF_PTR, "", 0, thread_id);
	schedule = make_proto(m, mode_id, 3);
	make_param(m, "next", next_id);
	make_param(m, "why", text_id);
	make_param(m, "flags", uint_id);
	yield = make_proto(m, 0, 0);
	do_work = make_proto(m, int_id, 6);
	make_param(m, "pair", pair_id);
	make_param(m, "first", text_id);
	make_param(m, "second", text_id);
	make_param(m, "buf", buf_id);
	make_param(m, "a", long_id);
	make_param(m, "b", long_id);
	make_type(m, BTF_FUNC, "do_work", 0, do_work);
	make_type(m, BTF_FUNC, "schedule", 0, schedule);
	make_type(m, BTF_FUNC, "yield", 0, yield);
}

static int setup(void **state)
{
	make_types();
	fake_btf_bytes = btf_made(&made);
	fake_btf = made.data;
	if (tracefs_setup(state))
		return -1;
	fake_thread_add(PID, "worker");
	return 0;
}

static int reset(void **state)
{
	tracefs_reset(state);
	fake_bad_page = NULL;
	/* The table of all functions stays. */
	assert_int_equal(echo("1", "options/func-args"), 0);
	assert_int_equal(echo("0", "options/func-args"), 0);
	/* And so does what func-no-repeats counts with. */
	assert_int_equal(echo("1", "options/func-no-repeats"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("0", "options/func-no-repeats"), 0);
	return tracefs_reset(state);
}

static void call_with(size_t index, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct ftrace_regs fregs = { .arg = { a, b, c, d, 5, (uint64_t)-6 }, .parent = PARENT };
	enum fake_via via;

	fake_call_regs(index, &fregs, &via);
}

static uint64_t at(const char *text)
{
	return (uint64_t)(uintptr_t)text;
}

static void start(const char *tracer, const char *option)
{
	assert_int_equal(echo(tracer, "current_tracer"), 0);
	assert_int_equal(echo("1", option), 0);
	assert_int_equal(echo("", "trace"), 0);
}

static void stop(const char *option)
{
	assert_int_equal(echo("0", option), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

/* The text behind the time of the only line. */
static void assert_call(const char *want)
{
	assert_string_equal(only_event(": ") + 2, want);
	assert_int_equal(echo("", "trace"), 0);
}

static void test_names_and_values(void **state)
{
	char why[] = "asked";

	(void)state;
	start("function", "options/func-args");
	call_with(SCHEDULE, 0xffff888000001000, at(why), 0xabc00000002, 0);
	why[0] = 'm'; /* what the event has is of the time of the call */
	assert_call("schedule(next=0xffff888000001000, why=\"asked\", flags=0x2) <-yield\n");
	call_with(YIELD, 1, 2, 3, 4);
	assert_call("yield() <-yield\n");
	call_with(KFREE, 1, 2, 3, 4); /* has no types */
	assert_call("kfree <-yield\n");
	call_with(DO_WORK, 1, 2, at("one"), at("two\n\"\x01"));
	assert_call("do_work(pair={0x1, 0x2}, first=\"one\", second=\"two\\n\\\".\", buf=0x5, "
		    "a=-6, b=?) <-yield\n");
	stop("options/func-args");
}

static void test_texts(void **state)
{
	char *end = page + FAKE_PAGE_BYTES;

	(void)state;
	start("function", "options/func-args");
	call_with(SCHEDULE, 1, 0, 2, 0);
	assert_call("schedule(next=0x1, why=0x0, flags=0x2) <-yield\n");
	call_with(SCHEDULE, 1, at(""), 2, 0);
	assert_call("schedule(next=0x1, why=\"\", flags=0x2) <-yield\n");
	call_with(SCHEDULE, 1, at("0123456789012345678901234567890"), 2, 0);
	assert_call("schedule(next=0x1, why=\"0123456789012345678901234567890\", flags=0x2) "
		    "<-yield\n");
	call_with(SCHEDULE, 1, at("0123456789012345678901234567890123456789"), 2, 0);
	assert_call("schedule(next=0x1, why=\"01234567890123456789012345678901\"..., flags=0x2) "
		    "<-yield\n");
	/* The last bytes of memory that can be read. */
	fake_bad_page = end;
	memcpy(end - 5, "last", 5);
	call_with(SCHEDULE, 1, at(end - 5), 2, 0);
	assert_call("schedule(next=0x1, why=\"last\", flags=0x2) <-yield\n");
	memcpy(end - 5, "lasts", 5);
	call_with(SCHEDULE, 1, at(end - 5), 2, 0);
	assert_non_null(strstr(only_event("schedule("), "(fault), flags=0x2) <-yield\n"));
	assert_int_equal(echo("", "trace"), 0);
	/* One that is lost does not take the next one's place. */
	call_with(DO_WORK, 1, 2, at(end), at("two"));
	assert_non_null(strstr(only_event("do_work("), "(fault), second=\"two\", buf=0x5"));
	assert_int_equal(echo("", "trace"), 0);
	call_with(DO_WORK, 1, 2, 0, at("two"));
	assert_non_null(strstr(only_event("do_work("), "first=0x0, second=\"two\", buf=0x5"));
	stop("options/func-args");
}

#define TEXT_32 "01234567890123456789012345678901"

/* Events of all lengths that texts can give them: each is whole, and so is the next one. */
static void test_long_texts(void **state)
{
	char first[] = TEXT_32, want[200];

	(void)state;
	start("function", "options/func-args");
	for (int len = 32; len >= 0; len--) {
		first[len] = '\0';
		/* The first event of a sub-buffer is written another way. */
		call_with(YIELD, 0, 0, 0, 0);
		call_with(DO_WORK, 1, 2, at(first), at(TEXT_32));
		call_with(YIELD, 0, 0, 0, 0);
		snprintf(want, sizeof(want), "first=\"%s\"%s, second=\"%s\"..., buf=0x5,", first,
			 len == 32 ? "..." : "", TEXT_32);
		assert_non_null(strstr(cat_body("trace"), want));
		assert_non_null(strstr(cat_body("trace"), ": yield() <-yield\n"));
		assert_null(strstr(cat_body("trace"), "Unknown type"));
		assert_int_equal(echo("", "trace"), 0);
	}
	stop("options/func-args");
}

/* Switched while the tracer runs, in interrupts, together with other options, in an instance. */
static void test_option(void **state)
{
	(void)state;
	start("function", "options/func-args");
	call_with(SCHEDULE, 1, at("a"), 2, 0);
	assert_int_equal(echo("0", "options/func-args"), 0);
	call_with(SCHEDULE, 1, at("b"), 2, 0);
	assert_int_equal(echo("func-args", "trace_options"), 0);
	fake_cpus[0].preempt_count = 0x10000;
	call_with(YIELD, 0, 0, 0, 0);
	call_with(SCHEDULE, 1, at("c"), 2, 0);
	fake_cpus[0].preempt_count = 0;
	assert_non_null(strstr(cat_body("trace"), "schedule(next=0x1, why=\"a\", flags=0x2) <-"));
	assert_non_null(strstr(cat_body("trace"), "schedule <-yield\n"));
	assert_non_null(strstr(cat_body("trace"), "yield() <-yield\n"));
	assert_non_null(strstr(cat_body("trace"), "schedule(next=0x1, why=\"c\", flags=0x2) <-"));
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "options/func-no-repeats"), 0);
	call_with(SCHEDULE, 1, at("d"), 2, 0);
	call_with(SCHEDULE, 1, at("e"), 2, 0);
	assert_call("schedule(next=0x1, why=\"d\", flags=0x2) <-yield\n");
	assert_int_equal(echo("0", "options/func-no-repeats"), 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	call_with(YIELD, 0, 0, 0, 0);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("1", "tracing_on"), 0);
	stop("options/func-args");
}

/* raw, hex and bin: addresses, then the values. */
static void test_raw(void **state)
{
	char want[200];

	(void)state;
	start("function", "options/func-args");
	call_with(SCHEDULE, 17, at("x"), 2, 0);
	assert_int_equal(echo("raw", "trace_options"), 0);
	snprintf(want, sizeof(want), "%lx %lx 11 %lx 2\n", (unsigned long)fake_func(SCHEDULE),
		 (unsigned long)PARENT, (unsigned long)at("x"));
	assert_non_null(strstr(cat_body("trace"), want));
	assert_int_equal(echo("noraw", "trace_options"), 0);
	assert_int_equal(echo("hex", "trace_options"), 0);
	assert_non_null(strstr(cat_body("trace"), "0000000000000011 "));
	assert_int_equal(echo("nohex", "trace_options"), 0);
	assert_int_equal(echo("fields", "trace_options"), 0);
	assert_non_null(strstr(cat_body("trace"), " text=x\n"));
	assert_int_equal(echo("nofields", "trace_options"), 0);
	stop("options/func-args");
}

/* ---- function_graph ---- */

static void graph_call(size_t index, uint64_t a, uint64_t b, uint64_t c, uint64_t retval)
{
	const uint64_t args[FAKE_NR_ARGS] = { a, b, c, 0, 5, 6 };

	fake_args = args;
	fake_enter(index, PARENT);
	fake_args = NULL;
	fake_clock += 1000;
	fake_leave(retval);
}

static void test_graph(void **state)
{
	(void)state;
	fake_run(PID);
	start("function_graph", "options/funcgraph-args");
	assert_int_equal(echo("1", "options/funcgraph-retval"), 0);
	graph_call(SCHEDULE, 1, at("x"), 2, 3);
	graph_call(SCHEDULE, 1, at("x"), 2, 4);
	graph_call(YIELD, 1, 2, 3, 3);
	graph_call(KFREE, 1, 2, 3, 3);
	graph_call(DO_WORK, 1, 2, at("f"), (uint32_t)-22);
	assert_string_equal(
		cat_body("trace"),
		" 0)   1.000 us    |  schedule(next=0x1, why=\"x\", flags=0x2); /* = IDLE */\n"
		" 0)   1.000 us    |  schedule(next=0x1, why=\"x\", flags=0x2); /* = 4 */\n"
		" 0)   1.000 us    |  yield();\n"
		" 0)   1.000 us    |  kfree(); /* = 0x3 */\n"
		" 0)   1.000 us    |  do_work(pair={0x1, 0x2}, first=\"f\", second=0x0, "
		"buf=0x5, a=6, b=?); /* = -22 */\n");
	assert_int_equal(echo("1", "options/funcgraph-retval-hex"), 0);
	assert_non_null(strstr(cat_body("trace"), "yield(); /* = 0x3 */\n"));
	assert_non_null(strstr(cat_body("trace"), "; /* = 0xffffffea */\n"));
	assert_int_equal(echo("0", "options/funcgraph-retval-hex"), 0);
	/* Without the option the lines have none, and new events neither. */
	assert_int_equal(echo("0", "options/funcgraph-args"), 0);
	assert_non_null(strstr(cat_body("trace"), "|  schedule(); /* = IDLE */\n"));
	assert_int_equal(echo("", "trace"), 0);
	graph_call(SCHEDULE, 1, at("x"), 2, 3);
	assert_int_equal(echo("1", "options/funcgraph-args"), 0);
	assert_string_equal(cat_body("trace"), " 0)   1.000 us    |  schedule(); /* = IDLE */\n");
	assert_int_equal(echo("0", "options/funcgraph-retval"), 0);
	stop("options/funcgraph-args");
	fake_run(-1);
}

static void test_graph_long_texts(void **state)
{
	char second[] = TEXT_32, want[200];

	(void)state;
	fake_run(PID);
	start("function_graph", "options/funcgraph-args");
	for (int len = 32; len >= 0; len--) {
		uint64_t args[FAKE_NR_ARGS] = { 1, 2, at(TEXT_32), at(second), 5, 6 };

		second[len] = '\0';
		/* The first event of a sub-buffer is written another way. */
		graph_call(YIELD, 0, 0, 0, 0);
		fake_args = args;
		fake_enter(DO_WORK, PARENT);
		fake_args = NULL;
		fake_clock += 1000;
		fake_leave(0);
		snprintf(want, sizeof(want),
			 " 0)   1.000 us    |  yield();\n"
			 " 0)   1.000 us    |  do_work(pair={0x1, 0x2}, first=\"%s\"..., "
			 "second=\"%s\"%s, buf=0x5, a=6, b=?);\n",
			 TEXT_32, second, len == 32 ? "..." : "");
		assert_string_equal(cat_body("trace"), want);
		assert_int_equal(echo("", "trace"), 0);
	}
	stop("options/funcgraph-args");
	fake_run(-1);
}

/* ---- Without types or memory ---- */

static void test_refused(void **state)
{
	(void)state;
	trace_call_codes_free();
	fake_alloc_budget = 0;
	assert_int_equal(echo("1", "options/func-args"), -ENOMEM);
	fake_alloc_budget = -1;
	assert_string_equal(cat("options/func-args"), "0\n");
	trace_btf_unload();
	assert_int_equal(echo("1", "options/func-args"), -EOPNOTSUPP);
	assert_int_equal(echo("1", "options/funcgraph-args"), -EOPNOTSUPP);
	assert_int_equal(echo("func-args", "trace_options"), -EINVAL); /* of another tracer */
	assert_string_equal(cat("options/func-args"), "0\n");
	assert_non_null(strstr(cat("error_log"), "no types"));
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(trace_btf_load(fake_btf, fake_btf_bytes), 0);
	assert_int_equal(echo("1", "options/func-args"), 0);
	assert_int_equal(echo("0", "options/func-args"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names_and_values), TEST(test_texts),	 TEST(test_long_texts),
		TEST(test_option),	     TEST(test_raw),	 TEST(test_graph),
		TEST(test_graph_long_texts), TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
