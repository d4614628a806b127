/*
 * Lines of function_graph that the samples of Linux 6.1 do not have: values, callers, interrupts,
 * lost events, trace_pipe, other events inside; and the files of the tracer.
 */
#include "unit.h"
#include "tracefs.h"
#include "graph_help.h"

#define HEAD                                                                                       \
	"# tracer: function_graph\n#\n"                                                            \
	"# CPU  DURATION                  FUNCTION CALLS\n"                                        \
	"# |     |   |                     |   |   |   |\n"

static uintptr_t func(size_t index)
{
	return fake_func(index);
}

static void start(void)
{
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	fake_thread_add(1, "init");
	fake_thread_add(120, "fifteen-chars-x");
	graph_flags = graph_preempt = 0;
}

static void set(const char *word)
{
	assert_int_equal(echo_append(word, "trace_options"), 0);
}

static void body_is(const char *want)
{
	for (cat_chunk = 1; cat_chunk < 5000; cat_chunk *= 70)
		assert_string_equal(cat_body("trace"), want);
	cat_chunk = 4096;
}

/* schedule() { yield(); } on CPU 0, at 12.345678 and later. */
static void one_call(void)
{
	enter(0, 1, func(SCHEDULE), 0);
	fake_clock += 1000;
	enter(0, 1, func(YIELD), 1);
	fake_clock += 1000;
	leave(0, 1, func(YIELD), 1, 1000);
	fake_clock += 1000;
	leave(0, 1, func(SCHEDULE), 0, 3000);
}

static void with_option(const char *option, const char *head, const char *body)
{
	char word[64];

	set(option);
	if (head)
		assert_memory_equal(cat("trace"), head, strlen(head));
	body_is(body);
	snprintf(word, sizeof(word), "no%s", option);
	set(strncmp(option, "no", 2) ? word : option + 2);
}

/* Columns that the samples have only with two CPUs, or not alone. */
static void columns(void **state)
{
	(void)state;
	start();
	one_call();
	body_is(" 0)               |  schedule() {\n"
		" 0)   1.000 us    |    yield();\n"
		" 0)   3.000 us    |  }\n");
	with_option("nofuncgraph-cpu",
		    "# tracer: function_graph\n#\n"
		    "#  DURATION                  FUNCTION CALLS\n"
		    "#   |   |                     |   |   |   |\n",
		    "              |  schedule() {\n"
		    "  1.000 us    |    yield();\n"
		    "  3.000 us    |  }\n");
	with_option("nofuncgraph-duration",
		    "# tracer: function_graph\n#\n"
		    "# CPU               FUNCTION CALLS\n"
		    "# |                 |   |   |   |\n",
		    " 0) schedule() {\n"
		    " 0)   yield();\n"
		    " 0) }\n");
	with_option("nocontext-info", "# tracer: function_graph\n#\nschedule",
		    "schedule() {\n"
		    "  yield();\n"
		    "}\n");
	with_option("funcgraph-abstime", NULL,
		    "   12.345678 |   0)               |  schedule() {\n"
		    "   12.345679 |   0)   1.000 us    |    yield();\n"
		    "   12.345681 |   0)   3.000 us    |  }\n");
	with_option("bin", HEAD,
		    " 0)               |  schedule() {\n"
		    " 0)   1.000 us    |    yield();\n"
		    " 0)   3.000 us    |  }\n");
}

/*
 * Calls that called nothing stay one line where the entry is the last event of a sub-buffer, and the
 * return the first of the next one, which is read into the same memory.
 */
static void leaves_across_sub_buffers(void **state)
{
	enum {
		NR_CALLS = 300
	};
	static char want[NR_CALLS * 40 + 40];
	size_t len;

	(void)state;
	start();
	enter(0, 1, func(SCHEDULE), 0);
	len = (size_t)snprintf(want, sizeof(want), " 0)               |  schedule() {\n");
	for (size_t i = 0; i < NR_CALLS; i++) {
		size_t which = i % 2 ? YIELD : KFREE;

		enter(0, 1, func(which), 1);
		leave(0, 1, func(which), 1, 1000);
		len += (size_t)snprintf(want + len, sizeof(want) - len,
					" 0)   1.000 us    |    %s();\n",
					which == YIELD ? "yield" : "kfree");
	}
	body_is(want);
}

