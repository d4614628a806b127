/*
 * The special files: /dev, facts as text in /proc, the kernel's types in /sys/kernel/btf.
 */
#include <kernel/btf.h>
#include <kernel/mm.h>
#include <kernel/params.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <kernel/version.h>
#include <arch/smp.h>
#include <trace/arch_trampoline.h>
#include <trace/fmt.h>
#include "vfs_mount.h"

#define TEXT_BYTES 2048u /* at first */
#define DEV_LOCAL  240	 /* the first number that Linux leaves to others */

static ssize_t vfs_null_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)buf;
	(void)len;
	(void)pos;
	return 0;
}

ssize_t vfs_null_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)buf;
	(void)pos;
	return (ssize_t)len;
}

ssize_t vfs_zero_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	(void)pos;
	if (thread_interrupted())
		return -EINTR;
	memset(buf, 0, len);
	return (ssize_t)len;
}

static const struct file_ops null_ops = { .read = vfs_null_read, .write = vfs_null_write };
static const struct file_ops zero_ops = { .read = vfs_zero_read, .write = vfs_null_write };

/* The whole text, to be freed; NULL when out of memory. */
static char *vfs_make_text(const struct vfs_special *special, size_t *out_len)
{
	for (size_t size = TEXT_BYTES;; size *= 2) {
		char *text = kmalloc(size);

		if (!text)
			return NULL;
		*out_len = special->show(text, size);
		if (*out_len < size - 1)
			return text;
		kfree(text); /* it may be cut */
	}
}

/*
 * The text is made anew at each read: it may change between the reads of a reader that needs two.
 */
static ssize_t vfs_text_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	const struct vfs_special *special = file->object;
	size_t size;
	char *text = vfs_make_text(special, &size);

	if (!text)
		return -ENOMEM;
	if (*pos >= size) {
		len = 0;
	} else {
		if (len > size - *pos)
			len = size - *pos;
		memcpy(buf, text + *pos, len);
	}
	*pos += len;
	kfree(text);
	return (ssize_t)len;
}

const struct file_ops vfs_text_ops = { .read = vfs_text_read, .has_position = true };

static size_t show_cmdline(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "%s\n", boot_command_line());
}

static size_t show_version(char *buf, size_t size)
{
	return trace_scnprintf(buf, size, "Fathom %s (%s)\n", KERNEL_VERSION, KERNEL_COMPILER);
}

static size_t show_uptime(char *buf, size_t size)
{
	uint64_t centis = ktime_get_ns() / (NSEC_PER_SEC / 100);
	struct sched_cpu_stats stats;
	uint64_t idle_ns = 0;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (!smp_cpu_online(cpu))
			continue;
		sched_cpu_stats_get(cpu, &stats);
		idle_ns += stats.idle_ns;
	}
	idle_ns /= NSEC_PER_SEC / 100;
	return trace_scnprintf(buf, size, "%lu.%02lu %lu.%02lu\n", centis / 100, centis % 100,
			       idle_ns / 100, idle_ns % 100);
}

static size_t show_meminfo(char *buf, size_t size)
{
	struct mm_stats stats;
	uint64_t kib = PAGE_SIZE / 1024;

	mm_stats_get(&stats);
	return trace_scnprintf(buf, size,
			       "MemTotal:       %8lu kB\n"
			       "MemFree:        %8lu kB\n"
			       "MemAvailable:   %8lu kB\n"
			       "Buffers:        %8lu kB\n"
			       "Cached:         %8lu kB\n"
			       "SwapTotal:      %8lu kB\n"
			       "SwapFree:       %8lu kB\n"
			       "Slab:           %8lu kB\n"
			       "VmallocUsed:    %8lu kB\n"
			       "KernelStack:    %8lu kB\n"
			       "PageTables:     %8lu kB\n",
			       stats.total_pages * kib, stats.free_pages * kib,
			       stats.free_pages * kib, 0ul, 0ul, 0ul, 0ul, stats.slab_pages * kib,
			       stats.vmalloc_pages * kib, stats.stack_pages * kib,
			       stats.page_table_pages * kib);
}

