/* The console as a terminal: see <kernel/tty.h>. */
#include <stdatomic.h>
#include <kernel/console.h>
#include <kernel/vfs.h>
#include "process.h"
#include "pty.h"
#include "tty.h"

static void console_echo(struct tty *tty, const char *text, size_t len)
{
	(void)tty;
	console_write(text, len);
}

static int console_wait_for(struct tty *tty, bool (*done)(void *arg), void *arg,
			    uint64_t timeout_ns)
{
	(void)tty;
	return console_wait(done, arg, timeout_ns);
}

static void console_wake(struct tty *tty)
{
	(void)tty;
	console_wake_readers();
}

static const struct tty_ops tty_console_ops = {
	.echo = console_echo,
	.getc_now = console_getc_now,
	.wait = console_wait_for,
	.wake = console_wake,
	.drain = console_drain,
};

static struct tty tty_console = {
	.ops = &tty_console_ops,
	.id = TTY_ID_CONSOLE,
	.winsize = { .rows = 24, .columns = 80 },
};

struct tty *tty_get(uint64_t id)
{
	return id == TTY_ID_CONSOLE ? &tty_console : pty_get_tty(id);
}

void tty_put(struct tty *tty)
{
	if (tty && tty != &tty_console)
		pty_put_tty(tty);
}

/* ---- Keys ---- */

bool tty_is_active(void)
{
	return atomic_load(&tty_console.session);
}

bool tty_flushes_on_signal(void)
{
	return !atomic_load(&tty_console.keeps_typed);
}

int tty_signal_of(uint8_t byte)
{
	return tty_key_signal(&tty_console, byte);
}

bool tty_send_signals(uint64_t signals)
{
	bool is_shells = !atomic_load(&tty_console.foreground);

	if (tty_flushes_on_signal())
		atomic_store(&tty_console.is_flushed, true);
	for (int sig = 1; sig <= NSIG; sig++) {
		if (!(signals & sigmask(sig)) || (is_shells && sig == SIGINT))
			continue;
		if (*tty_key_echo(&tty_console, sig))
			console_write_now(tty_key_echo(&tty_console, sig), 2);
		tty_tell(&tty_console, sig);
	}
	return !(is_shells && signals & sigmask(SIGINT));
}

/* ---- The kernel's shell gives it to programs ---- */

bool tty_begin_program(struct process *process, int32_t job)
{
	bool has_it = false;

	mutex_lock(&tty_console.lock);
	if (!tty_console.nr_programs) {
		tty_console.termios = tty_start_settings;
		tty_note_settings(&tty_console);
		atomic_store(&tty_console.foreground, 0);
		atomic_store(&tty_console.session, process->sid);
		console_wake_readers(); /* it can read now */
		tty_console.job = job;
		has_it = true;
	} else if (tty_console.job == job) {
		process->sid = atomic_load(&tty_console.session);
		has_it = true;
	}
	process->tty_id = has_it ? tty_console.id : 0;
	tty_console.nr_programs += has_it;
	mutex_unlock(&tty_console.lock);
	return has_it;
}

void tty_end_program(void)
{
	mutex_lock(&tty_console.lock);
	if (!--tty_console.nr_programs) {
		if (atomic_load(&tty_console.foreground)) {
			tty_tell(&tty_console, SIGHUP);
			tty_tell(&tty_console, SIGCONT);
		}
		tty_forget_session(&tty_console);
		tty_flush_input(&tty_console);
	}
	mutex_unlock(&tty_console.lock);
}

/* ---- As a file ---- */

bool tty_has_reader(void)
{
	return current_thread()->task;
}

int tty_begin_write(bool *out_is_raw)
{
	uint32_t post = OPOST | ONLCR;

	*out_is_raw = tty_is_active() && (tty_console.termios.oflag & post) != post;
	return tty_check_write(&tty_console);
}

ssize_t tty_read(struct file *file, void *buf, size_t len)
{
	return tty_read_bytes(&tty_console, file, buf, len);
}

bool tty_is_readable(void)
{
	return tty_is_foreground(&tty_console, current_process()) && tty_has_bytes(&tty_console, 1);
}

long tty_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	(void)file;
	return tty_control(&tty_console, cmd, arg);
}

/* One that is no console makes another kind of file of it. */
int tty_open(struct file *file)
{
	struct tty *tty;

	if (!current_thread()->task)
		return 0;
	tty = tty_get(current_process()->tty_id);
	if (!tty || !tty_is_terminal_of(tty, current_process())) {
		tty_put(tty);
		return -ENXIO;
	}
	return tty == &tty_console ? 0 : pty_open_own(file, tty);
}
