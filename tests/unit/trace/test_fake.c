/*
 * The fake machine itself: what other tests stand on.
 */
#include "unit.h"
#include <string.h>
#include "allocations.h"
#include "fake.h"

static int setup(void **state)
{
	(void)state;
	fake_reset();
	return 0;
}

static void test_alloc_fails_when_told(void **state)
{
	void *first, *second;

	(void)state;
	fake_alloc_budget = 1;
	first = trace_plat_alloc(100);
	second = trace_plat_alloc(100);
	assert_non_null(first);
	assert_null(second);
	assert_int_equal((uintptr_t)first % 16, 0);
	assert_int_equal(fake_alloc_out, 1);
	trace_plat_free(first, 100);
	assert_int_equal(fake_alloc_out, 0);
}

/* An operation that needs memory three times, and gives all back. */
static int allocate_three(long *nr_calls)
{
	void *got[3];
	size_t nr = 0;
	int err;

	++*nr_calls;
	while (nr < 3 && (got[nr] = trace_plat_alloc(16)))
		nr++;
	err = nr == 3 ? 0 : -ENOMEM;
	while (nr)
		trace_plat_free(got[--nr], 16);
	return err;
}

static void test_each_allocation_fails_once(void **state)
{
	long nr, nr_calls = 0, nr_failed = 0;

	(void)state;
	for_each_allocation(nr, allocate_three(&nr_calls)) {
		void *own = trace_plat_alloc(16);

		assert_non_null(own);
		trace_plat_free(own, 16);
		assert_int_equal(nr, nr_failed++);
	}
	assert_int_equal(nr, 3);
	assert_int_equal(nr_failed, 3);
	assert_int_equal(nr_calls, 4);
}

static int nr_irqs;

static void count_irq(void)
{
	nr_irqs++;
	trace_plat_clock_ns();
}

static void test_clock_runs_interrupts(void **state)
{
	uint64_t before, after;

	(void)state;
	nr_irqs = 0;
	fake_clock_irq = count_irq;
	before = trace_plat_clock_ns();
	after = trace_plat_clock_ns();
	assert_int_equal(nr_irqs, 2);
	assert_int_equal(after - before, 2 * fake_clock_step);
}

static void test_poke_verifies_old_bytes(void **state)
{
	struct trace_poke poke = { .site = trace_plat_ip_pack(fake_func(3)) };
	struct trace_poke_error error;

	(void)state;
	fake_text_build_many("f", 10);
	trace_plat_insn_nop(poke.old_insn);
	trace_plat_insn_nop(poke.new_insn);
	assert_int_equal(trace_plat_poke_batch(&poke, 1, &error), -EINVAL);
	assert_int_equal(error.site, fake_func(3));
	assert_int_equal(error.found[0], 0xe8);
	trace_plat_insn_call(fake_func(3), FAKE_FENTRY, poke.old_insn);
	assert_int_equal(trace_plat_poke_batch(&poke, 1, &error), 0);
	assert_int_equal(fake_text_at(fake_func(3))[0], 0x0f);
	assert_int_equal(fake_nr_pokes, 1);
}

static uintptr_t called_ip, called_parent;
static void *called_ops;

static void callback(uintptr_t ip, uintptr_t parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	(void)fregs;
	called_ip = ip;
	called_parent = parent;
	called_ops = ops;
}

static void test_call_goes_through_trampoline(void **state)
{
	struct ftrace_ops *ops = (struct ftrace_ops *)(void *)&nr_irqs;
	const struct trace_trampoline_call call = { .ops = ops, .func = (uintptr_t)callback };
	struct trace_trampoline tramp;
	struct trace_poke poke = { .site = trace_plat_ip_pack(fake_func(1)) };
	struct trace_poke_error error;

	(void)state;
	fake_text_build_many("f", 2);
	assert_int_equal(trace_plat_trampoline_create(&call, 1, false, &tramp), 0);
	trace_plat_insn_call(fake_func(1), FAKE_FENTRY, poke.old_insn);
	trace_plat_insn_call(fake_func(1), tramp.addr, poke.new_insn);
	assert_int_equal(trace_plat_poke_batch(&poke, 1, &error), 0);
	fake_call(0, 5);
	assert_int_equal(called_ip, 0);
	fake_call(1, 77);
	assert_int_equal(called_ip, fake_func(1));
	assert_int_equal(called_parent, 77);
	assert_ptr_equal(called_ops, ops);
	trace_plat_trampoline_destroy(&tramp);
	assert_int_equal(fake_nr_trampolines, 0);
}

static void test_symbols(void **state)
{
	static const char *const names[] = { "schedule", "yield" };
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	(void)state;
	fake_text_build(names, 2);
	assert_int_equal(trace_plat_symbol_find("yield"), fake_func(1));
	assert_true(trace_plat_symbol(fake_func(1) + 7, name, &start, &size));
	assert_string_equal(name, "yield");
	assert_int_equal(start, fake_func(1));
	assert_false(trace_plat_symbol(fake_func(2), name, &start, &size));
	trace_plat_log("%d of %s", 3, "four");
	assert_string_equal(fake_log(), "3 of four\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_alloc_fails_when_told, setup),
		cmocka_unit_test_setup(test_each_allocation_fails_once, setup),
		cmocka_unit_test_setup(test_clock_runs_interrupts, setup),
		cmocka_unit_test_setup(test_poke_verifies_old_bytes, setup),
		cmocka_unit_test_setup(test_call_goes_through_trampoline, setup),
		cmocka_unit_test_setup(test_symbols, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
