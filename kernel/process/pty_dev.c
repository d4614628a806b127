/* Names and numbers of terminals that programs make: /dev/ptmx, /dev/pts/N and the calls of the master. See pty.h. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vfs_at.h>
#include <trace/fmt.h>
#include "fs/vfs_mount.h"
#include "process.h"
#include "pty.h"

#define TIOCGPGRP   0x540fu
#define TIOCSCTTY   0x540eu
#define TIOCSPGRP   0x5410u
#define FIONREAD    0x541bu
#define TIOCNOTTY   0x5422u
#define TIOCGPTPEER 0x5441u
#define TIOCGPTN    0x80045430u
#define TIOCSPTLCK  0x40045431u
#define TIOCSIG	    0x40045436u
#define TIOCGPTLCK  0x80045439u

#define PTY_MAJOR   136u
#define PTY_TTY_GID 5u /* the group that may write to terminals, Debian's number */
#define PTY_NAME    24 /* bytes of "/dev/pts/N" */

static struct mutex pty_lock;
static struct pty *pty_table[NR_PTYS];
static struct vfs_special pty_specials[NR_PTYS]; /* what /dev/pts/N opens */
static uint32_t pty_serial;

/* ---- The table ---- */

static struct pty *pty_get(uint32_t index)
{
	struct pty *pty;

	mutex_lock(&pty_lock);
	pty = pty_table[index];
	if (pty)
		pty->refs++;
	mutex_unlock(&pty_lock);
	return pty;
}

struct tty *pty_get_tty(uint64_t id)
{
	uint32_t index = (uint32_t)id & 0xff;
	struct pty *pty = (uint32_t)id >> 8 == PTY_MAJOR && index < NR_PTYS ? pty_get(index) : NULL;

	if (!pty || pty->tty.id == id)
		return pty ? &pty->tty : NULL;
	pty_put_tty(&pty->tty);
	return NULL;
}

void pty_put_tty(struct tty *tty)
{
	struct pty *pty = (struct pty *)tty;
	bool is_last;

	mutex_lock(&pty_lock);
	is_last = !--pty->refs;
	if (is_last)
		pty_table[pty->index] = NULL;
	mutex_unlock(&pty_lock);
	if (is_last)
		kfree(pty);
}

static void pty_setup(struct pty *pty, uint32_t index)
{
	pty->index = index;
	pty->refs = 1;
	pty->is_locked = true;
	pty->tty.ops = &pty_tty_ops;
	pty->tty.id = (uint64_t)++pty_serial << 32 | VFS_DEV(PTY_MAJOR, index);
	pty->tty.reads_of_others = true;
	pty->tty.termios = tty_start_settings;
	pty->tty.termios.cflag = 0xbf; /* 38400 baud, 8 bits */
	tty_note_settings(&pty->tty);
}

/* One more, with a number of its own and one reference; NULL when out of memory or numbers. */
static struct pty *pty_create(int *out_err)
{
	struct pty *pty = kzalloc(sizeof(*pty));
	uint32_t index = 0;

	*out_err = -ENOMEM;
	if (!pty)
		return NULL;
	mutex_lock(&pty_lock);
	while (index < NR_PTYS && pty_table[index])
		index++;
	if (index < NR_PTYS) {
		pty_setup(pty, index);
		pty_table[index] = pty;
	}
	mutex_unlock(&pty_lock);
	if (index < NR_PTYS)
		return pty;
	kfree(pty);
	*out_err = -ENOSPC;
	return NULL;
}

/* ---- The name in /dev/pts ---- */

/* The running program may do all, up to pty_act_as(). */
static struct cred pty_act_as_root(void)
{
	struct task *task = current_thread()->task;
	struct cred kept = cred_of_root;

	if (task) {
		kept = task->cred;
		task->cred = cred_of_root;
	}
	return kept;
}

static void pty_act_as(const struct cred *kept)
{
	struct task *task = current_thread()->task;

	if (task)
		task->cred = *kept;
}

static void pty_name(const struct pty *pty, char *out_name)
{
	trace_snprintf(out_name, PTY_NAME, "/dev/pts/%u", pty->index);
}

/* It belongs to who has opened the master. */
static int pty_add_name(const struct pty *pty)
{
	const struct cred kept = pty_act_as_root();
	struct vfs_stat like = { .type = VFS_DEVICE,
				 .mode = 0620,
				 .dev = (uint32_t)pty->tty.id,
				 .uid = kept.user.fs,
				 .gid = PTY_TTY_GID };
	char name[PTY_NAME];
	const struct vfs_at at = { .path = name, .cwd = "/" };
	int err;

	pty_name(pty, name);
	err = vfs_mknod_at(&at, &like);
	if (!err)
		err = vfs_set_attr_at(&at, VFS_SET_UID | VFS_SET_GID, &like);
	pty_act_as(&kept);
	return err;
}

