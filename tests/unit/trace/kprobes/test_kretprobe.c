/* kretprobes on the fake machine: returns, data, lists, mistakes, and a thousand at once. */
#include "fprobe_fixture.h"
#include "kprobe_list.h"
#include "kprobes/kretprobe_table.h"

static void returns(void **state)
{
	struct kretprobe rp = { .kp = { .symbol_name = "kfree" }, .handler = on_return };

	(void)state;
	fake_run(FIRST_PID);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(register_kretprobe(&rp), 0);
		assert_int_equal(register_kretprobe(&rp), -EBUSY);
		assert_int_equal(rp.kp.addr, fake_func(KFREE));
		fake_enter(KFREE, CALLER(4));
		assert_int_equal(fake_leave(9), CALLER(4));
		assert_int_equal(seen.value, 9);
		assert_int_equal(seen.ret, CALLER(4));
		fake_call(YIELD, PARENT);
		assert_int_equal(seen.exits, i + 1);
		unregister_kretprobe(&rp);
		unregister_kretprobe(&rp);
		fake_call(KFREE, PARENT);
		assert_int_equal(seen.exits, i + 1);
	}
	seen.change_to = 3;
	assert_int_equal(register_kretprobe(&rp), 0);
	fake_call(KFREE, PARENT);
	assert_int_equal(fake_this->last_returned, 3);
	unregister_kretprobe(&rp);
	assert_int_equal(rp.nmissed, 0);
	nothing_left();
}

/* The first return is interrupted in its handler, by a call that returns as well. */
static int on_return_interrupted(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	on_return(ri, regs);
	if (seen.exits != 1)
		return 0;
	atomic_fetch_add(&fake_this->preempt_count, 1u << 16); /* a hard interrupt */
	fake_enter(KFREE, CALLER(5));
	assert_int_equal(fake_leave(0), CALLER(5));
	atomic_fetch_sub(&fake_this->preempt_count, 1u << 16);
	return 0;
}

/* Handlers of an interrupt are others than those that it interrupts: none is missed. */
static void returns_in_interrupts(void **state)
{
	(void)state;
	fake_run(FIRST_PID);
	for (int has_entry = 0; has_entry < 2; has_entry++) {
		struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
					.handler = on_return_interrupted,
					.entry_handler = has_entry ? on_call : NULL };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		assert_int_equal(register_kretprobe(&rp), 0);
		fake_enter(KFREE, CALLER(4));
		assert_int_equal(fake_leave(0), CALLER(4));
		assert_int_equal(seen.exits, 2);
		assert_int_equal(rp.nmissed, 0);
		unregister_kretprobe(&rp);
		nothing_left();
	}
}

static void entries_and_data(void **state)
{
	static const size_t sizes[] = { 0, 24, 25, 1000 };

	(void)state;
	fake_run(FIRST_PID);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) },
					.handler = on_return,
					.entry_handler = on_call,
					.data_size = sizes[i],
					.maxactive = 3 };

		memset(&seen, 0, sizeof(seen));
		seen.calls = NR_FUNCS;
		seen.declines = 3;
		assert_int_equal(register_kretprobe(&rp), 0);
		for (int n = 0; n < 8; n++)
			fake_enter(KFREE, CALLER(n));
		for (int n = 7; n >= 0; n--)
			assert_int_equal(fake_leave(0), CALLER(n));
		if (sizes[i] <= 24) {
			assert_int_equal(seen.entries, 8);
			assert_int_equal(seen.exits, 6);
			assert_int_equal(rp.nmissed, 0);
		} else { /* the third gives its memory back, the fifth and so on find none */
			assert_int_equal(seen.entries, 4);
			assert_int_equal(seen.exits, 3);
			assert_int_equal(rp.nmissed, 4);
		}
		unregister_kretprobe(&rp);
		nothing_left();
	}
}

