/*
 * The console on COM1: bytes in, bytes out, CR LF at line ends.
 *
 * Messages of printk() appear only at the start of a line, never inside a line of a command or
 * behind the prompt; they wait for the end of the line. A panic does not wait.
 *
 * Context:   thread, unless said. Locking: inside; one console_write() is never torn by another.
 */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include <kernel/base.h>

struct thread;

/* Polled output, from the first line of kernel_main() on. */
void console_early_init(void);
/* From here on interrupt driven: threads and interrupts work. */
void console_init(void);

/* Every "\n" goes out as CR LF. 0, or -EINTR when interrupted before all was taken. */
int console_write(const char *buf, size_t len);
/* The same bytes as they are, for line editing. */
int console_write_raw(const char *buf, size_t len);
/* Wait until every byte has left the machine. */
void console_drain(void);

/*
 * Next byte typed (0-255); -EINTR when interrupted; -EAGAIN when nothing comes within timeout_ns;
 * -EIO: the newest were lost, see below.
 */
int console_getc_timeout(uint64_t timeout_ns);
/*
 * Was something typed faster than it was read, so that bytes are missing before one that
 * console_getc_timeout() has given since the last call of this?
 */
bool console_take_lost(void);

/*
 * Who Ctrl-C interrupts: `thread` and everyone in its group. NULL: nobody, the byte 0x03 is read by
 * console_getc_timeout(). The target must not end while it is set.
 */
void console_set_sigint_target(struct thread *thread);
/*
 * May the calling thread read what is typed? The target's group may; everyone when there is none.
 */
bool console_is_foreground(void);

/* Take over for good: polled, locks ignored, at a new line. Any context; panic only. */
void console_panic_begin(void);
void console_panic_write(const char *buf, size_t len);

/* Called by printk: show new messages if that can be done now. Any context. */
void console_flush_messages(void);

#endif