/*
 * Write the line at position `*pos`, and set it to that of the next line. The position is the index
 * of a symbol, then of a variable; behind the last come trampolines, and it is the address of the
 * last one that was shown. Returns the line's length, 0 at the end.
 */
static size_t vfs_kallsyms_line(char *line, size_t size, uint64_t *pos)
{
	struct symbols_variable variable;
	uint32_t nr = symbols_count();
	char name[KSYM_NAME_LEN];
	uintptr_t addr = 0;
	size_t bytes;

	if (*pos < nr) {
		symbols_get((uint32_t)*pos, name, &addr);
		++*pos;
		return trace_scnprintf(line, size, "%016lx t %s\n", addr, name);
	}
	if (*pos > UINT32_MAX) {
		addr = (uintptr_t)*pos;
	} else if (symbols_get_variable((uint32_t)*pos - nr, name, &variable)) {
		++*pos;
		return trace_scnprintf(line, size, "%016lx %c %s\n", variable.addr,
				       variable.is_constant ? 'r' : 'd', name);
	}
	if (!trampoline_next(&addr, &bytes))
		return 0;
	*pos = addr;
	return trace_scnprintf(line, size, "%016lx t ftrace_trampoline\t[__builtin__ftrace]\n",
			       addr);
}

ssize_t vfs_switch_read(bool on, void *buf, size_t len, uint64_t *pos)
{
	const char text[] = { on ? '1' : '0', '\n' };

	if (*pos >= sizeof(text))
		return 0;
	if (len > sizeof(text) - *pos)
		len = sizeof(text) - *pos;
	memcpy(buf, text + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

int vfs_switch_parse(const void *buf, size_t len, bool *out)
{
	char letters[3] = { 0 }; /* str_to_bool() looks at two letters at most */

	memcpy(letters, buf, len < 2 ? len : 2);
	return str_to_bool(letters, out);
}

ssize_t vfs_lines_read(struct file *file, void *buf, size_t len, uint64_t *pos,
		       vfs_line_fn next_line)
{
	char line[VFS_LINE_MAX];
	size_t done = 0;

	if (*pos < file->next_pos)
		file->next_pos = file->next_line = 0;
	while (done < len) {
		uint64_t next = file->next_line;
		size_t line_len = next_line(line, sizeof(line), &next);
		size_t from = *pos + done - file->next_pos; /* bytes of it that were read before */

		if (!line_len)
			break;
		if (from < line_len) {
			size_t part = line_len - from < len - done ? line_len - from : len - done;

			memcpy((char *)buf + done, line + from, part);
			done += part;
			if (from + part < line_len)
				break;
		}
		file->next_pos += line_len;
		file->next_line = next;
	}
	*pos += done;
	return (ssize_t)done;
}

static ssize_t vfs_kallsyms_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return vfs_lines_read(file, buf, len, pos, vfs_kallsyms_line);
}

static const struct file_ops kallsyms_ops = { .read = vfs_kallsyms_read, .has_position = true };

static ssize_t vfs_btf_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	size_t size = btf_bytes();

	(void)file;
	if (*pos >= size)
		return 0;
	if (len > size - *pos)
		len = size - *pos;
	memcpy(buf, (const char *)&btf_blob + *pos, len);
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops btf_ops = { .read = vfs_btf_read, .has_position = true };

/* The file of the kernel's types, in a kernel that has them. */
static const struct vfs_special btf_special = { "/sys/kernel/btf", "vmlinux", 0444, 0,
						&btf_ops,	   NULL,      NULL };

static const struct vfs_special specials[] = {
	{ "/dev", "console", 0600, VFS_DEV(5, 1), &console_file_ops, NULL, NULL },
	{ "/dev", "null", 0666, VFS_DEV(1, 3), &null_ops, NULL, NULL },
	{ "/dev", "shell", 0600, VFS_DEV(DEV_LOCAL, 0), &shell_file_ops, NULL, NULL },
	{ "/dev", "tty", 0666, VFS_DEV(5, 0), &tty_file_ops, NULL, NULL },
	{ "/dev", "zero", 0666, VFS_DEV(1, 5), &zero_ops, NULL, NULL },
	{ "/proc", "cmdline", 0444, 0, NULL, show_cmdline, NULL },
	{ "/proc", "kallsyms", 0444, 0, &kallsyms_ops, NULL, NULL },
	{ "/proc", "meminfo", 0444, 0, NULL, show_meminfo, NULL },
	{ "/proc", "uptime", 0444, 0, NULL, show_uptime, NULL },
	{ "/proc", "version", 0444, 0, NULL, show_version, NULL },
};

static const struct vfs_special *special_find(const struct vfs_special *table, size_t nr,
					      uint32_t dev)
{
	for (size_t i = 0; i < nr; i++) {
		if (table[i].dev == dev)
			return &table[i];
	}
	return NULL;
}

const struct vfs_special *vfs_device_of(uint32_t dev)
{
	const struct vfs_special *found = NULL;

	if (dev)
		found = special_find(specials, ARRAY_SIZE(specials), dev);
	if (dev && !found)
		found = special_find(vfs_machine_specials, vfs_nr_machine_specials, dev);
	if (dev && !found)
		found = pty_device_of(dev);
	return found;
}

static const char *const dirs[] = {
	"/dev",
	"/dev/shm",
	"/proc",
	"/proc/sys",
	"/proc/sys/kernel",
	"/proc/sys/debug",
	"/tmp",
	"/sys",
	"/sys/devices",
	"/sys/devices/system",
	"/sys/devices/system/cpu",
	"/sys/kernel",
	"/sys/kernel/btf",
	"/sys/kernel/livepatch",
	"/sys/kernel/tracing",
	"/sys/kernel/debug",
	"/sys/kernel/debug/kprobes",
	"/sys/kernel/debug/tracing",
};

/* Names in /dev for the descriptors of the program that asks. */
static int vfs_link_devices(void)
{
	static const char *const links[][2] = { { "/dev/fd", "/proc/self/fd" },
						{ "/dev/stdin", "/proc/self/fd/0" },
						{ "/dev/stdout", "/proc/self/fd/1" },
						{ "/dev/stderr", "/proc/self/fd/2" } };
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(links) && !err; i++)
		err = vfs_make_symlink("/", links[i][0], links[i][1]);
	return err;
}

int vfs_init(void)
{
	const struct vfs_stat all_may_write = { .mode = 01777 };
	int err = vfs_ram_init(dirs, ARRAY_SIZE(dirs));

	if (!err)
		err = vfs_ram_add(specials, ARRAY_SIZE(specials));
	if (!err)
		err = vfs_ram_add(vfs_machine_specials, vfs_nr_machine_specials);
	if (!err)
		err = vfs_cpus_init();
	if (!err)
		err = vfs_programs_init();
	if (!err)
		err = vfs_ram_add(vfs_sysctl_specials, vfs_nr_sysctl_specials);
	if (!err)
		err = vfs_ram_add(vfs_kprobes_specials, vfs_nr_kprobes_specials);
	if (!err && btf_bytes())
		err = vfs_ram_add(&btf_special, 1);
	if (!err)
		err = vfs_link_devices();
	if (!err)
		err = vfs_set_attr("/", "/tmp", VFS_SET_MODE, &all_may_write);
	if (!err)
		err = vfs_set_attr("/", "/dev/shm", VFS_SET_MODE, &all_may_write);
	if (!err)
		initramfs_unpack();
	return err;
}
