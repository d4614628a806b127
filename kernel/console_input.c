/*
 * Console input, see <kernel/console.h>: a ring between the UART's interrupt and the one reader.
 */
#include <stdatomic.h>
#include <kernel/console.h>
#include <kernel/lock.h>
#include <kernel/poll.h>
#include <kernel/softirq.h>
#include <kernel/thread.h>
#include <kernel/tty.h>
#include "console_priv.h"

#define RX_BYTES 16384u
#define CTRL_C	 0x03
#define SIGINT	 2
#define LOST	 0x100 /* flag of a byte in the ring: bytes just before it were lost */

static struct {
	struct waitq waitq;
	_Atomic uint32_t head; /* written by the interrupt */
	_Atomic uint32_t tail; /* written by the reader, which holds `reader` */
	struct mutex reader;
	_Atomic bool is_losing;		  /* the last byte that came found no room */
	bool has_lost;			  /* a LOST byte was read; under `reader` */
	_Atomic uint64_t signals_pending; /* of keys that came, a bit each, and are not sent yet */
	_Atomic uint32_t
		flush_head; /* `head` at the newest such key: bytes before it are not read */
	struct spinlock target_lock; /* with interrupts off */
	struct thread *_Atomic target;
	uint16_t ring[RX_BYTES];
} in;

/* The signal of a key: as the terminal has it while a program uses that, otherwise Ctrl-C alone. */
static int console_signal_of(uint8_t byte)
{
	if (tty_is_active())
		return tty_signal_of(byte);
	return byte == CTRL_C && atomic_load(&in.target) ? SIGINT : 0;
}

void console_rx(unsigned int port, uint8_t byte)
{
	uint32_t head = atomic_load_explicit(&in.head, memory_order_relaxed);
	int sig = console_signal_of(byte);

	(void)port;
	if (sig) {
		atomic_store(&in.is_losing, false);
		if (!tty_is_active() || tty_flushes_on_signal())
			atomic_store(&in.flush_head, head);
		atomic_fetch_or(&in.signals_pending, 1ull << (sig - 1));
	} else if (head - atomic_load(&in.tail) < RX_BYTES) {
		in.ring[head % RX_BYTES] =
			byte | (atomic_exchange(&in.is_losing, false) ? LOST : 0);
		/* release: the reader sees the byte when it sees the new head. */
		atomic_store_explicit(&in.head, head + 1, memory_order_release);
	} else {
		atomic_store(&in.is_losing, true);
	}
	raise_softirq(SOFTIRQ_CONSOLE);
}

static void console_interrupt_target(void)
{
	uint64_t flags = spin_lock_irqsave(&in.target_lock);
	struct thread *target = atomic_load(&in.target);

	if (target) {
		thread_interrupt(target);
		if (target->group)
			thread_interrupt_group(target->group);
	}
	spin_unlock_irqrestore(&in.target_lock, flags);
}

static bool console_has_input(void *arg)
{
	(void)arg;
	if (atomic_load(&in.signals_pending))
		return false;
	return atomic_load(&in.head) != atomic_load(&in.tail) || atomic_load(&in.is_losing);
}

void console_input_arrived(void)
{
	uint64_t signals = atomic_load(&in.signals_pending);

	/* Cleared last: no reader gets the bytes typed after the key before it is interrupted. */
	if (signals) {
		if (!tty_is_active() || !tty_send_signals(signals))
			console_interrupt_target();
		atomic_fetch_and(&in.signals_pending, ~signals);
	}
	if (console_has_input(NULL))
		waitq_wake_all(&in.waitq);
}

void console_set_sigint_target(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&in.target_lock);

	atomic_store(&in.target, thread);
	spin_unlock_irqrestore(&in.target_lock, flags);
}

bool console_is_foreground(void)
{
	uint64_t flags = spin_lock_irqsave(&in.target_lock);
	struct thread *target = atomic_load(&in.target);
	bool answer = !target || target->group == current_thread()->group;

	if (current_thread()->flags & THREAD_SERVICE)
		answer = false;
	spin_unlock_irqrestore(&in.target_lock, flags);
	return answer;
}

/*
 * Take the next byte, after console_has_input() was true. -EIO when there is none left in the ring:
 * then bytes behind the last one were lost.
 */
static int console_take_byte(void)
{
	uint32_t tail = atomic_load_explicit(&in.tail, memory_order_relaxed);
	int c;

	/* acquire: the byte is there when the head that covers it is seen. */
	if (tail == atomic_load_explicit(&in.head, memory_order_acquire)) {
		atomic_store(&in.is_losing, false);
		in.has_lost = true;
		return -EIO;
	}
	c = in.ring[tail % RX_BYTES];
	in.has_lost |= (c & LOST) != 0;
	atomic_store_explicit(&in.tail, tail + 1, memory_order_release);
	return c & 0xff;
}

/* Pass over the bytes that were typed before the newest Ctrl-C. */
static void console_flush_void(void)
{
	uint32_t flush_head = atomic_load(&in.flush_head);
	uint32_t nr_void = flush_head - atomic_load(&in.tail);

	if (nr_void <= RX_BYTES) /* otherwise the reader is past it */
		atomic_store(&in.tail, flush_head);
}

int console_getc_timeout(uint64_t timeout_ns)
{
	int c, err = mutex_lock_interruptible(&in.reader);

	if (err)
		return err;
	console_flush_void();
	err = waitq_wait(&in.waitq, console_has_input, NULL, true, timeout_ns);
	/* After Ctrl-C the thread gets -EINTR first, and the bytes typed after it next time. */
	if (thread_interrupted())
		err = -EINTR;
	if (err) {
		mutex_unlock(&in.reader);
		return err == -ETIMEDOUT ? -EAGAIN : err;
	}
	c = console_take_byte();
	mutex_unlock(&in.reader);
	return c;
}

int console_getc_now(void)
{
	int c = -EAGAIN;

	if (!mutex_trylock(&in.reader))
		return c;
	console_flush_void();
	if (console_has_input(NULL))
		c = console_take_byte();
	mutex_unlock(&in.reader);
	return c;
}

int console_wait(bool (*done)(void *arg), void *arg, uint64_t timeout_ns)
{
	return waitq_wait(&in.waitq, done, arg, true, timeout_ns);
}

void console_wake_readers(void)
{
	waitq_wake_all(&in.waitq);
}

void console_poll_wait(struct poll_table *table)
{
	poll_wait(table, &in.waitq);
}

bool console_take_lost(void)
{
	bool has_lost;

	mutex_lock(&in.reader);
	has_lost = in.has_lost;
	in.has_lost = false;
	mutex_unlock(&in.reader);
	return has_lost;
}
