/*
 * Console output, see <kernel/console.h>.
 *
 *   console_write() ---------------------.
 *                                        +--> out.ring --> UART interrupt
 *   dmesg ring, at the start of a line --'
 *
 * Until console_init() there is no interrupt: each byte is sent at once, by polling. A writer of
 * the ring holds out.lock; the UART takes the bytes without it. `column` says whether the cursor
 * stands at the start of a line: only there messages go out.
 */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/uart.h>
#include <kernel/console.h>
#include <kernel/lock.h>
#include <kernel/preempt.h>
#include <kernel/pstore.h>
#include <kernel/softirq.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "console_priv.h"
#include "dmesg.h"

#define TX_BYTES   8192u
#define TX_WAKE	   (TX_BYTES / 2) /* wake writers when this much is free */
#define PREFIX_MAX 24		  /* bytes of the time stamp before a message */

static struct {
	struct spinlock lock; /* with interrupts off */
	struct mutex writer;  /* one console_write() at a time */
	struct waitq room;
	_Atomic uint32_t head;	     /* next byte to put in; lock held */
	_Atomic uint32_t tail;	     /* next byte to send; the UART's lock held */
	_Atomic uint32_t has_waiter; /* a writer waits for room: SOFTIRQ_CONSOLE is to be raised */
	_Atomic uint32_t is_started; /* interrupt driven */
	_Atomic uint32_t is_panicking;
	_Atomic uint32_t column; /* 0: start of a line; changes with the lock held */
	uint64_t next_message;	 /* to show, for dmesg_read(); lock held */
	struct dmesg_line line;	 /* being shown; lock held */
	char ring[TX_BYTES];
} out;

static _Atomic uint32_t console_level = LOG_INFO;

static TRACE_ALWAYS_INLINE uint32_t console_tx_room(void)
{
	return TX_BYTES - (atomic_load(&out.head) - atomic_load(&out.tail));
}

static TRACE_ALWAYS_INLINE uint32_t console_column(void)
{
	return atomic_load_explicit(&out.column, memory_order_relaxed);
}

/* Lock held. */
static void console_move(bool to_start)
{
	uint32_t column = to_start ? 0 : console_column() + 1;

	atomic_store_explicit(&out.column, column, memory_order_relaxed);
}

/* Lock held, room checked. */
static void console_put_byte(char c)
{
	uint32_t head = atomic_load_explicit(&out.head, memory_order_relaxed);

	if (!atomic_load(&out.is_started)) {
		uart_early_putc(UART_COM1, (uint8_t)c);
		return;
	}
	out.ring[head % TX_BYTES] = c;
	/* release: the UART reads the byte after it saw the new head. */
	atomic_store_explicit(&out.head, head + 1, memory_order_release);
}

/* Lock held; room for two bytes. */
static void console_put_text_byte(char c)
{
	if (c == '\n')
		console_put_byte('\r');
	console_put_byte(c);
	console_move(c == '\n' || c == '\r');
}

/* The UART asks for the next byte to send; its lock is held. False when there is none. */
static bool console_tx(unsigned int port, uint8_t *out_byte)
{
	uint32_t tail = atomic_load_explicit(&out.tail, memory_order_relaxed);

	(void)port;
	if (tail == atomic_load_explicit(&out.head, memory_order_acquire)) {
		if (atomic_exchange(&out.has_waiter, 0))
			raise_softirq(SOFTIRQ_CONSOLE);
		return false;
	}
	*out_byte = (uint8_t)out.ring[tail % TX_BYTES];
	atomic_store_explicit(&out.tail, tail + 1, memory_order_release);
	if (console_tx_room() == TX_WAKE && atomic_exchange(&out.has_waiter, 0))
		raise_softirq(SOFTIRQ_CONSOLE);
	return true;
}

static void console_put_message(const struct dmesg_line *line)
{
	char prefix[PREFIX_MAX];
	uint64_t us = line->time_ns / NSEC_PER_USEC;

	trace_snprintf(prefix, sizeof(prefix), "[%5lu.%06lu] ", us / 1000000, us % 1000000);
	for (const char *p = prefix; *p; p++)
		console_put_text_byte(*p);
	for (uint32_t i = 0; i < line->len; i++)
		console_put_text_byte(line->text[i]);
	console_put_text_byte('\n');
}

/*
 * Show all messages that are new. False when some must wait, because the cursor is in the middle of
 * a line or there is no room in the ring. Lock held.
 */
static bool console_show_messages_locked(void)
{
	atomic_thread_fence(memory_order_seq_cst); /* pairs with console_flush_later() */
	while (console_column() == 0) {
		if (atomic_load(&out.is_started) &&
		    console_tx_room() < PRINTK_LINE_MAX + PREFIX_MAX + 2) {
			atomic_store(&out.has_waiter, 1);
			return false;
		}
		if (!dmesg_read(&out.next_message, &out.line))
			return true;
		if (out.line.level <= atomic_load(&console_level))
			console_put_message(&out.line);
	}
	return false;
}

