/*
 * Hooked returns against a model that knows only who called whom: each entry has its return, each
 * function returns to its caller, interrupts at every reading of the clock included; what settings
 * leave out; what happens when a return address does not fit.
 */
#include "unit.h"
#include <sys/wait.h>
#include <unistd.h>
#include <trace/fgraph.h>
#include <trace/host_tracepoints.h>
#include <trace/recursion.h>
#include <trace/thread.h>
#include "tracefs.h"
#include "trace/graph/call_tree.h"

#define NR_THREADS 4
#define FIRST_PID  100

struct user {
	struct fgraph_ops gops;
	uint64_t entries, returns, declined;
	uint32_t depth[NR_THREADS + 1]; /* open calls of a thread */
	struct ftrace_graph_ret last;
	bool declines; /* every second call */
};

static struct user user_a, user_b;

static uint32_t *open_calls(struct user *user)
{
	int32_t pid = trace_plat_current_pid();

	return &user->depth[pid >= FIRST_PID ? pid - FIRST_PID : NR_THREADS];
}

static bool note_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	struct user *user = gops->private;

	assert_int_equal(ent->depth, *open_calls(user));
	assert_int_not_equal(ent->retaddr, FAKE_RETURN_HOOK); /* of tail calls too */
	assert_int_equal(ent->parent_data != NULL, ent->depth > 0);
	if (ent->parent_data)
		assert_int_equal(*ent->parent_data >> 32, ent->depth - 1);
	*ent->data = (uint64_t)ent->depth << 32 | (uint32_t)ent->func;
	if (user->declines && ++user->declined % 2)
		return false;
	++*open_calls(user);
	user->entries++;
	return true;
}

static void note_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	struct user *user = gops->private;

	--*open_calls(user);
	assert_int_equal(ret->depth, *open_calls(user));
	assert_int_equal(*ret->data, (uint64_t)ret->depth << 32 | (uint32_t)ret->func);
	assert_true(ret->rettime >= ret->calltime);
	assert_true(ret->child_ns <= ret->rettime - ret->calltime);
	user->returns++;
	user->last = *ret;
}

static void watch(struct user *user, const char *pattern)
{
	*user = (struct user){
		.gops = { .entryfunc = note_entry, .retfunc = note_return, .private = user }
	};
	if (pattern)
		assert_int_equal(ftrace_set_filter(&user->gops.ops, pattern, strlen(pattern), true),
				 0);
	assert_int_equal(register_ftrace_graph(&user->gops), 0);
}

static void unwatch(struct user *user)
{
	assert_int_equal(unregister_ftrace_graph(&user->gops), 0);
	ftrace_free_filter(&user->gops.ops);
}

/* ---- Calls ---- */

static void interrupt(void)
{
	static uint32_t seed;
	uint32_t recursion = fake_this->recursion;

	atomic_fetch_add(&fake_this->preempt_count, 0x00010000u);
	fake_enter(KFREE, CALLER(++seed));
	fake_enter(DO_WORK, CALLER(seed + 1));
	assert_int_equal(fake_leave(1), CALLER(seed + 1));
	assert_int_equal(fake_leave(2), CALLER(seed));
	atomic_fetch_sub(&fake_this->preempt_count, 0x00010000u);
	assert_int_equal(fake_this->recursion, recursion);
}

static void nothing_left(void)
{
	struct trace_thread *thread;

	for (int i = 0; i < NR_THREADS; i++) {
		thread = fake_thread_of(FIRST_PID + i);
		assert_null(thread->graph_base);
		assert_null(thread->graph_top);
	}
	assert_int_equal(fake_alloc_out, memory_out);
}

static void every_call_returns(void **state)
{
	uint32_t seed = 1;

	(void)state;
	fake_clock_step = 7;
	watch(&user_a, NULL);
	watch(&user_b, "*e*"); /* schedule, kfree, yield */
	fake_run(FIRST_PID);
	call_tree(4, &seed);
	assert_true(user_a.entries > 363 && user_a.entries == user_a.returns);
	assert_true(user_b.entries > 200 && user_b.entries == user_b.returns);
	assert_true(user_b.entries < user_a.entries);
	assert_int_equal(fake_thread_of(FIRST_PID)->graph_overrun, 0);
	unwatch(&user_b);
	call_tree(3, &seed);
	assert_int_equal(user_a.entries, user_a.returns);
	unwatch(&user_a);
	nothing_left();
}

