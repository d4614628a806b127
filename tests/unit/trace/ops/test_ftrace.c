/*
 * Registering, filtering, dispatch: what each ops sees, what each site holds, against a model that
 * knows only which ops wants which function.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <trace/recursion.h>
#include "allocations.h"

#define NR_FUNCS 600u /* more than a page of records */
#include "many_funcs.h"

#define NR_OPS 4u

struct user {
	struct ftrace_ops ops;
	uint64_t calls[NR_FUNCS];
	bool registered;
	bool filter[NR_FUNCS]; /* as set, meaningless while empty */
	bool notrace[NR_FUNCS];
};

static struct user users[NR_OPS];

static void count_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	struct user *user = ops->private;

	assert_ptr_equal(&user->ops, ops);
	assert_int_equal(ftrace_regs_get_instruction_pointer(fregs), ip + TRACE_INSN_SIZE);
	assert_int_equal(parent_ip, PARENT);
	user->calls[(ip - FAKE_TEXT) / FAKE_FUNC_BYTES]++;
}

static int setup(void **state)
{
	(void)state;
	memset(users, 0, sizeof(users));
	for (uint32_t i = 0; i < NR_OPS; i++) {
		users[i].ops.func = count_call;
		users[i].ops.private = &users[i];
		users[i].ops.flags = i & 1 ? FTRACE_OPS_FL_RECURSION : 0;
	}
	funcs_begin();
	return 0;
}

/* Whatever a test did: text as before, nothing left over. */
static int teardown(void **state)
{
	(void)state;
	fake_alloc_budget = -1;
	for (uint32_t i = 0; i < NR_OPS; i++) {
		if (users[i].ops.flags & FTRACE_OPS_FL_ENABLED)
			assert_int_equal(unregister_ftrace_function(&users[i].ops), 0);
		ftrace_free_filter(&users[i].ops);
	}
	funcs_end();
	assert_null(ftrace_ops_list);
	return 0;
}

static bool any(const bool *set)
{
	for (uint32_t i = 0; i < NR_FUNCS; i++)
		if (set[i])
			return true;
	return false;
}

static bool wants(const struct user *user, uint32_t func)
{
	return user->registered && (user->filter[func] || !any(user->filter)) &&
	       !user->notrace[func];
}

static void check_record(uint32_t func)
{
	const struct dyn_ftrace *record = ftrace_record_find(fake_func(func));
	bool single = false;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < NR_OPS; i++) {
		if (!wants(&users[i], func))
			continue;
		nr++;
		single = users[i].ops.trampoline.addr;
	}
	assert_int_equal(ftrace_record_count(record), nr);
	assert_int_equal(!!(record->flags & FTRACE_FL_ENABLED), nr > 0);
	assert_int_equal(!!(record->flags & FTRACE_FL_TRAMP_EN), nr == 1 && single);
}

/* Call every function once: exactly those who want it have seen it. */
static void check_calls(void)
{
	static uint64_t before[NR_OPS][NR_FUNCS];

	for (uint32_t i = 0; i < NR_OPS; i++)
		memcpy(before[i], users[i].calls, sizeof(before[i]));
	for (uint32_t func = 0; func < NR_FUNCS; func++) {
		fake_call(func, PARENT);
		check_record(func);
		for (uint32_t i = 0; i < NR_OPS; i++)
			assert_int_equal(users[i].calls[func] - before[i][func],
					 wants(&users[i], func));
	}
}

static void add(struct user *user)
{
	assert_int_equal(register_ftrace_function(&user->ops), 0);
	user->registered = true;
}

static void take_out(struct user *user)
{
	assert_int_equal(unregister_ftrace_function(&user->ops), 0);
	user->registered = false;
}

static void filter_one(struct user *user, uint32_t func, bool reset)
{
	assert_int_equal(ftrace_set_filter_ip(&user->ops, fake_func(func), false, reset), 0);
	if (reset)
		memset(user->filter, 0, sizeof(user->filter));
	user->filter[func] = true;
}

static void test_init_made_nops(void **state)
{
	struct ftrace_totals totals;
	uint8_t nop[TRACE_INSN_SIZE];

	(void)state;
	ftrace_totals(&totals);
	assert_int_equal(totals.sites, NR_FUNCS);
	assert_int_equal(totals.pages, 2);
	assert_int_equal(totals.groups, 1);
	trace_plat_insn_nop(nop);
	for (uint32_t i = 0; i < NR_FUNCS; i++)
		assert_memory_equal(fake_text_at(fake_func(i)), nop, sizeof(nop));
	assert_non_null(strstr(fake_log(), "ftrace: allocating 600 entries in 2 pages"));
	assert_non_null(strstr(fake_log(), "ftrace: allocated 2 pages with 1 groups"));
}

