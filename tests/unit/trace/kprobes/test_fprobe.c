/*
 * fprobes on the fake machine: which calls have handlers, with which data, what is missed and counted, and the ends of threads
 * and probes.
 */
#include "fprobe_fixture.h"

static void entry_only(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "*e*", "kfree"), 0); /* schedule, yield */
	assert_int_equal(register_fprobe(&fp, "*", NULL), -EBUSY);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(seen.ip, fake_func(SCHEDULE));
	assert_int_equal(seen.ret, PARENT);
	fake_call(YIELD, CALLER(3));
	assert_int_equal(seen.ret, CALLER(3));
	fake_call(KFREE, PARENT);
	fake_call(DO_WORK, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(ftrace_graph_nr_stacks(), 0);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(unregister_fprobe(&fp), -EINVAL);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(fp.nmissed, 0);
	nothing_left();
}

static void all_registers(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry, .flags = FPROBE_FL_REGS };
	struct fprobe both = { .entry_handler = on_entry,
			       .exit_handler = on_exit_of,
			       .flags = FPROBE_FL_REGS };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "schedule", NULL), 0);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe(&both, "schedule", NULL), 0);
	fake_call(SCHEDULE, PARENT);
	assert_int_equal(unregister_fprobe(&both), 0);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 1);
	nothing_left();
}

/* Data of every size, in the frame and in memory, for calls inside each other. */
static void entry_and_exit(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 23, 24, 25, 64, 120, FPROBE_MAX_DATA_SIZE };
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = sizes[i] };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		fake_run(FIRST_PID);
		assert_int_equal(register_fprobe(&fp, "*", NULL), 0);
		call_tree(2, &seed);
		assert_true(seen.entries >= 39);
		assert_int_equal(seen.entries, seen.exits);
		assert_int_equal(fp.nmissed, 0);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
}

static void exit_only(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_enter(KFREE, CALLER(2));
	assert_int_equal(fake_leave(77), CALLER(2));
	assert_int_equal(seen.exits, 1);
	assert_int_equal(seen.value, 77);
	assert_int_equal(seen.ip, fake_func(KFREE));
	assert_int_equal(seen.ret, CALLER(2));
	seen.change_to = 5;
	fake_enter(KFREE, CALLER(2));
	fake_leave(77);
	assert_int_equal(fake_this->last_returned, 5);
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

static void declined(void **state)
{
	static const size_t sizes[] = { 8, 100 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fprobe fp = { .entry_handler = on_entry,
				     .exit_handler = on_exit_of,
				     .entry_data_size = sizes[i],
				     .nr_maxactive = 1 };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		seen.declines = 2;
		fake_run(FIRST_PID);
		assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
		for (int n = 0; n < 10; n++) {
			assert_int_equal(*fake_enter(KFREE, PARENT),
					 n % 2 ? PARENT : FAKE_RETURN_HOOK);
			assert_int_equal(fake_leave(0), PARENT);
		}
		assert_int_equal(seen.entries, 10);
		assert_int_equal(seen.exits, 5);
		assert_int_equal(fp.nmissed, 0);
		assert_int_equal(unregister_fprobe(&fp), 0);
		nothing_left();
	}
}

/* A handler calls a probed function: its call is missed, by both kinds, and counted. */
static void recursion_is_counted(void **state)
{
	struct fprobe entry = { .entry_handler = on_entry };
	struct fprobe both = { .entry_handler = on_entry, .exit_handler = on_exit_of };
	struct kretprobe ret = { .kp = { .addr = fake_func(KFREE) }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&entry, "kfree", NULL), 0);
	assert_int_equal(register_fprobe(&both, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&ret), 0);
	seen.calls = KFREE;
	fake_call(KFREE, PARENT);
	/* Handlers: two entries and two exits; each calls kfree() once. */
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 2);
	assert_int_equal(entry.nmissed, 4);
	assert_int_equal(both.nmissed, 4);
	assert_int_equal(ret.nmissed, 4);
	assert_int_equal(unregister_fprobe(&entry), 0);
	assert_int_equal(unregister_fprobe(&both), 0);
	unregister_kretprobe(&ret);
	nothing_left();
}

/* The guard is held while a hooked call returns: the exit is missed, the call returns. */
static void missed_exit_is_counted(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of,
			     .entry_data_size = 100,
			     .nr_maxactive = 1 };
	struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
				.handler = on_return,
				.data_size = 100,
				.maxactive = 1 };
	int bit;

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	assert_int_equal(register_kretprobe(&rp), 0);
	for (int i = 0; i < 3; i++) { /* the only piece of memory is given back each time */
		fake_enter(KFREE, PARENT);
		bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
		assert_int_equal(fake_leave(0), PARENT);
		trace_recursion_exit(bit);
	}
	assert_int_equal(seen.exits, 0);
	assert_int_equal(fp.nmissed, 3);
	assert_int_equal(rp.nmissed, 3);
	assert_int_equal(unregister_fprobe(&fp), 0);
	unregister_kretprobe(&rp);
	nothing_left();
}

