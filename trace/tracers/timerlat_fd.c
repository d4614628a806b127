/*
 * osnoise/per_cpu/cpuN/timerlat_fd: the thread of a program is that of timerlat on its CPU. See osnoise.h.
 *
 *   open()   while timerlat runs with NO_OSNOISE_WORKLOAD, by one thread, which may use that CPU alone
 *   read()   ends with the next activation, as the sleep of timerlat's own thread does; the next read ends
 *            the activation, and its line user-ret says when. Gives no bytes
 *
 * The instances in which the tracer runs change only after reads have ended: is_ending is set before
 * is_user_in is looked at, and a read does it the other way round.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "fs/fs_file.h"
#include "fs/fs_tree.h"
#include "osnoise.h"

#define TIMERLAT_FD_NAME ((size_t)16) /* of a directory cpuN */
#define TIMERLAT_FD_NS	 1000000u

/* ---- Reads ---- */

/* Sleep until the next activation. 0; -EINTR; -EINVAL: the tracer ends. */
static int timerlat_fd_wait(struct osnoise_cpu *cpu)
{
	uint64_t deadline_ns =
		trace_timerlat_next(cpu->user_ns ? cpu->user_ns : trace_plat_clock_ns());
	int err;

	cpu->user_ns = 0;
	cpu->deadline_ns = deadline_ns;
	err = trace_noise_host->sleep_user(deadline_ns, trace_osnoise_is_ending, NULL);
	if (trace_osnoise_is_ending(NULL))
		err = -EINVAL;
	if (err) {
		cpu->deadline_ns = 0;
		return err;
	}
	cpu->user_ns = deadline_ns;
	trace_timerlat_awake(cpu, deadline_ns);
	return 0;
}

static int timerlat_fd_activate(const struct trace_handle *handle, struct osnoise_cpu *cpu)
{
	if (trace_osnoise_is_ending(NULL) || cpu->user != handle)
		return -EINVAL;
	if (!trace_noise_host->is_pinned((uint32_t)handle->node->arg)) {
		trace_osnoise_stop();
		return -EINVAL;
	}
	if (cpu->user_ns)
		trace_timerlat_user_returned(cpu, cpu->user_ns);
	return timerlat_fd_wait(cpu);
}

static int64_t timerlat_fd_read(struct trace_handle *handle, char *buf, size_t len)
{
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[handle->node->arg];
	int err;

	(void)buf;
	(void)len;
	if (atomic_exchange(&cpu->is_user_in, true))
		return -EBUSY; /* another thread of the program */
	err = timerlat_fd_activate(handle, cpu);
	atomic_store(&cpu->is_user_in, false);
	return err;
}

/* ---- Begin and end ---- */

static bool timerlat_fd_nobody_reads(void *unused)
{
	(void)unused;
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (atomic_load(&trace_osnoise_cpus[cpu].is_user_in))
			return false;
	}
	return true;
}

static void timerlat_fd_release(struct osnoise_cpu *cpu)
{
	cpu->user = NULL;
	cpu->workload = NULL;
	cpu->deadline_ns = 0;
	cpu->user_ns = 0;
}

void trace_timerlat_fd_end(void)
{
	if (!trace_osnoise_cpus || !trace_timerlat_fd_dir())
		return;
	while (!timerlat_fd_nobody_reads(NULL)) {
		trace_noise_host->wake();
		trace_noise_host->sleep(TIMERLAT_FD_NS, timerlat_fd_nobody_reads, NULL);
	}
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (trace_osnoise_cpus[cpu].user)
			timerlat_fd_release(&trace_osnoise_cpus[cpu]);
	}
}

/* Config lock held. */
static int timerlat_fd_take(const struct trace_handle *handle)
{
	uint32_t nr = (uint32_t)handle->node->arg;
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[nr];

	if (!trace_osnoise_is_bare(&trace_timerlat) || !trace_osnoise_wants(nr))
		return -EINVAL;
	if (cpu->user)
		return -EBUSY;
	if (!trace_noise_host->is_pinned(nr))
		return -EPERM;
	cpu->seqnum = 0;
	cpu->workload = trace_plat_current();
	cpu->user = handle;
	return 0;
}

static int timerlat_fd_open(struct trace_handle *handle)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = timerlat_fd_take(handle);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int timerlat_fd_close(struct trace_handle *handle)
{
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[handle->node->arg];

	trace_plat_lock(&trace_config_lock);
	if (cpu->user == handle)
		timerlat_fd_release(cpu);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

/* ---- The directories ---- */

static const struct trace_file timerlat_fd_file = {
	.name = "timerlat_fd",
	.log_name = "timerlat_fd",
	.mode = TRACE_MODE_READ,
	.is_stream = true,
	.open = timerlat_fd_open,
	.read = timerlat_fd_read,
	.close = timerlat_fd_close,
};

static int timerlat_fd_fill_cpu(struct trace_node *dir)
{
	return trace_dir_fill(dir, &timerlat_fd_file, 1, dir->arg);
}

static int timerlat_fd_fill(struct trace_node *dir)
{
	static const struct trace_dir of_cpu = { .fill = timerlat_fd_fill_cpu };
	uint32_t nr_cpus = trace_plat_nr_cpus();
	char *name = trace_dir_begin(dir, nr_cpus, nr_cpus * TIMERLAT_FD_NAME, 2);

	if (!name)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++, name += TIMERLAT_FD_NAME) {
		trace_snprintf(name, TIMERLAT_FD_NAME, "cpu%u", cpu);
		trace_node_add_lazy_dir(dir->tree, dir, name, &of_cpu, 0)->arg = cpu;
	}
	return 0;
}

const struct trace_dir *trace_timerlat_fd_dir(void)
{
	static const struct trace_dir dir = { .fill = timerlat_fd_fill };

	return trace_noise_host->sleep_user ? &dir : NULL;
}
