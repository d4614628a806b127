/* The terminal's state, its jobs, and reading: see <kernel/tty.h>. */
#include <kernel/console.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/vfs.h>
#include "process.h"
#include "tty.h"

#define DECISECOND_NS (100 * NSEC_PER_MSEC)

/* The settings at the start, as those of a console of Linux. */
static const struct user_termios tty_start_settings = {
	.iflag = ICRNL | IXON,
	.oflag = OPOST | ONLCR,
	.cflag = 0x1cb2, /* 115200 baud, 8 bits, no modem */
	.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	.cc = { 3, 0x1c, 0x7f, 0x15, 4, 0, 1, 0, 0x11, 0x13, 0x1a, 0, 0x12, 0xf, 0x17, 0x16, 0 },
};

struct tty tty = { .winsize = { .rows = 24, .columns = 80 } };

void tty_note_settings(void)
{
	const uint8_t *cc = tty.termios.cc;
	uint32_t keys = 0, edits = ICANON | IEXTEN;

	if ((tty.termios.lflag & edits) == edits)
		keys = (uint32_t)cc[VLNEXT] << 24;
	if (tty.termios.lflag & ISIG)
		keys |= (uint32_t)cc[VINTR] | (uint32_t)cc[VQUIT] << 8 | (uint32_t)cc[VSUSP] << 16;
	atomic_store(&tty.keys, keys);
	atomic_store(&tty.is_literal, false);
	atomic_store(&tty.keeps_typed, tty.termios.lflag & NOFLSH);
}

/* ---- Keys that send signals ---- */

bool tty_is_active(void)
{
	return atomic_load(&tty.session);
}

bool tty_flushes_on_signal(void)
{
	return !atomic_load(&tty.keeps_typed);
}

int tty_signal_of(uint8_t byte)
{
	uint32_t keys = atomic_load(&tty.keys);

	if (!byte || atomic_exchange(&tty.is_literal, false))
		return 0;
	if (byte == (uint8_t)(keys >> 24))
		atomic_store(&tty.is_literal, true);
	if (byte == (uint8_t)keys)
		return SIGINT;
	if (byte == (uint8_t)(keys >> 8))
		return SIGQUIT;
	return byte == (uint8_t)(keys >> 16) ? SIGTSTP : 0;
}

static void tty_echo_signal(int sig)
{
	const char *text = sig == SIGINT ? "^C" : "^\\";

	if (tty.termios.lflag & ECHO)
		console_write_now(sig == SIGTSTP ? "^Z" : text, 2);
}

/* To the group in the foreground; without one, to all of the session. */
static void tty_tell(int sig)
{
	const struct user_siginfo info = siginfo_from_kernel(sig);
	int32_t foreground = atomic_load(&tty.foreground);

	if (foreground)
		kill_pgrp(foreground, sig, &info);
	else if (atomic_load(&tty.session))
		kill_session(atomic_load(&tty.session), sig, &info);
}

bool tty_send_signals(uint64_t signals)
{
	bool is_shells = !atomic_load(&tty.foreground);

	if (tty_flushes_on_signal())
		atomic_store(&tty.is_flushed, true);
	for (int sig = 1; sig <= NSIG; sig++) {
		if (!(signals & sigmask(sig)) || (is_shells && sig == SIGINT))
			continue;
		tty_echo_signal(sig);
		tty_tell(sig);
	}
	return !(is_shells && signals & sigmask(SIGINT));
}

/* ---- Jobs ---- */

static bool tty_is_terminal_of(const struct process *process)
{
	return process->has_tty && process->sid == atomic_load(&tty.session);
}