/* No stack, a full one, no memory for data: counted. */
static void no_room_is_counted(void **state)
{
	struct fprobe fp = { .entry_handler = on_entry, .exit_handler = on_exit_of };
	struct fprobe pooled = { .entry_handler = on_entry,
				 .exit_handler = on_exit_of,
				 .entry_data_size = 32,
				 .nr_maxactive = 5 };

	(void)state;
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	for (int i = 0; i < 100; i++)
		fake_enter(KFREE, CALLER(i));
	assert_int_equal(seen.entries + fp.nmissed, 100);
	assert_in_range(fp.nmissed, 1, 50);
	for (int i = 99; i >= 0; i--)
		assert_int_equal(fake_leave(0), CALLER(i));
	assert_int_equal(seen.entries, seen.exits);
	fake_thread_of(FIRST_PID)->graph_overrun = 0;
	fp.nmissed = 0;
	fake_run(-1); /* a thread without a stack */
	fake_call(KFREE, PARENT);
	assert_int_equal(fp.nmissed, 1);
	assert_int_equal(unregister_fprobe(&fp), 0);

	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	assert_int_equal(register_fprobe(&pooled, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	for (int i = 0; i < 9; i++)
		fake_enter(KFREE, CALLER(i));
	for (int i = 8; i >= 0; i--)
		assert_int_equal(fake_leave(0), CALLER(i));
	assert_int_equal(seen.exits, 5);
	assert_int_equal(pooled.nmissed, 4);
	assert_int_equal(unregister_fprobe(&pooled), 0);
	nothing_left();
}

static int interrupted_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret,
			     struct ftrace_regs *regs, void *data)
{
	int declines = on_entry(fp, ip, ret, regs, data);

	if (!(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK))
		interrupt();
	return declines;
}

/* An interrupt in a handler is another context: its calls have theirs. */
static void interrupts_have_handlers(void **state)
{
	struct fprobe entry = { .entry_handler = interrupted_entry };
	struct fprobe both = { .entry_handler = interrupted_entry,
			       .exit_handler = on_exit_of,
			       .entry_data_size = 24 };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&both, "kfree", NULL), 0);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.exits, 2);
	assert_int_equal(register_fprobe(&entry, "kfree", NULL), 0);
	fake_call(KFREE, PARENT);
	/* two probes, an interrupt in each, two each there */
	assert_int_equal(seen.entries, 2 + 6);
	assert_int_equal(seen.exits, 2 + 3);
	assert_int_equal(entry.nmissed + both.nmissed, 0);
	assert_int_equal(unregister_fprobe(&both), 0);
	assert_int_equal(unregister_fprobe(&entry), 0);
	nothing_left();
}

static void by_addresses_and_names(void **state)
{
	const uintptr_t addrs[] = { fake_func(SCHEDULE), fake_func(KFREE) };
	const char *const syms[] = { "yield", "kfree" };
	const char *const unknown[] = { "yield", "yiel" };
	const uintptr_t inside[] = { fake_func(SCHEDULE) + 3 };
	struct fprobe fp = { .entry_handler = on_entry };
	struct fprobe empty = { .entry_handler = NULL };
	struct fprobe large = { .entry_handler = on_entry,
				.entry_data_size = FPROBE_MAX_DATA_SIZE + 1 };

	(void)state;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe_ips(&fp, addrs, 2), 0);
	for (size_t i = 0; i < NR_FUNCS; i++)
		fake_call(i, PARENT);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe_syms(&fp, syms, 2), 0);
	for (size_t i = 0; i < NR_FUNCS; i++)
		fake_call(i, PARENT);
	assert_int_equal(seen.entries, 4);
	assert_int_equal(register_fprobe_syms(&fp, syms, 2), -EBUSY);
	assert_int_equal(unregister_fprobe(&fp), 0);
	assert_int_equal(register_fprobe_syms(&fp, unknown, 2), -ENOENT);
	assert_int_equal(register_fprobe_syms(&fp, syms, 0), -EINVAL);
	assert_int_equal(register_fprobe_ips(&fp, inside, 1), -EINVAL);
	assert_int_equal(register_fprobe_ips(&fp, addrs, 0), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "nothing*", NULL), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "kfree", "nothing*"), -EINVAL);
	assert_int_equal(register_fprobe(&empty, "kfree", NULL), -EINVAL);
	assert_int_equal(register_fprobe(&large, "kfree", NULL), -EINVAL);
	nothing_left();
}

static void on_and_off(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of,
			     .entry_data_size = 100,
			     .nr_maxactive = 2,
			     .flags = FPROBE_FL_DISABLED };

	(void)state;
	assert_int_equal(enable_fprobe(&fp), -EINVAL);
	assert_int_equal(disable_fprobe(&fp), -EINVAL);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.exits, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(enable_fprobe(&fp), 0);
		assert_int_equal(enable_fprobe(&fp), 0);
		fake_call(KFREE, PARENT);
		fake_enter(KFREE, CALLER(1)); /* is open when the probe goes off */
		assert_int_equal(disable_fprobe(&fp), 0);
		assert_int_equal(disable_fprobe(&fp), 0);
		assert_int_equal(enable_fprobe(&fp), 0);
		assert_int_equal(fake_leave(0), CALLER(1));
		assert_int_equal(seen.exits, i + 1);
		assert_int_equal(disable_fprobe(&fp), 0);
	}
	assert_int_equal(fp.nmissed, 0);
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

