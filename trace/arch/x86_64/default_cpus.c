/*
 * Defaults of <trace/arch_host.h> for a host that starts all CPUs before code is changed, and does
 * not know what machine it runs on. That header may define them inline, so it is not included.
 */
#include <stdbool.h>
#include <trace/compiler.h>

void trace_arch_cpus_hold(void);
void trace_arch_cpus_release(void);
bool trace_arch_is_emulated(void);

TRACE_DEFAULT void trace_arch_cpus_hold(void)
{
}

TRACE_DEFAULT void trace_arch_cpus_release(void)
{
}

TRACE_DEFAULT bool trace_arch_is_emulated(void)
{
	return true;
}