static void test_one_ops_has_its_trampoline(void **state)
{
	(void)state;
	add(&users[0]);
	assert_int_equal(fake_nr_trampolines, 1);
	check_calls();
	take_out(&users[0]);
	check_calls();
}

static void test_one_update_is_one_batch(void **state)
{
	uint64_t batches = fake_nr_batches;

	(void)state;
	add(&users[0]);
	assert_int_equal(fake_nr_batches - batches, 1);
	add(&users[1]); /* every site goes to a trampoline of both */
	assert_int_equal(fake_nr_batches - batches, 2);
	take_out(&users[0]);
	assert_int_equal(fake_nr_batches - batches, 3);
}

/* Without memory for trampolines a third ops on a site with two changes nothing in text. */
static void test_third_ops_pokes_nothing(void **state)
{
	uint64_t pokes;

	(void)state;
	fake_trampoline_budget = 0;
	add(&users[0]);
	add(&users[1]);
	pokes = fake_nr_pokes;
	add(&users[2]);
	assert_int_equal(fake_nr_pokes, pokes);
	check_calls();
}

static void test_live_filter_change(void **state)
{
	(void)state;
	filter_one(&users[0], 7, true);
	add(&users[0]);
	add(&users[1]);
	check_calls();
	filter_one(&users[0], 9, true);
	check_calls();
	filter_one(&users[0], 11, false);
	check_calls();
	assert_int_equal(ftrace_set_filter(&users[0].ops, NULL, 0, true), 0);
	memset(users[0].filter, 0, sizeof(users[0].filter));
	check_calls();
}

/* An ops whose filters were forgotten is as good as new. */
static void test_freed_filter_is_gone(void **state)
{
	(void)state;
	filter_one(&users[0], 7, true);
	filter_one(&users[0], 8, true);
	ftrace_free_filter(&users[0].ops);
	memset(users[0].filter, 0, sizeof(users[0].filter));
	add(&users[0]);
	check_calls();
}

static uint32_t nr_extra_sites;

static void count_pokes(const struct trace_poke *pokes, size_t nr)
{
	(void)pokes;
	nr_extra_sites += (uint32_t)nr;
	/* In the middle of the change no ops sees functions that are in neither filter. */
	for (uint32_t func = 20; func < NR_FUNCS; func++)
		fake_call(func, PARENT);
}

static void test_live_change_never_means_all(void **state)
{
	(void)state;
	filter_one(&users[0], 3, true);
	filter_one(&users[1], 3, true);
	add(&users[0]);
	add(&users[1]);
	nr_extra_sites = 0;
	fake_on_batch = count_pokes;
	filter_one(&users[0], 4, true);
	fake_on_batch = NULL;
	assert_int_equal(nr_extra_sites, 2);
	for (uint32_t func = 20; func < NR_FUNCS; func++)
		assert_int_equal(users[0].calls[func] + users[1].calls[func], 0);
	check_calls();
}

static void test_refusals(void **state)
{
	struct ftrace_ops none = { 0 };
	char long_name[300];

	(void)state;
	memset(long_name, 'x', sizeof(long_name));
	assert_int_equal(register_ftrace_function(&none), -EINVAL);
	assert_int_equal(unregister_ftrace_function(&users[0].ops), -EBUSY);
	add(&users[0]);
	assert_int_equal(register_ftrace_function(&users[0].ops), -EBUSY);
	assert_int_equal(ftrace_set_filter(&users[0].ops, "nosuch", 6, false), -EINVAL);
	assert_int_equal(ftrace_set_filter_ip(&users[0].ops, PARENT, false, false), -EINVAL);
	assert_int_equal(ftrace_set_filter_ip(&users[0].ops, fake_func(1), true, false), -ENOENT);
	assert_int_equal(ftrace_set_filter(&users[0].ops, "", 0, false), -EINVAL);
	assert_int_equal(ftrace_set_filter(&users[0].ops, long_name, sizeof(long_name), false),
			 -EINVAL);
	check_calls();
	/* The filters of a registered ops cannot be forgotten. */
	filter_one(&users[0], 7, true);
	ftrace_free_filter(&users[0].ops);
	check_calls();
}

