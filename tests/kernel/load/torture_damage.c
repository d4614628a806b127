/*
 * `torture damage`: spoil a byte of a call site, and see that tracing notices before it writes
 * anything, names the site, stops for good, and leaves the kernel running. `torture records`: the
 * same with an event in a buffer, which its reader notices.
 */
#include <trace/arch_text.h>
#include <kernel/string.h>
#include <kernel/text.h>
#include <trace/ftrace.h>
#include <trace/ring_buffer.h>
#include <trace/trace.h>
#include "torture.h"

static TRACE_NOTRACE void never_called(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

static void torture_damage_write_byte(uintptr_t addr, uint8_t byte)
{
	mutex_lock(&text_mutex);
	trace_text_write(addr, &byte, 1);
	mutex_unlock(&text_mutex);
}

/* Registers an ops on targets 0 and 1 while the site of target 1 is spoilt. */
static int torture_damage_register_on(struct ftrace_ops *ops)
{
	const uintptr_t ips[] = { (uintptr_t)torture_targets[0], (uintptr_t)torture_targets[1] };
	uint8_t right = *(const uint8_t *)(ips[1] + 2);
	int err = ftrace_set_filter_ips(ops, ips, ARRAY_SIZE(ips), false, true);

	if (err)
		return err;
	torture_damage_write_byte(ips[1] + 2, (uint8_t)~right); /* it has no callers now */
	err = register_ftrace_function(ops);
	torture_damage_write_byte(ips[1] + 2, right);
	return err;
}

int torture_damage(struct command_env *env)
{
	static struct ftrace_ops ops = { .func = never_called };
	uint8_t before[TRACE_INSN_SIZE];
	const void *untouched = (const void *)(uintptr_t)torture_targets[0];
	int err;

	memcpy(before, untouched, sizeof(before));
	err = torture_damage_register_on(&ops);
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

/* An event whose length is more than there is; its head is the word before it. */
static int torture_damage_write_damaged(struct ring_buffer *buffer)
{
	uint32_t *event = ring_buffer_lock_reserve(buffer, 8);

	if (!event)
		return -ENOMEM;
	event[-1] = 0; /* the length comes first */
	event[0] = UINT32_MAX;
	ring_buffer_unlock_commit(buffer, event);
	return 0;
}

int torture_records(struct command_env *env)
{
	struct ring_buffer *buffer = ring_buffer_alloc(1 << 16, 0);
	struct ring_event event;
	int err = buffer ? torture_damage_write_damaged(buffer) : -ENOMEM;
	bool found = false;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus() && !err; cpu++)
		found |= ring_buffer_consume(buffer, cpu, &event);
	if (buffer)
		ring_buffer_free(buffer);
	if (err || found || !ftrace_is_dead() || tracing_is_on()) {
		command_error(env, "a damaged event was not noticed: %d", err);
		return 1;
	}
	command_puts(env,
		     "torture: a damaged event was noticed, tracing is off until the next boot\n");
	return 0;
}
