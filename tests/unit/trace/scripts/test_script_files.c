/* The files of scripts in tracefs: scripts/NAME/. See trace/scripts/script_files.c. */
#include "unit.h"
#include "allocations.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

static struct trace_handle *output;
static uint64_t output_pos;

static void hit(void)
{
	fake_call(DO_WORK, PARENT);
}

static int make(const char *name)
{
	return trace_fs_mkdir(node_of("scripts"), name);
}

static int unmake(const char *name)
{
	return trace_fs_rmdir(node_of("scripts"), name);
}

static const char *output_read(void)
{
	static char text[4096];
	int64_t got = trace_fs_read(output, text, sizeof(text) - 1, &output_pos);

	if (got < 0) {
		snprintf(text, sizeof(text), "error %d", (int)got);
		return text;
	}
	text[got] = '\0';
	return text;
}

static void one(void **state)
{
	(void)state;
	assert_int_equal(make("one"), 0);
	assert_string_equal(cat("scripts/one/program"), "");
	assert_string_equal(cat("scripts/one/maps"), "");
	assert_string_equal(cat("scripts/one/stats"), "");
	assert_string_equal(cat("scripts/one/enable"), "0\n");
	assert_int_equal(
		echo("kprobe:do_work { @ = count(); @h[pid] = hist(3); }", "scripts/one/program"),
		0);
	assert_string_equal(cat("scripts/one/program"),
			    "kprobe:do_work { @ = count(); @h[pid] = hist(3); }\n");
	assert_string_equal(cat("scripts/one/maps"), "");
	hit();
	assert_int_equal(echo("1", "scripts/one/enable"), 0);
	assert_int_equal(echo("1", "scripts/one/enable"), 0);
	assert_string_equal(cat("scripts/one/enable"), "1\n");
	hit();
	hit();
	assert_memory_equal(cat("scripts/one/maps"), "@: 2\n@h[1]: \n[2, 4) ", 20);
	assert_string_equal(cat("scripts/one/stats"),
			    "probes: 1\nruns: 2\nmissed: 0\nfull: 0\nlost: 0\n");
	assert_int_equal(unmake("one"), -EBUSY);
	assert_int_equal(echo("BEGIN { }", "scripts/one/program"), -EBUSY);
	assert_int_equal(echo("0", "scripts/one/enable"), 0);
	hit();
	assert_memory_equal(cat("scripts/one/maps"), "@: 2\n@h[1]", 10);
	/* It begins anew. */
	assert_int_equal(echo("1", "scripts/one/enable"), 0);
	hit();
	assert_memory_equal(cat("scripts/one/maps"), "@: 1\n@h[1]", 10);
	assert_int_equal(echo("0", "scripts/one/enable"), 0);
	assert_int_equal(unmake("one"), 0);
	assert_null(node_of("scripts/one"));
}

