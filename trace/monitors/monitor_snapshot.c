/*
 * The reactor `snapshot`: a violation swaps the buffer with its snapshot. See monitor.h,
 * instance/snapshot.h.
 */
#include <trace/trace.h>
#include "monitor_react.h"
#include "feature/feature.h"
#include "instance/snapshot.h"

static void react_snapshot(struct trace_array *tr, const struct trace_violation *violation)
{
	(void)violation;
	tracing_snapshot_instance(tr);
}

static const struct trace_reactor snapshot_reactors[] = {
	{ .name = "snapshot", .prepare = trace_snapshot_alloc, .react = react_snapshot },
	{ .name = NULL },
};

/* ---- The feature ---- */

static struct trace_reactor_table snapshot_reactor_table = { .reactors = snapshot_reactors };

static int monitor_snapshot_init(void)
{
	trace_reactors_register(&snapshot_reactor_table);
	return 0;
}

const struct trace_feature trace_feature_monitor_snapshot = {
	.name = "monitor_snapshot",
	.init = monitor_snapshot_init,
};