static void interrupts_nest(void **state)
{
	uint32_t seed = 1;

	(void)state;
	fake_clock_step = 3;
	user_a.declines = false;
	watch(&user_a, NULL);
	watch(&user_b, NULL);
	fake_run(FIRST_PID + 1);
	/* The model of depths knows nothing of an interrupt in the middle of an entry. */
	user_a.gops.entryfunc = user_b.gops.entryfunc = NULL;
	user_a.gops.retfunc = user_b.gops.retfunc = NULL;
	fake_clock_irq = interrupt;
	call_tree(3, &seed);
	fake_clock_irq = NULL;
	assert_int_equal(ftrace_graph_pending(&user_a.gops), 0);
	user_a.gops.entryfunc = user_b.gops.entryfunc = note_entry;
	user_a.gops.retfunc = user_b.gops.retfunc = note_return;
	call_tree(2, &seed);
	assert_int_equal(user_a.entries, user_a.returns);
	unwatch(&user_a);
	unwatch(&user_b);
	nothing_left();
}

static void declined(void **state)
{
	uint32_t seed = 1;
	uintptr_t *slot;

	(void)state;
	watch(&user_a, NULL);
	user_a.declines = true;
	fake_run(FIRST_PID);
	slot = fake_enter(KFREE, PARENT);
	assert_int_equal(*slot, PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	slot = fake_enter(KFREE, PARENT);
	assert_int_equal(*slot, FAKE_RETURN_HOOK);
	assert_int_equal(fake_leave(5), PARENT);
	assert_int_equal(user_a.last.retval, 5);
	call_tree(3, &seed);
	assert_int_equal(user_a.entries, user_a.returns);
	unwatch(&user_a);
	nothing_left();
}

static void times(void **state)
{
	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID);
	fake_enter(SCHEDULE, PARENT);
	fake_clock += 10;
	for (int i = 0; i < 2; i++) {
		fake_enter(KFREE, PARENT);
		fake_clock += 100;
		fake_leave(0);
		assert_int_equal(user_a.last.rettime - user_a.last.calltime, 100);
		assert_int_equal(user_a.last.child_ns, 0);
	}
	fake_leave(0);
	assert_int_equal(user_a.last.rettime - user_a.last.calltime, 210);
	assert_int_equal(user_a.last.child_ns, 200);
	unwatch(&user_a);
}

static void overrun(void **state)
{
	uint64_t hooked;

	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID);
	for (int i = 0; i < 200; i++)
		fake_enter(KFREE, CALLER(i));
	hooked = user_a.entries;
	assert_true(hooked >= 50 && hooked < 200);
	assert_int_equal(ftrace_graph_pending(&user_a.gops), hooked);
	for (int i = 199; i >= 0; i--)
		assert_int_equal(fake_leave(0), CALLER(i));
	assert_int_equal(user_a.returns, hooked);
	assert_int_equal(user_a.last.overrun, 200 - hooked);
	fake_run(-1); /* a thread without a stack: the same */
	fake_call(KFREE, PARENT);
	assert_int_equal(user_a.returns, hooked);
	unwatch(&user_a);
	fake_thread_of(FIRST_PID)->graph_overrun = 0;
}

