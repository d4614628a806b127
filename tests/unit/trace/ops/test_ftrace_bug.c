/*
 * Damaged text, or an unknown breakpoint in it: that is named, nothing more is written, tracing is
 * dead and the host goes on.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include "child.h"
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include <trace/ftrace_files.h>

#define NR_FUNCS 200u
#define DAMAGED	 150u

static uint32_t nr_off, nr_calls;

static void note_off(void)
{
	nr_off++;
}

static void count_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_calls++;
}

static struct ftrace_ops before = { .func = count_call };
static struct ftrace_ops second = { .func = count_call };
static struct ftrace_ops late = { .func = count_call };

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build_many("func_", NR_FUNCS);
	ftrace_when_killed(note_off);
	ftrace_init();
	return ftrace_is_dead();
}

static void meet_breakpoint(void)
{
	uint8_t *site = fake_text_at(fake_func(DAMAGED));

	site[0] = 0xcc;
	fake_breakpoint = fake_func(DAMAGED);
	EXPECT(register_ftrace_function(&late) == -ENODEV);
	EXPECT(ftrace_is_dead() && nr_off == 1 && fake_nr_bugs == 1);
	EXPECT(site[0] == 0xcc && fake_nr_pokes == 0);
	EXPECT(strstr(fake_log(), "ftrace failed to modify [<ffffffff81000960>] func_150+0x0"));
	EXPECT(strstr(fake_log(), "actual:   cc:1f:44:00:00"));
	EXPECT(strstr(fake_log(), "ftrace: a breakpoint that is not ftrace's is at a call site"));
	EXPECT(!strstr(fake_log(), "is not what was written"));
}

static void test_breakpoint_stops_tracing(void **state)
{
	(void)state;
	in_child(meet_breakpoint);
}

/* One after the other: the machine is not as it was. */
static void test_mismatch_stops_tracing(void **state)
{
	uint8_t *site = fake_text_at(fake_func(DAMAGED));
	static uint8_t text[NR_FUNCS * FAKE_FUNC_BYTES];
	struct ftrace_edit *edit;

	(void)state;
	fake_trampoline_budget = 0; /* the two share the list function */
	ftrace_set_filter(&before, "func_1", 6, true);
	assert_int_equal(register_ftrace_function(&before), 0);
	ftrace_set_filter(&second, "func_1", 6, true);
	assert_int_equal(register_ftrace_function(&second), 0);
	site[2] = 0x99;
	memcpy(text, fake_text_at(FAKE_TEXT), sizeof(text));

	assert_int_equal(register_ftrace_function(&late), -ENODEV);
	assert_false(late.flags & FTRACE_OPS_FL_ENABLED);
	assert_memory_equal(text, fake_text_at(FAKE_TEXT), sizeof(text));
	assert_true(ftrace_is_dead());
	assert_int_equal(nr_off, 1);
	assert_int_equal(fake_nr_bugs, 1);
	assert_non_null(strstr(fake_log(), "ftrace failed to modify [<ffffffff81000960>] "
					   "func_150+0x0"));
	assert_non_null(strstr(fake_log(), "actual:   0f:1f:99:00:00"));
	assert_non_null(strstr(fake_log(), "expected: 0f:1f:44:00:00"));
	assert_non_null(strstr(fake_log(), "ftrace: text at a call site is not what was written"));

	/* Sites still call, but the list function calls no ops any more. */
	fake_call(1, 0);
	assert_int_equal(nr_calls, 0);
	assert_int_equal(register_ftrace_function(&(struct ftrace_ops){ .func = count_call }),
			 -ENODEV);
	assert_int_equal(ftrace_set_filter(&before, "func_2", 6, false), -ENODEV);
	assert_int_equal(ftrace_set_filter_ip(&before, fake_func(3), false, false), -ENODEV);
	assert_int_equal(ftrace_edit_open(&before, false, true, &edit), -ENODEV);
	assert_int_equal(unregister_ftrace_function(&late), -ENODEV);
	assert_int_equal(ftrace_set_enabled(false), -ENODEV);
	assert_int_equal(unregister_ftrace_function(&before), -ENODEV);
	assert_memory_equal(text, fake_text_at(FAKE_TEXT), sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breakpoint_stops_tracing),
		cmocka_unit_test(test_mismatch_stops_tracing),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
