/*
 * Boot: an unsorted table, memory in pieces, no memory, a site that is no call. Records are made
 * once in a life, so each case runs in a process of its own.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"

#define NR_FUNCS 3000u

static void callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)fregs;
	++*(uint32_t *)ops->private;
}

/* Exit status 0 when `fn` says true. */
static void in_a_process(bool (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fake_reset();
		fake_text_build_many("func_", NR_FUNCS);
		_exit(!fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Every site has one record, in order, and can be switched. */
static bool records_work(void)
{
	static uint32_t calls;
	static struct ftrace_ops ops = { .func = callback, .private = &calls };
	struct ftrace_cursor cursor = { 0 };
	struct dyn_ftrace *record;
	uint32_t i = 0;

	while ((record = ftrace_next_record(&cursor))) {
		if (record != ftrace_record_at(i) || record->ip != (uint32_t)fake_func(i) ||
		    record != ftrace_record_find(fake_func(i)))
			return false;
		i++;
	}
	if (i != NR_FUNCS || ftrace_record_at(i) || ftrace_record_find(fake_func(1) + 1))
		return false;
	if (ftrace_location(fake_func(5)) != fake_func(5) || ftrace_location(fake_func(5) + 7) ||
	    ftrace_location(0x1234))
		return false;
	if (ftrace_set_filter(&ops, "func_29*", 8, true) || register_ftrace_function(&ops))
		return false;
	for (i = 0; i < NR_FUNCS; i++)
		fake_call(i, 0);
	return calls == 111 && !unregister_ftrace_function(&ops);
}

/* A site that is not at the very start of its function, functions without a site. */
static bool locations(void)
{
	uintptr_t later = fake_func(5) - 4, siteless = fake_func(9) - 8,
		  last = fake_func(NR_FUNCS - 1) + 8;

	fake_symbol_add(later, 20, "starts_with_endbr");
	fake_symbol_add(siteless, 8, "ends_where_another_starts");
	fake_symbol_add(last, 8, "behind_all_sites");
	ftrace_init();
	return ftrace_location(later) == fake_func(5) && !ftrace_location(later + 1) &&
	       !ftrace_location(siteless) && !ftrace_location(last);
}

static bool plain(void)
{
	ftrace_init();
	return !ftrace_is_dead() && ftrace_nr_groups == 1 && ftrace_nr_pages() == 6 &&
	       records_work();
}

static bool unsorted(void)
{
	size_t nr;
	uintptr_t *sites = (uintptr_t *)trace_plat_sites(&nr);

	for (size_t i = 0; i < nr; i++) {
		size_t j = i * 7919 % nr;
		uintptr_t site = sites[i];

		sites[i] = sites[j];
		sites[j] = site;
	}
	ftrace_init();
	return !ftrace_is_dead() && records_work();
}

/* trace_plat_alloc() refuses more than a page or two at a time. */
static bool in_pieces(void)
{
	fake_alloc_max_bytes = 2 * FTRACE_PAGE_BYTES;
	ftrace_init();
	fake_alloc_max_bytes = 0;
	return !ftrace_is_dead() && ftrace_nr_groups > 2 && records_work();
}

static bool unsorted_in_pieces(void)
{
	fake_alloc_max_bytes = FTRACE_PAGE_BYTES;
	return unsorted();
}

static bool no_memory(void)
{
	fake_alloc_budget = 0;
	ftrace_init();
	fake_alloc_budget = -1;
	return ftrace_is_dead() && fake_alloc_out == 0 && ftrace_nr_records() == 0 &&
	       fake_nr_early == 0 && !ftrace_record_find(fake_func(0));
}

static bool no_call(void)
{
	fake_text_at(fake_func(77))[0] = 0x90;
	ftrace_init();
	return ftrace_is_dead() && fake_alloc_out == 0 && fake_nr_early == 0 &&
	       strstr(fake_log(), "func_77+0x0") && strstr(fake_log(), "actual:   90:");
}

static bool breakpoint(void)
{
	fake_text_at(fake_func(77))[0] = 0xcc;
	fake_breakpoint = fake_func(77);
	ftrace_init();
	return ftrace_is_dead() && fake_nr_early == 0 && strstr(fake_log(), "func_77+0x0") &&
	       strstr(fake_log(), "a breakpoint that is not ftrace's is at a call site");
}

static bool no_sites(void)
{
	fake_text_build_many("func_", 0);
	ftrace_init();
	return !ftrace_is_dead() && !ftrace_record_at(0) && !ftrace_record_find(FAKE_TEXT);
}

static void test_init(void **state)
{
	(void)state;
	in_a_process(plain);
}

static void test_locations(void **state)
{
	(void)state;
	in_a_process(locations);
}

static void test_unsorted_table(void **state)
{
	(void)state;
	in_a_process(unsorted);
}

static void test_memory_in_pieces(void **state)
{
	(void)state;
	in_a_process(in_pieces);
	in_a_process(unsorted_in_pieces);
}

static void test_no_memory(void **state)
{
	(void)state;
	in_a_process(no_memory);
}

static void test_site_without_a_call(void **state)
{
	(void)state;
	in_a_process(no_call);
	in_a_process(breakpoint);
}

static void test_no_sites(void **state)
{
	(void)state;
	in_a_process(no_sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),	       cmocka_unit_test(test_locations),
		cmocka_unit_test(test_unsorted_table), cmocka_unit_test(test_memory_in_pieces),
		cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_site_without_a_call),
		cmocka_unit_test(test_no_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