/* By address, armed or not, while they come and go; as Linux prints them. */
static void listed(void **state)
{
	struct kretprobe rp[4];
	struct kretprobe *all[4];

	(void)state;
	assert_string_equal(kprobe_list_of(kretprobes_list_next), "");
	for (int i = 0; i < 4; i++) {
		rp[i] = (struct kretprobe){ .kp = { .addr = fake_func(i % 2 ? YIELD : KFREE) },
					    .handler = on_return };
		all[i] = &rp[i];
	}
	rp[2].kp.flags = KRETPROBE_FLAG_DISABLED;
	assert_int_equal(register_kretprobes(all, 4), 0);
	assert_string_equal(kprobe_list_of(kretprobes_list_next),
			    "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
			    "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
			    "ffffffff81000030  r  kfree+0x0    [FTRACE]\n"
			    "ffffffff81000030  r  kfree+0x0    [DISABLED][FTRACE]\n");
	unregister_kretprobes(all + 1, 2);
	assert_string_equal(kprobe_list_of(kretprobes_list_next),
			    "ffffffff81000010  r  yield+0x0    [FTRACE]\n"
			    "ffffffff81000030  r  kfree+0x0    [FTRACE]\n");
	unregister_kretprobe(&rp[3]);
	assert_int_equal(register_kretprobe(&rp[2]), 0);
	assert_string_equal(kprobe_list_of(kretprobes_list_next),
			    "ffffffff81000030  r  kfree+0x0    [FTRACE]\n"
			    "ffffffff81000030  r  kfree+0x0    [DISABLED][FTRACE]\n");
	unregister_kretprobe(&rp[0]);
	unregister_kretprobe(&rp[2]);
	assert_string_equal(kprobe_list_of(kretprobes_list_next), "");
}

/* Several at a function come in order of registration, and their returns the other way round. */
static void several_at_one(void **state)
{
	struct kretprobe rp[4];

	(void)state;
	fake_run(FIRST_PID);
	for (int i = 0; i < 4; i++) {
		rp[i] = (struct kretprobe){ .kp = { .addr = fake_func(KFREE) },
					    .handler = on_return };
		assert_int_equal(register_kretprobe(&rp[i]), 0);
	}
	fake_enter(KFREE, PARENT);
	assert_int_equal(fake_leave(1), PARENT);
	assert_int_equal(seen.nr_order, 4);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(seen.order[i], &rp[3 - i]);
	unregister_kretprobe(&rp[0]);
	unregister_kretprobe(&rp[2]);
	seen.nr_order = 0;
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.nr_order, 2);
	assert_ptr_equal(seen.order[0], &rp[3]);
	assert_ptr_equal(seen.order[1], &rp[1]);
	unregister_kretprobe(&rp[3]);
	seen.nr_order = 0;
	fake_call(KFREE, PARENT);
	assert_int_equal(seen.nr_order, 1);
	unregister_kretprobe(&rp[1]);
	nothing_left();
}

static void wrong_places(void **state)
{
	struct kretprobe none = { .handler = on_return };
	struct kretprobe two = { .kp = { .addr = fake_func(KFREE), .symbol_name = "kfree" },
				 .handler = on_return };
	struct kretprobe offset = { .kp = { .symbol_name = "kfree", .offset = 4 },
				    .handler = on_return };
	struct kretprobe inside = { .kp = { .addr = fake_func(KFREE) + 2 }, .handler = on_return };
	struct kretprobe unknown = { .kp = { .symbol_name = "kfre" }, .handler = on_return };
	struct kretprobe silent = { .kp = { .symbol_name = "kfree" } };
	struct kretprobe large = { .kp = { .symbol_name = "kfree" },
				   .handler = on_return,
				   .data_size = FPROBE_MAX_DATA_SIZE + 1 };
	struct kretprobe good = { .kp = { .symbol_name = "yield" }, .handler = on_return };
	struct kretprobe *batch[] = { &good, &unknown };

	(void)state;
	assert_int_equal(register_kretprobe(&none), -EINVAL);
	assert_int_equal(register_kretprobe(&two), -EINVAL);
	assert_int_equal(register_kretprobe(&offset), -EINVAL);
	assert_int_equal(register_kretprobe(&inside), -EINVAL);
	assert_int_equal(register_kretprobe(&unknown), -ENOENT);
	assert_int_equal(register_kretprobe(&silent), -EINVAL);
	assert_int_equal(register_kretprobe(&large), -EINVAL);
	assert_int_equal(register_kretprobes(batch, 2), -ENOENT); /* none of them */
	assert_false(good.is_registered);
	assert_int_equal(enable_kretprobe(&good), -EINVAL);
	assert_int_equal(disable_kretprobe(&good), -EINVAL);
	nothing_left();
}

/* ---- Many ---- */

static struct kretprobe many[MANY], *all[MANY];

static void set_up_many(void)
{
	for (uint32_t i = 0; i < MANY; i++) {
		many[i] =
			(struct kretprobe){ .kp = { .addr = fake_func(i) }, .handler = on_return };
		all[i] = &many[i];
	}
}

static uint64_t call_many(void)
{
	uint64_t before = seen.exits;

	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t now = seen.exits;

		fake_call(i, PARENT);
		assert_true(seen.exits == now || seen.ip == fake_func(i));
	}
	return seen.exits - before;
}

