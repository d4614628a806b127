/* date: the time of day as text. */
#include <kernel/string.h>
#include <kernel/time.h>
#include "command_tables.h"
#include "date.h"

#define DATE_BYTES 256

static int cmd_date(struct command_env *env, int argc, char **argv)
{
	const char *format = "+" DATE_DEFAULT_FORMAT;
	char text[DATE_BYTES];
	uint64_t now;
	int arg = 1;

	if (arg < argc && strcmp(argv[arg], "-u") == 0)
		arg++;
	if (arg < argc)
		format = argv[arg++];
	if (arg < argc || *format != '+')
		return COMMAND_USAGE;
	now = ktime_get_real_ns();
	if (!now) {
		command_error(env, "this machine has no clock");
		return 1;
	}
	if (date_format(text, sizeof(text), format + 1, now) + 1 >= sizeof(text)) {
		command_error(env, "a text of more than %u bytes", DATE_BYTES - 2);
		return 1;
	}
	command_printf(env, "%s\n", text);
	return 0;
}

const struct command date_commands[] = {
	{ "date", "[-u] [+FORMAT]", "print the time, in UTC: +%s, +%s.%N, +%F ...", cmd_date, 0 },
	{ 0 },
};
