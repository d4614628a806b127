/*
 * synthetic_events: the file of synthetic events. See fs_file.h, events/synth_event.h.
 */
#include "synth_event.h"
#include "dyn_event_file.h"
#include "text/str.h"
#include "feature/feature.h"
#include "fs/fs_file.h"

static const struct trace_dyn_events_source synth_file_source = {
	.kind = trace_synth_event_kinds,
	.run = trace_synth_event_run,
	.show = trace_synth_event_show,
};

static const struct trace_file synthetic_events_file = {
	.name = "synthetic_events",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.about = &synth_file_source,
	.next = trace_dyn_events_next,
	.open = trace_dyn_events_open,
	.store = trace_dyn_events_store,
	.store_max = TRACE_DYN_EVENTS_MAX,
};

static const struct trace_file *const synth_files[] = { &synthetic_events_file };

static const struct trace_file_table trace_synth_files = {
	.files = synth_files,
	.nr = TRACE_ARRAY_SIZE(synth_files),
};

/* ---- The feature ---- */

static struct trace_files synth_file_entry = { .table = &trace_synth_files };
static struct dyn_event_kinds synth_kinds = { .kinds = trace_synth_event_kinds };

static int synth_init(void)
{
	trace_files_register(&synth_file_entry);
	trace_dyn_event_kinds_register(&synth_kinds);
	return 0;
}

const struct trace_feature trace_feature_synth = {
	.name = "synth",
	.init = synth_init,
};
