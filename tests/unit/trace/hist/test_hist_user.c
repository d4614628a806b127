/*
 * Histograms by stacks of programs: which stacks are one key, how they are shown, where they are refused.
 */
#include "unit.h"
#include "hist_help.h"

#define LINES "         " /* in front of each line of a stack */

/* Frames of a program: each has the address of the next and a return address. */
static uint64_t frames[12][2];
static struct trace_plat_user user;

/* Let the running thread be in program `tgid`, called from `nr` places from 0x401000 on. */
static void in_program(int32_t tgid, size_t nr)
{
	memset(frames, 0, sizeof(frames));
	for (size_t i = 0; i < nr; i++) {
		frames[i][0] = (uintptr_t)frames[i + 1];
		frames[i][1] = 0x401000 + 16 * i;
	}
	user = (struct trace_plat_user){
		.ip = 0x400100, .sp = (uintptr_t)frames, .fp = (uintptr_t)frames, .tgid = tgid
	};
	fake_user = &user;
	fake_reads_user = true;
}

static int leave_program(void **state)
{
	fake_user = NULL;
	fake_reads_user = false;
	return hist_all_gone(state);
}

static void each_stack_of_each_program(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=ustacktrace,id:sort=ustacktrace");
	assert_string_equal(trigger(ARRIVE), "hist:keys=ustacktrace,id:vals=hitcount:"
					     "sort=ustacktrace:size=2048 [active]\n");
	trace_ship_arrive(3, 0, "x"); /* in a thread of the kernel */
	in_program(8, 1);
	trace_ship_arrive(3, 0, "x");
	in_program(7, 2);
	trace_ship_arrive(3, 0, "x");
	trace_ship_arrive(4, 0, "x");
	trace_ship_arrive(3, 0, "x");
	in_program(7, 1);
	frames[0][1] = 0x900001; /* in no file */
	trace_ship_arrive(3, 0, "x");
	in_program(7, 1);
	frames[0][1] = 0x500001; /* in no function */
	trace_ship_arrive(3, 0, "x");
	in_program(7, 1);
	trace_ship_arrive(3, 0, "x");
	same(entries(ARRIVE),
	     "{ ustacktrace:\n, id:          3} hitcount:          1\n"
	     "{ ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
	     "/bin/program7[+0x1000] main+0x1000\n"
	     ", id:          3} hitcount:          1\n"
	     "{ ustacktrace:\n" LINES "/bin/program8[+0x100] main+0x100\n" LINES
	     "/bin/program8[+0x1000] main+0x1000\n"
	     ", id:          3} hitcount:          1\n"
	     "{ ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
	     "/bin/program7[+0x1000] main+0x1000\n" LINES "/bin/program7[+0x1010] main+0x1010\n"
	     ", id:          3} hitcount:          2\n"
	     "{ ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
	     "/bin/program7[+0x1000] main+0x1000\n" LINES "/bin/program7[+0x1010] main+0x1010\n"
	     ", id:          4} hitcount:          1\n"
	     "{ ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
	     "/bin/program7[+0x100001]\n"
	     ", id:          3} hitcount:          1\n"
	     "{ ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
	     "<0000000000900001>\n"
	     ", id:          3} hitcount:          1\n");
	fake_user = NULL; /* the programs have ended */
	assert_non_null(strstr(entries(ARRIVE),
			       "{ ustacktrace:\n" LINES "<0000000000400100>\n" LINES
			       "<0000000000401000>\n, id:          3} hitcount:          1\n"));
}

/* As many callers as an event has; the key behind them is still found. */
static void deep_stacks(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=common_ustacktrace,id,common_stacktrace");
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE) + 4);
	in_program(7, 11);
	trace_ship_arrive(3, 0, "x");
	assert_non_null(strstr(entries(ARRIVE), "/bin/program7[+0x1060] main+0x1060\n, id:"
						"          3, common_stacktrace:\n" LINES
						"kfree+0x4/0x10\n} hitcount:          1\n"));
	assert_null(strstr(entries(ARRIVE), "+0x1070"));
}

/* In pictures and flame graphs, where a program calls the kernel and not the other way round. */
static void drawn(void **state)
{
	(void)state;
	add(LEAVE, "hist:keys=common_stacktrace,ustacktrace,id");
	fake_stack_nr = 2;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE) + 4);
	fake_stack[1] = trace_plat_ip_pack(fake_func(YIELD) + 4);
	in_program(7, 2);
	frames[0][1] = 0x500001;
	frames[1][1] = 0x900000;
	trace_ship_leave(1, 1, "Anna");
	trace_ship_leave(1, 1, "Anna");
	fake_user = NULL;
	trace_ship_leave(2, 1, "Anna");
	in_program(7, 0);
	assert_non_null(strstr(show_file(LEAVE, "hist_folded"),
			       "1;0x900000;program7+0x100001;main;yield;kfree 2\n"));
	assert_non_null(strstr(show_file(LEAVE, "hist_folded"), "2;yield;kfree 1\n"));
	assert_non_null(strstr(entries_in(LEAVE, "hist_picture"),
			       "    kfree < yield\n    main < program7+0x100001 < 0x900000\n"));
}

/* Saved with the greatest number: the stack that had it. */
static void kept_by_an_action(void **state)
{
	(void)state;
	add(ARRIVE, "hist:keys=common_cpu:most=id:onmax($most).save(ustacktrace)");
	in_program(7, 0);
	trace_ship_arrive(3, 0, "x");
	in_program(7, 1);
	trace_ship_arrive(9, 0, "x");
	trace_ship_arrive(4, 0, "x");
	assert_non_null(strstr(entries(ARRIVE),
			       "ustacktrace:\n" LINES "/bin/program7[+0x100] main+0x100\n" LINES
			       "/bin/program7[+0x1000] main+0x1000\n"));
}

/* The stack in a synthetic event is one of the kernel. */
static const struct refused_line refusals[] = {
	{ "hist:keys=ustacktrace.hex", -EINVAL, "Invalid field modifier", 22 },
	{ "hist:keys=id:vals=ustacktrace", -EINVAL, "A value has to be a number", 18 },
	{ "hist:keys=ustacktraces", -EINVAL, "Couldn't find field", 10 },
	{ "hist:keys=ustacktrace+1", -EINVAL, "String type can not be an operand in expression",
	  10 },
	{ "hist:keys=id:onmatch(harbour.ship_arrive).where(ustacktrace)", -EINVAL,
	  "Param type doesn't match synthetic event field type", 48 },
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		is_refused(ARRIVE "trigger", "hist:harbour:ship_arrive", &refusals[i]);
	assert_int_equal(count_in(ARRIVE "trigger", "hist:keys"), 0);
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	return err ? err : echo_append("where unsigned long[] stack", "synthetic_events");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, leave_program)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_stack_of_each_program), TEST(deep_stacks), TEST(drawn),
		TEST(kept_by_an_action),	  TEST(refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
