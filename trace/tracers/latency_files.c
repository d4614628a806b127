/*
 * The file of the latency tracers: tracing_max_latency, in microseconds. See fs_file.h,
 * instance/max.h.
 */
#include "fs/fs_file.h"
#include "instance/max.h"
#include "text/str.h"
#include "feature/feature.h"
#include "latency.h"
#include "tracer_why.h"

#define NUMBER_MAX 64u

static int tracing_max_latency_show(struct trace_handle *handle, struct trace_seq *seq)
{
	return trace_show_us(seq, trace_max_of(handle->tr)->latency_ns);
}

static int tracing_max_latency_store(struct trace_handle *handle, char *text)
{
	return trace_handle_us(handle, text, &trace_max_of(handle->tr)->latency_ns);
}

static const struct trace_file tracing_max_latency_file = {
	.name = "tracing_max_latency",
	.mode = TRACE_MODE_WRITE,
	.show = tracing_max_latency_show,
	.store = tracing_max_latency_store,
	.store_max = NUMBER_MAX,
};

static const struct trace_file *const latency_files[] = { &tracing_max_latency_file };

static const struct trace_file_table trace_latency_files = {
	.files = latency_files,
	.nr = TRACE_ARRAY_SIZE(latency_files),
};

/* ---- The feature ---- */

static struct trace_files latency_file_entry = { .table = &trace_latency_files };
static struct trace_whys latency_whys = { .checks = trace_latency_whys };

static int latency_init(void)
{
	trace_files_register(&latency_file_entry);
	trace_whys_register(&latency_whys);
	return trace_latency_init();
}

const struct trace_feature trace_feature_latency = {
	.name = "latency",
	.init = latency_init,
};
