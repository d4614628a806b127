/*
 * Escapes of echo -e and printf, and printf's widths: what bash 5.2 prints, byte for byte.
 * links: kernel/shell/cmd/cmd_echo.c kernel/shell/cmd/cmd_printf.c kernel/number.c tests/unit/kernel/host.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include "kernel/host.h"
#include "shell/cmd/command_tables.h"

static char out[1024];
static size_t out_len;
static bool may_fail;

void command_write(struct command_env *env, const void *buf, size_t len)
{
	(void)env;
	assert_true(out_len + len < sizeof(out));
	memcpy(out + out_len, buf, len);
	out_len += len;
}

void command_puts(struct command_env *env, const char *text)
{
	command_write(env, text, strlen(text));
}

void command_putc(struct command_env *env, char c)
{
	command_write(env, &c, 1);
}

void command_printf(struct command_env *env, const char *fmt, ...)
{
	(void)env;
	(void)fmt;
	fail();
}

void command_error(struct command_env *env, const char *fmt, ...)
{
	(void)env;
	(void)fmt;
	assert_true(may_fail);
}

bool command_stopped(struct command_env *env)
{
	(void)env;
	return false;
}

const char *command_strerror(int err)
{
	(void)err;
	return "";
}

struct result {
	const char *bytes;
	size_t len;
};

#define BYTES(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct example {
	const char *text;
	struct result echo, format, argument;
} examples[] = {
	{ "\\0403", BYTES("\003"), BYTES(" 3"), BYTES("\003") },
	{ "\\403", BYTES("\\403"), BYTES("\003"), BYTES("\003") },
	{ "\\1234", BYTES("\\1234"), BYTES("S4"), BYTES("S4") },
	{ "\\0", BYTES("\0"), BYTES("\0"), BYTES("\0") },
	{ "\\08", BYTES("\0008"), BYTES("\0008"), BYTES("\0008") },
	{ "\\00403", BYTES(" 3"), BYTES("\00403"), BYTES(" 3") },
	{ "\\0000", BYTES("\0"), BYTES("\0000"), BYTES("\0") },
	{ "\\01", BYTES("\001"), BYTES("\001"), BYTES("\001") },
	{ "\\18", BYTES("\\18"), BYTES("\0018"), BYTES("\0018") },
	{ "\\8", BYTES("\\8"), BYTES("\\8"), BYTES("\\8") },
	{ "\\x41", BYTES("A"), BYTES("A"), BYTES("A") },
	{ "\\x414", BYTES("A4"), BYTES("A4"), BYTES("A4") },
	{ "\\x4g", BYTES("\004g"), BYTES("\004g"), BYTES("\004g") },
	{ "\\xg", BYTES("\\xg"), BYTES("\\xg"), BYTES("\\xg") },
	{ "\\\"", BYTES("\\\""), BYTES("\""), BYTES("\\\"") },
	{ "\\'", BYTES("\\'"), BYTES("'"), BYTES("\\'") },
	{ "\\?", BYTES("\\?"), BYTES("?"), BYTES("\\?") },
	{ "\\q", BYTES("\\q"), BYTES("\\q"), BYTES("\\q") },
	{ "\\\\", BYTES("\\"), BYTES("\\"), BYTES("\\") },
	{ "a\\", BYTES("a\\"), BYTES("a\\"), BYTES("a\\") },
	{ "\\a\\b\\e\\E\\f\\n\\r\\t\\v", BYTES("\a\b\x1b\x1b\f\n\r\t\v"),
	  BYTES("\a\b\x1b\x1b\f\n\r\t\v"), BYTES("\a\b\x1b\x1b\f\n\r\t\v") },
	{ "a\\cb", BYTES("a"), BYTES("a"), BYTES("a") },
};

static void expect(const struct command *command, char **argv, const struct result *wanted)
{
	static struct command_env env;
	int argc = 0;

	while (argv[argc])
		argc++;
	out_len = 0;
	assert_int_equal(command->run(&env, argc, argv), 0);
	if (out_len != wanted->len || memcmp(out, wanted->bytes, out_len) != 0)
		print_message("%s '%s'\n", argv[0], argv[argc - 1]);
	assert_int_equal(out_len, wanted->len);
	assert_memory_equal(out, wanted->bytes, out_len);
}

static void test_examples(void **state)
{
	char echo[] = "echo", options[] = "-ne", printf_name[] = "printf", argument[] = "%b";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		const struct example *example = &examples[i];
		char text[32];
		char *echo_argv[] = { echo, options, text, NULL };
		char *format_argv[] = { printf_name, text, NULL };
		char *argument_argv[] = { printf_name, argument, text, NULL };

		snprintf(text, sizeof(text), "%s", example->text);
		expect(&echo_commands[0], echo_argv, &example->echo);
		expect(&print_commands[0], format_argv, &example->format);
		expect(&print_commands[0], argument_argv, &example->argument);
	}
}

/* Widths and precisions count for results of any length, and so does a lack of memory for them. */
static void test_long_results(void **state)
{
	static struct command_env env;
	char name[] = "printf", precise[] = "%.300s", wide[] = "%-400.2s", number[] = "%0300d",
	     plain[] = "%s", digits[] = "42";
	char arg[600], wanted[600];
	char *argv[] = { name, precise, arg };

	(void)state;
	memset(arg, 'a', sizeof(arg) - 1);
	arg[sizeof(arg) - 1] = '\0';
	expect(&print_commands[0], (char *[]){ name, precise, arg, NULL },
	       &(struct result){ arg, 300 });
	expect(&print_commands[0], (char *[]){ name, plain, arg, NULL },
	       &(struct result){ arg, sizeof(arg) - 1 });
	snprintf(wanted, sizeof(wanted), "%-400.2s", arg);
	expect(&print_commands[0], (char *[]){ name, wide, arg, NULL },
	       &(struct result){ wanted, 400 });
	snprintf(wanted, sizeof(wanted), "%0300d", 42);
	expect(&print_commands[0], (char *[]){ name, number, digits, NULL },
	       &(struct result){ wanted, 300 });

	out_len = 0;
	host_fail_at = 0;
	may_fail = true;
	assert_int_equal(print_commands[0].run(&env, 3, argv), 1);
	host_fail_at = -1;
	may_fail = false;
	assert_int_equal(out_len, 0);
	assert_int_equal(host_live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_long_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