/* Open calls of one that goes are not those of another that gets its place. */
static void goes_while_inside(void **state)
{
	struct fprobe first = { .exit_handler = on_exit_of };
	struct fprobe second = { .exit_handler = on_exit_of };
	struct fprobe stays = { .exit_handler = on_exit_of };

	(void)state;
	fake_run(FIRST_PID);
	for (int with_other = 0; with_other < 2; with_other++) {
		seen.exits = 0;
		if (with_other)
			assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
		assert_int_equal(register_fprobe(&first, "kfree", NULL), 0);
		fake_enter(KFREE, CALLER(1));
		fake_enter(KFREE, CALLER(2));
		assert_int_equal(unregister_fprobe(&first), 0);
		assert_int_equal(register_fprobe(&second, "kfree", NULL), 0);
		assert_int_equal(fake_leave(0), CALLER(2));
		assert_int_equal(fake_leave(0), CALLER(1));
		assert_int_equal(seen.exits, 0);
		fake_call(KFREE, PARENT);
		assert_int_equal(seen.exits, 1);
		assert_int_equal(unregister_fprobe(&second), 0);
		if (with_other)
			assert_int_equal(unregister_fprobe(&stays), 0);
	}
	nothing_left();
}

/* A thread was between the site and the entry when the probe went: the call has no probe. */
static void goes_on_the_way(void **state)
{
	struct fprobe first = { .exit_handler = on_exit_of };
	struct fprobe stays = { .exit_handler = on_exit_of };
	struct ftrace_regs regs = { .parent = CALLER(1) };

	(void)state;
	memset(&seen, 0, sizeof(seen));
	seen.calls = NR_FUNCS;
	fake_run(FIRST_PID);
	assert_int_equal(register_fprobe(&first, "kfree", NULL), 0);
	assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
	assert_int_equal(disable_fprobe(&first), 0);
	regs.slot = fake_enter(KFREE, CALLER(1)); /* the site calls no more */
	assert_int_equal(*regs.slot, CALLER(1));
	first.ops.func(fake_func(KFREE), CALLER(1), &first.ops, &regs);
	assert_int_equal(fake_leave(0), CALLER(1));
	assert_int_equal(seen.exits, 0);
	assert_int_equal(unregister_fprobe(&first), 0);
	assert_int_equal(unregister_fprobe(&stays), 0);
	nothing_left();
}

/* A thread ends in the function: memory for data is free again. */
static void thread_ends_inside(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 40, .nr_maxactive = 1 };

	(void)state;
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID + 2);
	fake_enter(KFREE, PARENT);
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(fp.nmissed, 1);
	fake_run(FIRST_PID + 2);
	ftrace_graph_thread_exited(fake_thread_of(FIRST_PID + 2));
	fake_this->stack_used = 0;
	fake_run(FIRST_PID);
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.exits, 1);
	assert_int_equal(fp.nmissed, 1);
	ftrace_graph_thread_created(fake_thread_of(FIRST_PID + 2));
	assert_int_equal(unregister_fprobe(&fp), 0);
	nothing_left();
}

/* The same when the probe has gone meanwhile, and its memory with it. */
static void thread_ends_behind(void **state)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .entry_data_size = 40, .nr_maxactive = 1 };
	struct fprobe stays = { .exit_handler = on_exit_of };

	(void)state;
	assert_int_equal(register_fprobe(&stays, "yield", NULL), 0);
	assert_int_equal(register_fprobe(&fp, "kfree", NULL), 0);
	fake_run(FIRST_PID + 2);
	fake_enter(KFREE, PARENT);
	fake_run(FIRST_PID);
	assert_int_equal(unregister_fprobe(&fp), 0);
	fake_run(FIRST_PID + 2);
	ftrace_graph_thread_exited(fake_thread_of(FIRST_PID + 2));
	fake_this->stack_used = 0;
	fake_run(FIRST_PID);
	ftrace_graph_thread_created(fake_thread_of(FIRST_PID + 2));
	assert_int_equal(unregister_fprobe(&stays), 0);
	nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(entry_only),
		TEST(all_registers),
		TEST(entry_and_exit),
		TEST(exit_only),
		TEST(declined),
		TEST(recursion_is_counted),
		TEST(missed_exit_is_counted),
		TEST(no_room_is_counted),
		TEST(interrupts_have_handlers),
		TEST(by_addresses_and_names),
		TEST(on_and_off),
		TEST(goes_while_inside),
		TEST(goes_on_the_way),
		TEST(thread_ends_inside),
		TEST(thread_ends_behind),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
