/*
 * Call sites: the ops of each instance, their filters and files, and what waits until threads have
 * left code that goes. See feature/feature.h.
 */
#include <trace/ftrace.h>
#include <trace/ftrace_probe.h>
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs_file.h"
#include "instance/array.h"
#include "instance/grace.h"
#include "ops/ftrace_probe_private.h"

static struct {
	char filter[TRACE_BOOT_PARAM_MAX];
	char notrace[TRACE_BOOT_PARAM_MAX];
} functions_words;

static const struct trace_boot_param function_params[] = {
	{ .name = "ftrace_filter",
	  .text = functions_words.filter,
	  .size = sizeof(functions_words.filter) },
	{ .name = "ftrace_notrace",
	  .text = functions_words.notrace,
	  .size = sizeof(functions_words.notrace) },
	{ .name = NULL },
};

static void functions_boot(struct trace_array *tr)
{
	(void)tr;
	trace_boot_set_filters(functions_words.filter, "ftrace_filter", ftrace_set_global_filter);
	trace_boot_set_filters(functions_words.notrace, "ftrace_notrace",
			       ftrace_set_global_notrace);
}

static void functions_mark(uint64_t *out_mark)
{
	*out_mark = ftrace_grace_mark();
}

static const struct trace_grace functions_grace = {
	.mark = functions_mark,
	.wait = ftrace_grace_wait,
	.call_after = ftrace_call_after,
};

static struct trace_files function_file_entry = { .table = &trace_function_files };

static int functions_init(void)
{
	trace_files_register(&function_file_entry);
	trace_grace = &functions_grace;
	trace_global.ops = &ftrace_global_ops;
	return 0;
}

/* When tracing is dead sites may go on calling the ops, whose callbacks use the instance. */
static void functions_gone(struct trace_array *tr)
{
	ftrace_clear_probes(tr);
	if (ftrace_is_dead())
		return;
	tr->ops->flags |= FTRACE_OPS_FL_DELETED;
	ftrace_free_filter(tr->ops);
}

const struct trace_feature trace_feature_functions = {
	.name = "functions",
	.init = functions_init,
	.params = function_params,
	.boot_start = functions_boot,
	.instance_gone = functions_gone,
	.has_command = ftrace_has_command,
};
