/* The two sides of terminals that programs make: see pty.h. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/poll.h>
#include "process.h"
#include "pty.h"

static struct pty *pty_of(struct tty *tty)
{
	return (struct pty *)tty;
}

/* ---- From the slave to the master ---- */

/* Two bytes, as a newline may need. */
static bool pty_has_room(const struct pty *pty)
{
	return pty->head - pty->tail + 2 <= PTY_BYTES;
}

static void pty_put(struct pty *pty, uint8_t byte)
{
	uint32_t post = OPOST | ONLCR;

	if (byte == '\n' && (pty->tty.termios.oflag & post) == post)
		pty->ring[pty->head++ % PTY_BYTES] = '\r';
	pty->ring[pty->head++ % PTY_BYTES] = byte;
}

/* Without room it is lost. */
static void pty_echo(struct tty *tty, const char *text, size_t len)
{
	while (len-- && pty_has_room(pty_of(tty)))
		pty_put(pty_of(tty), (uint8_t)*text++);
}

static size_t pty_take(struct pty *pty, uint8_t *to, size_t len)
{
	size_t nr = 0;

	while (nr < len && pty->tail != pty->head)
		to[nr++] = pty->ring[pty->tail++ % PTY_BYTES];
	return nr;
}

/* ---- Of both ---- */

static void pty_wake(struct tty *tty)
{
	waitq_wake_all(&pty_of(tty)->changed);
}

static int pty_wait(struct tty *tty, bool (*done)(void *arg), void *arg, uint64_t timeout_ns)
{
	return waitq_wait(&pty_of(tty)->changed, done, arg, true, timeout_ns);
}

const struct tty_ops pty_tty_ops = {
	.echo = pty_echo,
	.wait = pty_wait,
	.wake = pty_wake,
};

/* A wait of a file for its other side. */
struct pty_wait {
	struct pty *pty;
	const struct file *file;
};

static int pty_wait_for(const struct file *file, bool (*done)(void *arg))
{
	struct pty_wait wait = { .pty = file->object, .file = file };

	return file->flags & VFS_NONBLOCK
		       ? -EAGAIN
		       : waitq_wait(&wait.pty->changed, done, &wait, true, WAIT_FOREVER);
}

/* ---- The slave ---- */

static ssize_t pty_slave_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct pty *pty = file->object;
	ssize_t got = tty_read_bytes(&pty->tty, file, buf, len);

	(void)pos;
	if (got > 0)
		pty_wake(&pty->tty); /* there is room for more */
	return got;
}

static bool pty_slave_can_write(void *arg)
{
	const struct pty_wait *wait = arg;
	bool can;

	mutex_lock(&wait->pty->tty.lock);
	can = pty_has_room(wait->pty) || tty_is_gone(&wait->pty->tty, wait->file);
	mutex_unlock(&wait->pty->tty.lock);
	return can;
}

/* As much as there is room for now. 0, or -EIO after a hang-up. */
static int pty_slave_put(const struct file *file, const uint8_t *bytes, size_t len,
			 size_t *inout_nr)
{
	struct pty *pty = file->object;
	int err = 0;

	mutex_lock(&pty->tty.lock);
	if (tty_is_gone(&pty->tty, file))
		err = -EIO;
	while (!err && *inout_nr < len && pty_has_room(pty))
		pty_put(pty, bytes[(*inout_nr)++]);
	mutex_unlock(&pty->tty.lock);
	pty_wake(&pty->tty);
	return err;
}

static ssize_t pty_slave_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct pty *pty = file->object;
	int err = tty_is_gone(&pty->tty, file) ? -EIO : tty_check_write(&pty->tty);
	size_t nr = 0;

	(void)pos;
	while (!err && nr < len) {
		err = pty_slave_put(file, buf, len, &nr);
		if (!err && nr < len)
			err = pty_wait_for(file, pty_slave_can_write);
	}
	return nr ? (ssize_t)nr : err;
}

static bool pty_slave_is_readable(struct file *file)
{
	struct pty *pty = file->object;

	return tty_is_gone(&pty->tty, file) || tty_has_bytes(&pty->tty, 1);
}

static uint32_t pty_slave_poll(struct file *file, struct poll_table *table)
{
	struct pty *pty = file->object;
	uint32_t events;

	poll_wait(table, &pty->changed);
	if (tty_is_gone(&pty->tty, file))
		return POLLIN | POLLOUT | POLLERR | POLLHUP;
	events = tty_has_bytes(&pty->tty, 1) ? POLLIN : 0;
	mutex_lock(&pty->tty.lock);
	events |= pty_has_room(pty) ? POLLOUT : 0;
	mutex_unlock(&pty->tty.lock);
	return events;
}

static long pty_slave_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct pty *pty = file->object;

	return tty_is_gone(&pty->tty, file) ? -EIO : tty_control(&pty->tty, cmd, arg);
}

static int pty_slave_close(struct file *file)
{
	struct pty *pty = file->object;

	mutex_lock(&pty->tty.lock);
	if (!tty_is_gone(&pty->tty, file))
		pty->nr_slaves--;
	mutex_unlock(&pty->tty.lock);
	pty_wake(&pty->tty);
	pty_put_tty(&pty->tty);
	return 0;
}

static const struct file_ops pty_slave_ops = {
	.read = pty_slave_read,
	.write = pty_slave_write,
	.is_readable = pty_slave_is_readable,
	.poll = pty_slave_poll,
	.ioctl = pty_slave_ioctl,
	.close = pty_slave_close,
};