/* Any number is one batch of changes of text. */
static void many_at_once(void **state)
{
	uint64_t batches;

	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	batches = fake_nr_batches;
	assert_int_equal(register_kretprobes(all, MANY), 0);
	assert_int_equal(fake_nr_batches - batches, 1);
	assert_int_equal(call_many(), MANY);
	assert_int_equal(disable_kretprobes(all, MANY / 2), 0);
	assert_int_equal(fake_nr_batches - batches, 2);
	assert_int_equal(call_many(), MANY / 2);
	assert_int_equal(enable_kretprobes(all, MANY), 0);
	assert_int_equal(fake_nr_batches - batches, 3);
	assert_int_equal(call_many(), MANY);
	unregister_kretprobes(all + 1, MANY - 1);
	assert_int_equal(fake_nr_batches - batches, 4);
	assert_int_equal(call_many(), 1);
	unregister_kretprobes(all, MANY);
	assert_int_equal(fake_nr_batches - batches, 5);
	assert_int_equal(call_many(), 0);
	nothing_left();
}

/* One after the other, in another order than they go. */
static void many_one_by_one(void **state)
{
	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	for (uint32_t i = 0; i < MANY / 4; i++)
		assert_int_equal(register_kretprobe(all[i]), 0);
	assert_int_equal(call_many(), MANY / 4);
	for (uint32_t i = 0; i < MANY / 4; i++)
		unregister_kretprobe(all[i * 7 % (MANY / 4)]);
	nothing_left();
}

/* A failure leaves those that were on, on; going needs no memory. */
static void many_without_memory(void **state)
{
	long budget = 0;
	int err;

	(void)state;
	set_up_many();
	fake_run(FIRST_PID);
	for (uint32_t i = 0;; i++) {
		fake_alloc_budget = i;
		fake_alloc_fails_once = true;
		err = register_kretprobes(all, MANY);
		fake_alloc_budget = -1;
		if (!err)
			break;
		nothing_left();
	}
	unregister_kretprobes(all, MANY);
	nothing_left();
	assert_int_equal(register_kretprobes(all, 10), 0);
	for (uint32_t i = 10; i < MANY; i++)
		many[i].kp.flags = KRETPROBE_FLAG_DISABLED;
	assert_int_equal(register_kretprobes(all + 10, MANY - 10), 0);
	do {
		fake_alloc_budget = budget++;
		fake_alloc_fails_once = true;
		err = enable_kretprobes(all, MANY);
		fake_alloc_budget = -1;
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(call_many(), err ? 10 : MANY);
	} while (err);
	assert_true(budget > 2);
	fake_alloc_budget = 0;
	fake_alloc_fails_once = false;
	unregister_kretprobes(all + 1, MANY - 1);
	assert_int_equal(call_many(), 1);
	fake_alloc_budget = -1;
	unregister_kretprobes(all, 1);
	nothing_left();
}

/* Damaged text is not changed. What cannot be switched on leaves no handle of the probe, which may be freed. */
static void site_is_damaged(void)
{
	struct fprobe fp = { .exit_handler = on_exit_of, .flags = FPROBE_FL_DISABLED };

	EXPECT(register_fprobe(&fp, "kfree", NULL) == 0);
	fake_text_at(fake_func(KFREE))[2] ^= 0xff;
	EXPECT(enable_fprobe(&fp) < 0);
	EXPECT(atomic_load(&fp.ret.handle) == 0);
	EXPECT(unregister_fprobe(&fp) == 0);
}

/* A kretprobe whose site cannot be switched off any more has left the table all the same: it may be freed. */
static void site_is_damaged_at_the_end(void)
{
	struct kretprobe rp = { .kp = { .addr = fake_func(KFREE) }, .handler = on_return };
	struct kretprobe other = { .kp = { .addr = fake_func(YIELD) }, .handler = on_return };

	EXPECT(register_kretprobe(&rp) == 0 && register_kretprobe(&other) == 0);
	EXPECT(kretprobe_first(fake_func(KFREE)) == &rp);
	fake_text_at(fake_func(KFREE))[2] ^= 0xff;
	unregister_kretprobe(&rp);
	EXPECT(ftrace_is_dead());
	EXPECT(!kretprobe_first(fake_func(KFREE)));
	EXPECT(kretprobe_first(fake_func(YIELD)) == &other);
}

static void damaged_site(void **state)
{
	(void)state;
	in_child(site_is_damaged);
	in_child(site_is_damaged_at_the_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(returns),
		TEST(returns_in_interrupts),
		TEST(entries_and_data),
		TEST(several_at_one),
		TEST(listed),
		TEST(wrong_places),
		TEST(many_at_once),
		TEST(many_one_by_one),
		TEST(many_without_memory),
		TEST(damaged_site),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
