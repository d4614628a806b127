/*
 * Default: it is not known which functions interrupts call first.
 */
#include <trace/platform.h>

TRACE_DEFAULT bool trace_plat_is_irq_entry(uint32_t packed_ip)
{
	(void)packed_ip;
	return false;
}