/* The old filter with the new one, replaced by it, without it. */
static void test_filters_by_address(void **state)
{
	const uintptr_t ips[] = { fake_func(3), fake_func(4), fake_func(5) + 2 };
	struct user *user = &users[0];

	(void)state;
	add(user);
	assert_int_equal(ftrace_set_filter_ips(&user->ops, ips, 2, false, false), 0);
	user->filter[3] = user->filter[4] = true;
	check_calls();
	assert_int_equal(ftrace_set_filter_ip(&user->ops, ips[0], true, false), 0);
	user->filter[3] = false;
	check_calls();
	/* One that is wrong: none of them. */
	assert_int_equal(ftrace_set_filter_ips(&user->ops, ips, 3, false, true), -EINVAL);
	assert_int_equal(ftrace_set_filter_ips(&user->ops, ips, 2, true, false), -ENOENT);
	assert_int_equal(ftrace_set_filter_ip(&user->ops, ips[1], true, true), -ENOENT);
	check_calls();
	filter_one(user, 9, true);
	check_calls();
	/* Without the last there is no filter. */
	assert_int_equal(ftrace_set_filter_ip(&user->ops, fake_func(9), true, false), 0);
	user->filter[9] = false;
	check_calls();
}

static void test_filters_of_the_global_ops(void **state)
{
	(void)state;
	assert_int_equal(ftrace_set_global_filter("func_1*", 7, true), 0);
	assert_int_equal(ftrace_set_global_notrace("func_12", 7, true), 0);
	assert_int_equal(ftrace_set_global_filter("func_2", 6, true), 0);
	assert_int_equal(ftrace_set_global_filter("func_3", 6, false), 0);
	assert_int_equal(ftrace_ops_hash_of(&ftrace_global_ops, false)->nr, 2);
	assert_int_equal(ftrace_ops_hash_of(&ftrace_global_ops, true)->nr, 1);
	assert_true(ftrace_hash_has(ftrace_ops_hash_of(&ftrace_global_ops, true),
				    trace_plat_ip_pack(fake_func(12))));
	assert_int_equal(ftrace_set_global_notrace("nosuch", 6, true), -EINVAL);
	assert_int_equal(ftrace_set_global_notrace("!func_12", 8, false), 0);
	assert_null(ftrace_ops_hash_of(&ftrace_global_ops, true));
	ftrace_free_filter(&ftrace_global_ops);
}

/* Set once, by the first filter or by registering; set by ftrace while it is registered. */
static void test_flags_that_ftrace_sets(void **state)
{
	struct ftrace_ops *ops = &users[0].ops;

	(void)state;
	assert_int_equal(ops->flags, 0);
	filter_one(&users[0], 7, true);
	assert_int_equal(ops->flags, FTRACE_OPS_FL_INITIALIZED);
	add(&users[0]);
	assert_int_equal(ops->flags, FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_ENABLED);
	take_out(&users[0]);
	assert_int_equal(ops->flags, FTRACE_OPS_FL_INITIALIZED);
	assert_int_equal(users[2].ops.flags, 0);
	add(&users[2]);
	assert_int_equal(users[2].ops.flags, FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_ENABLED);
}

static void test_stub_is_never_called(void **state)
{
	(void)state;
	users[0].ops.flags = FTRACE_OPS_FL_STUB;
	assert_int_equal(register_ftrace_function(&users[0].ops), 0);
	fake_call(1, PARENT);
	assert_int_equal(users[0].calls[1], 0);
	add(&users[2]);
	fake_call(1, PARENT);
	assert_int_equal(users[0].calls[1], 0);
	assert_int_equal(users[2].calls[1], 1);
}

static void test_without_memory_for_trampolines(void **state)
{
	(void)state;
	fake_trampoline_budget = 0;
	add(&users[0]);
	check_calls();
	add(&users[1]);
	check_calls();
	take_out(&users[1]);
	check_calls();
}

/* The batch does not fit into memory: many small ones instead, the same result. */
static void test_without_memory_for_a_batch(void **state)
{
	uint64_t batches = fake_nr_batches;

	(void)state;
	fake_alloc_budget = 0;
	add(&users[0]);
	check_calls();
	assert_true(fake_nr_batches - batches > 1);
	fake_alloc_budget = 0;
	take_out(&users[0]);
	check_calls();
}

static void test_filter_without_memory_changes_nothing(void **state)
{
	long nr;

	(void)state;
	filter_one(&users[0], 5, true);
	add(&users[0]);
	for_each_allocation(nr, ftrace_set_filter(&users[0].ops, "func_*", 6, false))
		check_calls();
	assert_true(nr > 0);
	memset(users[0].filter, 1, sizeof(users[0].filter));
	check_calls();
}

static uint32_t depth, nr_entered;

static void recurse(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	assert_int_equal(depth, 0);
	assert_int_not_equal(trace_plat_preempt_count() & TRACE_PREEMPT_MASK, 0);
	nr_entered++;
	depth++;
	fake_call(2, PARENT);
	depth--;
}

