/*
 * kprobe_events and kprobe_profile. See fs_file.h, probes/probe.h.
 */
#include "events/dyn_event_file.h"
#include "instance/array.h"
#include "probe.h"
#include "text/str.h"
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs/fs_file.h"

static int probe_file_run(char *line, struct dyn_event_error *out_error)
{
	return trace_dyn_event_run_of(trace_probe_kprobe_dyn, line, out_error);
}

static const struct trace_dyn_events_source probe_file_source = { .kind = trace_probe_kprobe_dyn,
								  .run = probe_file_run };

static const struct trace_file kprobe_events_file = {
	.name = "kprobe_events",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.about = &probe_file_source,
	.next = trace_dyn_events_next,
	.open = trace_dyn_events_open,
	.store = trace_dyn_events_store,
	.store_max = TRACE_DYN_EVENTS_MAX,
};

static void show_counts(const struct dyn_event *dyn, struct trace_seq *seq)
{
	uint64_t hits, missed;

	if (!trace_probe_kprobe_counts(dyn, &hits, &missed))
		return;
	trace_seq_printf(seq, "  %-44s %15llu %15llu%s\n", dyn->call->event.name,
			 (unsigned long long)hits, (unsigned long long)missed,
			 trace_probe_kprobe_is_gone(dyn) ? " [GONE]" : "");
}

static const struct trace_dyn_events_source counts = { .show = show_counts };

static const struct trace_file kprobe_profile_file = {
	.name = "kprobe_profile",
	.root_only = true,
	.mode = TRACE_MODE_READ,
	.about = &counts,
	.next = trace_dyn_events_next,
};

static const struct trace_file *const probe_files[] = { &kprobe_events_file, &kprobe_profile_file };

static const struct trace_file_table kprobe_files = {
	.files = probe_files,
	.nr = TRACE_ARRAY_SIZE(probe_files),
};

/* ---- The feature ---- */

static char wanted[TRACE_BOOT_PARAM_MAX];

static const struct trace_boot_param params[] = {
	{ .name = "kprobe_event", .text = wanted, .size = sizeof(wanted) },
	{ .name = NULL },
};

static void kprobe_events_boot(struct trace_array *tr)
{
	trace_plat_lock(&trace_config_lock);
	trace_probe_kprobe_boot(tr, wanted);
	trace_plat_unlock(&trace_config_lock);
}

static struct trace_files kprobe_file_entry = { .table = &kprobe_files };
static struct trace_whys kprobe_whys = { .checks = trace_probe_kprobe_whys };
static struct dyn_event_kinds kprobe_kinds = { .kinds = trace_probe_kprobe_dyn };

static int kprobe_events_init(void)
{
	trace_files_register(&kprobe_file_entry);
	trace_whys_register(&kprobe_whys);
	trace_dyn_event_kinds_register(&kprobe_kinds);
	return 0;
}

const struct trace_feature trace_feature_kprobe_events = {
	.name = "kprobe_events",
	.init = kprobe_events_init,
	.params = params,
	.boot_start = kprobe_events_boot,
};
