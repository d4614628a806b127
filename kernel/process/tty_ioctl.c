/* ioctl() of a terminal: settings, window, jobs. See <kernel/tty.h>. */
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

static long tty_tell_program(unsigned long arg, const void *from, size_t bytes)
{
	return copy_to_user((void *)arg, from, bytes) ? -EFAULT : 0;
}

/* ---- Settings ---- */

static long tty_get_settings(struct tty *tty, unsigned long arg)
{
	struct user_termios settings;

	mutex_lock(&tty->lock);
	settings = tty->termios;
	mutex_unlock(&tty->lock);
	return tty_tell_program(arg, &settings, sizeof(settings));
}

/* Bytes of an unfinished line can be read when lines are none any more, and those of raw mode are a line. */
static void tty_change_settings(struct tty *tty, const struct user_termios *settings, bool flushes)
{
	mutex_lock(&tty->lock);
	if (flushes) {
		tty_pump(tty);
		tty_flush_input(tty);
	}
	tty->termios = *settings;
	tty->ready = tty->head;
	tty_note_settings(tty);
	mutex_unlock(&tty->lock);
	tty->ops->wake(tty); /* a read may end now that would have waited */
}

static long tty_set_settings(struct tty *tty, unsigned int cmd, unsigned long arg)
{
	struct user_termios settings;
	int err = tty_check_change(tty);

	if (err)
		return err;
	if (copy_from_user(&settings, (const void *)arg, sizeof(settings)))
		return -EFAULT;
	if (cmd != TCSETS && tty->ops->drain)
		tty->ops->drain();
	tty_change_settings(tty, &settings, cmd == TCSETSF);
	return 0;
}

static long tty_flush(struct tty *tty, unsigned long queue)
{
	int err = tty_check_change(tty);

	if (err)
		return err;
	if (queue > 2)
		return -EINVAL;
	if (queue == TCOFLUSH)
		return 0;
	mutex_lock(&tty->lock);
	tty_pump(tty);
	tty_flush_input(tty);
	mutex_unlock(&tty->lock);
	return 0;
}

static long tty_count_readable(struct tty *tty, unsigned long arg)
{
	int nr;

	mutex_lock(&tty->lock);
	if (tty_reads_of(tty, current_process()))
		tty_pump(tty);
	nr = (int)tty_nr_ready(tty);
	mutex_unlock(&tty->lock);
	return tty_tell_program(arg, &nr, sizeof(nr));
}

/* ---- The window ---- */

static long tty_set_window(struct tty *tty, unsigned long arg)
{
	const struct user_siginfo info = siginfo_from_kernel(SIGWINCH);
	int32_t foreground = atomic_load(&tty->foreground);
	struct user_winsize size;
	bool changes;

	if (copy_from_user(&size, (const void *)arg, sizeof(size)))
		return -EFAULT;
	mutex_lock(&tty->lock);
	changes = memcmp(&size, &tty->winsize, sizeof(size)) != 0;
	tty->winsize = size;
	mutex_unlock(&tty->lock);
	if (changes && foreground)
		kill_pgrp(foreground, SIGWINCH, &info);
	else if (changes && atomic_load(&tty->session))
		kill_session(atomic_load(&tty->session), SIGWINCH, &info);
	return 0;
}

/* ---- Jobs ---- */

static bool tty_is_mine(struct tty *tty)
{
	return tty_is_terminal_of(tty, current_process());
}

/* Without a group in the foreground, every one of the session is there. */
static long tty_get_foreground(struct tty *tty, unsigned long arg)
{
	int32_t foreground = atomic_load(&tty->foreground);

	if (!tty_is_mine(tty))
		return -ENOTTY;
	if (!foreground)
		foreground = current_process()->pgid;
	return tty_tell_program(arg, &foreground, sizeof(foreground));
}

static long tty_set_foreground(struct tty *tty, unsigned long arg)
{
	int32_t pgid;
	int err;

	if (!tty_is_mine(tty))
		return -ENOTTY;
	err = tty_check_change(tty);
	if (err)
		return err;
	if (copy_from_user(&pgid, (const void *)arg, sizeof(pgid)))
		return -EFAULT;
	if (pgid < 0)
		return -EINVAL;
	if (!process_group_is_in_session(pgid, current_process()->sid))
		return -EPERM;
	atomic_store(&tty->foreground, pgid);
	tty->ops->wake(tty); /* the new foreground can read */
	return 0;
}

static long tty_get_session(struct tty *tty, unsigned long arg)
{
	int32_t session = atomic_load(&tty->session);

	return tty_is_mine(tty) ? tty_tell_program(arg, &session, sizeof(session)) : -ENOTTY;
}

/* The leader of a session without a terminal makes this its own, if it is free. */
long tty_take_terminal(struct tty *tty)
{
	struct process *process = current_process();
	long err = 0;

	if (tty_is_mine(tty))
		return 0;
	if (process->pid != process->sid || process->tty_id)
		return -EPERM;
	mutex_lock(&tty->lock);
	if (atomic_load(&tty->session)) {
		err = -EPERM;
	} else {
		process->tty_id = tty->id;
		atomic_store(&tty->foreground, process->pgid);
		atomic_store(&tty->session, process->sid);
		tty->ops->wake(tty);
	}
	mutex_unlock(&tty->lock);
	return err;
}

static long tty_give_up(struct tty *tty)
{
	if (!tty_is_mine(tty))
		return -ENOTTY;
	tty_disassociate(current_process());
	current_process()->tty_id = 0;
	return 0;
}

static long tty_ioctl_of_jobs(struct tty *tty, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TIOCGPGRP:
		return tty_get_foreground(tty, arg);
	case TIOCSPGRP:
		return tty_set_foreground(tty, arg);
	case TIOCGSID:
		return tty_get_session(tty, arg);
	case TIOCSCTTY:
		return tty_take_terminal(tty);
	case TIOCNOTTY:
		return tty_give_up(tty);
	default:
		return -ENOTTY;
	}
}

long tty_control(struct tty *tty, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TCGETS:
		return tty_get_settings(tty, arg);
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return tty_set_settings(tty, cmd, arg);
	case TCSBRK:
		if (tty->ops->drain)
			tty->ops->drain();
		return 0;
	case TCFLSH:
		return tty_flush(tty, arg);
	case FIONREAD:
		return tty_count_readable(tty, arg);
	case TIOCGWINSZ:
		return tty_tell_program(arg, &tty->winsize, sizeof(tty->winsize));
	case TIOCSWINSZ:
		return tty_set_window(tty, arg);
	default:
		return tty_ioctl_of_jobs(tty, cmd, arg);
	}
}
