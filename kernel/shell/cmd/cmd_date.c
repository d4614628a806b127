/*
 * date: the mainboard's clock is read once; from then on the kernel's clock is added.
 */
#include <arch/rtc.h>
#include <kernel/lock.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "command_tables.h"
#include "date.h"

#define DATE_BYTES 256

static struct mutex clock_lock;
static uint64_t boot_ns; /* from 1970 to the boot; 0: not read yet. Guarded by clock_lock */

/* Nanoseconds since 1970; 0 when the machine has no clock. */
static uint64_t date_now(void)
{
	uint64_t seconds, now = 0;

	mutex_lock(&clock_lock);
	if (!boot_ns) {
		seconds = rtc_read();
		if (seconds)
			boot_ns = seconds * NSEC_PER_SEC - ktime_get_ns();
	}
	if (boot_ns)
		now = boot_ns + ktime_get_ns();
	mutex_unlock(&clock_lock);
	return now;
}

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
	now = date_now();
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
