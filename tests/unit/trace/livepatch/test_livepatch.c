/*
 * Live patches on the fake machine: which function a thread gets, before, in and after transitions;
 * stacks of patches; threads that cannot move; every error.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 * links: trace/livepatch/livepatch*.c trace/graph/fgraph*.c
 * links: trace/ops/host_tracepoints.c trace/ops/tracepoint.c
 */
#include "unit.h"
#include <string.h>
#include "allocations.h"
#include "fake/fake.h"
#include "graph/fgraph_private.h"
#include "livepatch/livepatch_private.h"

enum {
	OLD_A,
	OLD_B,
	NEW_A,
	NEW_B,
	NEWER_A,
	COLD_A
};
static const char *const names[] = { "old_a",	"old_b",      "new_a", "new_b",
				     "newer_a", "old_a.cold", "same",  "same" };

static struct klp_func funcs[2], newer_funcs[1];
static struct klp_patch patch, newer;
static long out_before;

static void say(int32_t pid, uintptr_t word)
{
	fake_thread_stack(pid, &word, word != 0);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build(names, sizeof(names) / sizeof(names[0]));
	ftrace_init();
	fake_symbol_add(klp_callback_address(), 64, "klp_callback");
	for (int32_t pid = 1; pid <= 3; pid++)
		fake_thread_add(pid, "worker");
	funcs[0] = (struct klp_func){ .old_name = "old_a", .new_func = fake_func(NEW_A) };
	funcs[1] = (struct klp_func){ .old_name = "old_b", .new_func = fake_func(NEW_B) };
	newer_funcs[0] = (struct klp_func){ .old_name = "old_a", .new_func = fake_func(NEWER_A) };
	patch = (struct klp_patch){ .name = "patch", .funcs = funcs, .nr_funcs = 2 };
	newer = (struct klp_patch){ .name = "newer", .funcs = newer_funcs, .nr_funcs = 1 };
	out_before = fake_alloc_out;
	return 0;
}

/* Everything is off again and nothing is left. */
static int teardown(void **state)
{
	(void)state;
	for (int32_t pid = 1; pid <= 3; pid++)
		say(pid, 0);
	while (fake_run_later())
		;
	if (klp_patch_is_active(&newer))
		klp_disable_patch(&newer);
	if (klp_patch_is_active(&patch))
		klp_disable_patch(&patch);
	assert_false(klp_patch_is_active(&patch) || klp_patch_is_active(&newer));
	assert_int_equal(fake_alloc_out, out_before);
	assert_int_equal(fake_nr_trampolines, 0);
	assert_int_equal(fake_nr_bugs, 0);
	return 0;
}

/* Number of the function that thread `pid` gets when it calls function `index`. */
static size_t called(int32_t pid, size_t index, enum fake_via *out_via)
{
	struct ftrace_regs fregs = { 0 };
	uintptr_t at;

	fake_cpus[0].thread = *fake_thread_of(pid);
	at = fake_call_regs(index, &fregs, out_via);
	return (at - fake_func(0)) / FAKE_FUNC_BYTES;
}

static void check_calls(int32_t pid, size_t a, size_t b)
{
	enum fake_via via;

	assert_int_equal(called(pid, OLD_A, &via), a);
	assert_int_equal(called(pid, OLD_B, &via), b);
}

static enum fake_via via_of(size_t index)
{
	enum fake_via via;

	called(1, index, &via);
	return via;
}

static void test_on_and_off(void **state)
{
	(void)state;
	check_calls(1, OLD_A, OLD_B);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_false(klp_patch_in_transition(&patch));
	check_calls(1, NEW_A, NEW_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_JUMP);
	assert_int_equal(via_of(OLD_B), FAKE_VIA_JUMP);
	assert_int_equal(klp_disable_patch(&patch), 0);
	assert_false(klp_patch_is_active(&patch));
	check_calls(1, OLD_A, OLD_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_NOTHING);
}

/* Each thread keeps to its side as long as it, or another, is inside an old function. */
static void test_transition_by_thread(void **state)
{
	(void)state;
	say(2, fake_func(OLD_B) + 7);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_true(klp_patch_in_transition(&patch));
	check_calls(1, NEW_A, NEW_B);
	check_calls(2, OLD_A, OLD_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_TRAMPOLINE);
	assert_true(fake_run_later());
	check_calls(2, OLD_A, OLD_B);
	say(2, fake_func(NEW_A) + 7); /* inside a new one is no reason to wait */
	assert_true(fake_run_later());
	assert_false(klp_patch_in_transition(&patch));
	check_calls(2, NEW_A, NEW_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_JUMP);
	assert_false(fake_run_later());
	/* And back. */
	assert_int_equal(klp_disable_patch(&patch), 0);
	assert_true(klp_patch_in_transition(&patch));
	check_calls(1, OLD_A, OLD_B);
	check_calls(2, NEW_A, NEW_B);
	say(2, 0);
	assert_true(fake_run_later());
	check_calls(2, OLD_A, OLD_B);
	assert_false(klp_patch_is_active(&patch));
}

