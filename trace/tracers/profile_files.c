/*
 * function_profile_enabled and trace_stat/functionN. See fs_file.h, tracers/profile.h. An open
 * functionN holds the numbers of the moment when it was opened, or read from its start again.
 */
#include "fs/fs_file.h"
#include "instance/array.h"
#include "text/str.h"
#include "profile.h"
#include "feature/feature.h"
#include "graph_tracer.h"

#define WORD_MAX 64u

/* ---- function_profile_enabled ---- */

static int enabled_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%d\n", trace_profile_enabled());
	return 0;
}

static int enabled_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	return err ? err : trace_profile_enable(value != 0);
}

/* ---- trace_stat/functionN: handle->index 0 is the head, n the n-th record ---- */

static int stat_open(struct trace_handle *handle)
{
	struct profile_stats *stats;
	int err;

	handle->private_bytes = sizeof(*stats);
	stats = trace_plat_alloc(sizeof(*stats));
	if (!stats)
		return -ENOMEM;
	err = trace_profile_read(stats, (uint32_t)handle->node->arg);
	if (err)
		trace_plat_free(stats, sizeof(*stats));
	else
		handle->private = stats;
	return err;
}

static int stat_close(struct trace_handle *handle)
{
	trace_profile_stats_free(handle->private);
	trace_plat_free(handle->private, handle->private_bytes);
	return 0;
}

static void stat_rewind(struct trace_handle *handle)
{
	trace_profile_stats_free(handle->private);
	trace_profile_read(handle->private, (uint32_t)handle->node->arg);
}

static int stat_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct profile_stats *stats = handle->private;
	size_t at = handle->index++;

	if (at == 0)
		trace_profile_stat_head(seq);
	else if (at <= stats->nr)
		trace_profile_stat_line(seq, &stats->stat[at - 1]);
	else if (at == stats->nr + 1 && stats->dropped)
		trace_seq_printf(seq, "# no room for %llu calls of other functions\n",
				 (unsigned long long)stats->dropped);
	return seq->len != 0;
}

static const struct trace_file profile_files_enabled_file = {
	.name = "function_profile_enabled",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.show = enabled_show,
	.store = enabled_store,
	.store_max = WORD_MAX,
};

static const struct trace_file stat_function_file = {
	.name = "function",
	.mode = TRACE_MODE_WRITE,
	.open = stat_open,
	.next = stat_next,
	.rewind = stat_rewind,
	.close = stat_close,
};

static const struct trace_file *const profile_files[] = { &profile_files_enabled_file };

static const struct trace_file_table trace_profile_files = {
	.files = profile_files,
	.nr = TRACE_ARRAY_SIZE(profile_files),
	.stat = &stat_function_file,
};

/* ---- The feature ---- */

/* The profiler obeys sleep-time and graph-time of function_graph in the global instance. */
static int profile_option(struct trace_array *tr, const struct tracer *tracer, uint32_t bit,
			  bool on)
{
	if (tracer != &tracer_function_graph || !trace_array_is_global(tr))
		return 0;
	return trace_profile_set_option(bit, on);
}

static struct trace_files profile_file_entry = { .table = &trace_profile_files };

static int profile_init(void)
{
	trace_files_register(&profile_file_entry);
	return 0;
}

const struct trace_feature trace_feature_profile = {
	.name = "profile",
	.init = profile_init,
	.tracer_option = profile_option,
};
