/*
 * Writing set_ftrace_filter as Linux takes it, and the lists that the files show.
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include <trace/ftrace_files.h>

static const char *const names[] = { "do_idle",	     "schedule",  "schedule_idle", "scheduler_tick",
				     "yield",	     "yield_to",  "vfs_read",	   "vfs_write",
				     "try_schedule", "x_sched_y", "kmalloc",	   "kfree" };

static struct ftrace_ops ops;
static struct ftrace_edit *edit;
static long out_before;

static void callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *unused,
		     struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)unused;
	(void)fregs;
}

static int setup_all(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build(names, sizeof(names) / sizeof(names[0]));
	fake_why_not_add("inlined_one", "inlined into schedule (kernel/sched/sched.c:12)");
	ftrace_init();
	fake_symbol_add((uintptr_t)callback, 64, "callback");
	return ftrace_is_dead();
}

static int setup(void **state)
{
	(void)state;
	ops = (struct ftrace_ops){ .func = callback };
	out_before = fake_alloc_out;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	assert_int_equal(fake_alloc_out, out_before);
	return 0;
}

/* Write all of `text` as a shell does: again with the rest. 0, or the first error. */
static int64_t write_all(const char *text, size_t len)
{
	while (len) {
		int64_t done = ftrace_edit_write(edit, text, len);

		if (done < 0)
			return done;
		assert_in_range(done, 1, len);
		text += done;
		len -= (size_t)done;
	}
	return 0;
}

static int64_t write_file(const char *text, bool truncate, bool notrace)
{
	int64_t err;

	assert_int_equal(ftrace_edit_open(&ops, notrace, truncate, &edit), 0);
	err = write_all(text, strlen(text));
	assert_int_equal(ftrace_edit_close(edit), 0);
	return err;
}

static const char *list(enum ftrace_list which)
{
	static char text[8192];
	char line[FTRACE_LINE_LEN];
	struct ftrace_iter iter;
	size_t at = 0, len;

	text[0] = '\0';
	ftrace_iter_start(&iter, which, &ops);
	while ((len = ftrace_iter_next(&iter, line))) {
		assert_int_equal(strlen(line), len);
		memcpy(text + at, line, len + 1);
		at += len;
	}
	assert_int_equal(ftrace_iter_next(&iter, line), 0);
	return text;
}

static void test_empty_lists(void **state)
{
	(void)state;
	assert_string_equal(list(FTRACE_LIST_FILTER), "#### all functions enabled ####\n");
	assert_string_equal(list(FTRACE_LIST_NOTRACE), "#### no functions disabled ####\n");
	assert_string_equal(list(FTRACE_LIST_ENABLED), "");
}

static void test_available(void **state)
{
	(void)state;
	assert_non_null(strstr(list(FTRACE_LIST_AVAILABLE), "do_idle\nschedule\nschedule_idle\n"));
	assert_non_null(strstr(list(FTRACE_LIST_ADDRS), "ffffffff81000010 schedule\n"));
}

