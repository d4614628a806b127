/*
 * Stacks of programs behind events, by the option userstacktrace: which frames are followed, what is
 * written, how it is shown.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/platform.h>
#include <trace/trace_printk.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ENABLE "events/shelf/shelf_full/enable"

static int reset(void **state)
{
	int err = tracefs_reset(state);

	fake_reads_user = true;
	assert_int_equal(echo("userstacktrace", "trace_options"), 0);
	assert_int_equal(echo("1", ENABLE), 0);
	return err;
}

static int check(void **state)
{
	fake_user = NULL;
	fake_reads_user = false;
	assert_int_equal(echo("nouserstacktrace", "trace_options"), 0);
	assert_int_equal(echo("0", ENABLE), 0);
	assert_int_equal(echo("", "trace"), 0);
	return tracefs_check(state);
}

/* Frames of a program: each has the address of the next and a return address. */
static uint64_t frames[40][2];

static void make_frames(size_t nr)
{
	memset(frames, 0, sizeof(frames));
	for (size_t i = 0; i < nr; i++) {
		frames[i][0] = (uintptr_t)frames[i + 1];
		frames[i][1] = 0x401000 + 16 * i;
	}
}

static struct trace_plat_user user;

static void run_program(size_t nr)
{
	make_frames(nr);
	user = (struct trace_plat_user){
		.ip = 0x400100, .sp = (uintptr_t)frames, .fp = (uintptr_t)frames, .tgid = 7
	};
	fake_user = &user;
}

/* The stack behind the event, from its first line on; NULL: there is none. */
static const char *stack_of_event(void)
{
	static char text[2048];
	const char *found;

	trace_shelf_full(3);
	found = strstr(cat("trace"), "<user stack trace>\n");
	snprintf(text, sizeof(text), "%s", found ? found : "");
	assert_int_equal(echo("", "trace"), 0);
	return found ? text : NULL;
}

static void frames_are_followed(void **state)
{
	(void)state;
	run_program(2);
	assert_string_equal(stack_of_event(), "<user stack trace>\n"
					      " =>  <0000000000400100>\n"
					      " =>  <0000000000401000>\n"
					      " =>  <0000000000401010>\n");
	run_program(7);
	assert_non_null(strstr(stack_of_event(), "<0000000000401060>\n"));
	run_program(8); /* one more than there is room for */
	assert_null(strstr(stack_of_event(), "<0000000000401070>"));
	run_program(0);
	assert_string_equal(stack_of_event(), "<user stack trace>\n =>  <0000000000400100>\n");
}

/* The second caller's address stands for another one. */
static uint64_t caller_of(const struct trace_plat_user *self, uint64_t ret, uint64_t slot)
{
	(void)self;
	return slot == (uintptr_t)&frames[1][1] ? 0x402000 : ret;
}

static void replaced_addresses(void **state)
{
	(void)state;
	run_program(3);
	user.caller = caller_of;
	assert_string_equal(stack_of_event(), "<user stack trace>\n"
					      " =>  <0000000000400100>\n"
					      " =>  <0000000000401000>\n"
					      " =>  <0000000000402000>\n"
					      " =>  <0000000000401020>\n");
}

static uint32_t frames_at_once(struct trace_plat_user *self, uint64_t *out_callers, uint32_t max)
{
	assert_ptr_equal(self->frames, frames_at_once);
	for (uint32_t i = 0; i < 3; i++)
		out_callers[i] = 0x403000 + i;
	return max < 3 ? max : 3;
}

static void the_host_follows_frames(void **state)
{
	(void)state;
	run_program(2);
	user.frames = frames_at_once;
	assert_string_equal(stack_of_event(), "<user stack trace>\n"
					      " =>  <0000000000400100>\n"
					      " =>  <0000000000403000>\n"
					      " =>  <0000000000403001>\n"
					      " =>  <0000000000403002>\n");
}

static bool pages_are_there;

static uint32_t frames_later(struct trace_plat_user *self, uint64_t *out_callers, uint32_t max)
{
	(void)max;
	self->is_cut = !pages_are_there;
	out_callers[0] = 0x404000;
	return pages_are_there;
}

/* A stack that can be read only when the program goes on is written then, once for all events since it came in. */
static void stacks_that_come_later(void **state)
{
	struct trace_node *dir = node_of("instances");

	(void)state;
	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	run_program(2);
	user.frames = frames_later;
	pages_are_there = false;
	assert_null(stack_of_event());
	trace_shelf_full(3);
	pages_are_there = true;
	trace_userstack_return();
	assert_int_equal(count_in("trace", "<user stack trace>"), 1);
	assert_int_equal(count_in("trace", "<0000000000404000>"), 1);
	assert_int_equal(count_in("instances/one/trace", "<user stack trace>"), 0);
	trace_userstack_return(); /* no event waits any more */
	assert_int_equal(count_in("trace", "<user stack trace>"), 1);
	assert_int_equal(echo("", "trace"), 0);
	assert_non_null(stack_of_event()); /* and the next one does not wait */
	/* An option that is off meanwhile. */
	pages_are_there = false;
	assert_null(stack_of_event());
	pages_are_there = true;
	assert_int_equal(echo("nouserstacktrace", "trace_options"), 0);
	trace_userstack_return();
	assert_int_equal(count_in("trace", "<user stack trace>"), 0);
	assert_int_equal(echo("userstacktrace", "trace_options"), 0);
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
}