static void user_goes_while_inside(void **state)
{
	const struct trace_thread *thread = fake_thread_of(FIRST_PID);

	(void)state;
	assert_int_equal(ftrace_graph_nr_stacks(), 0);
	assert_int_equal(ftrace_graph_depth(thread), 0);
	watch(&user_a, NULL);
	assert_in_range(ftrace_graph_nr_stacks(), NR_THREADS, 2 * NR_THREADS);
	assert_int_equal(ftrace_graph_depth(thread), 0);
	fake_run(FIRST_PID);
	fake_enter(SCHEDULE, PARENT);
	assert_int_equal(ftrace_graph_depth(thread), 1);
	fake_enter(KFREE, CALLER(3));
	fake_run(FIRST_PID + 1);
	unwatch(&user_a);
	assert_int_equal(fake_alloc_out, memory_out + 1); /* one stack is still in use */
	assert_int_equal(ftrace_graph_nr_stacks(), 1);
	assert_int_equal(ftrace_graph_depth(thread), 2);
	watch(&user_b, NULL);
	assert_int_equal(user_b.gops.user.index, user_a.gops.user.index);
	fake_run(FIRST_PID);
	assert_int_equal(fake_leave(0), CALLER(3));
	fake_call(DO_WORK, PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	assert_int_equal(user_a.returns, 0);
	assert_int_equal(user_b.returns, 1);
	assert_int_equal(ftrace_graph_depth(thread), 0);
	unwatch(&user_b);
	assert_int_equal(ftrace_graph_nr_stacks(), 0);
	nothing_left();
}

/* For entries that run, then for returns: both read its memory. */
static void user_goes_after_two_waits(void **state)
{
	uint64_t waits;

	(void)state;
	watch(&user_a, NULL);
	watch(&user_b, NULL);
	waits = fake_nr_sync_preempt;
	unwatch(&user_b);
	assert_int_equal(fake_nr_sync_preempt - waits, 2);
	unwatch(&user_a);
}

static void thread_ends_inside(void **state)
{
	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID + 2);
	fake_enter(SCHEDULE, PARENT);
	fake_enter(KFREE, PARENT);
	fake_call(DO_WORK, PARENT);
	trace_thread_exited(FIRST_PID + 2, "gone");
	fake_call(DO_WORK, PARENT); /* on its way out: not hooked */
	assert_int_equal(user_a.entries, 3);
	assert_int_equal(user_a.returns, 1);
	assert_int_equal(user_a.gops.user.nr_abandoned, 2);
	assert_int_equal(ftrace_graph_pending(&user_a.gops), 0);
	/* Who comes now gives it no stack: it would be lost with what is on it. */
	watch(&user_b, NULL);
	fake_call(DO_WORK, PARENT);
	assert_int_equal(user_b.entries, 0);
	assert_null(fake_thread_of(FIRST_PID + 2)->graph_base);
	unwatch(&user_b);
	fake_this->stack_used = 0;
	/* Born again, with a stack from the start. */
	trace_thread_created(1, FIRST_PID + 2, fake_thread_of(FIRST_PID + 2));
	user_a.depth[2] = 0;
	fake_call(DO_WORK, PARENT);
	assert_int_equal(user_a.returns, 2);
	unwatch(&user_a);
	nothing_left();
}

/* The functions that hosts of the profile `graph` call, who have no <trace/trace.h>. */
static void thread_comes_and_goes(void **state)
{
	struct trace_thread *thread = fake_thread_of(FIRST_PID + 1);
	uint64_t nr;

	(void)state;
	watch(&user_a, NULL);
	nr = ftrace_graph_nr_stacks();
	fake_run(FIRST_PID + 1);
	ftrace_graph_thread_exited(thread);
	assert_int_equal(ftrace_graph_nr_stacks(), nr - 1);
	fake_call(DO_WORK, PARENT);
	assert_int_equal(user_a.entries, 0);
	ftrace_graph_thread_created(thread);
	assert_int_equal(ftrace_graph_nr_stacks(), nr);
	fake_call(DO_WORK, PARENT);
	assert_int_equal(user_a.returns, 1);
	unwatch(&user_a);
	nothing_left();
}

static void no_memory(void **state)
{
	struct fgraph_ops gops = { .retfunc = note_return, .private = &user_a };
	struct fgraph_ops empty = { .private = NULL };

	(void)state;
	assert_int_equal(register_ftrace_graph(&empty), -EINVAL);
	assert_int_equal(unregister_ftrace_graph(&gops), -EINVAL);
	for (long budget = 0; budget < NR_THREADS; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(register_ftrace_graph(&gops), -ENOMEM);
		assert_int_equal(fake_alloc_out, memory_out);
	}
	fake_alloc_budget = -1;
	nothing_left();
}

/*
 * A function that is jumped to returns into the hook of the one that jumped. Who called it all is
 * shown, by the function tracer with and without its slower options.
 */
