/* Files of /proc about the machine that programs look at, and none of the kernel's own commands; in the formats of Linux. */
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/softirq.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include "fs/vfs_mount.h"
#include "proc_machine.h"
#include "pty.h"

#define MACHINE_PID_END 4194304 /* behind the largest pid, as in Linux */

static void proc_count_thread(struct thread *thread, void *arg)
{
	struct proc_threads *threads = arg;

	if (thread->flags & THREAD_IDLE)
		return;
	threads->nr++;
	threads->last_pid = thread->pid;
}

void proc_count_threads(struct proc_threads *out)
{
	*out = (struct proc_threads){ 0 };
	thread_each(proc_count_thread, out);
}

static size_t proc_show_loadavg(char *buf, size_t size)
{
	struct proc_threads threads;
	uint64_t loads[NR_LOADAVGS];
	size_t len = 0;

	proc_count_threads(&threads);
	loadavg_get(loads);
	for (size_t i = 0; i < NR_LOADAVGS; i++) {
		uint64_t cents = (loads[i] * 100 + LOADAVG_ONE / 2) / LOADAVG_ONE;

		len += trace_scnprintf(buf + len, size - len, "%lu.%02lu ", cents / 100,
				       cents % 100);
	}
	return len + trace_scnprintf(buf + len, size - len, "%u/%u %d\n", vfs_machine_nr_running(),
				     threads.nr, threads.last_pid);
}

/* A row for each kind of interrupt; their names and texts are Linux's where it has the kind. */
static size_t proc_show_interrupts(char *buf, size_t size)
{
	static const char *const kinds[SMP_IRQ_NR_KINDS][2] = {
		[SMP_IRQ_TIMER] = { "LOC", "Local timer interrupts" },
		[SMP_IRQ_RESCHEDULE] = { "RES", "Rescheduling interrupts" },
		[SMP_IRQ_CALL] = { "CAL", "Function call interrupts" },
		[SMP_IRQ_SYNC] = { "SYN", "Text poke interrupts" },
		[SMP_IRQ_NMI] = { "NMI", "Non-maskable interrupts" },
		[SMP_IRQ_UART] = { "4", "IO-APIC   4-edge      ttyS0" },
		[SMP_IRQ_DEVICE] = { "DEV", "Interrupts of PCI devices" },
		[SMP_IRQ_SPURIOUS] = { "SPU", "Spurious interrupts" },
	};
	size_t len = trace_scnprintf(buf, size, "%5s", "");

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (smp_cpu_online(cpu))
			len += trace_scnprintf(buf + len, size - len, "CPU%-8u", cpu);
	}
	for (uint32_t kind = 0; kind < SMP_IRQ_NR_KINDS; kind++) {
		len += trace_scnprintf(buf + len, size - len, "\n%3s:", kinds[kind][0]);
		for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
			if (smp_cpu_online(cpu))
				len += trace_scnprintf(buf + len, size - len, " %10lu",
						       smp_irq_count(cpu, (enum smp_irq_kind)kind));
		}
		len += trace_scnprintf(buf + len, size - len, "  %s", kinds[kind][1]);
	}
	return len + trace_scnprintf(buf + len, size - len, "\n");
}

/* The kinds of devices of characters, by their major numbers. */
static size_t proc_show_devices(char *buf, size_t size)
{
	return trace_scnprintf(buf, size,
			       "Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/console\n"
			       "  5 /dev/ptmx\n136 pts\n"
			       "240 shell\n\nBlock devices:\n");
}

static size_t proc_show_swaps(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
}

/* There are no disks: the file is empty, as on Linux without any. */
static size_t proc_show_partitions(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "%s", "");
}

static size_t proc_show_pid_max(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "%d\n", MACHINE_PID_END);
}

/* So many threads of programs have room in memory: there is no other limit. */
static size_t proc_show_threads_max(char *buf, size_t size)
{
	struct mm_stats stats;

	mm_stats_get(&stats);
	return trace_scnprintf(buf, size, "%lu\n",
			       stats.total_pages / (STACK_BYTES / PAGE_SIZE + 1));
}

static enum uts_name proc_uts_of(const struct file *file)
{
	const struct vfs_special *special = file->object;

	return (enum uts_name)(uintptr_t)special->data;
}

static ssize_t proc_uts_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	char name[UTS_LEN + 1];
	size_t size;

	uts_get(proc_uts_of(file), name);
	size = strlen(name);
	name[size++] = '\n';
	if (*pos >= size)
		return 0;
	if (len > size - *pos)
		len = size - *pos;
	memcpy(buf, name + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

/* A write that does not begin at position 0 is accepted and ignored. */
static ssize_t proc_uts_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const char *end = memchr(buf, '\n', len);

	if (*pos == 0)
		uts_set(proc_uts_of(file), buf, end ? (size_t)(end - (const char *)buf) : len);
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops proc_uts_ops = {
	.read = proc_uts_read,
	.write = proc_uts_write,
	.has_position = true,
};

#define PROC_TEXT(dir, name, show)                                                                 \
	{                                                                                          \
		dir, name, 0444, 0, NULL, show, NULL                                               \
	}
#define PROC_UTS(name, mode, which)                                                                \
	{                                                                                          \
		"/proc/sys/kernel", name, mode, 0, &proc_uts_ops, NULL, (void *)(uintptr_t)(which) \
	}

static const struct vfs_special proc_specials[] = {
	PROC_TEXT("/proc", "cpuinfo", proc_show_cpuinfo),
	PROC_TEXT("/proc", "devices", proc_show_devices),
	PROC_TEXT("/proc", "interrupts", proc_show_interrupts),
	PROC_TEXT("/proc", "loadavg", proc_show_loadavg),
	PROC_TEXT("/proc", "partitions", proc_show_partitions),
	PROC_TEXT("/proc", "swaps", proc_show_swaps),
	PROC_UTS("domainname", 0644, UTS_DOMAINNAME),
	PROC_UTS("hostname", 0644, UTS_NODENAME),
	PROC_UTS("osrelease", 0444, UTS_RELEASE),
	PROC_UTS("ostype", 0444, UTS_SYSNAME),
	PROC_TEXT("/proc/sys/kernel", "pid_max", proc_show_pid_max),
	PROC_TEXT("/proc/sys/kernel", "threads-max", proc_show_threads_max),
	PROC_UTS("version", 0444, UTS_VERSION),
};

/* Lists of disks, which are empty. */
static const char *const proc_empty_dirs[] = { "/sys/block", "/sys/dev", "/sys/dev/block" };

int vfs_programs_init(void)
{
	int err = vfs_ram_add(proc_specials, ARRAY_SIZE(proc_specials));

	for (size_t i = 0; i < ARRAY_SIZE(proc_empty_dirs) && !err; i++)
		err = vfs_ram_add_dir(proc_empty_dirs[i]);
	return err ? err : pty_init();
}
