/* The sentences of `why` about scripts. See trace/scripts/script_why.c. */
#include "unit.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ONLY(nr)                                                                                   \
	"The trace is empty because only scripts are on (" #nr "), which write nothing into the "  \
	"trace: read scripts/NAME/output and maps, or what bt prints.\n"

static void hit(void)
{
	fake_call(DO_WORK, PARENT);
}

/* Start a script with a name. */
static void start(const char *text)
{
	assert_int_equal(trace_fs_mkdir(node_of("scripts"), "one"), 0);
	assert_int_equal(echo(text, "scripts/one/program"), 0);
	assert_int_equal(echo("1", "scripts/one/enable"), 0);
}

static void end(void)
{
	(void)echo("0", "scripts/one/enable");
	assert_int_equal(trace_fs_rmdir(node_of("scripts"), "one"), 0);
	assert_null(strstr(cat("why"), "script"));
}

/* Read until nothing waits. */
static void read_output(void)
{
	struct trace_handle *output;
	static char text[4096];
	uint64_t pos = 0;

	assert_int_equal(trace_fs_open(node_of("scripts/one/output"),
				       TRACE_FS_READ | TRACE_FS_NONBLOCK, &output),
			 0);
	while (trace_fs_read(output, text, sizeof(text), &pos) > 0)
		;
	trace_fs_close(output);
}

static void hits(void **state)
{
	(void)state;
	start("k:do_work /cpu == 7/ { @ = count(); } kr:do_work, k:kfree { @r = count(); }");
	assert_string_equal(
		cat("why"),
		ONLY(1) "The script one has done nothing at k:do_work: no probe was hit.\n"
			"The script one has done nothing at kr:do_work, ...: no probe was hit.\n");
	hit();
	assert_string_equal(cat("why"),
			    ONLY(1) "The script one has done nothing at k:do_work: its condition "
				    "held at no hit.\n");
	hit();
	fake_run(7);
	end();
}

/* That a run was left from a loop is a run, too. */
static void leaves_from_a_loop(void **state)
{
	(void)state;
	start("k:do_work { while (1) { return; } }");
	hit();
	assert_string_equal(cat("why"), ONLY(1));
	end();
}

static void readers(void **state)
{
	(void)state;
	start("k:do_work { printf(\"%d\\n\", cpu); } interval:s:1 { @ = count(); }");
	assert_string_equal(
		cat("why"),
		ONLY(1) "The script one waits for a reader: its intervals run only while output is "
			"read; "
			"cat scripts/one/output.\n"
			"The script one has done nothing at k:do_work: no probe was hit.\n");
	hit();
	assert_string_equal(cat("why"),
			    ONLY(1) "The script one waits for a reader: it has printed what can be "
				    "read; cat scripts/one/output.\n");
	end();
}

static void exits(void **state)
{
	(void)state;
	start("k:do_work { exit(); }");
	hit();
	assert_string_equal(
		cat("why"),
		ONLY(1) "The script one waits for a reader: exit() was called, which takes effect "
			"while output is read; cat scripts/one/output.\n");
	read_output();
	assert_non_null(strstr(cat("why"), "The script one has ended: it called exit().\n"));
	end();
}

static void limits(void **state)
{
	(void)state;
	start("k:do_work { $i = 0; while ($i < 5000) { $i++; @x[@n] = 1; @n++; } "
	      "printf(\"%s\\n\", \"x\"); }");
	for (int i = 0; i < 5; i++)
		hit();
	assert_non_null(strstr(
		cat("why"), "A table of the script one is full: 904 keys found no room beside 4096 "
			    "others.\n"));
	assert_non_null(strstr(
		cat("why"),
		"5 loops of the script one had all rounds that they may have, and ended.\n"));
	for (int i = 0; i < 5000; i++)
		hit();
	assert_non_null(strstr(cat("why"), "The output of the script one was full: "));
	end();
}

/* Without a name it is known by its text; and of another process each hit is turned away. */
static void of_bt(void **state)
{
	const struct trace_script_params params = { .pid = 4321 };
	struct trace_script *script;

	(void)state;
	assert_int_equal(trace_script_create("k:do_work { @ = 1; }\nk:do_work { @long_name = 2; }",
					     &params, &script, &script_error),
			 0);
	assert_int_equal(trace_script_start(script), 0);
	hit();
	assert_string_equal(cat("why"), ONLY(1) "The script 'k:do_work { @ = 1; } k:do_work { "
						"@long_n...' has done nothing at "
						"k:do_work: all hits were of other processes.\n"
						"The script 'k:do_work { @ = 1; } k:do_work { "
						"@long_n...' has done nothing at "
						"k:do_work: all hits were of other processes.\n");
	trace_script_stop(script);
	assert_null(strstr(cat("why"), "script"));
	trace_script_free(script);
}

/* A loop inside of another one that has had all its rounds leaves the outer one alone. */
static void break_behind_a_loop(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("BEGIN { $n = 0; while (1) { $n++; while (1) { @++ } break; } "
			   "printf(\"%d\", $n); }",
			   NULL),
		"1@: 1000\n");
}

#define TEST(name) cmocka_unit_test_setup(name, script_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hits),  TEST(leaves_from_a_loop),	TEST(readers), TEST(exits), TEST(limits),
		TEST(of_bt), TEST(break_behind_a_loop),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