static void callers_behind_the_hook(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "graph"), 0);
	assert_int_equal(echo("function_graph", "instances/graph/current_tracer"), 0);
	assert_int_equal(echo("function", "current_tracer"), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(echo(i ? "1" : "0", "options/func_stack_trace"), 0);
		assert_int_equal(echo("", "trace"), 0);
		fake_run(FIRST_PID);
		fake_enter(KFREE, PARENT);
		fake_tail(DO_WORK);
		assert_int_equal(fake_leave(1), PARENT);
		fake_run(-1);
		assert_non_null(strstr(cat("trace"), "kfree <-yield\n"));
		assert_non_null(strstr(cat("trace"), "do_work <-yield\n"));
	}
	assert_int_equal(echo("0", "options/func_stack_trace"), 0);
	/* And by a latency tracer. */
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	assert_int_equal(echo("0", "tracing_max_latency"), 0);
	fake_run(FIRST_PID);
	fake_this->irqs_off = true;
	trace_irq_disable_call(fake_func(YIELD) + 4, 0);
	fake_clock += 1000000;
	fake_enter(KFREE, PARENT);
	fake_tail(DO_WORK);
	assert_int_equal(fake_leave(1), PARENT);
	trace_irq_enable_call(fake_func(YIELD) + 4, 0);
	fake_this->irqs_off = false;
	fake_run(-1);
	assert_non_null(strstr(cat("trace"), "do_work <-yield\n"));
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "graph"), 0);
}

static void users_in_all_places(void **state)
{
	struct fgraph_ops gops[FGRAPH_MAX_USERS + 1];
	size_t nr = 0;

	(void)state;
	for (; nr <= FGRAPH_MAX_USERS; nr++) {
		gops[nr] = (struct fgraph_ops){ .retfunc = note_return, .private = &user_a };
		if (register_ftrace_graph(&gops[nr]))
			break;
	}
	assert_int_equal(nr, FGRAPH_MAX_USERS);
	assert_int_equal(register_ftrace_graph(&gops[nr]), -EBUSY);
	assert_int_equal(register_ftrace_graph(&gops[0]), -EBUSY);
	assert_int_equal(unregister_ftrace_graph(&gops[nr]), -EINVAL);
	/* The place of one that goes is free again. */
	assert_int_equal(unregister_ftrace_graph(&gops[3]), 0);
	assert_int_equal(register_ftrace_graph(&gops[nr]), 0);
	for (size_t i = 0; i <= nr; i++)
		assert_int_equal(unregister_ftrace_graph(&gops[i]), i == 3 ? -EINVAL : 0);
	nothing_left();
}

static void real_addresses(void **state)
{
	struct trace_thread *thread = fake_thread_of(FIRST_PID);
	uintptr_t *slot;

	(void)state;
	watch(&user_a, NULL);
	watch(&user_b, NULL);
	fake_run(FIRST_PID);
	slot = fake_enter(SCHEDULE, CALLER(1));
	fake_tail(KFREE);
	assert_int_equal(*slot, FAKE_RETURN_HOOK);
	assert_int_equal(ftrace_graph_ret_addr(thread, *slot, slot), CALLER(1));
	assert_int_equal(ftrace_graph_ret_addr(thread, PARENT, slot), PARENT);
	assert_int_equal(ftrace_graph_ret_addr(NULL, *slot, slot), FAKE_RETURN_HOOK);
	assert_int_equal(ftrace_graph_ret_addr(thread, *slot, slot + 1), FAKE_RETURN_HOOK);
	assert_int_equal(fake_leave(0), CALLER(1));
	unwatch(&user_a);
	unwatch(&user_b);
}

static void switch_thread(struct trace_sched_thread *from, struct trace_sched_thread *to)
{
	trace_sched_switch(from, to);
	fake_run(to->pid);
}

static void sleeping(void **state)
{
	struct trace_sched_thread one = { .thread = fake_thread_of(FIRST_PID), .pid = FIRST_PID };
	struct trace_sched_thread two = { .thread = fake_thread_of(FIRST_PID + 1),
					  .pid = FIRST_PID + 1 };

	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID);
	fake_enter(SCHEDULE, PARENT);
	assert_int_equal(ftrace_graph_sleep_get(), 0);
	assert_true(trace_sched_switch_enabled());
	fake_clock += 5;
	switch_thread(&one, &two);
	fake_clock += 70;
	switch_thread(&two, &one);
	fake_clock += 5;
	assert_int_equal(fake_leave(0), PARENT);
	assert_int_equal(user_a.last.rettime - user_a.last.calltime, 80);
	assert_int_equal(user_a.last.sleep_ns, 70);
	ftrace_graph_sleep_put();
	assert_false(trace_sched_switch_enabled());
	unwatch(&user_a);
}

