/*
 * The memory of a monitor that runs: states and counts. See monitor.h.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "text/str.h"

static int monitor_memory_make_instances(struct trace_monitor *monitor)
{
	const struct hist_map_shape shape = { .nr_entries = monitor->size,
					      .key_words = 1,
					      .sum_words = 1 + monitor->nr_clocks };

	if (monitor->per == MONITOR_THREAD)
		return trace_monitor_threads_init(&monitor->threads, monitor->size,
						  monitor->nr_clocks);
	return monitor->per == MONITOR_FIELD ? trace_hist_map_init(&monitor->fields, &shape) : 0;
}

int trace_monitor_memory_make(struct trace_monitor *monitor)
{
	size_t nr_cells =
		(size_t)monitor->nr_states * monitor->nr_symbols * (monitor->nr_clocks ? 2 : 1);
	size_t align = _Alignof(struct monitor_cpu);
	int err;

	trace_monitor_memory_free(monitor);
	monitor->nr_cpus = trace_plat_nr_cpus();
	monitor->cpu_bytes = sizeof(struct monitor_cpu) + nr_cells * sizeof(uint64_t);
	monitor->cpu_bytes = (monitor->cpu_bytes + align - 1) / align * align;
	monitor->cpus = trace_plat_alloc(monitor->nr_cpus * monitor->cpu_bytes);
	err = monitor->cpus ? monitor_memory_make_instances(monitor) : -ENOMEM;
	if (err)
		trace_monitor_memory_free(monitor);
	return err;
}

void trace_monitor_memory_free(struct trace_monitor *monitor)
{
	if (monitor->cpus)
		trace_plat_free(monitor->cpus, monitor->nr_cpus * monitor->cpu_bytes);
	monitor->cpus = NULL;
	monitor->nr_cpus = 0;
	monitor->place[0] = 0;
	monitor->last.is_valid = false;
	trace_monitor_threads_destroy(&monitor->threads);
	trace_hist_map_destroy(&monitor->fields);
}
