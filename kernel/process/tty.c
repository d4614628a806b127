/* A terminal's state, its jobs, and reading: see tty.h. */
#include <stdatomic.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/vfs.h>
#include "process.h"
#include "tty.h"

#define DECISECOND_NS (100 * NSEC_PER_MSEC)

/* As those of a console of Linux. */
const struct user_termios tty_start_settings = {
	.iflag = ICRNL | IXON,
	.oflag = OPOST | ONLCR,
	.cflag = 0x1cb2, /* 115200 baud, 8 bits, no modem */
	.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	.cc = { 3, 0x1c, 0x7f, 0x15, 4, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0xf, 0x17, 0x16, 0 },
};

void tty_note_settings(struct tty *tty)
{
	const uint8_t *cc = tty->termios.cc;
	uint32_t keys = 0, edits = ICANON | IEXTEN;

	if ((tty->termios.lflag & edits) == edits)
		keys = (uint32_t)cc[VLNEXT] << 24;
	if (tty->termios.lflag & ISIG)
		keys |= (uint32_t)cc[VINTR] | (uint32_t)cc[VQUIT] << 8 | (uint32_t)cc[VSUSP] << 16;
	atomic_store(&tty->keys, keys);
	atomic_store(&tty->is_literal, false);
	atomic_store(&tty->keeps_typed, tty->termios.lflag & NOFLSH);
}

/* ---- Keys that send signals ---- */

int tty_key_signal(struct tty *tty, uint8_t byte)
{
	uint32_t keys = atomic_load(&tty->keys);

	if (!byte || atomic_exchange(&tty->is_literal, false))
		return 0;
	if (byte == (uint8_t)(keys >> 24))
		atomic_store(&tty->is_literal, true);
	if (byte == (uint8_t)keys)
		return SIGINT;
	if (byte == (uint8_t)(keys >> 8))
		return SIGQUIT;
	return byte == (uint8_t)(keys >> 16) ? SIGTSTP : 0;
}

const char *tty_key_echo(const struct tty *tty, int sig)
{
	const char *text = sig == SIGINT ? "^C" : "^\\";

	if (!(tty->termios.lflag & ECHO))
		return "";
	return sig == SIGTSTP ? "^Z" : text;
}

static void tty_tell_group(int32_t pgid, int sig)
{
	const struct user_siginfo info = siginfo_from_kernel(sig);

	if (pgid)
		kill_pgrp(pgid, sig, &info);
}

void tty_tell(struct tty *tty, int sig)
{
	const struct user_siginfo info = siginfo_from_kernel(sig);
	int32_t foreground = atomic_load(&tty->foreground);

	if (foreground)
		kill_pgrp(foreground, sig, &info);
	else if (atomic_load(&tty->session))
		kill_session(atomic_load(&tty->session), sig, &info);
}

/* ---- Jobs ---- */

bool tty_is_terminal_of(struct tty *tty, const struct process *process)
{
	return process->tty_id == tty->id && process->sid == atomic_load(&tty->session);
}

bool tty_is_foreground(struct tty *tty, const struct process *process)
{
	int32_t foreground = atomic_load(&tty->foreground);

	return tty_is_terminal_of(tty, process) && (!foreground || process->pgid == foreground);
}

bool tty_reads_of(struct tty *tty, const struct process *process)
{
	return tty_is_foreground(tty, process) ||
	       (tty->reads_of_others && !tty_is_terminal_of(tty, process));
}

static bool tty_signal_is_off(int sig)
{
	const struct task *task = current_task();
	uint64_t handler = task->process->signals.sighand->actions[sig - 1].handler;

	return handler == SIG_IGN || task->signals.blocked & sigmask(sig);
}

static bool tty_is_orphaned(void)
{
	bool is_orphaned;

	mutex_lock(&process_lock);
	is_orphaned = is_orphaned_pgrp(current_process()->pgid);
	mutex_unlock(&process_lock);
	return is_orphaned;
}

/* A process of the background is stopped, and tries again when it goes on. */
static int tty_stop_background(int sig)
{
	const struct user_siginfo info = siginfo_from_kernel(sig);

	if (tty_is_orphaned())
		return -EIO;
	kill_pgrp(current_process()->pgid, sig, &info);
	return -ERESTARTSYS;
}

static int tty_check_read(struct tty *tty)
{
	const struct process *process = current_process();

	if (tty_reads_of(tty, process))
		return 0;
	if (!tty_is_terminal_of(tty, process) || tty_signal_is_off(SIGTTIN))
		return -EIO;
	return tty_stop_background(SIGTTIN);
}

