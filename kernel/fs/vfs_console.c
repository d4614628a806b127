/*
 * The console as a file. Programs read it as a terminal. To commands reading gives a line at a time, edited and echoed; the rest of a line that
 * did not fit is kept for the next read. Jobs in the background get -EIO, because typed lines are
 * for the foreground.
 *
 * Locking: read_lock guards the kept line, and lets one reader in at a time.
 */
#include <stdatomic.h>
#include <kernel/console.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include <kernel/tty.h>
#include <kernel/vfs.h>
#include "shell/line/line.h"
#include "vfs_mount.h"

static struct mutex read_lock;
static char *kept;	/* the line that is being handed out; NULL for none */
static size_t kept_pos; /* bytes of it that were handed out */
static size_t kept_len;
static _Atomic bool is_inside_line; /* the last byte written was no newline */

/* Let the user type the next line, into `kept`. Its length, 0 at the end of input, or -errno. */
static int console_fill_kept(void)
{
	struct line_options plain = { .prompt = "", .keeps_newline = true };
	char *line;
	int len = line_read(&plain, &line);

	if (len == -EMSGSIZE || len == -EIO)
		kfree(line);
	if (len <= 0)
		return len == -ENODATA ? 0 : len;
	atomic_store(&is_inside_line, false);
	kept = line;
	kept_pos = 0;
	kept_len = (size_t)len;
	return len;
}

static ssize_t console_read_kept(void *buf, size_t len)
{
	size_t part;

	if (!kept) {
		int err = console_fill_kept();

		if (err <= 0)
			return err;
	}
	part = kept_len - kept_pos;
	if (part > len)
		part = len;
	memcpy(buf, kept + kept_pos, part);
	kept_pos += part;
	if (kept_pos == kept_len) {
		kfree(kept);
		kept = NULL;
	}
	return (ssize_t)part;
}

static ssize_t console_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	ssize_t got;
	int err;

	(void)pos;
	if (tty_has_reader())
		return tty_read(file, buf, len);
	/* Linux stops such a job by SIGTTIN, and gives -EIO to one that cannot be stopped. */
	if (!console_is_foreground())
		return -EIO;
	err = mutex_lock_interruptible(&read_lock);
	if (err)
		return err;
	got = console_read_kept(buf, len);
	mutex_unlock(&read_lock);
	return got;
}

static ssize_t console_file_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	const char *text = buf;
	bool is_raw = false;
	int err = tty_has_reader() ? tty_begin_write(&is_raw) : 0;

	(void)file;
	(void)pos;
	if (!len || err)
		return err;
	atomic_store(&is_inside_line, text[len - 1] != '\n');
	err = is_raw ? console_write_raw(text, len) : console_write(text, len);
	return err ? err : (ssize_t)len;
}

/* Commands of the shell always find something to read: they wait in reading. */
static bool console_is_readable(struct file *file)
{
	(void)file;
	return !tty_has_reader() || tty_is_readable();
}

static uint32_t console_poll(struct file *file, struct poll_table *table)
{
	console_poll_wait(table);
	return (console_is_readable(file) ? POLLIN : 0) | POLLOUT;
}

const struct file_ops console_file_ops = {
	.read = console_read,
	.write = console_file_write,
	.is_readable = console_is_readable,
	.poll = console_poll,
	.ioctl = tty_ioctl,
	.is_console = true,
};
/* /dev/tty: the console, for those whose controlling terminal it is. */
const struct file_ops tty_file_ops = {
	.open = tty_open,
	.read = console_read,
	.write = console_file_write,
	.is_readable = console_is_readable,
	.poll = console_poll,
	.ioctl = tty_ioctl,
	.is_console = true,
};

struct file *console_file_open(void)
{
	return file_create(&console_file_ops, NULL, VFS_READ | VFS_WRITE);
}

void console_fresh_line(void)
{
	if (atomic_exchange(&is_inside_line, false))
		console_write("\n", 1);
}
