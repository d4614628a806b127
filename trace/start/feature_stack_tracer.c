/*
 * The stack tracer: tracers/stack_tracer_private.h. See instance/feature.h.
 */
#include "boot.h"
#include "features.h"
#include "fs/fs_file.h"
#include "tracers/stack_tracer_private.h"

static char filter[TRACE_BOOT_PARAM_MAX];
static bool is_wanted;

/* Both stacktrace and stacktrace_filter= switch the stack tracer on. */
static void stack_tracer_take(const char *value)
{
	(void)value;
	is_wanted = true;
}

static const struct trace_boot_param stack_tracer_params[] = {
	{ .name = "stacktrace", .take = stack_tracer_take },
	{ .name = "stacktrace_filter",
	  .text = filter,
	  .size = sizeof(filter),
	  .take = stack_tracer_take },
	{ .name = NULL },
};

static void stack_tracer_boot_start(struct trace_array *tr)
{
	(void)tr;
	if (is_wanted)
		stack_tracer_boot(filter);
}

const struct trace_feature trace_feature_stack_tracer = {
	.name = "stack_tracer",
	.files = &trace_stack_files,
	.params = stack_tracer_params,
	.boot_start = stack_tracer_boot_start,
};