static void durations(void **state)
{
	(void)state;
	start();
	leave(0, 1, func(KFREE), 0, 0);
	leave(0, 1, func(KFREE), 0, 10000);
	leave(0, 1, func(KFREE), 0, 10001);
	leave(0, 1, func(KFREE), 0, 100001);
	leave(0, 1, func(KFREE), 0, 1000001);
	leave(0, 1, func(KFREE), 0, 10000001);
	leave(0, 1, func(KFREE), 0, 100000001);
	leave(0, 1, func(KFREE), 0, 1000000001);
	leave(0, 1, func(KFREE), 0, 12345678901234);
	body_is(" 0)   0.000 us    |  } /* kfree */\n"
		" 0)   10.000 us   |  } /* kfree */\n"
		" 0) + 10.001 us   |  } /* kfree */\n"
		" 0) ! 100.001 us  |  } /* kfree */\n"
		" 0) # 1000.001 us |  } /* kfree */\n"
		" 0) * 10000.00 us |  } /* kfree */\n"
		" 0) @ 100000.0 us |  } /* kfree */\n"
		" 0) $ 1000000 us  |  } /* kfree */\n"
		" 0) $ 12345678901 us |  } /* kfree */\n");
}

static void return_value(size_t index, uint32_t depth, uint64_t retval)
{
	struct trace_graph_retval_entry entry = {
		.graph = { .ent = graph_ent(TRACE_TYPE_GRAPH_RETVAL, 1),
			   .ip = trace_plat_ip_pack(func(index)),
			   .depth = (uint16_t)depth,
			   .duration_ns = 500 },
		.retval = retval,
	};

	graph_write(0, &entry, sizeof(entry));
}

static void enter_from(size_t index, uint32_t depth)
{
	struct trace_graph_retaddr_entry entry = {
		.graph = { .ent = graph_ent(TRACE_TYPE_GRAPH_RETADDR_ENT, 1),
			   .ip = trace_plat_ip_pack(func(index)),
			   .depth = depth },
		.retaddr = trace_plat_ip_pack(func(DO_WORK) + 7),
	};

	graph_write(0, &entry, sizeof(entry));
}

static void leaf_value(uint64_t retval)
{
	enter(0, 1, func(KFREE), 1);
	return_value(KFREE, 1, retval);
}

static void retvals(void **state)
{
	(void)state;
	start();
	set("funcgraph-retval");
	enter(0, 1, func(SCHEDULE), 0);
	leaf_value(0);
	leaf_value(0xffff8880deadbeef);
	leaf_value((uint64_t)-22);
	leaf_value(0xffffffea); /* an int in a register of which only a half was written */
	leaf_value((uint64_t)-4095);
	leaf_value((uint64_t)-4096);
	leaf_value(0x80000000);
	return_value(SCHEDULE, 0, (uint64_t)-2);
	body_is(" 0)               |  schedule() {\n"
		" 0)   0.500 us    |    kfree(); /* = 0x0 */\n"
		" 0)   0.500 us    |    kfree(); /* = 0xffff8880deadbeef */\n"
		" 0)   0.500 us    |    kfree(); /* = -22 */\n"
		" 0)   0.500 us    |    kfree(); /* = -22 */\n"
		" 0)   0.500 us    |    kfree(); /* = -4095 */\n"
		" 0)   0.500 us    |    kfree(); /* = 0xfffffffffffff000 */\n"
		" 0)   0.500 us    |    kfree(); /* = 0x80000000 */\n"
		" 0)   0.500 us    |  } /* schedule = -2 */\n");
	set("funcgraph-retval-hex");
	assert_non_null(strstr(cat("trace"), "kfree(); /* = 0xffffffea */\n"));
	assert_non_null(strstr(cat("trace"), "} /* schedule = 0xfffffffffffffffe */\n"));
	set("nofuncgraph-retval-hex");
	/* A return that was recorded with its value may be shown without. */
	set("nofuncgraph-retval");
	assert_non_null(strstr(cat("trace"), "    kfree();\n"));
	assert_non_null(strstr(cat("trace"), "us    |  }\n"));
}

