/*
 * Trampolines of sites that several ops want: who is called, in which order, when they are made and
 * when they are freed.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdlib.h>

#define NR_FUNCS 300u /* one more than there can be sets, and some */
#include "many_funcs.h"
#include "ops/ftrace_set.h"

#define NR_OPS (FTRACE_MAX_KNOWN_OPS + 2)

static struct ftrace_ops ops[NR_OPS];
static uint32_t order[64]; /* numbers of the ops that were called, in order */
static uint32_t nr_calls;
static uint64_t nr_others; /* calls of the second function */
static size_t trampolines_at_sync;

static void note_order(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *self,
		       struct ftrace_regs *fregs)
{
	(void)fregs;
	assert_int_equal(parent_ip, PARENT);
	assert_int_equal(ip % FAKE_FUNC_BYTES, 0);
	if (nr_calls < 64)
		order[nr_calls] = (uint32_t)(self - ops);
	nr_calls++;
}

static void count_other(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *self,
			struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)self;
	(void)fregs;
	nr_others++;
}

static int setup(void **state)
{
	(void)state;
	memset(ops, 0, sizeof(ops));
	for (uint32_t i = 0; i < NR_OPS; i++)
		ops[i].func = note_order;
	nr_calls = 0;
	nr_others = 0;
	funcs_begin();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_OPS; i++) {
		if (ops[i].flags & FTRACE_OPS_FL_ENABLED)
			assert_int_equal(unregister_ftrace_function(&ops[i]), 0);
		ftrace_free_filter(&ops[i]);
	}
	funcs_end();
	return 0;
}

static void want(uint32_t i, uint32_t func, bool reset)
{
	assert_int_equal(ftrace_set_filter_ip(&ops[i], fake_func(func), false, reset), 0);
}

static void add(uint32_t i)
{
	assert_int_equal(register_ftrace_function(&ops[i]), 0);
}

static void take_out(uint32_t i)
{
	assert_int_equal(unregister_ftrace_function(&ops[i]), 0);
}

/* Where the site of function `func` calls. */
static uintptr_t target_of(uint32_t func)
{
	const uint8_t *insn = fake_text_at(fake_func(func));
	int32_t rel;

	assert_int_equal(insn[0], 0xe8);
	memcpy(&rel, insn + 1, sizeof(rel));
	return fake_func(func) + TRACE_INSN_SIZE + (uintptr_t)(intptr_t)rel;
}

static bool is_shared(uint32_t func)
{
	return target_of(func) == FAKE_SHARED || target_of(func) == FAKE_SHARED_REGS;
}

static uint32_t calls_of(uint32_t func)
{
	nr_calls = 0;
	fake_call(func, PARENT);
	return nr_calls;
}

