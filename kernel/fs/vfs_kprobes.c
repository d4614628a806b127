/*
 * /sys/kernel/debug/kprobes: the list of probes, the list of places where none can be, and the
 * switch for all.
 *
 * Context:   thread.
 * Locking:   that of the probes.
 * Ownership: the table is constant.
 */
#include <arch/sections.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <trace/fmt.h>
#include <trace/kprobe.h>
#include <trace/kretprobe.h>
#include <trace/platform.h>
#include "vfs_mount.h"

#define KPROBES_DIR "/sys/kernel/debug/kprobes"

#define AT_RETURNS (1ull << 62) /* in a position: the rest is that in the list of kretprobes */

/* Probes at instructions, and then those at returns. */
static size_t kprobes_list_line(char *line, size_t size, uint64_t *pos)
{
	uint64_t cursor = *pos & ~AT_RETURNS;
	size_t len = 0;

	if (!(*pos & AT_RETURNS)) {
		len = kprobes_list_next(pos, line, size);
		cursor = 0;
	}
	if (!len) {
		len = kretprobes_list_next(&cursor, line, size);
		*pos = AT_RETURNS | cursor;
	}
	return len;
}

static ssize_t kprobes_list_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return vfs_lines_read(file, buf, len, pos, kprobes_list_line);
}

/* The position is the end of the last function. */
static size_t kprobes_blacklist_line(char *line, size_t size, uint64_t *pos)
{
	uintptr_t at = *pos ? *pos : (uintptr_t)text_start, start;
	char name[KSYM_NAME_LEN];
	size_t bytes;

	for (; at < (uintptr_t)text_end; at++) {
		if (!symbols_lookup(at, name, &start, &bytes))
			continue;
		if (trace_plat_probe_refusal(start, 1)) {
			*pos = start + bytes;
			return trace_scnprintf(line, size, "0x%016lx-0x%016lx\t%s\n", start,
					       start + bytes, name);
		}
		at = start + bytes - 1;
	}
	return 0;
}

static ssize_t kprobes_blacklist_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	return vfs_lines_read(file, buf, len, pos, kprobes_blacklist_line);
}

static ssize_t kprobes_enabled_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	(void)file;
	return vfs_switch_read(kprobes_are_enabled(), buf, len, pos);
}

static ssize_t kprobes_enabled_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	bool on = false;
	int err = vfs_switch_parse(buf, len, &on);

	(void)file;
	if (!err)
		err = kprobes_set_enabled(on);
	if (err)
		return err;
	*pos += len;
	return (ssize_t)len;
}

static const struct file_ops list_ops = { .read = kprobes_list_read, .has_position = true };
static const struct file_ops blacklist_ops = { .read = kprobes_blacklist_read,
					       .has_position = true };
static const struct file_ops enabled_ops = { .read = kprobes_enabled_read,
					     .write = kprobes_enabled_write,
					     .has_position = true };

const struct vfs_special vfs_kprobes_specials[] = {
	{ KPROBES_DIR, "blacklist", 0400, 0, &blacklist_ops, NULL, NULL },
	{ KPROBES_DIR, "enabled", 0600, 0, &enabled_ops, NULL, NULL },
	{ KPROBES_DIR, "list", 0400, 0, &list_ops, NULL, NULL },
};
const size_t vfs_nr_kprobes_specials = ARRAY_SIZE(vfs_kprobes_specials);
