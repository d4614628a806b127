/* Facts about the machine in /proc and /sys, in the formats of Linux, and devices that programs expect. */
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "vfs_mount.h"

#define MACHINE_TICK_NS (NSEC_PER_SEC / 100)

static size_t machine_show_mounts(char *buf, size_t size)
{
	char path[VFS_PATH_MAX], options[VFS_OPTIONS_MAX];
	const char *type;
	size_t len = 0;

	for (uint32_t i = 0; (type = vfs_mount_get(i, path, options)); i++)
		len += trace_scnprintf(buf + len, size - len, "%s %s %s rw,relatime%s 0 0\n", type,
				       path, type, options);
	return len;
}

static size_t machine_show_filesystems(char *buf, size_t size)
{
	return trace_scnprintf(buf, size,
			       "nodev\tsysfs\nnodev\ttmpfs\nnodev\tproc\nnodev\tdebugfs\n"
			       "nodev\ttracefs\nnodev\tramfs\n");
}

uint32_t vfs_machine_nr_running(void)
{
	struct sched_cpu_stats stats;
	uint32_t nr = 0;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		sched_cpu_stats_get(cpu, &stats);
		nr += stats.nr_running;
	}
	return nr;
}

/* In ticks of a hundredth of a second, of one CPU or the sum of several. */
struct machine_times {
	uint64_t user, kernel, idle, nr_switches;
};

static void machine_add_times(struct machine_times *sum, uint32_t cpu)
{
	uint64_t idle, user, now = ktime_get_ns() / MACHINE_TICK_NS;
	struct sched_cpu_stats stats;

	sched_cpu_stats_get(cpu, &stats);
	idle = stats.idle_ns / MACHINE_TICK_NS;
	idle = idle < now ? idle : now;
	/* The busy time is divided as its ticks are. */
	user = time_part(now - idle, stats.nr_ticks[THREAD_TICK_USER],
			 stats.nr_ticks[THREAD_TICK_USER] + stats.nr_ticks[THREAD_TICK_KERNEL]);
	sum->idle += idle;
	sum->user += user;
	sum->kernel += now - idle - user;
	sum->nr_switches += stats.nr_switches;
}

static size_t machine_show_times(char *buf, size_t size, const char *name,
				 const struct machine_times *times)
{
	return trace_scnprintf(buf, size, "%s %lu 0 %lu %lu 0 0 0 0 0 0\n", name, times->user,
			       times->kernel, times->idle);
}

static size_t machine_show_stat(char *buf, size_t size)
{
	struct machine_times all = { 0 };
	char name[16];
	size_t len;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu))
			machine_add_times(&all, cpu);
	}
	len = machine_show_times(buf, size, "cpu ", &all);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct machine_times times = { 0 };

		if (!smp_cpu_online(cpu))
			continue;
		machine_add_times(&times, cpu);
		trace_snprintf(name, sizeof(name), "cpu%u", cpu);
		len += machine_show_times(buf + len, size - len, name, &times);
	}
	return len +
	       trace_scnprintf(buf + len, size - len,
			       "ctxt %lu\nbtime %lu\nprocs_running %u\nprocs_blocked 0\n",
			       all.nr_switches,
			       (uint64_t)((ktime_get_real_ns() - ktime_get_ns()) / NSEC_PER_SEC),
			       vfs_machine_nr_running());
}

/* There are no disks: no page comes or goes. */
static size_t machine_show_vmstat(char *buf, size_t size)
{
	struct mm_stats stats;

	mm_stats_get(&stats);
	return trace_scnprintf(buf, size,
			       "nr_free_pages %lu\npgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n",
			       stats.free_pages);
}

static ssize_t machine_read_random(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)pos;
	if (thread_interrupted())
		return -EINTR;
	random_bytes(buf, len);
	return (ssize_t)len;
}

static ssize_t machine_write_full(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)buf;
	(void)len;
	(void)pos;
	return -ENOSPC;
}

static const struct file_ops random_ops = { .read = machine_read_random, .write = vfs_null_write };
static const struct file_ops full_ops = { .read = vfs_zero_read, .write = machine_write_full };

const struct vfs_special vfs_machine_specials[] = {
	{ "/dev", "full", 0666, VFS_DEV(1, 7), &full_ops, NULL, NULL },
	{ "/dev", "random", 0666, VFS_DEV(1, 8), &random_ops, NULL, NULL },
	{ "/dev", "urandom", 0666, VFS_DEV(1, 9), &random_ops, NULL, NULL },
	{ "/proc", "filesystems", 0444, 0, NULL, machine_show_filesystems, NULL },
	{ "/proc", "mounts", 0444, 0, NULL, machine_show_mounts, NULL },
	{ "/proc", "stat", 0444, 0, NULL, machine_show_stat, NULL },
	{ "/proc", "vmstat", 0444, 0, NULL, machine_show_vmstat, NULL },
};
const size_t vfs_nr_machine_specials = ARRAY_SIZE(vfs_machine_specials);
