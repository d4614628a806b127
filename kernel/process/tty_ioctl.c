/* ioctl() of the terminal: settings, window, jobs. See <kernel/tty.h>. */
#include <kernel/console.h>
#include <kernel/string.h>
#include "process.h"
#include "tty.h"

#define TCGETS	   0x5401u
#define TCSETS	   0x5402u
#define TCSETSW	   0x5403u /* when all is sent */
#define TCSETSF	   0x5404u /* the same, and what was typed is forgotten */
#define TCSBRK	   0x5409u
#define TCFLSH	   0x540bu
#define TIOCSCTTY  0x540eu
#define TIOCGPGRP  0x540fu
#define TIOCSPGRP  0x5410u
#define TIOCGWINSZ 0x5413u
#define TIOCSWINSZ 0x5414u
#define FIONREAD   0x541bu
#define TIOCNOTTY  0x5422u
#define TIOCGSID   0x5429u

#define TCOFLUSH 1ul /* of TCFLSH: output, which is on its way already */

static long tty_put(unsigned long arg, const void *from, size_t bytes)
{
	return copy_to_user((void *)arg, from, bytes) ? -EFAULT : 0;
}

/* ---- Settings ---- */

static long tty_get_settings(unsigned long arg)
{
	struct user_termios settings;

	mutex_lock(&tty.lock);
	settings = tty.termios;
	mutex_unlock(&tty.lock);
	return tty_put(arg, &settings, sizeof(settings));
}

/* Bytes of an unfinished line can be read when lines are none any more, and those of raw mode are a line. */
static void tty_change_settings(const struct user_termios *settings, bool flushes)
{
	mutex_lock(&tty.lock);
	if (flushes) {
		tty_pump();
		tty_flush_input();
	}
	tty.termios = *settings;
	tty.ready = tty.head;
	tty_note_settings();
	mutex_unlock(&tty.lock);
	console_wake_readers(); /* a read may end now that would have waited */
}

static long tty_set_settings(unsigned int cmd, unsigned long arg)
{
	struct user_termios settings;
	int err = tty_check_change();

	if (err)
		return err;
	if (copy_from_user(&settings, (const void *)arg, sizeof(settings)))
		return -EFAULT;
	if (cmd != TCSETS)
		console_drain();
	tty_change_settings(&settings, cmd == TCSETSF);
	return 0;
}

static long tty_flush(unsigned long queue)
{
	int err = tty_check_change();

	if (err)
		return err;
	if (queue > 2)
		return -EINVAL;
	if (queue == TCOFLUSH)
		return 0;
	mutex_lock(&tty.lock);
	tty_pump();
	tty_flush_input();
	mutex_unlock(&tty.lock);
	return 0;
}

static long tty_count_readable(unsigned long arg)
{
	int nr;

	mutex_lock(&tty.lock);
	if (tty_is_foreground(current_process()))
		tty_pump();
	nr = (int)tty_nr_ready();
	mutex_unlock(&tty.lock);
	return tty_put(arg, &nr, sizeof(nr));
}

/* ---- The window ---- */

static long tty_set_window(unsigned long arg)
{
	const struct user_siginfo info = siginfo_from_kernel(SIGWINCH);
	int32_t foreground = atomic_load(&tty.foreground);
	struct user_winsize size;
	bool changes;

	if (copy_from_user(&size, (const void *)arg, sizeof(size)))
		return -EFAULT;
	mutex_lock(&tty.lock);
	changes = memcmp(&size, &tty.winsize, sizeof(size)) != 0;
	tty.winsize = size;
	mutex_unlock(&tty.lock);
	if (changes && foreground)
		kill_pgrp(foreground, SIGWINCH, &info);
	else if (changes && tty_is_active())
		kill_session(atomic_load(&tty.session), SIGWINCH, &info);
	return 0;
}

/* ---- Jobs ---- */

static bool tty_is_mine(void)
{
	return current_process()->has_tty && current_process()->sid == atomic_load(&tty.session);
}

/* Without a group in the foreground, every one of the session is there. */
static long tty_get_foreground(unsigned long arg)
{
	int32_t foreground = atomic_load(&tty.foreground);

	if (!tty_is_mine())
		return -ENOTTY;
	if (!foreground)
		foreground = current_process()->pgid;
	return tty_put(arg, &foreground, sizeof(foreground));
}

static long tty_set_foreground(unsigned long arg)
{
	int32_t pgid;
	int err;

	if (!tty_is_mine())
		return -ENOTTY;
	err = tty_check_change();
	if (err)
		return err;
	if (copy_from_user(&pgid, (const void *)arg, sizeof(pgid)))
		return -EFAULT;
	if (pgid < 0)
		return -EINVAL;
	if (!process_group_is_in_session(pgid, current_process()->sid))
		return -EPERM;
	atomic_store(&tty.foreground, pgid);
	console_wake_readers(); /* the new foreground can read */
	return 0;
}

static long tty_get_session(unsigned long arg)
{
	int32_t session = atomic_load(&tty.session);

	return tty_is_mine() ? tty_put(arg, &session, sizeof(session)) : -ENOTTY;
}

/* The leader of a session without a terminal makes this its own, if it is free. */
static long tty_take_terminal(void)
{
	struct process *process = current_process();
	long err = 0;

	if (tty_is_mine())
		return 0;
	if (process->pid != process->sid || process->has_tty)
		return -EPERM;
	mutex_lock(&tty.lock);
	if (atomic_load(&tty.session)) {
		err = -EPERM;
	} else {
		process->has_tty = true;
		atomic_store(&tty.foreground, process->pgid);
		atomic_store(&tty.session, process->sid);
		console_wake_readers();
	}
	mutex_unlock(&tty.lock);
	return err;
}

static long tty_give_up(void)
{
	if (!tty_is_mine())
		return -ENOTTY;
	tty_disassociate(current_process());
	current_process()->has_tty = false;
	return 0;
}

static long tty_ioctl_of_jobs(unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TIOCGPGRP:
		return tty_get_foreground(arg);
	case TIOCSPGRP:
		return tty_set_foreground(arg);
	case TIOCGSID:
		return tty_get_session(arg);
	case TIOCSCTTY:
		return tty_take_terminal();
	case TIOCNOTTY:
		return tty_give_up();
	default:
		return -ENOTTY;
	}
}

long tty_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	(void)file;
	switch (cmd) {
	case TCGETS:
		return tty_get_settings(arg);
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return tty_set_settings(cmd, arg);
	case TCSBRK:
		console_drain();
		return 0;
	case TCFLSH:
		return tty_flush(arg);
	case FIONREAD:
		return tty_count_readable(arg);
	case TIOCGWINSZ:
		return tty_put(arg, &tty.winsize, sizeof(tty.winsize));
	case TIOCSWINSZ:
		return tty_set_window(arg);
	default:
		return tty_ioctl_of_jobs(cmd, arg);
	}
}