static uint64_t nr_seen;

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_seen++;
}

/* ---- Other CPUs while a transition is begun and ended ---- */

static struct {
	size_t nr_looks;
	size_t last[4]; /* by pid: what it got for OLD_A */
	size_t from, to;
} look;

/* Any thread gets functions of one side, and never goes back to the side it came from. */
static void look_from_outside(void)
{
	enum fake_via via;

	look.nr_looks++;
	for (int32_t pid = 1; pid <= 3; pid++) {
		size_t a = called(pid, OLD_A, &via);

		assert_int_equal(called(pid, OLD_B, &via), a == OLD_A ? OLD_B : NEW_B);
		if (a != look.last[pid]) {
			assert_int_equal(look.last[pid], look.from);
			assert_int_equal(a, look.to);
		}
		look.last[pid] = a;
	}
}

static void look_at_batch(const struct trace_poke *pokes, size_t nr)
{
	(void)pokes;
	(void)nr;
	look_from_outside();
}

static void start_looking(size_t from, size_t to)
{
	look.from = from;
	look.to = to;
	for (int32_t pid = 1; pid <= 3; pid++)
		look.last[pid] = from;
	look.nr_looks = 0;
	fake_on_each_thread = look_from_outside;
	fake_on_batch = look_at_batch;
	fake_on_sync = look_from_outside;
}

static void stop_looking(void)
{
	fake_on_each_thread = NULL;
	fake_on_batch = NULL;
	fake_on_sync = NULL;
	for (int32_t pid = 1; pid <= 3; pid++)
		assert_int_equal(look.last[pid], look.to);
	assert_true(look.nr_looks > 5);
}

static void test_at_every_step(void **state)
{
	struct ftrace_ops ops = { .func = count };
	uint64_t waits;

	(void)state;
	assert_int_equal(ftrace_set_filter(&ops, "old_?", 5, true), 0);
	for (uint32_t round = 0; round < 4; round++) {
		if (round == 2) /* from here on by the callback, also at rest */
			assert_int_equal(register_ftrace_function(&ops), 0);
		start_looking(OLD_A, NEW_A);
		say(2, round % 2 ? fake_func(OLD_B) + 7 : 0);
		assert_int_equal(klp_enable_patch(&patch), 0);
		say(2, 0);
		fake_run_later();
		look_from_outside();
		stop_looking();
		start_looking(NEW_A, OLD_A);
		say(3, round % 2 ? fake_func(NEW_B) + 7 : 0);
		assert_int_equal(klp_disable_patch(&patch), 0);
		say(3, 0);
		fake_run_later();
		look_from_outside();
		stop_looking();
		assert_false(klp_patch_is_active(&patch));
	}
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
	/* No thread reads sides, or stands on a function, when they are used for something else. */
	fake_trampoline_budget = 0;
	assert_int_equal(klp_enable_patch(&newer), 0);
	waits = fake_nr_sync_preempt;
	say(1, fake_func(OLD_B) + 2);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_int_equal(fake_nr_sync_preempt - waits, 1); /* the site jumps no more */
	say(1, 0);
	assert_true(fake_run_later());
	assert_int_equal(fake_nr_sync_preempt - waits, 1 + 1 + 2); /* sides; two jumps */
	waits = fake_nr_sync_preempt;
	assert_int_equal(klp_disable_patch(&patch), 0);
	/* Two settle, two are popped, one jumps again, one is unregistered. */
	assert_int_equal(fake_nr_sync_preempt - waits, 2 + 2 + 1 + 1);
	fake_trampoline_budget = -1;
}

/* Cold parts belong to their function, and so does the byte behind a last call. */
static void test_what_counts_as_inside(void **state)
{
	const uintptr_t inside[] = { fake_func(COLD_A) + 1, fake_func(OLD_A),
				     fake_func(OLD_B) + FAKE_FUNC_BYTES,
				     klp_callback_address() + 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		say(3, inside[i]);
		assert_int_equal(klp_enable_patch(&patch), 0);
		assert_true(klp_patch_in_transition(&patch));
		say(3, 0);
		assert_true(fake_run_later());
		assert_false(klp_patch_in_transition(&patch));
		assert_int_equal(klp_disable_patch(&patch), 0);
		assert_false(klp_patch_is_active(&patch));
	}
}

