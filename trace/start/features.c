/*
 * The table of features; trace_init(), and what the host calls for threads and CPUs that come and
 * go. See feature/feature.h, <trace/trace.h>.
 */
#include <trace/trace.h>
#include "features.h"
#include "instance/array.h"
#include "instance/cmdlines.h"
#include "text/str.h"

const struct trace_feature *const trace_feature_table[] = {
#define TRACE_FEATURE(name, needs, sources) &trace_feature_##name,
#include "start/features.list"
#undef TRACE_FEATURE
	NULL,
};

#define NR_FEATURES (TRACE_ARRAY_SIZE(trace_feature_table) - 1)

int trace_init(void)
{
	int err = trace_cmdlines_init();

	if (!err)
		err = trace_arrays_init();
	trace_features = trace_feature_table;
	for (size_t i = 0; i < NR_FEATURES && !err; i++) {
		if (trace_feature_table[i]->init)
			err = trace_feature_table[i]->init();
	}
	if (err)
		trace_plat_log("trace: no memory, tracing is not available");
	return err;
}

int trace_cpu_prepare(uint32_t cpu)
{
	int err;

	if (cpu >= trace_plat_nr_cpus())
		return -EINVAL;
	if (!trace_global_array())
		return 0;
	trace_plat_lock(&trace_config_lock);
	err = trace_arrays_add_cpu(cpu);
	trace_plat_unlock(&trace_config_lock);
	if (err)
		trace_plat_log("trace: no memory for the buffers of CPU %u: its events are lost",
			       cpu);
	return err;
}

static void features_cpus_change(bool is_done)
{
	for (size_t i = 0; i < NR_FEATURES; i++) {
		if (trace_feature_table[i]->cpus_change)
			trace_feature_table[i]->cpus_change(is_done);
	}
}

void trace_cpus_change(void (*change)(void *arg), void *arg)
{
	trace_plat_lock(&trace_config_lock);
	features_cpus_change(false);
	change(arg);
	features_cpus_change(true);
	trace_plat_unlock(&trace_config_lock);
}

void trace_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	for (size_t i = 0; i < NR_FEATURES; i++) {
		if (trace_feature_table[i]->thread_created)
			trace_feature_table[i]->thread_created(parent_pid, pid, thread);
	}
}

void trace_thread_exited(int32_t pid, const char *comm)
{
	struct trace_thread *thread = trace_plat_current();

	trace_cmdlines_note_exit(pid, comm);
	for (size_t i = NR_FEATURES; i--;) {
		if (trace_feature_table[i]->thread_exited)
			trace_feature_table[i]->thread_exited(pid, thread);
	}
}