static void test_recursion_is_stopped(void **state)
{
	(void)state;
	users[1].ops.func = recurse;
	nr_entered = 0;
	assert_int_equal(register_ftrace_function(&users[1].ops), 0);
	fake_call(2, PARENT); /* own trampoline, assist function */
	assert_int_equal(nr_entered, 1);
	users[3].ops.func = recurse;
	assert_int_equal(register_ftrace_function(&users[3].ops), 0);
	fake_call(2, PARENT); /* list function */
	assert_int_equal(nr_entered, 3);
	assert_int_equal(unregister_ftrace_function(&users[1].ops), 0);
	assert_int_equal(unregister_ftrace_function(&users[3].ops), 0);
	users[3].ops.flags = FTRACE_OPS_FL_RCU; /* guarded too */
	assert_int_equal(register_ftrace_function(&users[3].ops), 0);
	fake_call(2, PARENT);
	assert_int_equal(nr_entered, 4);
}

/* As an interrupt of each kind comes in while the callback of the one below runs. */
static void nest_deeper(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			struct ftrace_regs *fregs)
{
	static const uint32_t contexts[] = { TRACE_SOFTIRQ_SERVING, 0x00010000, 0x00100000 };
	uint32_t level = nr_entered++;

	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	fake_call(2, PARENT); /* the same context: stopped */
	assert_int_equal(nr_entered, level + 1);
	if (level == 3)
		return;
	fake_this->preempt_count += contexts[level];
	fake_call(2, PARENT);
	fake_this->preempt_count -= contexts[level];
}

static void test_each_context_has_its_own_guard(void **state)
{
	(void)state;
	users[1].ops.func = nest_deeper;
	users[3].ops.func = nest_deeper;
	nr_entered = 0;
	assert_int_equal(register_ftrace_function(&users[1].ops), 0);
	fake_call(2, PARENT);
	assert_int_equal(nr_entered, 4);
	assert_int_equal(fake_this->recursion, 0);
	assert_int_equal(unregister_ftrace_function(&users[1].ops), 0);
	fake_trampoline_budget = 0; /* now by the list function */
	assert_int_equal(register_ftrace_function(&users[3].ops), 0);
	nr_entered = 0;
	fake_call(2, PARENT);
	assert_int_equal(nr_entered, 4);
	assert_int_equal(fake_this->recursion, 0);
}

/* Set user's `set` to the functions whose name starts with the first `len` bytes of `prefix`. */
static void model_prefix(bool *set, const char *prefix, size_t len)
{
	for (uint32_t i = 0; i < NR_FUNCS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "func_%u", i);
		set[i] = strncmp(name, prefix, len) == 0;
	}
}

static void random_step(struct user *user)
{
	uint32_t func = (uint32_t)rand() % NR_FUNCS;
	char name[32];
	size_t len = (size_t)snprintf(name, sizeof(name), "func_%u*", func);

	switch (rand() % 6) {
	case 0:
	case 1:
		if (user->registered)
			take_out(user);
		else
			add(user);
		break;
	case 2:
		filter_one(user, func, rand() & 1);
		break;
	case 3:
		assert_int_equal(ftrace_set_filter(&user->ops, name, len, true), 0);
		model_prefix(user->filter, name, len - 1);
		break;
	case 4:
		assert_int_equal(ftrace_set_notrace(&user->ops, name, len, true), 0);
		model_prefix(user->notrace, name, len - 1);
		break;
	case 5:
		assert_int_equal(ftrace_set_filter(&user->ops, NULL, 0, true), 0);
		memset(user->filter, 0, sizeof(user->filter));
		break;
	}
}

static void test_random_against_model(void **state)
{
	(void)state;
	srand(3);
	for (uint32_t round = 0; round < (uint32_t)unit_rounds(200); round++) {
		if (round % 50 == 0) /* trampolines run out now and then */
			fake_trampoline_budget = rand() % 20;
		random_step(&users[(uint32_t)rand() % NR_OPS]);
		check_calls();
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_init_made_nops),
		TEST(test_one_ops_has_its_trampoline),
		TEST(test_one_update_is_one_batch),
		TEST(test_third_ops_pokes_nothing),
		TEST(test_live_filter_change),
		TEST(test_freed_filter_is_gone),
		TEST(test_live_change_never_means_all),
		TEST(test_refusals),
		TEST(test_filters_by_address),
		TEST(test_filters_of_the_global_ops),
		TEST(test_flags_that_ftrace_sets),
		TEST(test_stub_is_never_called),
		TEST(test_without_memory_for_trampolines),
		TEST(test_without_memory_for_a_batch),
		TEST(test_filter_without_memory_changes_nothing),
		TEST(test_recursion_is_stopped),
		TEST(test_each_context_has_its_own_guard),
		TEST(test_random_against_model),
	};

	return cmocka_run_group_tests(tests, funcs_make, NULL);
}