/* ---- The tracer ---- */

static const char *graph(void)
{
	return cat_body("trace");
}

static void start_graph(void)
{
	fake_run(FIRST_PID);
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
}

static void enter_later(size_t index)
{
	fake_clock += 500;
	fake_enter(index, PARENT);
}

static void leave_later(void)
{
	fake_clock += 500;
	assert_int_equal(fake_leave(0), PARENT);
}

/* schedule() { do_work() { kfree(); } } yield(); */
static void some_calls(void)
{
	enter_later(SCHEDULE);
	enter_later(DO_WORK);
	enter_later(KFREE);
	leave_later();
	leave_later();
	leave_later();
	enter_later(YIELD);
	leave_later();
}

static void tracer_events(void **state)
{
	(void)state;
	start_graph();
	some_calls();
	assert_string_equal(graph(), " 0)               |  schedule() {\n"
				     " 0)               |    do_work() {\n"
				     " 0)   0.500 us    |      kfree();\n"
				     " 0)   1.500 us    |    }\n"
				     " 0)   2.500 us    |  }\n"
				     " 0)   0.500 us    |  yield();\n");
}

/* The return value, and the caller: whoever else has hooked the return before. */
static void tracer_values(void **state)
{
	(void)state;
	watch(&user_a, NULL);
	start_graph();
	assert_int_equal(echo("funcgraph-retval", "trace_options"), 0);
	assert_int_equal(echo("funcgraph-retaddr", "trace_options"), 0);
	for (uint32_t round = 0; round < 2; round++) { /* each of the two comes first once */
		assert_int_equal(echo("", "trace"), 0);
		fake_clock += 500;
		fake_enter(KFREE, CALLER(2));
		fake_clock += 500;
		assert_int_equal(fake_leave((uint64_t)-5), CALLER(2));
		assert_non_null(strstr(graph(), "kfree(); /* <-yield+0x3/0x10 ret=-5 */\n"));
		if (round == 0) {
			unwatch(&user_a);
			watch(&user_a, NULL);
		}
	}
	unwatch(&user_a);
	assert_int_equal(echo("nofuncgraph-retval", "trace_options"), 0);
	assert_int_equal(echo("nofuncgraph-retaddr", "trace_options"), 0);
	assert_int_equal(echo("", "trace"), 0);
	some_calls();
	assert_null(strstr(graph(), "/*"));
}

/* Calls that find no room are counted, and shown with those that return later. */
static void tracer_overrun(void **state)
{
	uint32_t nr = 0;

	(void)state;
	start_graph();
	assert_int_equal(echo("funcgraph-overrun", "trace_options"), 0);
	some_calls();
	assert_non_null(strstr(graph(), "kfree();\n"));
	while (*fake_enter(KFREE, CALLER(0)) == FAKE_RETURN_HOOK && nr < 200)
		nr++;
	assert_in_range(nr, 50, 199);
	for (uint32_t i = 0; i < 2; i++)
		fake_enter(KFREE, CALLER(1));
	for (; nr + 3; nr--)
		fake_leave(0);
	assert_int_equal(fake_thread_of(FIRST_PID)->graph_overrun, 3);
	assert_non_null(strstr(graph(), "}\n (Overruns: 3)\n"));
	assert_int_equal(echo("nofuncgraph-overrun", "trace_options"), 0);
	assert_null(strstr(graph(), "Overruns"));
	fake_thread_of(FIRST_PID)->graph_overrun = 0;
}

/* The thread that runs, while the probe is not there yet. */
static void call_and_switch_out(void)
{
	fake_clock += 1000;
	fake_enter(SCHEDULE, PARENT);
	fake_clock += 10;
}

static void other_switch(void *data, const struct trace_sched_thread *prev,
			 const struct trace_sched_thread *next)
{
	(void)data;
	(void)prev;
	(void)next;
}

