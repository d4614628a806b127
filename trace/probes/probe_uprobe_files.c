/* uprobe_events and uprobe_profile. See fs_file.h, probe_uprobe.h. */
#include <trace/errno.h>
#include "events/dyn_event_file.h"
#include "events/event_file.h"
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "probe_uprobe.h"
#include "text/str.h"

/* Here a path need not begin with a slash to be known as one. */
static int uprobe_file_run(char *line, struct dyn_event_error *out_error)
{
	while (trace_is_space(*line))
		line++;
	if (trace_probe_line_is(line, 'p') || trace_probe_line_is(line, 'r'))
		return trace_probe_uprobe_dyn->create(line, out_error);
	return trace_dyn_event_run_of(trace_probe_uprobe_dyn, line, out_error);
}

static const struct trace_dyn_events_source uprobe_source = { .kind = trace_probe_uprobe_dyn,
							      .run = uprobe_file_run };

static const struct trace_file uprobe_events_file = {
	.name = "uprobe_events",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.about = &uprobe_source,
	.next = trace_dyn_events_next,
	.open = trace_dyn_events_open,
	.store = trace_dyn_events_store,
	.store_max = TRACE_DYN_EVENTS_MAX,
};

static void show_uprobe_counts(const struct dyn_event *dyn, struct trace_seq *seq)
{
	const struct probe *probe = trace_probe_of(dyn);
	char path[PROBE_PATH_MAX];

	trace_probe_uprobe_path(probe, path);
	trace_seq_printf(seq, "  %s %-44s %15llu\n", path, dyn->call->event.name,
			 (unsigned long long)probe->nr_hits);
}

static const struct trace_dyn_events_source uprobe_counts = { .kind = trace_probe_uprobe_dyn,
							      .show = show_uprobe_counts };

static const struct trace_file uprobe_profile_file = {
	.name = "uprobe_profile",
	.root_only = true,
	.mode = TRACE_MODE_READ,
	.about = &uprobe_counts,
	.next = trace_dyn_events_next,
};

static const struct trace_file *const uprobe_file_list[] = { &uprobe_events_file,
							     &uprobe_profile_file };

static const struct trace_file_table uprobe_file_table = {
	.files = uprobe_file_list,
	.nr = TRACE_ARRAY_SIZE(uprobe_file_list),
};

/* ---- The feature ---- */

static struct trace_files uprobe_files_entry = { .table = &uprobe_file_table };
static struct trace_whys uprobe_whys = { .checks = trace_probe_uprobe_whys };
static struct dyn_event_kinds uprobe_kinds = { .kinds = trace_probe_uprobe_dyn };

static int uprobe_events_init(void)
{
	if (!trace_plat_uprobes())
		return 0; /* no programs: no files for them */
	trace_files_register(&uprobe_files_entry);
	trace_whys_register(&uprobe_whys);
	trace_dyn_event_kinds_register(&uprobe_kinds);
	return 0;
}

const struct trace_feature trace_feature_uprobe_events = {
	.name = "uprobe_events",
	.init = uprobe_events_init,
};