void pty_remove_name(const struct pty *pty)
{
	const struct cred kept = pty_act_as_root();
	char name[PTY_NAME];
	const struct vfs_at at = { .path = name, .cwd = "/" };

	pty_name(pty, name);
	vfs_remove_at(&at, false); /* or root has removed it before */
	pty_act_as(&kept);
}

/* Another file of the slave, for one who may not go by its name. */
static long pty_open_peer(const struct pty *pty, unsigned long flags)
{
	const struct cred kept = pty_act_as_root();
	uint32_t how = VFS_READ | VFS_WRITE | (flags & O_NOCTTY ? VFS_NOCTTY : 0) |
		       (flags & O_NONBLOCK ? VFS_NONBLOCK : 0);
	char name[PTY_NAME];
	struct file *file;
	int err;

	pty_name(pty, name);
	err = vfs_open("/", name, how, &file);
	pty_act_as(&kept);
	return err ? err : files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

/* ---- Calls of the master ---- */

static long pty_tell_word(unsigned long arg, int word)
{
	return copy_to_user((void *)arg, &word, sizeof(word)) ? -EFAULT : 0;
}

static long pty_set_lock(struct pty *pty, unsigned long arg)
{
	int word;

	if (copy_from_user(&word, (const void *)arg, sizeof(word)))
		return -EFAULT;
	mutex_lock(&pty->tty.lock);
	pty->is_locked = word;
	mutex_unlock(&pty->tty.lock);
	return 0;
}

static long pty_send_signal(struct pty *pty, unsigned long sig)
{
	if (sig != SIGINT && sig != SIGQUIT && sig != SIGTSTP)
		return -EINVAL;
	tty_tell(&pty->tty, (int)sig);
	return 0;
}

/* Of the jobs, the master is told the group in the foreground alone. */
static long pty_master_control(struct pty *pty, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case FIONREAD:
		return pty_tell_word(arg, (int)(pty->head - pty->tail));
	case TIOCGPGRP:
		return pty_tell_word(arg, atomic_load(&pty->tty.foreground));
	case TIOCSPGRP:
	case TIOCSCTTY:
	case TIOCNOTTY:
		return -ENOTTY;
	default:
		return tty_control(&pty->tty, cmd, arg);
	}
}

long pty_master_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pty *pty = file->object;

	switch (cmd) {
	case TIOCGPTN:
		return pty_tell_word(arg, (int)pty->index);
	case TIOCSPTLCK:
		return pty_set_lock(pty, arg);
	case TIOCGPTLCK:
		return pty_tell_word(arg, pty->is_locked);
	case TIOCGPTPEER:
		return pty_open_peer(pty, arg);
	case TIOCSIG:
		return pty_send_signal(pty, arg);
	default:
		return pty_master_control(pty, cmd, arg);
	}
}

/* ---- Opening ---- */

static int pty_open_by_number(struct file *file)
{
	const struct vfs_special *special = file->object;
	struct pty *pty =
		current_thread()->task ? pty_get((uint32_t)(uintptr_t)special->data) : NULL;
	int err = pty ? pty_open_slave(pty, file) : -EIO;

	if (pty && err)
		pty_put_tty(&pty->tty);
	return err;
}

static const struct file_ops pty_number_ops = { .open = pty_open_by_number };

/* The commands of the kernel's shell have no terminals. */
static int pty_open_multiplexer(struct file *file)
{
	struct pty *pty;
	int err = -EIO;

	pty = current_thread()->task ? pty_create(&err) : NULL;
	if (!pty)
		return err;
	err = pty_add_name(pty);
	if (err)
		pty_put_tty(&pty->tty);
	else
		pty_open_master(pty, file);
	return err;
}

static const struct file_ops pty_multiplexer_ops = { .open = pty_open_multiplexer };
static const struct vfs_special pty_multiplexer = {
	"/dev", "ptmx", 0666, VFS_DEV(5, 2), &pty_multiplexer_ops, NULL, NULL
};

const struct vfs_special *pty_device_of(uint32_t dev)
{
	uint32_t index = dev & 0xff;

	if (dev == pty_multiplexer.dev)
		return &pty_multiplexer;
	return dev >> 8 == PTY_MAJOR && index < NR_PTYS ? &pty_specials[index] : NULL;
}

int pty_init(void)
{
	int err = vfs_ram_add_dir("/dev/pts");

	for (uint32_t i = 0; i < NR_PTYS; i++)
		pty_specials[i] = (struct vfs_special){ .ops = &pty_number_ops,
							.data = (void *)(uintptr_t)i };
	return err ? err : vfs_ram_add(&pty_multiplexer, 1);
}
