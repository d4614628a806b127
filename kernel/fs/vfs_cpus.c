/* /sys/devices/system/cpu: which CPUs there are, and the switch of each. */
#include <arch/smp.h>
#include <kernel/cpu.h>
#include <kernel/mm.h>
#include <trace/fmt.h>
#include "vfs_mount.h"

#define CPUS_DIR      "/sys/devices/system/cpu"
#define CPUS_DIR_ROOM 40u

/* CPUs as Linux lists them: `0-3`. All that there are can be switched on, and none is added later. */
static size_t cpus_show_possible(char *buf, size_t size)
{
	uint32_t last = smp_nr_cpus() - 1;

	return last ? trace_scnprintf(buf, size, "0-%u\n", last)
		    : trace_scnprintf(buf, size, "0\n");
}

static bool cpus_is_in_run(uint32_t cpu, bool is_online)
{
	return cpu < smp_nr_cpus() && cpu_active(cpu) == is_online;
}

static size_t cpus_show_list(char *buf, size_t size, bool is_online)
{
	size_t len = 0;

	for (uint32_t cpu = 0, first; cpu < smp_nr_cpus(); cpu++) {
		if (!cpus_is_in_run(cpu, is_online))
			continue;
		for (first = cpu; cpus_is_in_run(cpu + 1, is_online);)
			cpu++;
		len += trace_scnprintf(buf + len, size - len, len ? ",%u" : "%u", first);
		if (cpu > first)
			len += trace_scnprintf(buf + len, size - len, "-%u", cpu);
	}
	return len + trace_scnprintf(buf + len, size - len, "\n");
}

static size_t cpus_show_online(char *buf, size_t size)
{
	return cpus_show_list(buf, size, true);
}

static size_t cpus_show_offline(char *buf, size_t size)
{
	return cpus_show_list(buf, size, false);
}

static const struct vfs_special cpus_specials[] = {
	{ CPUS_DIR, "offline", 0444, 0, NULL, cpus_show_offline, NULL },
	{ CPUS_DIR, "online", 0444, 0, NULL, cpus_show_online, NULL },
	{ CPUS_DIR, "possible", 0444, 0, NULL, cpus_show_possible, NULL },
	{ CPUS_DIR, "present", 0444, 0, NULL, cpus_show_possible, NULL },
};

static uint32_t cpus_number_of(const struct file *file)
{
	return (uint32_t)(uintptr_t)((const struct vfs_special *)file->object)->data;
}

static ssize_t cpus_switch_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return vfs_switch_read(cpu_active(cpus_number_of(file)), buf, len, pos);
}

static ssize_t cpus_switch_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	uint32_t cpu = cpus_number_of(file);
	bool on;
	int err = vfs_switch_parse(buf, len, &on);

	if (!err)
		err = on ? cpu_up(cpu) : cpu_down(cpu);
	if (err)
		return err;
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops cpus_switch_ops = {
	.read = cpus_switch_read,
	.write = cpus_switch_write,
	.has_position = true,
};

/* A switch and the directory that it is in. */
struct cpus_file {
	struct vfs_special special;
	char dir[CPUS_DIR_ROOM];
};

static int cpus_add_switch(struct cpus_file *file, uint32_t cpu)
{
	int err;

	trace_snprintf(file->dir, sizeof(file->dir), CPUS_DIR "/cpu%u", cpu);
	file->special = (struct vfs_special){ .dir = file->dir,
					      .name = "online",
					      .mode = 0644,
					      .ops = &cpus_switch_ops,
					      .data = (void *)(uintptr_t)cpu };
	err = vfs_ram_add_dir(file->dir);
	return err ? err : vfs_ram_add(&file->special, 1);
}

int vfs_cpus_init(void)
{
	struct cpus_file *files = kcalloc(smp_nr_cpus(), sizeof(*files)); /* there for good */
	int err = files ? vfs_ram_add(cpus_specials, ARRAY_SIZE(cpus_specials)) : -ENOMEM;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus() && !err; cpu++)
		err = cpus_add_switch(&files[cpu], cpu);
	return err;
}