static void retaddrs(void **state)
{
	(void)state;
	start();
	set("funcgraph-retaddr");
	enter_from(SCHEDULE, 0);
	enter_from(KFREE, 1);
	leave(0, 1, func(KFREE), 1, 500);
	leave(0, 1, func(SCHEDULE), 0, 900);
	body_is(" 0)               |  schedule() { /* <-do_work+0x7/0x10 */\n"
		" 0)   0.500 us    |    kfree(); /* <-do_work+0x7/0x10 */\n"
		" 0)   0.900 us    |  }\n");
	with_option(
		"sym-addr", NULL,
		" 0)               |  schedule() { /* <-do_work+0x7/0x10 <ffffffff81000027> */\n"
		" 0)   0.500 us    |    kfree(); /* <-do_work+0x7/0x10 <ffffffff81000027> */\n"
		" 0)   0.900 us    |  }\n");
	assert_int_equal(echo("", "trace"), 0);
	set("funcgraph-retval");
	enter_from(SCHEDULE, 0);
	enter_from(KFREE, 1);
	return_value(KFREE, 1, 7);
	return_value(SCHEDULE, 0, (uint64_t)-1);
	body_is(" 0)               |  schedule() { /* <-do_work+0x7/0x10 */\n"
		" 0)   0.500 us    |    kfree(); /* <-do_work+0x7/0x10 ret=0x7 */\n"
		" 0)   0.500 us    |  } /* schedule ret=-1 */\n");
	set("nofuncgraph-retval");
	set("nofuncgraph-retaddr");
	body_is(" 0)               |  schedule() {\n"
		" 0)   0.500 us    |    kfree();\n"
		" 0)   0.500 us    |  }\n");
}

/* kfree is what interrupts call first here. */
static void interrupts(void **state)
{
	(void)state;
	start();
	enter(0, 1, func(SCHEDULE), 0);
	enter(0, 1, func(KFREE), 1);
	enter(0, 1, func(YIELD), 2);
	leave(0, 1, func(YIELD), 2, 100);
	comment(0, 1, "in it\n");
	leave(0, 1, func(KFREE), 1, 300);
	enter(0, 1, func(DO_WORK), 1);
	leave(0, 1, func(DO_WORK), 1, 100);
	enter(0, 1, func(KFREE), 1);
	leave(0, 1, func(KFREE), 1, 100);
	leave(0, 1, func(SCHEDULE), 0, 900);
	body_is(" 0)               |  schedule() {\n"
		" 0)   ==========> |\n"
		" 0)               |    kfree() {\n"
		" 0)   0.100 us    |      yield();\n"
		" 0)               |      /* in it */\n"
		" 0)   0.300 us    |    }\n"
		" 0)   <========== |\n"
		" 0)   0.100 us    |    do_work();\n"
		" 0)   ==========> |\n"
		" 0)   0.100 us    |    kfree();\n"
		" 0)   <========== |\n"
		" 0)   0.900 us    |  }\n");
	with_option("nofuncgraph-duration", NULL,
		    " 0) schedule() {\n"
		    " 0) ==========>\n"
		    " 0)   kfree() {\n"
		    " 0)     yield();\n"
		    " 0)     /* in it */\n"
		    " 0)   }\n"
		    " 0) <==========\n"
		    " 0)   do_work();\n"
		    " 0) ==========>\n"
		    " 0)   kfree();\n"
		    " 0) <==========\n"
		    " 0) }\n");
	with_option("nofuncgraph-irqs", NULL,
		    " 0)               |  schedule() {\n"
		    " 0)               |  /* in it */\n"
		    " 0)   0.100 us    |    do_work();\n"
		    " 0)   0.900 us    |  }\n");
	assert_int_equal(echo("funcgraph-proc", "trace_options"), 0);
	assert_non_null(strstr(cat("trace"), " 0)     init-1     |   ==========> |\n"));
	set("nofuncgraph-proc");
}

/* The return of an unwanted interrupt's first function was lost: a return further out ends it. */
static void interrupt_without_end(void **state)
{
	(void)state;
	start();
	set("nofuncgraph-irqs");
	enter(0, 1, func(SCHEDULE), 0);
	enter(0, 1, func(KFREE), 1);
	enter(0, 1, func(YIELD), 2);
	leave(0, 1, func(SCHEDULE), 0, 900);
	enter(0, 1, func(DO_WORK), 0);
	leave(0, 1, func(DO_WORK), 0, 900);
	body_is(" 0)               |  schedule() {\n"
		" 0)   0.900 us    |  do_work();\n");
	set("funcgraph-irqs");
}