/* A thread that ran when time began to be measured has not slept since it had been told so. */
static void sleeping_before_the_probe(void **state)
{
	struct trace_sched_thread one = { .thread = fake_thread_of(FIRST_PID), .pid = FIRST_PID };
	struct trace_sched_thread two = { .thread = fake_thread_of(FIRST_PID + 1),
					  .pid = FIRST_PID + 1 };

	(void)state;
	/* With one there already, the next probe takes memory: time to do something before it. */
	assert_int_equal(register_trace_sched_switch(other_switch, NULL), 0);
	watch(&user_a, NULL);
	fake_run(FIRST_PID);
	fake_on_alloc = call_and_switch_out;
	assert_int_equal(ftrace_graph_sleep_get(), 0);
	fake_on_alloc = NULL;
	fake_clock += 70;
	switch_thread(&two, &one);
	fake_clock += 5;
	assert_int_equal(fake_leave(0), PARENT);
	assert_int_equal(user_a.last.rettime - user_a.last.calltime, 85);
	assert_int_equal(user_a.last.sleep_ns, 70);
	ftrace_graph_sleep_put();
	unwatch(&user_a);
	assert_int_equal(unregister_trace_sched_switch(other_switch, NULL), 0);
}

/*
 * No memory for a probe of sched_switch: the option stays as it was, or the tracer does not start.
 */
static void sleep_without_memory(void **state)
{
	int err = -ENOMEM;

	(void)state;
	start_graph();
	fake_alloc_budget = 0;
	assert_int_equal(echo("nosleep-time", "trace_options"), -ENOMEM);
	fake_alloc_budget = -1;
	assert_false(trace_sched_switch_enabled());
	assert_non_null(strstr(cat("trace_options"), "\nsleep-time\n"));
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("0", "options/sleep-time"), 0);
	for (long budget = 0; err; budget++) {
		fake_alloc_budget = budget;
		err = echo("function_graph", "current_tracer");
		fake_alloc_budget = -1;
		assert_true(err == 0 || err == -ENOMEM);
		assert_int_equal(trace_sched_switch_enabled(), !err);
	}
	assert_int_equal(echo("1", "options/sleep-time"), 0);
	assert_false(trace_sched_switch_enabled());
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

/* Without sleep-time a call that began earlier has slept nothing until then. */
static void tracer_sleep(void **state)
{
	struct trace_sched_thread one = { .thread = fake_thread_of(FIRST_PID), .pid = FIRST_PID };
	struct trace_sched_thread two = { .thread = fake_thread_of(FIRST_PID + 1),
					  .pid = FIRST_PID + 1 };

	(void)state;
	start_graph();
	some_calls(); /* what comes first goes the long way, and knows */
	fake_thread_of(FIRST_PID)->sleep_ns = 1000000;
	fake_enter(SCHEDULE, PARENT);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(echo(round ? "sleep-time" : "nosleep-time", "trace_options"), 0);
		assert_int_equal(trace_sched_switch_enabled(), !round);
		fake_clock += 500;
		fake_enter(DO_WORK, PARENT);
		switch_thread(&one, &two);
		fake_clock += 7000;
		switch_thread(&two, &one);
		fake_clock += 500;
		assert_int_equal(fake_leave(0), PARENT);
		if (round) {
			assert_non_null(strstr(graph(), " 0)   7.500 us    |  do_work();\n"));
			continue;
		}
		assert_non_null(strstr(graph(), " 0)   0.500 us    |    do_work();\n"));
		assert_int_equal(fake_leave(0), PARENT);
		assert_non_null(strstr(graph(), " 0)   1.000 us    |  }\n"));
	}
	fake_thread_of(FIRST_PID)->sleep_ns = 0;
	assert_int_equal(echo("nosleep-time", "trace_options"), 0);
	assert_true(trace_sched_switch_enabled());
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_false(trace_sched_switch_enabled());
	assert_int_equal(echo("1", "options/sleep-time"), 0);
}

static void tracer_sets(void **state)
{
	(void)state;
	assert_int_equal(echo("do_work", "set_graph_function"), 0);
	start_graph();
	some_calls();
	assert_string_equal(graph(), " 0)               |  do_work() {\n"
				     " 0)   0.500 us    |    kfree();\n"
				     " 0)   1.500 us    |  }\n");
	assert_int_equal(echo("", "set_graph_function"), 0);
	assert_int_equal(echo("do_work", "set_graph_notrace"), 0);
	assert_int_equal(echo("", "trace"), 0);
	some_calls();
	assert_non_null(strstr(graph(), "schedule();\n"));
	assert_null(strstr(graph(), "do_work"));
	assert_null(strstr(graph(), "kfree"));
	assert_non_null(strstr(graph(), "yield();\n"));
	assert_int_equal(echo("", "set_graph_notrace"), 0);
}