/* A return address that graph tracing keeps elsewhere counts as well. */
static void test_hooked_returns(void **state)
{
	struct fgraph_frame frames[3] = { 0 };
	struct trace_thread *thread = fake_thread_of(2);

	(void)state;
	frames[1].ret = trace_plat_ip_pack(fake_func(OLD_A) + 9);
	thread->graph_base = frames;
	thread->graph_top = frames + 2;
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_true(klp_patch_in_transition(&patch));
	thread->graph_top = frames + 1; /* it has returned */
	assert_true(fake_run_later());
	assert_false(klp_patch_in_transition(&patch));
	thread->graph_base = NULL;
}

static void test_stacked(void **state)
{
	(void)state;
	assert_int_equal(klp_enable_patch(&patch), 0);
	say(1, fake_func(NEW_A) + 3);
	assert_int_equal(klp_enable_patch(&newer), 0);
	check_calls(1, NEW_A, NEW_B);
	check_calls(2, NEWER_A, NEW_B);
	/* One transition at a time. */
	assert_int_equal(klp_disable_patch(&patch), -EBUSY);
	say(1, 0);
	assert_true(fake_run_later());
	check_calls(1, NEWER_A, NEW_B);
	/* From below: nothing of `newer` changes. */
	assert_int_equal(klp_disable_patch(&patch), 0);
	assert_false(klp_patch_is_active(&patch));
	check_calls(1, NEWER_A, OLD_B);
	assert_int_equal(klp_enable_patch(&patch), 0); /* now on top */
	check_calls(1, NEW_A, NEW_B);
	assert_int_equal(klp_disable_patch(&patch), 0);
	check_calls(1, NEWER_A, OLD_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_JUMP);
}

static void test_turning_round(void **state)
{
	(void)state;
	say(1, fake_func(OLD_A) + 2);
	assert_int_equal(klp_enable_patch(&patch), 0);
	check_calls(2, NEW_A, NEW_B);
	say(2, fake_func(NEW_B) + 2);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_ENABLED, false), 0);
	check_calls(1, OLD_A, OLD_B);
	check_calls(2, NEW_A, NEW_B);
	check_calls(3, OLD_A, OLD_B);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_ENABLED, true), 0);
	check_calls(3, NEW_A, NEW_B);
	say(1, 0);
	while (fake_run_later())
		;
	check_calls(1, NEW_A, NEW_B);
	assert_false(klp_patch_in_transition(&patch));
}

static void test_forced(void **state)
{
	(void)state;
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_FORCE, true), -ENOENT);
	say(1, fake_func(OLD_A) + 2);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_FORCE, false), 0);
	assert_true(klp_patch_in_transition(&patch));
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_TRANSITION, true), -EINVAL);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_FORCE, true), 0);
	assert_false(klp_patch_in_transition(&patch));
	check_calls(1, NEW_A, NEW_B);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_FORCE, true), -EINVAL);
	say(1, 0);
	fake_run_later(); /* of the transition that was ended */
	check_calls(1, NEW_A, NEW_B);
}

/* A tracer beside it sees every call, before, in and after; the site jumps only without it. */
static void test_beside_a_tracer(void **state)
{
	struct ftrace_ops ops = { .func = count };

	(void)state;
	nr_seen = 0;
	assert_int_equal(ftrace_set_filter(&ops, "old_a", 5, true), 0);
	assert_int_equal(register_ftrace_function(&ops), 0);
	say(1, fake_func(OLD_A) + 2);
	assert_int_equal(klp_enable_patch(&patch), 0);
	check_calls(1, OLD_A, OLD_B);
	assert_int_equal(nr_seen, 1);
	say(1, 0);
	assert_true(fake_run_later());
	check_calls(1, NEW_A, NEW_B);
	assert_int_equal(nr_seen, 2);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_TRAMPOLINE);
	assert_int_equal(via_of(OLD_B), FAKE_VIA_JUMP);
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_JUMP);
	check_calls(1, NEW_A, NEW_B);
	ftrace_free_filter(&ops);
}

static void test_new_threads(void **state)
{
	struct trace_thread *child;

	(void)state;
	say(1, fake_func(OLD_A) + 2);
	assert_int_equal(klp_enable_patch(&patch), 0);
	for (int32_t parent = 1; parent <= 2; parent++) {
		fake_thread_add(10 + parent, "child");
		child = fake_thread_of(10 + parent);
		fake_cpus[0].thread = *fake_thread_of(parent);
		klp_thread_created(child);
		check_calls(10 + parent, parent == 1 ? OLD_A : NEW_A, parent == 1 ? OLD_B : NEW_B);
	}
	say(11, 0);
	say(12, 0);
}

