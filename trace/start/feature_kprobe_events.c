/*
 * Events that users put at instructions: probes/probe_kprobe.c. See instance/feature.h.
 */
#include "boot.h"
#include "features.h"
#include "fs/fs_file.h"
#include "instance/array.h"
#include "probes/probe.h"

static char wanted[TRACE_BOOT_PARAM_MAX];

static const struct trace_boot_param kprobe_events_params[] = {
	{ .name = "kprobe_event", .text = wanted, .size = sizeof(wanted) },
	{ .name = NULL },
};

static void kprobe_events_boot(struct trace_array *tr)
{
	trace_plat_lock(&trace_config_lock);
	trace_probe_kprobe_boot(tr, wanted);
	trace_plat_unlock(&trace_config_lock);
}

const struct trace_feature trace_feature_kprobe_events = {
	.name = "kprobe_events",
	.params = kprobe_events_params,
	.boot_start = kprobe_events_boot,
	.files = &trace_kprobe_files,
	.whys = trace_probe_kprobe_whys,
	.dyn_events = trace_probe_kprobe_dyn,
};