bool tty_is_foreground(const struct process *process)
{
	int32_t foreground = atomic_load(&tty.foreground);

	return tty_is_terminal_of(process) && (!foreground || process->pgid == foreground);
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

static int tty_check_read(void)
{
	const struct process *process = current_process();

	if (tty_is_foreground(process))
		return 0;
	if (!tty_is_terminal_of(process) || tty_signal_is_off(SIGTTIN))
		return -EIO;
	return tty_stop_background(SIGTTIN);
}

int tty_check_change(void)
{
	const struct process *process = current_process();

	if (!tty_is_terminal_of(process) || tty_is_foreground(process) ||
	    tty_signal_is_off(SIGTTOU))
		return 0;
	return tty_stop_background(SIGTTOU);
}

int tty_begin_write(bool *out_is_raw)
{
	uint32_t post = OPOST | ONLCR;

	*out_is_raw = tty_is_active() && (tty.termios.oflag & post) != post;
	return tty.termios.lflag & TOSTOP ? tty_check_change() : 0;
}

bool tty_begin_program(struct process *process, int32_t job)
{
	bool has_it = false;

	mutex_lock(&tty.lock);
	if (!tty.nr_programs) {
		tty.termios = tty_start_settings;
		tty_note_settings();
		atomic_store(&tty.foreground, 0);
		atomic_store(&tty.session, process->sid);
		console_wake_readers(); /* it can read now */
		tty.job = job;
		has_it = true;
	} else if (tty.job == job) {
		process->sid = atomic_load(&tty.session);
		has_it = true;
	}
	process->has_tty = has_it;
	tty.nr_programs += has_it;
	mutex_unlock(&tty.lock);
	return has_it;
}

void tty_end_program(void)
{
	mutex_lock(&tty.lock);
	if (!--tty.nr_programs) {
		if (atomic_load(&tty.foreground)) {
			tty_tell(SIGHUP);
			tty_tell(SIGCONT);
		}
		forget_session_tty(atomic_load(&tty.session));
		atomic_store(&tty.session, 0);
		atomic_store(&tty.foreground, 0);
		tty_flush_input();
	}
	mutex_unlock(&tty.lock);
}

void tty_disassociate(struct process *process)
{
	int32_t session = process->sid;

	if (!process->has_tty || process->pid != session || session != atomic_load(&tty.session))
		return;
	mutex_lock(&tty.lock);
	/* The kernel's shell waits for one that it has started, and takes the terminal back itself. */
	if (!tty.nr_programs) {
		tty_tell(SIGHUP);
		tty_tell(SIGCONT);
		forget_session_tty(session);
		atomic_store(&tty.session, 0);
		atomic_store(&tty.foreground, 0);
	}
	mutex_unlock(&tty.lock);
}

int tty_open(struct file *file)
{
	(void)file;
	return current_thread()->task && !tty_is_terminal_of(current_process()) ? -ENXIO : 0;
}

/* ---- Reading ---- */

bool tty_has_reader(void)
{
	return current_thread()->task;
}

/* As many bytes as a read waits for. */
static size_t tty_wanted(size_t len)
{
	uint8_t min = tty.termios.cc[VMIN];

	if (tty.termios.lflag & ICANON)
		return 1;
	if (!min)
		return 1;
	return min < len ? min : len;
}

/* The condition of a wait for `*arg` bytes, or as many as the settings say. */
static bool tty_can_read(void *arg)
{
	bool can;

	mutex_lock(&tty.lock);
	tty_pump();
	can = tty_nr_ready() >= tty_wanted(*(size_t *)arg);
	mutex_unlock(&tty.lock);
	return can;
}

bool tty_is_readable(void)
{
	size_t one = 1;

	return tty_is_foreground(current_process()) && tty_can_read(&one);
}

/* How long a read waits; bytes between which VTIME passes are read as they come. */
static uint64_t tty_patience_ns(const struct file *file)
{
	const struct user_termios *set = &tty.termios;

	if (file->flags & VFS_NONBLOCK)
		return 0;
	if (set->lflag & ICANON || (set->cc[VMIN] && !set->cc[VTIME]))
		return WAIT_FOREVER;
	return set->cc[VMIN] ? WAIT_FOREVER : set->cc[VTIME] * DECISECOND_NS;
}

/* Wait for enough bytes. With VMIN and VTIME: for the first one, then until none comes for that time. */
static int tty_wait(struct file *file, size_t len)
{
	uint64_t patience_ns = tty_patience_ns(file);
	bool is_timed =
		!(tty.termios.lflag & ICANON) && tty.termios.cc[VMIN] && tty.termios.cc[VTIME];
	size_t wanted = is_timed ? 1 : len;
	int err = console_wait(tty_can_read, &wanted, patience_ns);

	while (is_timed && !err && wanted < tty_wanted(len)) {
		wanted++;
		err = console_wait(tty_can_read, &wanted, tty.termios.cc[VTIME] * DECISECOND_NS);
	}
	if (err != -ETIMEDOUT)
		return err;
	return file->flags & VFS_NONBLOCK && !tty_nr_ready() ? -EAGAIN : 0;
}

ssize_t tty_read(struct file *file, void *buf, size_t len)
{
	ssize_t got;
	int err = tty_check_read();

	if (!err && len)
		err = tty_wait(file, len);
	if (err)
		return err;
	mutex_lock(&tty.lock);
	got = (ssize_t)tty_take(buf, len);
	mutex_unlock(&tty.lock);
	return got;
}