static void tracer_limits(void **state)
{
	(void)state;
	assert_int_equal(echo("2", "max_graph_depth"), 0);
	start_graph();
	some_calls();
	assert_null(strstr(graph(), "kfree"));
	assert_non_null(strstr(graph(), "    do_work();\n"));
	assert_int_equal(echo("0", "max_graph_depth"), 0);
	assert_int_equal(echo("1", "tracing_thresh"), 0); /* microseconds */
	assert_int_equal(echo("", "trace"), 0);
	some_calls();
	assert_null(strstr(graph(), "kfree"));
	assert_non_null(strstr(graph(), "} /* do_work */\n"));
	assert_non_null(strstr(graph(), "} /* schedule */\n"));
	assert_int_equal(echo("0", "tracing_thresh"), 0);
}

static void threshold_in_an_instance(void)
{
	assert_int_equal(echo("", "instances/one/trace"), 0);
	some_calls();
	assert_null(strstr(cat("instances/one/trace"), "kfree"));
	assert_non_null(strstr(cat("instances/one/trace"), "} /* do_work */\n"));
}

/* One threshold for all instances: those whose tracer runs, and those whose tracer comes later. */
static void tracer_threshold_of_all(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	fake_run(FIRST_PID);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(echo(i ? "1" : "0", "tracing_thresh"), 0);
		assert_int_equal(echo("function_graph", "instances/one/current_tracer"), 0);
		if (i == 0)
			some_calls();
		assert_int_equal(echo("1", "tracing_thresh"), 0);
		threshold_in_an_instance();
		assert_int_equal(echo("0", "tracing_thresh"), 0);
		some_calls();
		assert_non_null(strstr(cat("instances/one/trace"), "kfree();\n"));
		assert_int_equal(echo("nop", "instances/one/current_tracer"), 0);
	}
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
}

static void tracer_irqs(void **state)
{
	(void)state;
	start_graph();
	assert_int_equal(echo("nofuncgraph-irqs", "trace_options"), 0);
	interrupt();
	assert_string_equal(graph(), "");
	assert_int_equal(echo("funcgraph-irqs", "trace_options"), 0);
	interrupt();
	assert_non_null(strstr(graph(), "kfree"));
}

static void tracer_off(void **state)
{
	uintptr_t *slot;

	(void)state;
	start_graph();
	assert_int_equal(echo("0", "tracing_on"), 0);
	slot = fake_enter(KFREE, PARENT);
	assert_int_equal(*slot, PARENT);
	fake_leave(0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	fake_enter(KFREE, PARENT);
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(fake_leave(0), PARENT); /* its exit finds no room */
	assert_int_equal(echo("1", "tracing_on"), 0);
}

static void call_meanwhile(void)
{
	fake_call(KFREE, PARENT);
}

static void return_meanwhile(void)
{
	fake_leave(0);
}

static void resize_meanwhile(uint32_t kb, void (*fn)(void))
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kb);
	fake_on_sync = fn;
	assert_int_equal(echo(text, "per_cpu/cpu0/buffer_size_kb"), 0);
	fake_on_sync = NULL;
}

/* A call while the buffer is resized: an entry that is lost has no exit. */
static void tracer_resized(void **state)
{
	const char *stats;

	(void)state;
	start_graph();
	resize_meanwhile(100, call_meanwhile);
	enter_later(DO_WORK);
	resize_meanwhile(200, return_meanwhile);
	stats = cat("per_cpu/cpu0/stats");
	assert_non_null(strstr(stats, "entries: 1\n"));
	assert_non_null(strstr(stats, "dropped events: 2\n"));
	assert_null(strstr(graph(), "kfree"));
}