/* A return of the same function right behind the entry is not always its own. */
static void no_leaf(void **state)
{
	(void)state;
	start();
	enter(0, 1, func(KFREE), 0);
	leave(0, 120, func(KFREE), 0, 100);
	enter(0, 120, func(KFREE), 0);
	leave(0, 120, func(YIELD), 0, 100);
	body_is(" 0)               |  kfree() {\n"
		" ------------------------------------------\n"
		" 0)     init-1     =>  fifteen-120  \n"
		" ------------------------------------------\n\n"
		" 0)   0.100 us    |  }\n"
		" 0)               |  kfree() {\n"
		" 0)   0.100 us    |  } /* yield */\n");
}

/* Each CPU has its own thread and depth. */
static void two_cpus(void **state)
{
	(void)state;
	start();
	enter(0, 1, func(SCHEDULE), 0);
	fake_clock += 10;
	enter(1, 120, func(DO_WORK), 0);
	fake_clock += 10;
	enter(0, 1, func(KFREE), 1);
	fake_clock += 10;
	comment(1, 120, "of the other\n");
	fake_clock += 10;
	leave(0, 1, func(KFREE), 1, 20);
	fake_clock += 10;
	leave(1, 120, func(DO_WORK), 0, 40);
	fake_clock += 10;
	leave(0, 1, func(SCHEDULE), 0, 60);
	body_is(" 0)               |  schedule() {\n"
		" 1)               |  do_work() {\n"
		" 0)   0.020 us    |    kfree();\n"
		" 1)               |  /* of the other */\n"
		" 1)   0.040 us    |  }\n"
		" 0)   0.060 us    |  }\n");
	assert_string_equal(cat_body("per_cpu/cpu1/trace"),
			    " 1)               |  do_work() {\n"
			    " 1)               |  /* of the other */\n"
			    " 1)   0.040 us    |  }\n");
	assert_string_equal(cat_body("per_cpu/cpu0/trace"), " 0)               |  schedule() {\n"
							    " 0)   0.020 us    |    kfree();\n"
							    " 0)   0.060 us    |  }\n");
}

/* Read `len` bytes of trace_pipe without waiting; -EAGAIN at the end. */
static const char *read_pipe(struct trace_handle *handle, int64_t want)
{
	static char text[4096];
	static uint64_t pos;
	int64_t got = trace_fs_read(handle, text, sizeof(text) - 1, &pos);

	assert_int_equal(got, want);
	text[got > 0 ? got : 0] = '\0';
	if (got < 0)
		pos = 0;
	return text;
}

static void pipe_is(struct trace_handle *handle, const char *want)
{
	assert_string_equal(read_pipe(handle, (int64_t)strlen(want)), want);
}

/* A consuming reader looks ahead as well, and remembers between two reads. */
static void pipe(void **state)
{
	struct trace_handle *handle;

	(void)state;
	start();
	handle = open_file("trace_pipe", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	one_call();
	pipe_is(handle, " 0)               |  schedule() {\n"
			" 0)   1.000 us    |    yield();\n"
			" 0)   3.000 us    |  }\n");
	enter(0, 1, func(KFREE), 0);
	pipe_is(handle, " 0)               |  kfree() {\n"); /* that is not known yet */
	leave(0, 1, func(KFREE), 0, 5);
	pipe_is(handle, " 0)   0.005 us    |  }\n");
	leave(0, 120, func(KFREE), 1, 5);
	pipe_is(handle, " ------------------------------------------\n"
			" 0)     init-1     =>  fifteen-120  \n"
			" ------------------------------------------\n\n"
			" 0)   0.005 us    |    } /* kfree */\n");
	read_pipe(handle, -EAGAIN);
	assert_int_equal(trace_fs_close(handle), 0);
	body_is("");
	/* Everything was taken: all that was read is accounted for. */
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "\nread events: 7\n"));
}

