/* Default: all CPUs are online, and a function cannot be run on another one. */
#include <trace/platform.h>

TRACE_DEFAULT bool trace_plat_cpu_online(uint32_t cpu)
{
	return cpu < trace_plat_nr_cpus();
}

TRACE_DEFAULT int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	uint64_t flags = trace_plat_irq_save();
	bool is_here = cpu == trace_plat_cpu_id();

	if (is_here)
		fn(arg);
	trace_plat_irq_restore(flags);
	return is_here ? 0 : -ENODEV;
}
