/* Boot parameters. links: kernel/params.c kernel/number.c */
#include <unit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/params.h>
#include <trace/trace.h>

size_t strlcpy(char *to, const char *from, size_t size);

static char log_text[4096];
static char traced[256]; /* "name=value " of what the tracer was given */

/* Parameters as a kernel would offer them. */
void printk(enum log_level level, const char *fmt, ...)
{
	size_t used = strlen(log_text);
	va_list args;

	assert_int_equal(level, LOG_WARN);
	va_start(args, fmt);
	vsnprintf(log_text + used, sizeof(log_text) - used, fmt, args);
	va_end(args);
}

bool trace_boot_param(const char *name, const char *value)
{
	size_t used = strlen(traced);

	if (strncmp(name, "ftrace", 6) != 0)
		return false;
	snprintf(traced + used, sizeof(traced) - used, "%s=%s ", name, value);
	return true;
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	return (size_t)snprintf(to, size, "%s", from);
}

static int reset(void **state)
{
	(void)state;
	log_text[0] = '\0';
	traced[0] = '\0';
	return 0;
}

static void words(void **state)
{
	(void)state;
	params_init("  exit maxcpus=3\trun=ls  panic= ");
	assert_string_equal(boot_param_get("exit"), "");
	assert_string_equal(boot_param_get("maxcpus"), "3");
	assert_string_equal(boot_param_get("run"), "ls");
	assert_string_equal(boot_param_get("panic"), "");
	assert_null(boot_param_get("cpus"));
	assert_null(boot_param_get("max"));
	assert_true(boot_param_is_set("exit"));
	assert_string_equal(boot_command_line(), "  exit maxcpus=3\trun=ls  panic= ");
}

static void quotes(void **state)
{
	(void)state;
	params_init("run=\"echo a; echo b\" exit");
	assert_string_equal(boot_param_get("run"), "echo a; echo b");
	assert_true(boot_param_is_set("exit"));
	/* As GRUB hands it over. */
	params_init("\"run=echo \\\"a b\\\"; echo \\\\n \\'x\\'\" exit");
	assert_string_equal(boot_param_get("run"), "echo \"a b\"; echo \\n 'x'");
	assert_true(boot_param_is_set("exit"));
	params_init("run=\"never ended");
	assert_string_equal(boot_param_get("run"), "never ended");
	params_init("run=a\\");
	assert_string_equal(boot_param_get("run"), "a\\");
}

static void last_one_counts(void **state)
{
	(void)state;
	params_init("maxcpus=1 maxcpus=2 run=a=b=c");
	assert_string_equal(boot_param_get("maxcpus"), "2");
	assert_string_equal(boot_param_get("run"), "a=b=c");
	params_init("");
	assert_null(boot_param_get("maxcpus"));
}

static void several_of_a_name(void **state)
{
	size_t index = 0;

	(void)state;
	params_init("a=1 b=2 a a=3");
	assert_string_equal(boot_param_next("a", &index), "1");
	assert_string_equal(boot_param_next("a", &index), "");
	assert_string_equal(boot_param_next("a", &index), "3");
	assert_null(boot_param_next("a", &index));
}

static void numbers(void **state)
{
	(void)state;
	params_init("maxcpus=0x10 loglevel=seven panic=-1");
	assert_int_equal(boot_param_number("maxcpus", 0, 16, 1), 16);
	assert_int_equal(boot_param_number("absent", 0, 3, 5), 5);
	assert_int_equal(boot_param_number("panic", -1, 9, 0), -1);
	assert_string_equal(log_text, "");
	assert_int_equal(boot_param_number("loglevel", 0, 7, 4), 4);
	assert_string_equal(log_text, "Boot parameter loglevel=seven: not a number, ignored\n");
}

static void numbers_out_of_range(void **state)
{
	static const char *const texts[] = { "10", "-3", "4294967296", "99999999999999999999" };
	char line[64], said[128];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		snprintf(line, sizeof(line), "loglevel=%s", texts[i]);
		snprintf(said, sizeof(said), "Boot parameter %s: out of range, ignored\n", line);
		params_init(line);
		log_text[0] = '\0';
		assert_int_equal(boot_param_number("loglevel", -2, 9, 4), 4);
		assert_string_equal(log_text, said);
	}
}

static void unknown_ones_are_reported(void **state)
{
	(void)state;
	params_init("exit ftrace=function bogus=1 ftrace_filter=a,b bare");
	params_give_to_trace();
	assert_string_equal(log_text, "Unknown boot parameter: bogus\n"
				      "Unknown boot parameter: bare\n");
	assert_string_equal(traced, "ftrace=function ftrace_filter=a,b ");
}

/* More words and more bytes than there is room for: cut, nothing written out of bounds. */
static void too_much(void **state)
{
	char *line = malloc(100001);

	(void)state;
	memset(line, 'x', 100000);
	line[100000] = '\0';
	params_init(line);
	for (int i = 0; i < 50000; i++) {
		line[2 * i] = 'y';
		line[2 * i + 1] = ' ';
	}
	params_init(line);
	assert_non_null(boot_param_get("y"));
	params_give_to_trace();
	assert_non_null(
		strstr(log_text, "Command line: only the first 65535 bytes and 4096 words"));
	free(line);
}

/* Half a command is not run: the word that is cut is left out, with the ones behind it. */
static void cut_word(void **state)
{
	static char line[70000];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	memcpy(line, "maxcpus=2 run=", 14);
	params_init(line);
	assert_non_null(boot_param_get("maxcpus"));
	assert_null(boot_param_get("run"));
	line[65535] = '\0'; /* as the loader's half cuts it */
	params_init(line);
	assert_null(boot_param_get("run"));
	line[65534] = '\0';
	log_text[0] = '\0';
	params_init(line);
	assert_int_equal(strlen(boot_param_get("run")), 65534 - 14);
	params_give_to_trace();
	assert_string_equal(log_text, "");
}

/* Any bytes: no reading or writing out of bounds (the sanitisers tell). */
static void random_bytes(void **state)
{
	static const char alphabet[] = "ab=\"\\ \t'=x";
	char line[64];

	(void)state;
	srand(1);
	for (int round = 0; round < 100000; round++) {
		int len = rand() % 60;

		for (int i = 0; i < len; i++)
			line[i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
		line[len] = '\0';
		params_init(line);
		boot_param_get("a");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(words, reset),
		cmocka_unit_test_setup(quotes, reset),
		cmocka_unit_test_setup(last_one_counts, reset),
		cmocka_unit_test_setup(several_of_a_name, reset),
		cmocka_unit_test_setup(numbers, reset),
		cmocka_unit_test_setup(numbers_out_of_range, reset),
		cmocka_unit_test_setup(unknown_ones_are_reported, reset),
		cmocka_unit_test_setup(too_much, reset),
		cmocka_unit_test_setup(cut_word, reset),
		cmocka_unit_test_setup(random_bytes, reset),
	};

	return cmocka_run_group_tests_name("kernel/params", tests, NULL, NULL);
}