/* Between an entry and the return that follows in the buffer, events may have been lost. */
static void lost(void **state)
{
	struct trace_handle *handle;
	char line[65]; /* the rest of a line, and the next */
	uint64_t pos = 0;

	(void)state;
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	start();
	leave(0, 1, func(YIELD), 0, 5);
	enter(0, 1, func(KFREE), 0);
	handle = open_file("trace_pipe", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	assert_int_equal(trace_fs_read(handle, line, 1, &pos), 1); /* has both in its hands */
	for (int i = 0; i < 2000; i++)
		leave(0, 1, func(KFREE), 0, 7);
	assert_int_equal(trace_fs_read(handle, line, sizeof(line), &pos), sizeof(line));
	assert_memory_equal(line,
			    "0)   0.005 us    |  } /* yield */\n"
			    " 0)               |  kfree() {\n",
			    sizeof(line));
	assert_int_equal(trace_fs_read(handle, line, 12, &pos), 12);
	assert_memory_equal(line, "CPU:0 [LOST ", 12);
	assert_int_equal(trace_fs_close(handle), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

static void other_events(void **state)
{
	struct trace_func_entry function = { .ent = graph_ent(TRACE_TYPE_FN, 1),
					     .ip = trace_plat_ip_pack(func(KFREE)),
					     .parent_ip = trace_plat_ip_pack(PARENT) };
	struct trace_raw_data_entry raw = { .ent = graph_ent(TRACE_TYPE_RAW_DATA, 1), .id = 7 };
	struct trace_entry unknown = graph_ent(31, 1);

	(void)state;
	start();
	enter(0, 1, func(SCHEDULE), 0);
	graph_write(0, &function, sizeof(function));
	graph_write(0, &raw, sizeof(raw));
	comment(0, 1, "two\nlines");
	graph_write(0, &unknown, sizeof(unknown));
	leave(0, 1, func(SCHEDULE), 0, 60);
	comment(0, 1, "outside\n");
	body_is(" 0)               |  schedule() {\n"
		"            init-1       [000] .....    12.345679: kfree <-yield\n"
		" 0)               |  /* # 7 buf: */\n"
		" 0)               |  /* two\nlines */\n"
		"            init-1       [000] .....    12.345679: Unknown type 31\n"
		" 0)   0.060 us    |  }\n"
		" 0)               |  /* outside */\n");
}

/* Events that stay behind when the tracer goes, as in a snapshot. */
static void other_tracer(void **state)
{
	(void)state;
	one_call();
	return_value(KFREE, 0, 1);
	fake_thread_add(1, "init");
	body_is("            init-1       [000] .....    12.345679: schedule() {\n"
		"            init-1       [000] .....    12.345680: yield() {\n"
		"            init-1       [000] .....    12.345681: } /* yield */\n"
		"            init-1       [000] .....    12.345682: } /* schedule */\n"
		"            init-1       [000] .....    12.345682: } /* kfree */\n");
	assert_int_equal(echo("1", "options/raw"), 0);
	assert_memory_equal(cat_body("trace"), "1 0 12345678900 type: 11\n", 25);
	assert_int_equal(echo("0", "options/raw"), 0);
}

/* Deeper than what is remembered of open calls. */
static void deep(void **state)
{
	char text[800];

	(void)state;
	start();
	enter(0, 1, func(KFREE), 72);
	comment(0, 1, "here\n");
	leave(0, 1, func(KFREE), 72, 60);
	leave(0, 1, func(KFREE), 71, 60);
	snprintf(text, sizeof(text),
		 " 0)               |  %144skfree() {\n"
		 " 0)               |  %146s/* here */\n"
		 " 0)   0.060 us    |  %144s}\n"
		 " 0)   0.060 us    |  %142s} /* kfree */\n",
		 "", "", "", "");
	/* Longer than one buffer of text may be compared at once. */
	assert_string_equal(cat_body("trace"), text);
}

/* ---- Files ---- */

static void graph_sets(void **state)
{
	static const char *const paths[] = { "set_graph_function", "set_graph_notrace" };
	static const char *const none[] = { "#### all functions enabled ####\n",
					    "#### no functions disabled ####\n" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *path = paths[i];

		assert_string_equal(cat(path), none[i]);
		assert_int_equal(echo("yield kfree", path), 0);
		assert_string_equal(cat(path), "yield\nkfree\n");
		assert_int_equal(echo_append("!yield", path), 0);
		assert_string_equal(cat(path), "kfree\n");
		assert_int_equal(echo_append("!yield", path), -EINVAL);
		assert_non_null(strstr(cat("error_log"), "error: yield: not in the set\n"
							 "  Command: !yield\n"));
		assert_int_equal(echo_append("*do*", path), 0);
		assert_string_equal(cat(path), "do_work\nkfree\n");
		assert_int_equal(echo("yield nothing kfree", path), -EINVAL);
		assert_string_equal(cat(path), "yield\n");
		assert_non_null(strstr(cat("error_log"), "error: nothing: "));
		assert_int_equal(echo("yield:traceoff", path), -EINVAL);
		assert_string_equal(cat(path), none[i]);
		assert_int_equal(echo("yield:mod:nomodule", path), -EINVAL);
		assert_int_equal(echo("yield:mod:!nomodule", path), 0);
		assert_string_equal(cat(path), "yield\n");
		assert_int_equal(echo("yield yield", path), 0);
		assert_string_equal(cat(path), "yield\n");
		assert_int_equal(echo("", path), 0);
		assert_string_equal(cat(path), none[i]);
		assert_int_equal(echo("", "error_log"), 0);
	}
}

static void max_depth(void **state)
{
	static const char *const bad[] = { "garbage", "-1", "0x10", "", "1 2" };

	(void)state;
	assert_string_equal(cat("max_graph_depth"), "0\n");
	assert_int_equal(echo("5", "max_graph_depth"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(echo(bad[i], "max_graph_depth"), -EINVAL);
	assert_int_equal(echo("99999999999999999999", "max_graph_depth"), -ERANGE);
	assert_int_equal(echo("4294967296", "max_graph_depth"), -ERANGE);
	assert_string_equal(cat("max_graph_depth"), "5\n");
	assert_int_equal(echo("4294967295", "max_graph_depth"), 0);
	assert_string_equal(cat("max_graph_depth"), "-1\n");
	assert_int_equal(echo("0", "max_graph_depth"), 0);
}

static void options(void **state)
{
	static const char *const on[] = { "funcgraph-cpu",	"funcgraph-overhead",
					  "funcgraph-duration", "funcgraph-irqs",
					  "sleep-time",		"graph-time" };
	static const char *const off[] = { "funcgraph-overrun", "funcgraph-proc",
					   "funcgraph-abstime", "funcgraph-tail",
					   "funcgraph-retval",	"funcgraph-retval-hex",
					   "funcgraph-retaddr" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		snprintf(path, sizeof(path), "options/%s", on[i]);
		assert_string_equal(cat(path), "1\n");
	}
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		snprintf(path, sizeof(path), "options/%s", off[i]);
		assert_string_equal(cat(path), "0\n");
		assert_int_equal(echo("2", path), -EINVAL);
	}
	/* In trace_options they are known while the tracer runs. */
	assert_int_equal(echo_append("funcgraph-proc", "trace_options"), -EINVAL);
	assert_int_equal(echo("1", "options/funcgraph-proc"), 0);
	start();
	assert_non_null(strstr(cat("trace_options"), "\nfuncgraph-proc\n"));
	one_call();
	assert_non_null(strstr(cat("trace"), " 0)     init-1     |   1.000 us    |    yield();\n"));
	assert_int_equal(echo("0", "options/funcgraph-proc"), 0);
	assert_non_null(strstr(cat("trace"), " 0)   1.000 us    |    yield();\n"));
}

static int with_irqs(void **state)
{
	int err = tracefs_reset(state);

	fake_irq_entry_add(KFREE);
	return err;
}

static int without_irqs(void **state)
{
	fake_nr_irq_entries = 0;
	return tracefs_check(state);
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)
#define IRQ_TEST(name) cmocka_unit_test_setup_teardown(name, with_irqs, without_irqs)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(columns),
		TEST(durations),
		TEST(retvals),
		TEST(retaddrs),
		IRQ_TEST(interrupts),
		IRQ_TEST(interrupt_without_end),
		TEST(no_leaf),
		TEST(two_cpus),
		TEST(pipe),
		TEST(lost),
		TEST(deep),
		TEST(other_events),
		TEST(other_tracer),
		TEST(graph_sets),
		TEST(max_depth),
		TEST(options),
		TEST(leaves_across_sub_buffers),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