int tty_check_change(struct tty *tty)
{
	const struct process *process = current_process();

	if (!tty_is_terminal_of(tty, process) || tty_is_foreground(tty, process) ||
	    tty_signal_is_off(SIGTTOU))
		return 0;
	return tty_stop_background(SIGTTOU);
}

int tty_check_write(struct tty *tty)
{
	return tty->termios.lflag & TOSTOP ? tty_check_change(tty) : 0;
}

void tty_forget_session(struct tty *tty)
{
	forget_session_tty(atomic_load(&tty->session));
	atomic_store(&tty->session, 0);
	atomic_store(&tty->foreground, 0);
}

void tty_disassociate(struct process *process)
{
	struct tty *tty = process->pid == process->sid ? tty_get(process->tty_id) : NULL;
	int32_t foreground = 0;

	if (!tty)
		return;
	mutex_lock(&tty->lock);
	/* The kernel's shell waits for one that it has started, and takes the terminal back itself. */
	if (tty_is_terminal_of(tty, process) && !tty->nr_programs) {
		foreground = atomic_load(&tty->foreground);
		if (!foreground) {
			tty_tell(tty, SIGHUP);
			tty_tell(tty, SIGCONT);
		}
		tty_forget_session(
			tty); /* first: those that hear of it have no terminal any more */
	}
	mutex_unlock(&tty->lock);
	tty_tell_group(foreground, SIGHUP);
	tty_tell_group(foreground, SIGCONT);
	tty_put(tty);
}

/* ---- Reading ---- */

/* As many bytes as a read waits for. */
static size_t tty_wanted(struct tty *tty, size_t len)
{
	uint8_t min = tty->termios.cc[VMIN];

	if (tty->termios.lflag & ICANON)
		return 1;
	if (!min)
		return 1;
	return min < len ? min : len;
}

bool tty_has_bytes(struct tty *tty, size_t len)
{
	bool has;

	mutex_lock(&tty->lock);
	tty_pump(tty);
	has = tty_nr_ready(tty) >= tty_wanted(tty, len);
	mutex_unlock(&tty->lock);
	return has;
}

bool tty_is_gone(struct tty *tty, const struct file *file)
{
	return atomic_load(&tty->nr_hang_ups) != (uint32_t)file->pos;
}

struct tty_wait {
	struct tty *tty;
	const struct file *file;
	size_t wanted; /* bytes, or as many as the settings say */
};

static bool tty_can_read(void *arg)
{
	const struct tty_wait *wait = arg;

	return tty_has_bytes(wait->tty, wait->wanted) || tty_is_gone(wait->tty, wait->file);
}

/* How long a read waits; bytes between which VTIME passes are read as they come. */
static uint64_t tty_patience_ns(const struct tty *tty, const struct file *file)
{
	const struct user_termios *set = &tty->termios;

	if (file->flags & VFS_NONBLOCK)
		return 0;
	if (set->lflag & ICANON || (set->cc[VMIN] && !set->cc[VTIME]))
		return WAIT_FOREVER;
	return set->cc[VMIN] ? WAIT_FOREVER : set->cc[VTIME] * DECISECOND_NS;
}

/* Wait for enough bytes. With VMIN and VTIME: for the first one, then until none comes for that time. */
static int tty_wait(struct tty *tty, const struct file *file, size_t len)
{
	uint64_t patience_ns = tty_patience_ns(tty, file);
	bool is_timed =
		!(tty->termios.lflag & ICANON) && tty->termios.cc[VMIN] && tty->termios.cc[VTIME];
	struct tty_wait wait = { .tty = tty, .file = file, .wanted = is_timed ? 1 : len };
	int err = tty->ops->wait(tty, tty_can_read, &wait, patience_ns);

	while (is_timed && !err && wait.wanted < tty_wanted(tty, len)) {
		wait.wanted++;
		err = tty->ops->wait(tty, tty_can_read, &wait,
				     tty->termios.cc[VTIME] * DECISECOND_NS);
	}
	if (err != -ETIMEDOUT)
		return err;
	return file->flags & VFS_NONBLOCK && !tty_nr_ready(tty) ? -EAGAIN : 0;
}

ssize_t tty_read_bytes(struct tty *tty, const struct file *file, void *buf, size_t len)
{
	ssize_t got;
	int err = tty_is_gone(tty, file) ? 0 : tty_check_read(tty);

	if (!err && len)
		err = tty_wait(tty, file, len);
	if (err)
		return err;
	mutex_lock(&tty->lock);
	got = tty_is_gone(tty, file) ? 0 : (ssize_t)tty_take(tty, buf, len);
	mutex_unlock(&tty->lock);
	return got;
}
