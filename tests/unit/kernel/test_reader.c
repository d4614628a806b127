/*
 * Lines of files, as the filters of the shell read them.
 * links: kernel/shell/cmd/cmd_reader.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/host.h"
#include "shell/cmd/cmd_reader.h"

static struct file only_file;
static const char *file_rest; /* of its text */
static int last_err;
static uint32_t nr_errors;

struct file *command_open(struct command_env *env, const char *path)
{
	(void)env;
	(void)path;
	return &only_file;
}

int fput(struct file *file)
{
	(void)file;
	return 0;
}

ssize_t vfs_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	size_t left = strlen(file_rest);

	(void)file;
	(void)pos;
	if (len > left)
		len = left;
	memcpy(buf, file_rest, len);
	file_rest += len;
	return (ssize_t)len;
}

bool command_stopped(struct command_env *env)
{
	(void)env;
	return false;
}

void command_error(struct command_env *env, const char *fmt, ...)
{
	(void)env;
	(void)fmt;
	fail();
}

void command_perror(struct command_env *env, const char *what, int err)
{
	(void)env;
	assert_string_equal(what, "-");
	last_err = err;
	nr_errors++;
}

const char *command_strerror(int err)
{
	(void)err;
	return "";
}

static void reader_begin(struct reader *reader, const char *text)
{
	file_rest = text;
	nr_errors = 0;
	assert_true(reader_open(reader, NULL, 0, NULL));
}

static void reader_finish(struct reader *reader)
{
	host_fail_at = -1;
	reader_close(reader);
	assert_int_equal(host_live, 0);
}

static void test_lines(void **state)
{
	static const char *const wanted[] = { "one\n", "\n", "three" };
	struct reader reader;
	char *line;

	(void)state;
	reader_begin(&reader, "one\n\nthree");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		assert_int_equal(reader_any_line(&reader, &line), strlen(wanted[i]));
		assert_string_equal(line, wanted[i]);
	}
	assert_int_equal(reader_any_line(&reader, &line), 0);
	assert_int_equal(reader.nr_failed + (int)nr_errors, 0);
	reader_finish(&reader);
}

/* Who reads lines must not take a lack of memory for the end of the file, nor a piece for a line. */
static void test_no_memory(void **state)
{
	static char text[20000];
	struct reader reader;
	char *line;

	(void)state;
	memset(text, 'x', sizeof(text) - 2);
	memcpy(text, "short\n", 6);
	text[sizeof(text) - 2] = '\n';
	for (long fail_at = 0; fail_at < 4; fail_at++) {
		reader_begin(&reader, text);
		assert_int_equal(reader_any_line(&reader, &line), 6);
		host_fail_at = fail_at;
		assert_int_equal(reader_any_line(&reader, &line), 0);
		assert_int_equal(reader.nr_failed, 1);
		assert_int_equal(nr_errors, 1);
		assert_int_equal(last_err, -ENOMEM);
		reader_finish(&reader);
	}
}

/* A line that is too long comes in pieces, which is no failure. */
static void test_long_line(void **state)
{
	static char text[3 * READER_LINE_MAX];
	struct reader reader;
	size_t len, sum = 0;
	char *line;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	reader_begin(&reader, text);
	while ((len = reader_any_line(&reader, &line)) != 0) {
		assert_true(len < READER_LINE_MAX && strlen(line) == len);
		sum += len;
	}
	assert_int_equal(sum, sizeof(text) - 1);
	assert_int_equal(reader.nr_failed + (int)nr_errors, 0);
	reader_finish(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