static void names(void **state)
{
	char name[80];

	(void)state;
	assert_int_equal(make("a"), 0);
	assert_int_equal(make("a"), -EEXIST);
	assert_int_equal(make(""), -EINVAL);
	assert_int_equal(make("a/b"), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[64] = '\0';
	assert_int_equal(make(name), -ENAMETOOLONG);
	name[63] = '\0';
	assert_int_equal(make(name), 0);
	assert_int_equal(trace_fs_mkdir(node_of("scripts/a"), "b"), -EPERM);
	assert_int_equal(trace_fs_mkdir(node_of("options"), "b"), -EPERM);
	assert_int_equal(trace_fs_rmdir(node_of("scripts"), "none"), -ENOENT);
	assert_int_equal(unmake(name), 0);
	for (int i = 1; i < 32; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(make(name), 0);
	}
	assert_int_equal(make("more"), -ENOSPC);
	for (int i = 1; i < 32; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(unmake(name), 0);
	}
	assert_int_equal(unmake("a"), 0);
}

static void mistakes(void **state)
{
	static char longest[TRACE_SCRIPT_TEXT_MAX + 2];

	(void)state;
	assert_int_equal(make("a"), 0);
	assert_int_equal(echo("1", "scripts/a/enable"), -ENODATA);
	assert_non_null(strstr(cat("error_log"), "there is no program yet"));
	assert_int_equal(echo("BEGIN { @ = 1; }", "scripts/a/program"), 0);
	assert_int_equal(echo("BEGIN { @ = nothing; }", "scripts/a/program"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "program: error: no such name: 'nothing'\n"
						 "  Command: BEGIN { @ = nothing; }\n"
						 "                       ^"));
	/* The one before is still there. */
	assert_string_equal(cat("scripts/a/program"), "BEGIN { @ = 1; }\n");
	assert_int_equal(echo("2", "scripts/a/enable"), -EINVAL);
	memset(longest, ' ', sizeof(longest) - 1);
	memcpy(longest, "BEGIN{}", 7);
	assert_int_equal(put(longest, TRACE_SCRIPT_TEXT_MAX, "scripts/a/program", 0), -EINVAL);
	assert_int_equal(put(longest, TRACE_SCRIPT_TEXT_MAX - 1, "scripts/a/program", 0), 0);
	assert_int_equal(strlen(cat("scripts/a/program")), TRACE_SCRIPT_TEXT_MAX - 1);
	assert_int_equal(unmake("a"), 0);
}

static int nr_pauses;

static void pause_a_while(void)
{
	fake_clock += 10000000;
	if (++nr_pauses == 3)
		hit();
}

static void waits_for_output(void **state)
{
	struct trace_handle *other;

	(void)state;
	nr_pauses = 0;
	assert_int_equal(make("a"), 0);
	assert_int_equal(
		echo("kprobe:do_work { printf(\"hit\\n\"); @++; } END { printf(\"end\\n\"); }",
		     "scripts/a/program"),
		0);
	output_pos = 0;
	output = open_file("scripts/a/output", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	assert_int_equal(trace_fs_open(node_of("scripts/a/output"), TRACE_FS_READ, &other), -EBUSY);
	assert_int_equal(unmake("a"), -EBUSY);
	assert_string_equal(output_read(), "error -11"); /* EAGAIN, and it has not run yet */
	assert_int_equal(echo("1", "scripts/a/enable"), 0);
	assert_string_equal(output_read(), "error -11");
	assert_false(trace_fs_poll(output));
	trace_fs_set_nonblock(output, false);
	fake_on_pause = pause_a_while;
	assert_string_equal(output_read(), "hit\n");
	fake_on_pause = NULL;
	assert_int_equal(nr_pauses, 3);
	trace_fs_cancel(output);
	assert_string_equal(output_read(), "error -4"); /* EINTR */
	trace_fs_resume(output);
	hit();
	assert_true(trace_fs_poll(output));
	assert_int_equal(echo("0", "scripts/a/enable"), 0);
	assert_string_equal(output_read(), "hit\nend\n");
	assert_true(trace_fs_poll(output));
	assert_string_equal(output_read(), "");
	assert_string_equal(cat("scripts/a/maps"), "@: 2\n");
	trace_fs_close(output);
	assert_int_equal(unmake("a"), 0);
}

/* Intervals run while there is a reader; exit() ends the script and the output. */
static void intervals_and_exit(void **state)
{
	(void)state;
	nr_pauses = 10;
	assert_int_equal(make("a"), 0);
	assert_int_equal(echo("interval:ms:100 { printf(\"%d\\n\", ++@i); if (@i == 2) { exit(); } "
			      "} END { printf(\"end\\n\"); }",
			      "scripts/a/program"),
			 0);
	assert_int_equal(echo("1", "scripts/a/enable"), 0);
	output_pos = 0;
	output = open_file("scripts/a/output", TRACE_FS_READ);
	fake_on_pause = pause_a_while;
	assert_string_equal(output_read(), "1\n");
	assert_string_equal(cat("scripts/a/enable"), "1\n");
	assert_string_equal(output_read(), "2\n");
	fake_on_pause = NULL;
	assert_string_equal(cat("scripts/a/enable"), "0\n");
	assert_string_equal(output_read(), "end\n");
	assert_string_equal(output_read(), "");
	trace_fs_close(output);
	assert_int_equal(unmake("a"), 0);
}

/* A table that is being read stays, also when the script begins anew. */
static void tables_that_are_read(void **state)
{
	struct trace_handle *maps;
	uint64_t pos = 0;
	char text[4];

	(void)state;
	assert_int_equal(make("a"), 0);
	assert_int_equal(echo("BEGIN { @[1] = 1; @[2] = 2; }", "scripts/a/program"), 0);
	assert_int_equal(echo("1", "scripts/a/enable"), 0);
	maps = open_file("scripts/a/maps", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(maps, text, 4, &pos), 4);
	assert_int_equal(echo("0", "scripts/a/enable"), 0);
	assert_int_equal(echo("1", "scripts/a/enable"), -EBUSY);
	assert_int_equal(echo("BEGIN { }", "scripts/a/program"), -EBUSY);
	assert_int_equal(unmake("a"), -EBUSY);
	assert_int_equal(trace_fs_read(maps, text, 4, &pos), 4);
	trace_fs_close(maps);
	assert_int_equal(echo("1", "scripts/a/enable"), 0);
	assert_int_equal(echo("0", "scripts/a/enable"), 0);
	assert_int_equal(unmake("a"), 0);
}

/* As a shell without the helper's own hold of directories. */
static int type(const char *line)
{
	return trace_fs_command(line, NULL, NULL, NULL);
}

/* Nothing is left of what finds no memory, and it can be done again. */
static int session(void)
{
	int err = type("mkdir scripts/a");

	if (err) {
		fake_alloc_budget = -1;
		assert_int_equal(type("ls scripts/a"), -ENOENT);
		return -ENOMEM;
	}
	err = type("echo 'BEGIN { @[1] = hist(1); printf(\"a\"); } kprobe:do_work { @c++; }' > "
		   "scripts/a/program");
	if (!err)
		err = type("echo 1 > scripts/a/enable");
	if (!err)
		hit();
	fake_alloc_budget = -1;
	assert_int_equal(type("echo 0 > scripts/a/enable"), 0);
	assert_int_equal(type("rmdir scripts/a"), 0);
	assert_int_equal(type("ls scripts/a"), -ENOENT); /* makes the nodes of the others anew */
	return err == -ENOENT ? -ENOMEM : err; /* a directory that finds no memory has no files */
}

static void without_memory(void **state)
{
	long nr, out;

	(void)state;
	assert_int_equal(session(), 0);
	out = fake_alloc_out;
	for_each_allocation(nr, session()) {
		/* The helper's look at all directories has their nodes kept: those of one listing. */
		out += nr > 1;
		assert_int_equal(fake_alloc_out, out);
	}
	assert_in_range(nr, 20, 200);
}

static int files_reset(void **state)
{
	int err = script_reset(state);

	assert_int_equal(make("first"), 0);
	assert_int_equal(unmake("first"), 0);
	(void)node_of("scripts");
	memory_out = fake_alloc_out;
	return err;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one, files_reset, NULL),
		cmocka_unit_test_setup_teardown(names, files_reset, NULL),
		cmocka_unit_test_setup_teardown(mistakes, files_reset, NULL),
		cmocka_unit_test_setup_teardown(waits_for_output, files_reset, NULL),
		cmocka_unit_test_setup_teardown(intervals_and_exit, files_reset, NULL),
		cmocka_unit_test_setup_teardown(tables_that_are_read, files_reset, NULL),
		cmocka_unit_test_setup_teardown(without_memory, files_reset, NULL),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
