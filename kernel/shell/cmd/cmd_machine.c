/*
 * Commands about the machine and the kernel's image: poweroff, reboot, panic, uname.
 */
#include <arch/power.h>
#include <arch/smp.h>
#include <kernel/console.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/version.h>
#include "command_tables.h"

static int cmd_poweroff(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	console_drain();
	smp_stop_others_nmi();
	power_off();
}

static int cmd_reboot(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	console_drain();
	smp_stop_others_nmi();
	power_reboot();
}

/* Uses up the stack until the guard page ends it. */
static TRACE_NOINLINE uint64_t cmd_use_stack(volatile uint64_t depth)
{
	return depth == UINT64_MAX ? 0 : cmd_use_stack(depth + 1) + depth;
}

static void cmd_cause_fault(void)
{
	volatile uintptr_t nowhere = 0x10; /* volatile, so that no compiler sees the mistake */

	*(volatile uint64_t *)nowhere = 0;
}

static void cmd_panic_in_cache(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			       void *arg)
{
	(void)name;
	(void)bytes;
	(void)live;
	(void)pages;
	(void)arg;
	panic("with the locks of threads and of memory held");
}

static void cmd_panic_in_thread(struct thread *thread, void *arg)
{
	(void)thread;
	mm_each_cache(cmd_panic_in_cache, arg);
}

static int cmd_panic(struct command_env *env, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "requested by a command";

	if (argc > 2)
		return COMMAND_USAGE;
	if (strcmp(what, "-fault") == 0)
		cmd_cause_fault();
	else if (strcmp(what, "-stack") == 0)
		command_printf(env, "%lu\n", cmd_use_stack(0));
	else if (strcmp(what, "-locks") == 0)
		thread_each(cmd_panic_in_thread, NULL);
	panic("%s", what);
}

static int cmd_uname(struct command_env *env, int argc, char **argv)
{
	bool all = argc == 2 && strcmp(argv[1], "-a") == 0;
	bool release = argc == 2 && strcmp(argv[1], "-r") == 0;

	if (argc > 1 && !all && !release)
		return COMMAND_USAGE;
	if (all)
		command_printf(env, "Fathom fathom %s %s SMP x86_64\n", KERNEL_VERSION,
			       KERNEL_COMPILER);
	else
		command_printf(env, "%s\n", release ? KERNEL_VERSION : "Fathom");
	return 0;
}

const struct command machine_commands[] = {
	{ "panic", "[-fault | -locks | -stack | MESSAGE]", "stop the kernel as a fatal error does",
	  cmd_panic, 0 },
	{ "poweroff", "", "turn the machine off", cmd_poweroff, 0 },
	{ "reboot", "", "start the machine anew", cmd_reboot, 0 },
	{ "uname", "[-a | -r]", "name the kernel", cmd_uname, 0 },
	{ 0 },
};
