/*
 * Damaged text while instances, commands, graph users and live patches are at work: recording ends,
 * sites that called an ops go on doing so, and what they call stays. Each test is a life of its
 * own.
 */
#include "unit.h"
#include "child.h"
#include "tracefs.h"
#include <trace/fgraph.h>
#include <trace/ftrace_probe.h>
#include "instance/array.h"
#include "livepatch/livepatch_private.h"

static void boot(void)
{
	EXPECT(tracefs_setup(NULL) == 0);
	fake_symbol_add(klp_callback_address(), 64, "klp_callback");
	for (int32_t pid = 1; pid <= 2; pid++)
		fake_thread_add(pid, "worker");
	fake_run(1);
}

/* Another part finds that the site of do_work is not what it was. */
static void damage(void)
{
	uint8_t *site = fake_text_at(fake_func(DO_WORK));

	EXPECT(echo("do_work", "set_ftrace_filter") == 0);
	site[2] ^= 0xff;
	EXPECT(echo("function", "current_tracer") == -ENODEV);
	site[2] ^= 0xff;
	EXPECT(ftrace_is_dead());
	EXPECT(!tracing_is_on());
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
	/* Sites call on, for an unknown ops. */
	EXPECT(strstr(cat("enabled_functions"), "schedule (1)         \ttramp: ERROR!\n"));
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

/* ---- Commands ---- */

static uint32_t nr_hits;

static void count_hit(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	(void)ops;
	(*hit->data)++;
	nr_hits++;
}

static const struct ftrace_probe_ops hits = { .name = "hits", .func = count_hit };
static const struct ftrace_probe_ops others = { .name = "others", .func = count_hit };

static void commands_go_their_memory_stays(void)
{
	long out;

	boot();
	EXPECT(make("one") == 0);
	EXPECT(echo("kfree:traceoff:5", "instances/one/set_ftrace_filter") == 0);
	EXPECT(register_ftrace_function_probe("schedule", &trace_global, &hits, 0) == 0);
	damage();
	call(0, 1, SCHEDULE);
	EXPECT(nr_hits == 1); /* the site is unknown */
	EXPECT(unregister_ftrace_function_probe_func("*", &trace_global, &hits) == 0);
	call(0, 1, SCHEDULE);
	EXPECT(nr_hits == 1);
	EXPECT(drop("one") == 0);
	call(0, 1, KFREE);
	out = fake_alloc_out;
	EXPECT(register_ftrace_function_probe("yield", &trace_global, &others, 0) == -ENODEV);
	EXPECT(fake_alloc_out == out);
}

#define NR_MANY 200u

/*
 * The command itself finds the damage, and for want of memory when some of its sites call already.
 * Exit status: 1 wrong, 2 out of memory before that, 3 no site was changed, 0 as meant.
 */
static int set_on_damage(long budget)
{
	int err;

	fake_reset();
	fake_text_build_many("func_", NR_MANY);
	ftrace_init();
	EXPECT(trace_init() == 0);
	fake_text_at(fake_func(NR_MANY - 1))[2] ^= 0xff;
	fake_alloc_budget = budget;
	err = register_ftrace_function_probe("func_*", &trace_global, &hits, 0);
	fake_alloc_budget = -1;
	if (err == -ENOMEM)
		return 2;
	EXPECT(err == -ENODEV && ftrace_is_dead());
	if (*fake_text_at(fake_func(0)) != 0xe8)
		return 3;
	fake_call(0, fake_func(NR_MANY / 2));
	EXPECT(nr_hits == 0);
	return 0;
}

static void a_command_that_finds_it(void)
{
	int nr[4] = { 0 };

	for (long budget = 0; budget < 30; budget++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			_exit(set_on_damage(budget));
		EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		EXPECT(WEXITSTATUS(status) < 4 && WEXITSTATUS(status) != 1);
		nr[WEXITSTATUS(status)]++;
	}
	EXPECT(nr[0] && nr[2] && nr[3]);
}

/* ---- Live patches ---- */

static struct klp_func old_func = { .old_name = "schedule" },
		       newer_func = { .old_name = "schedule" };
static struct klp_patch patch = { .name = "patch", .funcs = &old_func, .nr_funcs = 1 };
static struct klp_patch newer = { .name = "newer", .funcs = &newer_func, .nr_funcs = 1 };

/* schedule becomes yield, or with the second patch kfree. */
static void boot_with_patches(void)
{
	boot();
	old_func.new_func = fake_func(YIELD);
	newer_func.new_func = fake_func(KFREE);
}

/* Where a call of schedule goes. */
static bool goes_to(size_t index, enum fake_via via)
{
	struct ftrace_regs fregs = { 0 };
	enum fake_via found;
	uintptr_t at;

	at = fake_call_regs(SCHEDULE, &fregs, &found);
	return found == via && (at - fake_func(0)) / FAKE_FUNC_BYTES == index;
}

static bool is_enabled(const char *name)
{
	bool is_on = false;

	return !klp_attr_get(name, KLP_ATTR_ENABLED, &is_on) && is_on;
}

static void patches_stay(void)
{
	boot_with_patches();
	EXPECT(klp_enable_patch(&patch) == 0);
	EXPECT(goes_to(YIELD, FAKE_VIA_JUMP));
	damage();
	EXPECT(klp_disable_patch(&patch) == -ENODEV);
	EXPECT(klp_attr_set("patch", KLP_ATTR_ENABLED, false) == -ENODEV);
	EXPECT(klp_patch_is_active(&patch) && !klp_patch_in_transition(&patch));
	EXPECT(is_enabled("patch"));
	EXPECT(klp_enable_patch(&newer) == -ENODEV); /* its only site is there already */
	EXPECT(!klp_patch_is_active(&newer));
	EXPECT(goes_to(YIELD, FAKE_VIA_JUMP));
	EXPECT(!strstr(fake_log(), "unpatching"));
}

/* The site that would have to change is the damaged one. */
static void spoil_and(int (*change)(struct klp_patch *), struct klp_patch *which)
{
	uint8_t *site;

	boot_with_patches();
	site = fake_text_at(fake_func(SCHEDULE));
	EXPECT(klp_enable_patch(&patch) == 0);
	site[4] ^= 0x01;
	EXPECT(change(which) == -ENODEV);
	site[4] ^= 0x01;
	EXPECT(ftrace_is_dead());
	EXPECT(klp_patch_is_active(&patch) && !klp_patch_in_transition(&patch));
	EXPECT(is_enabled("patch") && !klp_patch_is_active(&newer));
	EXPECT(goes_to(YIELD, FAKE_VIA_JUMP));
}

static void a_disable_that_finds_it(void)
{
	spoil_and(klp_disable_patch, &patch);
}

static void a_stacked_patch_that_finds_it(void)
{
	spoil_and(klp_enable_patch, &newer);
}

/* The callback needs no change of text. */
static void transitions_end(void)
{
	uintptr_t inside_old, inside_new;

	boot_with_patches();
	inside_old = fake_func(SCHEDULE) + 7;
	inside_new = fake_func(YIELD) + 7;
	fake_thread_stack(2, &inside_old, 1);
	EXPECT(klp_enable_patch(&patch) == 0);
	EXPECT(klp_patch_in_transition(&patch));
	damage();
	EXPECT(klp_disable_patch(&patch) == -ENODEV);
	fake_thread_stack(2, &inside_new, 1);
	EXPECT(fake_run_later());
	EXPECT(!klp_patch_in_transition(&patch) && is_enabled("patch"));
	EXPECT(goes_to(YIELD, FAKE_VIA_TRAMPOLINE));
}

static void transitions_back_end(void)
{
	uintptr_t inside_new;

	boot_with_patches();
	inside_new = fake_func(YIELD) + 7;
	EXPECT(klp_enable_patch(&patch) == 0);
	fake_thread_stack(2, &inside_new, 1);
	EXPECT(klp_disable_patch(&patch) == 0);
	EXPECT(klp_patch_in_transition(&patch));
	damage();
	fake_thread_stack(2, &inside_new, 0);
	EXPECT(fake_run_later());
	EXPECT(!klp_patch_is_active(&patch));
	EXPECT(goes_to(SCHEDULE,
		       FAKE_VIA_TRAMPOLINE)); /* but it calls an ops without a replacement */
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
CHILD(commands_go_their_memory_stays)
CHILD(a_command_that_finds_it)
CHILD(patches_stay)
CHILD(a_disable_that_finds_it)
CHILD(a_stacked_patch_that_finds_it)
CHILD(transitions_end)
CHILD(transitions_back_end)

#define TEST(fn) cmocka_unit_test(fn##_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_stop_recording),
		TEST(instances_go_their_memory_stays),
		TEST(a_graph_tracer_that_went),
		TEST(a_graph_user_that_went),
		TEST(commands_go_their_memory_stays),
		TEST(a_command_that_finds_it),
		TEST(patches_stay),
		TEST(a_disable_that_finds_it),
		TEST(a_stacked_patch_that_finds_it),
		TEST(transitions_end),
		TEST(transitions_back_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
