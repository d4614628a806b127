/*
 * The terminal: the console as programs see it, with lines, keys that send signals, and jobs.
 *
 *   byte  --console_rx()--> a key that sends a signal? --> tty_signal() --> the group in the foreground
 *                     '---> the console's ring
 *   read(), poll() --> tty_pump(): takes the ring's bytes, echoes them, makes lines of them
 *                      tty_take(): bytes for the program, when a line ends, or as VMIN and VTIME say
 *
 * It is in use while a program of the foreground runs. The kernel's shell and its commands read the
 * console without it. Bytes are looked at, and echoed, when a program reads or polls.
 *
 * Context:   thread of a program, unless said.
 * Locking:   tty.lock guards settings and what was typed. Session and group are read without it.
 * Ownership: none.
 */
#ifndef KERNEL_TTY_H
#define KERNEL_TTY_H

#include <kernel/base.h>

struct file;

#ifdef WITH_PROCESSES

/* The signal that a byte means for programs, or 0. Any context, not NMI. */
int tty_signal_of(uint8_t byte);
/* Does a program have the console? Then Ctrl-C is as its settings say. Any context. */
bool tty_is_active(void);
/*
 * Send signals, a bit each, to the group in the foreground, and echo their keys. False: that is the
 * kernel's shell's, which tells its programs of Ctrl-C itself. Softirq, thread.
 */
bool tty_send_signals(uint64_t signals);
/* Are typed bytes before such a key to be forgotten? Any context. */
bool tty_flushes_on_signal(void);

/* Is the running thread a program's? The next ones are for these. */
bool tty_has_reader(void);
ssize_t tty_read(struct file *file, void *buf, size_t len);
/* -errno: the program may not write now. *out_is_raw: the bytes are sent as they are. */
int tty_begin_write(bool *out_is_raw);
bool tty_is_readable(void);
long tty_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
/* For /dev/tty: has the running program a terminal? 0 or -ENXIO. */
int tty_open(struct file *file);

#else

static inline int tty_signal_of(uint8_t byte)
{
	(void)byte;
	return 0;
}
static inline bool tty_is_active(void)
{
	return false;
}
static inline bool tty_send_signals(uint64_t signals)
{
	(void)signals;
	return false;
}
static inline bool tty_flushes_on_signal(void)
{
	return true;
}
static inline bool tty_has_reader(void)
{
	return false;
}
static inline ssize_t tty_read(struct file *file, void *buf, size_t len)
{
	(void)file;
	(void)buf;
	(void)len;
	return -EIO;
}
static inline int tty_begin_write(bool *out_is_raw)
{
	*out_is_raw = false;
	return 0;
}
static inline bool tty_is_readable(void)
{
	return true;
}
static inline long tty_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	(void)file;
	(void)cmd;
	(void)arg;
	return -ENOTTY;
}
static inline int tty_open(struct file *file)
{
	(void)file;
	return 0;
}

#endif

#endif
