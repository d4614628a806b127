/* fprobes that go while a thread is inside, have no memory, or share returns with the function graph. */
#include "fprobe_fixture.h"

/* ---- Waits ---- */

static uint32_t nr_looks, nr_syncs_between;
static const struct return_probe *going;

/* The thread that is on its way into the handler has left when stacks are looked at once more. */
static void leave_late(void)
{
	if (++nr_looks == 8)
		fake_thread_stack(FIRST_PID + 1, NULL, 0);
}

/* Its handle is still there, for entries that have found it. */
static void note_sync(void)
{
	nr_syncs_between += atomic_load(&going->handle) != 0;
}

/* Whoever is on the way into the handler is waited for. */
static void waits_when_it_goes(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry };
	uintptr_t inside;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	inside = fp.ops.trampoline.addr + 1;
	fake_thread_stack(FIRST_PID + 1, &inside, 1);
	nr_looks = 0;
	fake_on_each_stack = leave_late;
	assert_int_equal(unregister_fprobe(&fp), 0);
	fake_on_each_stack = NULL;
	assert_true(nr_looks >= 8);
	nothing_left();
}

/* One that cannot be switched on after all was found by entries of its site meanwhile. */
static void waits_when_it_fails(void **state)
{
	struct kretprobe first = { .kp = { .addr = fake_func(KFREE) }, .handler = on_return };
	struct kretprobe second = { .kp = { .addr = fake_func(YIELD),
					    .flags = KRETPROBE_FLAG_DISABLED },
				    .handler = on_return };
	int err;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_kretprobe(&first), 0);
	assert_int_equal(register_kretprobe(&second), 0);
	going = &second.ret;
	nr_syncs_between = 0;
	for (long budget = 0;; budget++) {
		fake_on_sync = note_sync;
		fake_alloc_budget = budget;
		fake_alloc_fails_once = true;
		err = enable_kretprobe(&second);
		fake_alloc_budget = -1;
		fake_on_sync = NULL;
		if (!err)
			break;
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(atomic_load(&second.ret.handle), 0);
		assert_int_not_equal(nr_syncs_between, 0);
	}
	assert_int_not_equal(nr_syncs_between, 0);
	unregister_kretprobe(&second);
	unregister_kretprobe(&first);
	nothing_left();
}

/* ---- Memory ---- */

/* Each allocation fails once: nothing is registered, nothing lost. */
static void no_memory(void **state)
{
	const char *const syms[] = { "yield", "kfree" };
	long budget = 0;
	int err;

	(void)state;
	do {
		struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 100 };

		fake_alloc_budget = budget++;
		fake_alloc_fails_once = true;
		err = register_fprobe_syms(&fp, syms, 2);
		fake_alloc_budget = -1;
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(fp.is_registered, !err);
		if (!err)
			assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	} while (err);
	assert_true(budget > 5);
}

/* Together with a user of the graph, before and behind it. */
static bool graph_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	++*(uint64_t *)gops->private;
	return ent->func != 0;
}

static void graph_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	--*(uint64_t *)gops->private;
	assert_int_not_equal(ret->func, 0);
}

static void together_with_graph(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int first = 0; first < 2; first++) {
		uint64_t open = 0;
		struct fgraph_ops gops = { .entryfunc = graph_entry,
					   .retfunc = graph_return,
					   .private = &open };
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = 24 };

		if (first)
			assert_int_equal(register_ftrace_graph(&gops), 0);
		assert_int_equal(register_fprobe(&fp, "*", NULL), 0);
		if (!first)
			assert_int_equal(register_ftrace_graph(&gops), 0);
		fake_run(FIRST_PID);
		call_tree(2, &seed);
		assert_int_equal(open, 0);
		assert_int_equal(seen.entries, seen.exits);
		fake_enter(KFREE, PARENT); /* is open when one of them goes */
		assert_int_equal(open, 1);
		assert_int_equal(unregister_ftrace_graph(&gops), 0);
		assert_int_equal(fake_leave(0), PARENT);
		assert_int_equal(seen.entries, seen.exits);
		ftrace_free_filter(&gops.ops);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
	assert_true(seen.entries > 80);
}

static void stopped_graph(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of };
	struct kretprobe rp = { .kp = { .symbol_name = "kfree" }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&rp), 0);
	ftrace_graph_stop();
	assert_int_equal(*fake_enter(KFREE, PARENT), PARENT);
	fake_leave(0);
	assert_int_equal(fp.nmissed, 1);
	assert_int_equal(rp.nmissed, 1);
	assert_int_equal(unregister_fprobe(&fp), 0);
	unregister_kretprobe(&rp);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), -ENODEV);
	assert_int_equal(register_kretprobe(&rp), -ENODEV);
	nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waits_when_it_goes),  TEST(waits_when_it_fails), TEST(no_memory),
		TEST(together_with_graph), TEST(stopped_graph), /* last */
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