/* A buffer that is full and keeps what it has: calls without an event, and so without an exit. */
static void full_with(const char *option)
{
	char path[64];

	snprintf(path, sizeof(path), "options/%s", option);
	assert_int_equal(echo("1", path), 0);
	assert_int_equal(echo("", "trace"), 0);
	enter_later(DO_WORK);
	for (int i = 0; i < 1000; i++)
		fake_call(KFREE, PARENT);
	assert_int_equal(*fake_enter(YIELD, PARENT), PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	leave_later(); /* its return has no room */
	assert_null(strstr(graph(), " yield()"));
	assert_null(strstr(graph(), " }\n"));
	assert_int_equal(echo("0", path), 0);
}

static void tracer_full(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/overwrite"), 0);
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	start_graph();
	full_with("funcgraph-tail"); /* says nothing about events */
	full_with("funcgraph-retaddr");
	full_with("funcgraph-retval");
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
	assert_int_equal(echo("1", "options/overwrite"), 0);
}

static void tracer_pids(void **state)
{
	char pid[16];

	(void)state;
	snprintf(pid, sizeof(pid), "%d", FIRST_PID + 1);
	start_graph();
	assert_int_equal(echo(pid, "set_ftrace_pid"), 0);
	fake_call(KFREE, PARENT);
	fake_run(FIRST_PID + 1);
	fake_call(DO_WORK, PARENT);
	assert_null(strstr(graph(), "kfree"));
	assert_non_null(strstr(graph(), "do_work();\n"));
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
}

/* ---- The end: these stop graph tracing for good ---- */

/* trace_plat_current() is a thread whose stack this is not. In a process of its own: it is for good. */
static void thread_is_not_that_of_the_stack(void **state)
{
	int status;
	pid_t child;

	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID + 1);
	fake_call(KFREE, PARENT);
	fake_run(FIRST_PID);
	fake_enter(SCHEDULE, CALLER(1));
	child = fork();
	if (child == 0) {
		fake_run(FIRST_PID + 1);
		_exit(fake_leave(0) != FAKE_RETURN_LOST || !ftrace_graph_is_dead() ||
		      !strstr(fake_log(), "fgraph: thread 101 has no frame of this return: does "
					  "trace_plat_current() change"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fake_leave(0), CALLER(1));
	unwatch(&user_a);
}

static void frame_does_not_fit(void **state)
{
	uintptr_t *slot;

	(void)state;
	watch(&user_a, NULL);
	fake_run(FIRST_PID);
	fake_enter(SCHEDULE, CALLER(1));
	fake_enter(DO_WORK, CALLER(2));
	slot = fake_enter(KFREE, CALLER(3));
	fake_this->stack_used -= 2; /* as longjmp() would */
	*slot = 1234;		    /* that stack is another thread's now */
	assert_int_equal(fake_leave(0), CALLER(1));
	assert_int_equal(*slot, 1234);
	assert_int_equal(fake_nr_bugs, 0); /* function tracing goes on */
	assert_non_null(strstr(fake_log(), "bad frame pointer"));
	assert_non_null(strstr(fake_log(), "fgraph: that function was left without a return"));
	assert_true(ftrace_graph_is_dead());
	assert_int_equal(user_a.returns, 0);
	fake_call(KFREE, PARENT);
	assert_int_equal(user_a.entries, 3);
	unwatch(&user_a);
	assert_int_equal(register_ftrace_graph(&user_a.gops), -ENODEV);
	assert_int_equal(echo("function_graph", "current_tracer"), -ENODEV);
	nothing_left();
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	for (int i = 0; i < NR_THREADS; i++)
		fake_thread_add(FIRST_PID + i, "worker");
	return err;
}

static int reset(void **state)
{
	fake_run(-1);
	return tracefs_reset(state);
}

static int check(void **state)
{
	fake_run(-1);
	fake_clock_step = 0;
	assert_int_equal(fake_this->stack_used, 0);
	return tracefs_check(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_call_returns),
		TEST(interrupts_nest),
		TEST(declined),
		TEST(times),
		TEST(overrun),
		TEST(user_goes_while_inside),
		TEST(user_goes_after_two_waits),
		TEST(thread_ends_inside),
		TEST(thread_comes_and_goes),
		TEST(no_memory),
		TEST(users_in_all_places),
		TEST(callers_behind_the_hook),
		TEST(real_addresses),
		TEST(sleeping),
		TEST(sleeping_before_the_probe),
		TEST(tracer_events),
		TEST(tracer_values),
		TEST(tracer_overrun),
		TEST(sleep_without_memory),
		TEST(tracer_sleep),
		TEST(tracer_sets),
		TEST(tracer_limits),
		TEST(tracer_threshold_of_all),
		TEST(tracer_irqs),
		TEST(tracer_off),
		TEST(tracer_resized),
		TEST(tracer_full),
		TEST(tracer_pids),
		TEST(thread_is_not_that_of_the_stack),
		TEST(frame_does_not_fit), /* last */
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