static void test_slides_session(void **state)
{
	(void)state;
	assert_int_equal(write_file("*sched*\n", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER),
			    "schedule\nschedule_idle\nscheduler_tick\ntry_schedule\nx_sched_y\n");
	assert_int_equal(write_file("yield\n", true, false), 0);
	assert_int_equal(write_file("schedule\n", false, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "schedule\nyield\n");
	assert_int_equal(write_file("", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "#### all functions enabled ####\n");
}

static void test_words_and_removal(void **state)
{
	(void)state;
	assert_int_equal(write_file("  vfs_*  *free \t yield\n", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "yield\nvfs_read\nvfs_write\nkfree\n");
	assert_int_equal(write_file("!vfs_read !yield*\n", false, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "vfs_write\nkfree\n");
	assert_int_equal(write_file("!kmalloc\n", false, false), 0); /* not in it: fine */
	assert_int_equal(write_file("!nosuch\n", false, false), -EINVAL);
}

static void test_one_word_per_write(void **state)
{
	(void)state;
	assert_int_equal(ftrace_edit_open(&ops, false, true, &edit), 0);
	assert_int_equal(ftrace_edit_write(edit, " yield kfree\n", 13), 7);
	assert_int_equal(ftrace_edit_write(edit, "kfree\n", 6), 6);
	assert_int_equal(ftrace_edit_write(edit, "   ", 3), 3);
	/* Nothing changes before the file is closed. */
	assert_string_equal(list(FTRACE_LIST_FILTER), "#### all functions enabled ####\n");
	assert_int_equal(ftrace_edit_close(edit), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "yield\nkfree\n");
}

static void test_word_continues_in_the_next_write(void **state)
{
	(void)state;
	assert_int_equal(ftrace_edit_open(&ops, false, true, &edit), 0);
	assert_int_equal(ftrace_edit_write(edit, "vfs_", 4), 4);
	assert_int_equal(ftrace_edit_write(edit, "wri", 3), 3);
	assert_int_equal(ftrace_edit_write(edit, "te yi", 5), 3);
	assert_int_equal(ftrace_edit_write(edit, "yield", 5), 5);
	assert_int_equal(ftrace_edit_close(edit), 0); /* takes the rest without a newline */
	assert_string_equal(list(FTRACE_LIST_FILTER), "yield\nvfs_write\n");
}

static void test_unfinished_nonsense_is_lost_at_close(void **state)
{
	(void)state;
	assert_int_equal(write_file("yield nosuch", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "yield\n");
}

static void test_too_long_a_word(void **state)
{
	char text[2000];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(ftrace_edit_open(&ops, false, true, &edit), 0);
	assert_int_equal(ftrace_edit_write(edit, text, sizeof(text)), -EINVAL);
	assert_int_equal(ftrace_edit_close(edit), 0);
}

static void test_index(void **state)
{
	(void)state;
	assert_int_equal(write_file("2 12\n", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "schedule\nkfree\n");
	assert_int_equal(write_file("!2\n", false, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "kfree\n");
	assert_int_equal(write_file("0\n", false, false), -EINVAL);
	assert_int_equal(write_file("13\n", false, false), -EINVAL);
	assert_int_equal(write_file("1x\n", false, false), -EINVAL);
}

static void test_commands(void **state)
{
	(void)state;
	assert_int_equal(write_file("schedule:traceon\n", true, false), -EINVAL);
	assert_int_equal(write_file("schedule:mod:ext4\n", true, false), -EINVAL);
	assert_int_equal(write_file("sched*:mod:!ext4\n", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "schedule\nschedule_idle\nscheduler_tick\n");
	assert_int_equal(write_file("yield:\n", true, false), -EINVAL);
	assert_int_equal(write_file("yield:mod:\n", true, false), -EINVAL);
	assert_int_equal(write_file("yield:mod:!\n", true, false), 0);
	assert_string_equal(list(FTRACE_LIST_FILTER), "yield\n");
	assert_int_equal(write_file(":mod:!ext4\n", true, false), 0);
	assert_non_null(strstr(list(FTRACE_LIST_FILTER), "do_idle\nschedule\n"));
}

static void test_why(void **state)
{
	char name[TRACE_SYM_LEN] = "", reason[256] = "";

	(void)state;
	assert_int_equal(ftrace_edit_open(&ops, false, true, &edit), 0);
	assert_string_equal(ftrace_edit_why(edit), "");
	assert_int_equal(ftrace_edit_write(edit, "inlined_one\n", 12), -EINVAL);
	assert_string_equal(ftrace_edit_why(edit),
			    "inlined_one: inlined into schedule (kernel/sched/sched.c:12)");
	assert_int_equal(ftrace_edit_write(edit, "schedule:mod:ext4\n", 18), -EINVAL);
	assert_string_equal(ftrace_edit_why(edit), "ext4: no such module");
	assert_int_equal(ftrace_edit_write(edit, "nosuch*\n", 8), -EINVAL);
	assert_string_equal(ftrace_edit_why(edit), "nosuch*: no function matches");
	/* A long name and a long reason: what fits. */
	memset(name, 'n', TRACE_SYM_LEN - 1);
	memset(reason, 'r', sizeof(reason) - 1);
	fake_why_not_add(name, reason);
	assert_int_equal(ftrace_edit_write(edit, name, strlen(name)), TRACE_SYM_LEN - 1);
	assert_int_equal(ftrace_edit_write(edit, "\n", 1), -EINVAL);
	assert_int_equal(strlen(ftrace_edit_why(edit)), 319);
	assert_string_equal(ftrace_edit_why(edit) + 310, "rrrrrrrrr");
	assert_int_equal(ftrace_edit_close(edit), 0);
}

static void test_notrace(void **state)
{
	(void)state;
	assert_int_equal(write_file("vfs_*\n", true, true), 0);
	assert_string_equal(list(FTRACE_LIST_NOTRACE), "vfs_read\nvfs_write\n");
	assert_string_equal(list(FTRACE_LIST_FILTER), "#### all functions enabled ####\n");
	assert_int_equal(register_ftrace_function(&ops), 0);
	assert_null(strstr(list(FTRACE_LIST_ENABLED), "vfs_"));
	assert_non_null(strstr(list(FTRACE_LIST_ENABLED), "yield (1)"));
}

static void test_enabled_functions(void **state)
{
	static struct ftrace_ops second = { .func = callback };
	char expected[256];

	(void)state;
	fake_symbol_add((uintptr_t)trace_ops_list_func, 64, "trace_ops_list_func");
	assert_int_equal(write_file("yield kfree\n", true, false), 0);
	assert_int_equal(register_ftrace_function(&ops), 0);
	snprintf(expected, sizeof(expected),
		 "yield (1)         \ttramp: 0x%lx (callback+0x0/0x40) ->callback+0x0/0x40\n"
		 "kfree (1)         \ttramp: 0x%lx (callback+0x0/0x40) ->callback+0x0/0x40\n",
		 (unsigned long)ops.trampoline.addr, (unsigned long)ops.trampoline.addr);
	assert_string_equal(list(FTRACE_LIST_ENABLED), expected);
	ftrace_set_filter(&second, "yield", 5, true);
	assert_int_equal(register_ftrace_function(&second), 0);
	assert_non_null(strstr(list(FTRACE_LIST_ENABLED), "yield (2)          ->0xffffffffa00"));
	assert_int_equal(unregister_ftrace_function(&second), 0);
	fake_trampoline_budget = 0;
	assert_int_equal(register_ftrace_function(&second), 0);
	fake_trampoline_budget = -1;
	assert_non_null(strstr(list(FTRACE_LIST_ENABLED),
			       "yield (2)          ->trace_ops_list_func+0x0/0x40\n"));
	assert_int_equal(unregister_ftrace_function(&second), 0);
	ftrace_free_filter(&second);
	assert_string_equal(list(FTRACE_LIST_ENABLED), expected);
}

/* Old entries stay in the list; M once an ops could change where a call goes. */
static void test_touched_functions(void **state)
{
	static struct ftrace_ops mover = {
		.func = callback, .flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY
	};

	(void)state;
	assert_int_equal(write_file("yield kfree\n", true, false), 0);
	assert_int_equal(register_ftrace_function(&ops), 0);
	assert_non_null(strstr(list(FTRACE_LIST_TOUCHED), "yield (1)         \ttramp: 0x"));
	ftrace_set_filter(&mover, "kfree", 5, true);
	assert_int_equal(register_ftrace_function(&mover), 0);
	assert_non_null(strstr(list(FTRACE_LIST_TOUCHED), "kfree (2) R I   M  ->"));
	assert_int_equal(unregister_ftrace_function(&mover), 0);
	assert_int_equal(unregister_ftrace_function(&ops), 0);
	assert_string_equal(list(FTRACE_LIST_ENABLED), "");
	assert_non_null(strstr(list(FTRACE_LIST_TOUCHED), "yield (0)         \n"));
	assert_non_null(strstr(list(FTRACE_LIST_TOUCHED), "kfree (0)       M \n"));
	assert_null(strstr(list(FTRACE_LIST_TOUCHED), "vfs_open"));
	assert_int_equal(register_ftrace_function(&mover), 0); /* alone, with a past */
	assert_non_null(strstr(list(FTRACE_LIST_ENABLED), "kfree (1) R I   M \ttramp: 0x"));
	assert_int_equal(unregister_ftrace_function(&mover), 0);
	assert_string_equal(list(FTRACE_LIST_ENABLED), "");
	ftrace_free_filter(&mover);
}

static void test_total_info(void **state)
{
	char line[64];

	(void)state;
	assert_int_equal(ftrace_total_info(line, sizeof(line)), 21);
	assert_string_equal(line, "12 pages:1 groups: 1\n");
}

static void test_open_without_memory(void **state)
{
	(void)state;
	for (long budget = 0; budget < 2; budget++) {
		fake_alloc_budget = budget;
		assert_int_equal(ftrace_edit_open(&ops, false, false, &edit), -ENOMEM);
	}
	fake_alloc_budget = -1;
	ops.flags = FTRACE_OPS_FL_DELETED;
	assert_int_equal(ftrace_edit_open(&ops, false, false, &edit), -ENODEV);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty_lists),
		TEST(test_available),
		TEST(test_slides_session),
		TEST(test_words_and_removal),
		TEST(test_one_word_per_write),
		TEST(test_word_continues_in_the_next_write),
		TEST(test_unfinished_nonsense_is_lost_at_close),
		TEST(test_too_long_a_word),
		TEST(test_index),
		TEST(test_commands),
		TEST(test_why),
		TEST(test_notrace),
		TEST(test_enabled_functions),
		TEST(test_touched_functions),
		TEST(test_total_info),
		TEST(test_open_without_memory),
	};

	return cmocka_run_group_tests(tests, setup_all, NULL);
}