void console_flush_messages(void)
{
	uint64_t flags;

	if (atomic_load(&out.is_panicking)) {
		console_panic_messages();
		return;
	}
	pstore_console();
	/* In an NMI nothing is shown now: the next message or end of a line brings it along. */
	while (!in_nmi() && spin_trylock_irqsave(&out.lock, &flags)) {
		uint64_t end = dmesg_end();
		bool is_done = console_show_messages_locked();

		spin_unlock_irqrestore(&out.lock, flags);
		uart_tx_kick(UART_COM1);
		/* A message may have come whose CPU found the lock taken: we must show it. */
		if (!is_done || dmesg_end() == end)
			break;
	}
}

/*
 * Nothing is done while the cursor is in the middle of a line: the writer that ends the line shows
 * all messages. The fence here and the one in console_show_messages_locked() see to it that we see
 * the end of the line, or that writer sees our message. Nothing is done either while a writer waits
 * for room and bytes are being sent, because the UART raises the softirq behind them. Without bytes
 * it does not: has_waiter may have been set just after the last one was sent.
 */
TRACE_NOTRACE void console_flush_later(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (console_column() == 0 &&
	    (!atomic_load(&out.has_waiter) || console_tx_room() == TX_BYTES))
		raise_softirq_notrace(SOFTIRQ_CONSOLE);
}

void printk_set_console_level(enum log_level level)
{
	atomic_store(&console_level, (uint32_t)level);
}

/* Put as many bytes into the ring as there is room for; returns their number. */
static size_t console_write_some(const char *buf, size_t len, bool raw)
{
	size_t done = 0;
	uint64_t flags = spin_lock_irqsave(&out.lock);

	/* Probes leave their messages to a softirq, which may be late: they came before this text. */
	if (console_column() == 0)
		console_show_messages_locked();
	while (done < len && console_tx_room() >= 2) {
		if (raw) {
			console_put_byte(buf[done]);
			console_move(buf[done] == '\n' || buf[done] == '\r');
		} else {
			console_put_text_byte(buf[done]);
		}
		done++;
	}
	if (console_column() == 0)
		console_show_messages_locked();
	spin_unlock_irqrestore(&out.lock, flags);
	uart_tx_kick(UART_COM1);
	return done;
}

static bool console_has_room(void *arg)
{
	(void)arg;
	if (console_tx_room() >= TX_WAKE)
		return true;
	atomic_store(&out.has_waiter, 1);
	/* Asked again, because the UART may have looked at has_waiter before it was set. */
	return console_tx_room() >= TX_WAKE;
}

static int console_write_all(const char *buf, size_t len, bool raw)
{
	size_t done = 0;
	int err = mutex_lock_interruptible(&out.writer);

	if (err)
		return err;
	while (!err) {
		done += console_write_some(buf + done, len - done, raw);
		if (done == len)
			break;
		err = waitq_wait(&out.room, console_has_room, NULL, true, WAIT_FOREVER);
	}
	mutex_unlock(&out.writer);
	return err;
}

int console_write(const char *buf, size_t len)
{
	return console_write_all(buf, len, false);
}

int console_write_raw(const char *buf, size_t len)
{
	return console_write_all(buf, len, true);
}

void console_write_now(const char *buf, size_t len)
{
	console_write_some(buf, len, false);
}

/* Have all bytes been sent that came before number *(uint32_t *)arg? */
static bool console_is_sent(const void *arg)
{
	return (int32_t)(atomic_load(&out.tail) - *(const uint32_t *)arg) >= 0;
}

static bool console_is_drained(void *arg)
{
	if (console_is_sent(arg))
		return true;
	atomic_store(&out.has_waiter, 1);
	return console_is_sent(arg);
}

/* Bytes that come meanwhile are not waited for: messages may come without end. */
void console_drain(void)
{
	uint32_t end = atomic_load(&out.head);

	waitq_wait(&out.room, console_is_drained, &end, false, WAIT_FOREVER);
	uart_flush(UART_COM1);
}

/* SOFTIRQ_CONSOLE: there is room in the ring again, or bytes came in. */
static void console_softirq(void)
{
	waitq_wake_all(&out.room);
	console_flush_messages();
	console_input_arrived();
}

void console_early_init(void)
{
	uart_init();
}

void console_init(void)
{
	static const struct uart_client client = { .rx = console_rx, .tx = console_tx };
	uint64_t flags;
	int err;

	open_softirq(SOFTIRQ_CONSOLE, console_softirq);
	flags = spin_lock_irqsave(&out.lock);
	uart_flush(UART_COM1);
	atomic_store(&out.is_started, 1);
	spin_unlock_irqrestore(&out.lock, flags);
	err = uart_start(UART_COM1, &client);
	if (err) {
		atomic_store(&out.is_started, 0);
		pr_warn("Console: no interrupt for COM1 (%d), output only\n", err);
	}
}

void console_panic_begin(void)
{
	uint32_t tail = atomic_load(&out.tail), head = atomic_load(&out.head);

	if (atomic_exchange(&out.is_panicking, 1))
		return;
	/* Send what is in the ring. No locks: the other CPUs are stopped, and may hold them. */
	for (; tail != head; tail++)
		uart_early_putc(UART_COM1, (uint8_t)out.ring[tail % TX_BYTES]);
	atomic_store(&out.tail, head);
	if (console_column())
		console_panic_write("\n", 1);
	console_panic_skip_to(out.next_message, (enum log_level)atomic_load(&console_level));
}
