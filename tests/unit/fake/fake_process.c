/*
 * Processes of the fake machine's threads; see fake.h.
 */
#include "fake.h"

/* Of those that are not of their own. */
static struct {
	int32_t pid, tgid;
} processes[16];
static size_t nr_processes;

void fake_thread_of_process(int32_t pid, int32_t tgid)
{
	processes[nr_processes].pid = pid;
	processes[nr_processes++].tgid = tgid;
}

int32_t trace_plat_thread_tgid(int32_t pid, bool may_wait)
{
	(void)may_wait;
	for (size_t i = 0; i < nr_processes; i++) {
		if (processes[i].pid == pid && fake_thread_of(pid))
			return processes[i].tgid;
	}
	return fake_thread_of(pid) ? pid : 0;
}
