/*
 * Trace events: events/event_file.h. See feature/feature.h.
 */
#include "event_call.h"
#include "event_file.h"
#include "event_marker.h"
#include "event_printk.h"
#include "event_why.h"
#include "trigger_commands.h"
#include "feature/boot.h"
#include "feature/feature.h"
#include "fs/fs_tree.h"

static char wanted[TRACE_BOOT_PARAM_MAX], wanted_triggers[TRACE_BOOT_PARAM_MAX];

static const struct trace_boot_param event_params[] = {
	{ .name = "trace_event", .text = wanted, .size = sizeof(wanted) },
	{ .name = "trace_trigger", .text = wanted_triggers, .size = sizeof(wanted_triggers) },
	{ .name = "tp_printk", .take = trace_event_printk_want },
	{ .name = "tp_printk_stop_on_boot", .take = trace_event_printk_want_stop },
	{ .name = NULL },
};

static void events_boot(struct trace_array *tr)
{
	trace_plat_lock(&trace_config_lock);
	trace_event_printk_start(); /* first: those of the boot are printed */
	trace_events_boot(tr, wanted, "trace_event");
	trace_triggers_boot(tr, wanted_triggers);
	trace_plat_unlock(&trace_config_lock);
}

static void events_boot_instance(struct trace_array *tr, char *events)
{
	trace_events_boot(tr, events, "trace_instance");
}

static struct trace_files event_feature_files = { .table = &trace_event_files };
static struct trace_triggers event_feature_triggers = { .commands = trace_event_triggers };
static struct trace_whys event_feature_whys = { .checks = trace_event_whys };
static struct trace_event_guard event_dir_guard = { .goes = trace_fs_event_goes };

static int events_init(void)
{
	trace_files_register(&event_feature_files);
	trace_triggers_register(&event_feature_triggers);
	trace_whys_register(&event_feature_whys);
	trace_event_guard_register(&event_dir_guard);
	trace_event_marker_init();
	return trace_event_calls_init();
}

const struct trace_feature trace_feature_events = {
	.name = "events",
	.init = events_init,
	.params = event_params,
	.boot_start = events_boot,
	.boot_instance = events_boot_instance,
	.boot_finish = trace_event_printk_boot_finish,
	.option_changed = trace_events_option_changed,
	.instance_gone = trace_events_array_gone,
	.instance_free = trace_events_array_free,
};