int pty_open_slave(struct pty *pty, struct file *file)
{
	int err = 0;

	mutex_lock(&pty->tty.lock);
	if (pty->has_master && !pty->is_locked) {
		pty->nr_slaves++;
		pty->was_opened = true;
		file->ops = &pty_slave_ops;
		file->object = pty;
		file->pos = atomic_load(&pty->tty.nr_hang_ups);
	} else {
		err = -EIO;
	}
	mutex_unlock(&pty->tty.lock);
	if (!err && !(file->flags & VFS_NOCTTY))
		tty_take_terminal(&pty->tty); /* if it can */
	return err;
}

int pty_open_own(struct file *file, struct tty *tty)
{
	int err = pty_open_slave(pty_of(tty), file);

	if (err)
		pty_put_tty(tty);
	return err;
}

/* ---- The master ---- */

static bool pty_is_left(const struct pty *pty)
{
	return pty->was_opened && !pty->nr_slaves;
}

static bool pty_master_can_read(void *arg)
{
	struct pty *pty = ((struct pty_wait *)arg)->pty;
	bool can;

	mutex_lock(&pty->tty.lock);
	can = pty->tail != pty->head || pty_is_left(pty);
	mutex_unlock(&pty->tty.lock);
	return can;
}

static ssize_t pty_master_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct pty *pty = file->object;
	ssize_t got = 0;
	int err = 0;

	(void)pos;
	while (!got && !err && len) {
		mutex_lock(&pty->tty.lock);
		got = (ssize_t)pty_take(pty, buf, len);
		err = !got && pty_is_left(pty) ? -EIO : 0;
		mutex_unlock(&pty->tty.lock);
		if (!got && !err)
			err = pty_wait_for(file, pty_master_can_read);
	}
	pty_wake(&pty->tty);
	return got ? got : err;
}

/* A key that sends a signal, before what was typed and printed so far is read. Lock held. */
static void pty_type_signal(struct pty *pty, int sig)
{
	const char *text = tty_key_echo(&pty->tty, sig);

	if (!(pty->tty.termios.lflag & NOFLSH)) {
		tty_flush_input(&pty->tty);
		pty->tail = pty->head;
	}
	if (*text)
		pty_echo(&pty->tty, text, 2);
	tty_tell(&pty->tty, sig);
}

static void pty_type(struct pty *pty, uint8_t byte)
{
	int sig = tty_key_signal(&pty->tty, byte);

	if (sig)
		pty_type_signal(pty, sig);
	else
		tty_receive(&pty->tty, byte);
}

static bool pty_master_can_write(void *arg)
{
	struct pty *pty = ((struct pty_wait *)arg)->pty;
	bool can;

	mutex_lock(&pty->tty.lock);
	can = tty_has_room(&pty->tty);
	mutex_unlock(&pty->tty.lock);
	return can;
}

static ssize_t pty_master_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct pty *pty = file->object;
	const uint8_t *bytes = buf;
	size_t nr = 0;
	int err = 0;

	(void)pos;
	while (!err && nr < len) {
		mutex_lock(&pty->tty.lock);
		while (nr < len && tty_has_room(&pty->tty))
			pty_type(pty, bytes[nr++]);
		mutex_unlock(&pty->tty.lock);
		pty_wake(&pty->tty);
		if (nr < len)
			err = pty_wait_for(file, pty_master_can_write);
	}
	return nr ? (ssize_t)nr : err;
}

static uint32_t pty_master_poll(struct file *file, struct poll_table *table)
{
	struct pty *pty = file->object;
	uint32_t events;

	poll_wait(table, &pty->changed);
	mutex_lock(&pty->tty.lock);
	events = (pty->tail != pty->head ? POLLIN : 0) | (pty_is_left(pty) ? POLLHUP : 0) |
		 (tty_has_room(&pty->tty) ? POLLOUT : 0);
	mutex_unlock(&pty->tty.lock);
	return events;
}

static bool pty_master_is_readable(struct file *file)
{
	return pty_master_poll(file, NULL) & (POLLIN | POLLHUP);
}

static void pty_tell_leader(int32_t session)
{
	const struct user_siginfo hup = siginfo_from_kernel(SIGHUP);
	const struct user_siginfo cont = siginfo_from_kernel(SIGCONT);
	struct process *leader = session ? process_find(session) : NULL;

	if (!leader)
		return;
	send_signal(leader, NULL, SIGHUP, &hup);
	send_signal(leader, NULL, SIGCONT, &cont);
	process_put(leader);
}

/* Lock held. */
static void pty_hang_up(struct pty *pty)
{
	struct tty *tty = &pty->tty;

	tty_tell(tty, SIGHUP);
	tty_tell(tty, SIGCONT);
	pty_tell_leader(atomic_load(&tty->session));
	tty_forget_session(tty);
	tty_flush_input(tty);
	atomic_fetch_add(&tty->nr_hang_ups, 1);
	pty->nr_slaves = 0;
	pty_wake(tty);
}

static int pty_master_close(struct file *file)
{
	struct pty *pty = file->object;

	mutex_lock(&pty->tty.lock);
	pty->has_master = false;
	pty_hang_up(pty);
	mutex_unlock(&pty->tty.lock);
	pty_remove_name(pty);
	pty_put_tty(&pty->tty);
	return 0;
}

static const struct file_ops pty_master_ops = {
	.read = pty_master_read,
	.write = pty_master_write,
	.is_readable = pty_master_is_readable,
	.poll = pty_master_poll,
	.ioctl = pty_master_ioctl,
	.close = pty_master_close,
};

void pty_open_master(struct pty *pty, struct file *file)
{
	pty->has_master = true;
	file->ops = &pty_master_ops;
	file->object = pty;
}