static void test_newest_is_called_first(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		add(i);
	assert_false(is_shared(7));
	assert_int_equal(calls_of(7), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(order[i], 2 - i);
	take_out(1);
	assert_int_equal(calls_of(7), 2);
	assert_int_equal(order[0], 2);
	assert_int_equal(order[1], 0);
}

/* One for each set, however many sites; here {0, 1} and {0, 2}, and one for each ops. */
static void test_sites_with_the_same_ops_share_it(void **state)
{
	(void)state;
	for (uint32_t func = 0; func < 20; func++)
		want(1 + func % 2, func, false);
	add(0);
	add(1);
	add(2);
	assert_int_equal(fake_nr_trampolines, 3 + 2);
	assert_int_equal(target_of(0), target_of(2));
	assert_int_equal(target_of(1), target_of(3));
	assert_int_not_equal(target_of(0), target_of(1));
}

static void note_trampolines(void)
{
	trampolines_at_sync = fake_nr_trampolines;
}

/* A thread may stand in it when the last site leaves. */
static void test_it_is_freed_behind_a_wait(void **state)
{
	(void)state;
	add(0);
	add(1);
	assert_int_equal(fake_nr_trampolines, 3);
	fake_on_sync = note_trampolines;
	take_out(1);
	assert_int_equal(trampolines_at_sync, 3);
	assert_int_equal(fake_nr_trampolines, 1);
}

static void leave(void)
{
	assert_int_equal(fake_nr_trampolines, 2); /* of the other ops, and of both */
	fake_thread_stack(7, NULL, 0);
}

/* As long as a thread stands there, which is what who unregisters waits for. */
static void test_it_stays_while_a_thread_is_inside(void **state)
{
	uintptr_t inside;

	(void)state;
	add(0);
	add(1);
	inside = target_of(5) + 4;
	fake_thread_add(7, "preempted");
	fake_thread_stack(7, &inside, 1);
	fake_on_pause = leave;
	take_out(1);
	assert_int_equal(fake_nr_pauses, 1);
	assert_int_equal(fake_nr_trampolines, 1);
}

/* Filters that change often neither wait nor pile up trampolines. */
static void test_a_stale_one_serves_again(void **state)
{
	uint64_t syncs;
	uintptr_t target;

	(void)state;
	want(1, 5, true);
	add(0);
	add(1);
	target = target_of(5);
	syncs = fake_nr_looks;
	for (uint32_t round = 0; round < 10; round++) {
		want(1, 9, true);
		assert_int_equal(calls_of(5), 1);
		want(1, 5, true);
		assert_int_equal(target_of(5), target);
		assert_int_equal(calls_of(5), 2);
	}
	assert_int_equal(fake_nr_trampolines, 3);
	assert_int_equal(fake_nr_looks, syncs);
}

/* One that is stale is told too: it may serve again. */
static void test_new_function_in_all_sets(void **state)
{
	(void)state;
	want(1, 5, true);
	want(2, 6, true);
	add(0);
	add(1);
	add(2);
	want(2, 7, true);
	want(2, 8, true);
	want(2, 9, true);
	want(1, 4, true); /* {0, 1} is where it was, or stale */
	assert_int_equal(ftrace_ops_set_func(&ops[0], count_other), 0);
	want(1, 5, true);
	want(2, 6, true);
	for (uint32_t func = 4; func < 10; func++) {
		uint32_t others = func == 5 || func == 6;

		nr_others = 0;
		assert_int_equal(calls_of(func), others);
		assert_int_equal(nr_others, 1);
	}
	assert_false(is_shared(5));
}

static void test_without_memory_the_list_serves(void **state)
{
	(void)state;
	fake_trampoline_budget = 2; /* each its own, none for both */
	add(0);
	add(1);
	assert_true(is_shared(3));
	assert_int_equal(calls_of(3), 2);
	fake_trampoline_budget = -1;
	add(2); /* a change finds memory again */
	assert_false(is_shared(3));
	assert_int_equal(calls_of(3), 3);
}

static void test_too_many_ops_in_one(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < FTRACE_MAX_SET_OPS; i++)
		add(i);
	assert_false(is_shared(3));
	assert_int_equal(calls_of(3), FTRACE_MAX_SET_OPS);
	add(FTRACE_MAX_SET_OPS);
	assert_true(is_shared(3));
	assert_int_equal(calls_of(3), FTRACE_MAX_SET_OPS + 1);
	take_out(0);
	assert_false(is_shared(3));
}

/* The last two have no number: sites that they want do without sets. */
static void test_too_many_registered(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_OPS; i++) {
		want(i, i / 2, true);
		add(i);
	}
	for (uint32_t func = 0; func < NR_OPS / 2; func++) {
		assert_int_equal(is_shared(func), func == NR_OPS / 2 - 1);
		assert_int_equal(calls_of(func), 2);
	}
	take_out(0);
	take_out(NR_OPS - 1);
	add(NR_OPS - 1); /* the number of the first is free */
	add(0);
	assert_int_equal(calls_of(0), 2);
	assert_int_equal(calls_of(NR_OPS / 2 - 1), 2);
}

