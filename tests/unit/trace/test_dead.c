/*
 * Damaged text while instances and graph users are at work: recording ends,
 * sites that called somebody go on doing so, and what they call stays. Each test is a life of its
 * own.
 */
#include "unit.h"
#include "child.h"
#include "tracefs.h"
#include <trace/fgraph.h>
#include "array.h"

static void boot(void)
{
	EXPECT(tracefs_setup(NULL) == 0);
	for (int32_t pid = 1; pid <= 2; pid++)
		fake_thread_add(pid, "worker");
	fake_run(1);
}

/* Somebody else finds that the site of do_work is not what it was. */
static void damage(void)
{
	uint8_t *site = fake_text_at(fake_func(DO_WORK));

	EXPECT(echo("do_work", "set_ftrace_filter") == 0);
	site[2] ^= 0xff;
	EXPECT(echo("function", "current_tracer") == -ENODEV);
	site[2] ^= 0xff;
	EXPECT(ftrace_is_dead());
	EXPECT(fake_nr_bugs == 1);
}

static int make(const char *name)
{
	return trace_fs_mkdir(node_of("instances"), name);
}

static int drop(const char *name)
{
	return trace_fs_rmdir(node_of("instances"), name);
}

static bool says(const char *path, const char *want)
{
	return strcmp(cat(path), want) == 0;
}

static void call_all(void)
{
	for (size_t i = 0; i < NR_FUNCS; i++)
		call(0, 1, i);
}

/* An instance that has the only user of `func`: the site calls its own trampoline. */
static void trace_with(const char *name, const char *func, const char *tracer)
{
	char path[64];

	EXPECT(make(name) == 0);
	snprintf(path, sizeof(path), "instances/%s/set_ftrace_filter", name);
	EXPECT(echo(func, path) == 0);
	snprintf(path, sizeof(path), "instances/%s/current_tracer", name);
	EXPECT(echo(tracer, path) == 0);
}

static void three_instances(void)
{
	boot();
	trace_with("calls", "schedule", "function");
	trace_with("graph", "yield", "function_graph");
	trace_with("latency", "kfree", "preemptoff");
}

static void all_stop_recording(void)
{
	three_instances();
	call_all();
	EXPECT(strstr(cat("instances/calls/trace"), "schedule <-"));
	EXPECT(strstr(cat("instances/graph/trace"), "yield"));
	EXPECT(echo("", "instances/calls/trace") == 0);
	EXPECT(echo("", "instances/graph/trace") == 0);
	damage();
	EXPECT(says("tracing_on", "0\n"));
	EXPECT(says("instances/calls/tracing_on", "0\n"));
	EXPECT(says("instances/graph/tracing_on", "0\n"));
	EXPECT(says("instances/latency/tracing_on", "0\n"));
	call_all();
	EXPECT(!*cat_body("instances/calls/trace"));
	EXPECT(!strstr(cat("instances/graph/trace"), "yield"));
}

static void instances_go_their_memory_stays(void)
{
	three_instances();
	damage();
	EXPECT(drop("calls") == 0);
	EXPECT(drop("graph") == 0);
	EXPECT(drop("latency") == 0);
	EXPECT(!node_of("instances/calls"));
	EXPECT(!node_of("instances/graph"));
	EXPECT(!node_of("instances/latency"));
	call_all(); /* looks at what was freed, if it was */
	EXPECT(make("calls") == 0);
	EXPECT(echo("function", "instances/calls/current_tracer") == -ENODEV);
	EXPECT(drop("calls") == 0);
	EXPECT(drop("calls") == -ENOENT);
}

static uint32_t nr_returns;

static void count_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	(void)ret;
	(void)gops;
	nr_returns++;
}

static struct fgraph_ops gops = { .retfunc = count_return };

static void count_returns_of(const char *func)
{
	EXPECT(ftrace_set_filter(&gops.ops, func, strlen(func), true) == 0);
	EXPECT(register_ftrace_graph(&gops) == 0);
}

/*
 * The tracer is gone, its site does not know, and another user keeps the shadow stacks. Whoever
 * switches recording on again gets no call.
 */
static void a_graph_tracer_that_went(void)
{
	three_instances();
	count_returns_of("schedule");
	damage();
	EXPECT(echo("nop", "instances/graph/current_tracer") == 0);
	EXPECT(echo("1", "instances/graph/tracing_on") == 0);
	EXPECT(*fake_enter(YIELD, PARENT) == PARENT);
	EXPECT(fake_leave(0) == PARENT);
	EXPECT(!*cat_body("instances/graph/trace"));
}

static void a_graph_user_that_went(void)
{
	boot();
	count_returns_of("yield");
	call(0, 1, YIELD);
	EXPECT(nr_returns == 1);
	damage();
	EXPECT(unregister_ftrace_graph(&gops) == -ENODEV);
	EXPECT(*fake_enter(YIELD, PARENT) == PARENT);
	EXPECT(fake_leave(0) == PARENT);
	EXPECT(nr_returns == 1);
	EXPECT(unregister_ftrace_graph(&gops) == -EINVAL);
}

#define CHILD(fn)                                                                                  \
	static void fn##_test(void **state)                                                        \
	{                                                                                          \
		(void)state;                                                                       \
		in_child(fn);                                                                      \
	}

CHILD(all_stop_recording)
CHILD(instances_go_their_memory_stays)
CHILD(a_graph_tracer_that_went)
CHILD(a_graph_user_that_went)

#define TEST(fn) cmocka_unit_test(fn##_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_stop_recording),
		TEST(instances_go_their_memory_stays),
		TEST(a_graph_tracer_that_went),
		TEST(a_graph_user_that_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