static void test_errors(void **state)
{
	struct klp_func unknown = { .old_name = "nonsense", .new_func = fake_func(NEW_A) };
	struct klp_func nowhere = { .old_name = "old_a" };
	struct klp_func nameless = { .new_func = fake_func(NEW_A) };
	struct klp_func twice[] = { funcs[0], funcs[0] };
	struct klp_func half[] = { funcs[0], unknown };
	struct klp_patch bad = { .name = "bad", .funcs = &unknown, .nr_funcs = 1 };
	char long_name[KLP_NAME_LEN + 1];
	bool on;

	(void)state;
	assert_int_equal(klp_enable_patch(&bad), -ENOENT);
	bad.funcs = &nowhere;
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	nowhere.old_name = "same"; /* there are two of them */
	nowhere.new_func = fake_func(NEW_A);
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	bad.funcs = &nameless;
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	bad.funcs = NULL;
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	bad.nr_funcs = 0;
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	bad = (struct klp_patch){ .name = "bad", .funcs = twice, .nr_funcs = 2 };
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	bad.funcs = half; /* the first is taken back */
	assert_int_equal(klp_enable_patch(&bad), -ENOENT);
	check_calls(1, OLD_A, OLD_B);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_NOTHING);
	bad.name = "";
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);
	memset(long_name, 'x', KLP_NAME_LEN);
	long_name[KLP_NAME_LEN] = '\0';
	bad.name = long_name;
	assert_int_equal(klp_enable_patch(&bad), -EINVAL);

	assert_int_equal(klp_disable_patch(&patch), -EINVAL);
	assert_int_equal(klp_reenable_patch(&patch), -EINVAL);
	assert_int_equal(klp_force_transition(&patch), -EINVAL);
	assert_int_equal(klp_attr_get("patch", KLP_ATTR_ENABLED, &on), -ENOENT);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_int_equal(klp_attr_get("patch", KLP_ATTR_ENABLED, &on), 0);
	assert_true(on);
	assert_int_equal(klp_attr_get("patch", KLP_ATTR_TRANSITION, &on), 0);
	assert_false(on);
	assert_int_equal(klp_enable_patch(&patch), -EEXIST);
	newer.name = "patch";
	assert_int_equal(klp_enable_patch(&newer), -EEXIST);
	assert_int_equal(klp_attr_set("patch", KLP_ATTR_ENABLED, true), -EINVAL);
	assert_int_equal(klp_reenable_patch(&patch), -EINVAL);
}

/* Another ops decides where the function goes. */
static void test_busy(void **state)
{
	struct ftrace_ops ops = { .func = count,
				  .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY };

	(void)state;
	assert_int_equal(ftrace_set_filter(&ops, "old_b", 5, true), 0);
	assert_int_equal(register_ftrace_function(&ops), 0);
	assert_int_equal(klp_enable_patch(&patch), -EBUSY);
	assert_int_equal(via_of(OLD_A), FAKE_VIA_NOTHING);
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	ftrace_free_filter(&ops);
}

/* The switch of function tracing does not bring back what was replaced. */
static void test_the_switch_for_tracing(void **state)
{
	(void)state;
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_int_equal(ftrace_set_enabled(false), -EBUSY);
	check_calls(1, NEW_A, NEW_B);
	assert_int_equal(klp_disable_patch(&patch), 0);
	assert_int_equal(ftrace_set_enabled(false), 0);
	assert_int_equal(klp_enable_patch(&patch), -EBUSY);
	assert_false(klp_patch_is_active(&patch));
	assert_int_equal(ftrace_set_enabled(true), 0);
	check_calls(1, OLD_A, OLD_B);
}

static void test_without_memory(void **state)
{
	long nr;

	(void)state;
	for_each_allocation(nr, klp_enable_patch(&patch))
		check_calls(1, OLD_A, OLD_B);
	assert_true(nr > 0);
	check_calls(1, NEW_A, NEW_B);
}

static void test_names(void **state)
{
	char name[KLP_NAME_LEN];

	(void)state;
	assert_int_equal(klp_patch_name(0, name), -ENOENT);
	assert_int_equal(klp_enable_patch(&patch), 0);
	assert_int_equal(klp_enable_patch(&newer), 0);
	assert_int_equal(klp_patch_name(1, name), 0);
	assert_string_equal(name, "newer");
	assert_int_equal(klp_patch_name(2, name), -ENOENT);
	assert_int_equal(klp_func_name("patch", 1, name, sizeof(name)), 0);
	assert_string_equal(name, "old_b");
	assert_int_equal(klp_func_name("patch", 2, name, sizeof(name)), -ENOENT);
	assert_int_equal(klp_func_name("nonsense", 0, name, sizeof(name)), -ENOENT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_on_and_off),
		CASE(test_new_threads), /* in the second life of a patch */
		CASE(test_transition_by_thread),
		CASE(test_at_every_step),
		CASE(test_what_counts_as_inside),
		CASE(test_hooked_returns),
		CASE(test_stacked),
		CASE(test_turning_round),
		CASE(test_forced),
		CASE(test_beside_a_tracer),
		CASE(test_errors),
		CASE(test_busy),
		CASE(test_the_switch_for_tracing),
		CASE(test_without_memory),
		CASE(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
