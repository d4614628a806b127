/*
 * Defaults of a host without programs: a read of user memory finds nothing, a thread is root's and has no
 * user registers, and there are no system calls and no places for uprobes.
 */
#include <trace/platform.h>
#include <trace/syscalls.h>

TRACE_DEFAULT bool trace_plat_user_get(struct trace_plat_user *out)
{
	(void)out;
	return false;
}

TRACE_DEFAULT uint64_t trace_plat_current_uid_gid(void)
{
	return 0;
}

TRACE_DEFAULT bool trace_plat_user_object(int32_t tgid, uint64_t ip,
					  struct trace_plat_user_place *out)
{
	(void)tgid;
	(void)ip;
	(void)out;
	return false;
}

TRACE_DEFAULT bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	(void)bytes;
	return false;
}

/* No table: there are no events of system calls, and no file takes a uprobe. */
TRACE_DEFAULT const struct trace_syscall_host *trace_plat_syscalls(void)
{
	return NULL;
}

TRACE_DEFAULT const struct trace_uprobe_host *trace_plat_uprobes(void)
{
	return NULL;
}

TRACE_DEFAULT const struct trace_user_events_host *trace_plat_user_events(void)
{
	return NULL;
}