/* Programs without frame pointers, or that have damaged their stacks. */
static void frames_that_lead_nowhere(void **state)
{
	static const char alone[] = "<user stack trace>\n =>  <0000000000400100>\n";

	(void)state;
	run_program(2);
	user.fp = 1; /* below the stack */
	assert_string_equal(stack_of_event(), alone);
	user.fp = UINT64_MAX - 7;
	fake_reads_user = false; /* cannot be read */
	assert_string_equal(stack_of_event(), alone);
	fake_reads_user = true;
	run_program(8);
	frames[1][0] = (uintptr_t)frames[0]; /* a circle */
	assert_string_equal(stack_of_event(), "<user stack trace>\n"
					      " =>  <0000000000400100>\n"
					      " =>  <0000000000401000>\n"
					      " =>  <0000000000401010>\n");
	run_program(3);
	frames[1][0] = (uintptr_t)frames[1]; /* itself */
	assert_null(strstr(stack_of_event(), "<0000000000401020>"));
}

static void threads_of_the_kernel(void **state)
{
	(void)state;
	assert_null(stack_of_event());
}

static void files_by_name(void **state)
{
	(void)state;
	run_program(2);
	frames[0][1] = 0x500001; /* behind an instruction that is in no function */
	frames[1][1] = 0x900000; /* in no file */
	assert_int_equal(echo("sym-userobj", "trace_options"), 0);
	assert_string_equal(stack_of_event(), "<user stack trace>\n"
					      " => /bin/program7[+0x100] main+0x100\n"
					      " => /bin/program7[+0x100001]\n"
					      " =>  <0000000000900000>\n");
	assert_int_equal(echo("sym-addr", "trace_options"), 0);
	assert_non_null(strstr(stack_of_event(),
			       " => /bin/program7[+0x100] main+0x100 <0000000000400100>\n"));
	assert_int_equal(echo("nosym-addr", "trace_options"), 0);
	assert_int_equal(echo("nosym-userobj", "trace_options"), 0);
}

/* Each option alone, both, and with conditions; of an instance. */
static void with_other_options(void **state)
{
	struct trace_node *dir = node_of("instances");
	const char *kernel, *program;

	(void)state;
	run_program(1);
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	assert_int_equal(echo("stacktrace", "trace_options"), 0);
	trace_shelf_full(3);
	kernel = strstr(cat("trace"), "<stack trace>");
	program = strstr(cat("trace"), "<user stack trace>");
	assert_non_null(kernel);
	assert_non_null(program);
	assert_int_equal(count_in("trace", "stack trace>"), 2);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("nouserstacktrace", "trace_options"), 0);
	assert_null(stack_of_event());
	assert_int_equal(echo("userstacktrace", "trace_options"), 0);
	assert_int_equal(echo("nostacktrace", "trace_options"), 0);
	fake_stack_nr = 0;
	assert_int_equal(echo("shelf == 9", "events/shelf/shelf_full/filter"), 0);
	assert_null(stack_of_event());
	assert_int_equal(echo("0", "events/shelf/shelf_full/filter"), 0);

	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_int_equal(echo("1", "instances/one/" ENABLE), 0);
	assert_non_null(stack_of_event());
	assert_int_equal(count_in("instances/one/trace", "user stack"), 1);
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	clear_filters();
}

static void format(void **state)
{
	(void)state;
	assert_non_null(strstr(cat("events/ftrace/user_stack/format"), "ID: 12\n"));
	assert_non_null(
		strstr(cat("events/ftrace/user_stack/format"),
		       "\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_are_followed, reset, check),
		cmocka_unit_test_setup_teardown(replaced_addresses, reset, check),
		cmocka_unit_test_setup_teardown(the_host_follows_frames, reset, check),
		cmocka_unit_test_setup_teardown(stacks_that_come_later, reset, check),
		cmocka_unit_test_setup_teardown(frames_that_lead_nowhere, reset, check),
		cmocka_unit_test_setup_teardown(threads_of_the_kernel, reset, check),
		cmocka_unit_test_setup_teardown(files_by_name, reset, check),
		cmocka_unit_test_setup_teardown(with_other_options, reset, check),
		cmocka_unit_test_setup_teardown(format, reset, check),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
