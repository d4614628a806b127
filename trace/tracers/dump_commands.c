/*
 * The commands `dump` and `cpudump` of set_ftrace_filter. See function_commands.h.
 */
#include "function_commands.h"
#include "instance/array.h"
#include "print/dump.h"
#include "feature/boot.h"
#include "feature/feature.h"

static void probe_dump(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (ftrace_probe_take(hit, ops))
		trace_dump_later(hit->tr, RING_BUFFER_ALL_CPUS);
}

/* A dump switches recording off; until it is switched on again, another would show nothing new. */
static void probe_cpudump(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	(void)ops;
	if (ring_buffer_record_is_set_on(hit->tr->buffer))
		trace_dump_later(hit->tr, (int)trace_plat_cpu_id());
}

static struct trace_command dump_commands[] = {
	{ TRACE_COMMAND("dump", probe_dump), TRACE_COMMAND_COUNTED("dump", probe_dump),
	  .fixed_count = 1 },
	{ TRACE_COMMAND("cpudump", probe_cpudump) },
	{ .command = { .name = NULL } },
};

/* ---- The feature ---- */

static const struct trace_boot_param dump_params[] = {
	{ .name = "ftrace_dump_on_oops", .take = trace_dump_set_mode },
	{ .name = NULL },
};

static int dump_init(void)
{
	int err = trace_commands_register(dump_commands);

	return err ? err : trace_dump_init();
}

const struct trace_feature trace_feature_dump = {
	.name = "dump",
	.init = dump_init,
	.instance_gone = trace_dump_forget,
	.params = dump_params,
};
