/*
 * The console on COM1: bytes in, bytes out, CR LF at line ends.
 *
 * Messages of printk() appear only at the start of a line, never inside a line of a command or
 * behind the prompt; they wait for the end of the line. A panic does not wait. A message that came
 * before a write at the start of a line is shown before its bytes, as far as the ring has room.
 *
 * Context:   thread, unless said.
 * Locking:   inside. The bytes of one console_write() are never mixed with those of another.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <kernel/base.h>

struct poll_table;
struct thread;

/* Polled output, from the first line of kernel_main() on. */
void console_early_init(void);
/* From here on interrupt driven: threads and interrupts work. */
void console_init(void);

/*
 * Send the bytes, "\n" as CR LF; waits for room in the ring of output, not until they are sent. 0,
 * or -EINTR when the thread is interrupted before all were taken.
 */
int console_write(const char *buf, size_t len);
/* As console_write(), but sends the bytes as they are. For line editing. */
int console_write_raw(const char *buf, size_t len);
/* As much of it as there is room for. Any context but NMI. */
void console_write_now(const char *buf, size_t len);
/* Wait until every byte that was written before has left the machine. */
void console_drain(void);

/*
 * The next byte typed (0-255). -EINTR when the thread is interrupted; -EAGAIN when nothing comes
 * within timeout_ns; -EIO when all bytes that were kept have been read, and those typed after them
 * were lost because the ring was full.
 */
int console_getc_timeout(uint64_t timeout_ns);
/* The next byte typed, or -EAGAIN: there is none, or another thread waits for it; -EIO as above. */
int console_getc_now(void);
/* Wait until done(arg), which is asked again when bytes were typed: see waitq_wait(). */
int console_wait(bool (*done)(void *arg), void *arg, uint64_t timeout_ns);
/* Have those who wait look again: what counts as input has changed. */
void console_wake_readers(void);
/* For file_ops.poll: name the queue that is woken when bytes were typed. */
void console_poll_wait(struct poll_table *table);
/*
 * Has console_getc_timeout(), since the last call of this, come to a place where bytes are missing
 * because they were typed faster than they were read?
 */
bool console_take_lost(void);

/*
 * Set the target of Ctrl-C: it interrupts `thread` and all threads of its group. NULL: it
 * interrupts none, and is read as the byte 0x03. The thread must not end while it is set here.
 */
void console_set_sigint_target(struct thread *thread);
/*
 * May the calling thread read what is typed? The group of Ctrl-C's target may, and any thread while
 * there is no target; but never one of the kernel's own, THREAD_SERVICE.
 */
bool console_is_foreground(void);

/*
 * For panic() only, any context: from now on the console is polled and takes no locks. Bytes that
 * wait are sent first, and the panic begins on a new line.
 */
void console_panic_begin(void);
void console_panic_write(const char *buf, size_t len);

/* For printk(): show new messages if that is possible now; else they appear later. Any context. */
void console_flush_messages(void);
/* The same, by a softirq: takes no lock, wakes no thread. Any context, preemption off. */
void console_flush_later(void);

#endif
