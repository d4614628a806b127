/*
 * `torture damage`: spoil a byte of a call site, and see that tracing notices before it writes
 * anything, names the site, stops for good, and leaves the kernel running.
 */
#include <arch/text_poke.h>
#include <kernel/string.h>
#include <kernel/text.h>
#include <trace/ftrace.h>
#include "torture.h"

static TRACE_NOTRACE void never_called(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static void write_byte(uintptr_t addr, uint8_t byte)
{
	mutex_lock(&text_mutex);
	text_write(addr, &byte, 1);
	mutex_unlock(&text_mutex);
}

/* Registers an ops on targets 0 and 1 while the site of target 1 is spoilt. */
static int register_on_damage(struct ftrace_ops *ops)
{
	const uintptr_t ips[] = { (uintptr_t)torture_targets[0], (uintptr_t)torture_targets[1] };
	uint8_t right = *(const uint8_t *)(ips[1] + 2);
	int err = ftrace_set_filter_ips(ops, ips, ARRAY_SIZE(ips), false, true);

	if (err)
		return err;
	write_byte(ips[1] + 2, (uint8_t)~right); /* nobody calls it now */
	err = register_ftrace_function(ops);
	write_byte(ips[1] + 2, right);
	return err;
}

int torture_damage(struct command_env *env)
{
	static struct ftrace_ops ops = { .func = never_called };
	uint8_t before[TRACE_INSN_SIZE];
	const void *untouched = (const void *)(uintptr_t)torture_targets[0];
	int err;

	memcpy(before, untouched, sizeof(before));
	err = register_on_damage(&ops);
	if (err != -ENODEV || !ftrace_is_dead()) {
		command_error(env, "damage was not noticed: %d", err);
		return 1;
	}
	if (memcmp(before, untouched, sizeof(before)) != 0) {
		command_error(env, "the site next to the damage was changed");
		return 1;
	}
	command_puts(env, "torture: damage was noticed, tracing is off until the next boot\n");
	return 0;
}
