/*
 * Default: threads have no names.
 */
#include <trace/platform.h>

TRACE_DEFAULT bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	(void)pid;
	(void)may_wait;
	(void)out_comm;
	return false;
}