/* Function n is wanted by the ops that n has bits of: more different sets than there can be. */
static void test_too_many_sets(void **state)
{
	uint32_t nr_shared = 0, nr_sets = 0;

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		for (uint32_t func = 0; func < NR_FUNCS; func++) {
			if (func >> i & 1)
				want(i, func, false);
		}
		add(i);
	}
	for (uint32_t func = 1; func < NR_FUNCS; func++) {
		uint32_t nr = (uint32_t)__builtin_popcount(func);

		assert_int_equal(calls_of(func), nr);
		nr_sets += nr > 1;
		nr_shared += is_shared(func);
	}
	assert_int_equal(nr_sets - nr_shared, fake_nr_trampolines - 9);
	assert_true(nr_shared > 0 && nr_shared < nr_sets);
}

/* Every filter makes another set, and none is ever unregistered. */
static void test_numbers_do_not_run_out(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		add(i);
	for (uint32_t round = 3; round < 1024; round++) {
		if (__builtin_popcount(round) < 2)
			continue;
		for (uint32_t i = 0; i < 10; i++)
			want(i, round >> i & 1 ? 7 : 8 + i, true);
		assert_int_equal(calls_of(7), (uint32_t)__builtin_popcount(round));
		assert_false(is_shared(7));
	}
}

/* As many as a record can count, and no more. */
static void test_too_many_for_a_record(void **state)
{
	struct ftrace_ops *all = calloc(FTRACE_REF_MAX, sizeof(*all)), one_more = { 0 };

	(void)state;
	assert_non_null(all);
	for (uint32_t i = 0; i < FTRACE_REF_MAX; i++) {
		all[i].func = one_more.func = note_order;
		all[i].flags = FTRACE_OPS_FL_STUB;
		assert_int_equal(ftrace_set_filter_ip(&all[i], fake_func(3), false, true), 0);
		assert_int_equal(register_ftrace_function(&all[i]), 0);
	}
	assert_int_equal(register_ftrace_function(&one_more), -ENOSPC);
	assert_int_equal(one_more.flags, 0);
	assert_int_equal(unregister_ftrace_function(&all[0]), 0);
	assert_int_equal(register_ftrace_function(&all[0]), 0);
	assert_int_equal(calls_of(3), 0);
	for (uint32_t i = 0; i < FTRACE_REF_MAX; i++) {
		assert_int_equal(unregister_ftrace_function(&all[i]), 0);
		ftrace_free_filter(&all[i]);
	}
	free(all);
}

/* Off and on again: the same trampolines. */
static void test_master_switch(void **state)
{
	uintptr_t target;

	(void)state;
	add(0);
	add(1);
	target = target_of(3);
	assert_int_equal(ftrace_set_enabled(false), 0);
	assert_int_equal(calls_of(3), 0);
	add(2);
	assert_int_equal(calls_of(3), 0);
	assert_int_equal(ftrace_set_enabled(true), 0);
	assert_int_not_equal(target_of(3), target);
	assert_int_equal(calls_of(3), 3);
	take_out(2);
	assert_int_equal(calls_of(3), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_newest_is_called_first),
		TEST(test_sites_with_the_same_ops_share_it),
		TEST(test_it_is_freed_behind_a_wait),
		TEST(test_it_stays_while_a_thread_is_inside),
		TEST(test_a_stale_one_serves_again),
		TEST(test_new_function_in_all_sets),
		TEST(test_without_memory_the_list_serves),
		TEST(test_too_many_ops_in_one),
		TEST(test_too_many_registered),
		TEST(test_too_many_sets),
		TEST(test_numbers_do_not_run_out),
		TEST(test_too_many_for_a_record),
		TEST(test_master_switch),
	};

	return cmocka_run_group_tests(tests, funcs_make, NULL);
}
