/*
 * COM2 as a channel.
 *
 *   UART interrupt --> rx ring --> com_read()
 *   com_write() --> tx ring --> UART interrupt
 *
 * When the rx ring is full the UART keeps the bytes until com_read() has made room: none is lost on
 * a line with flow control. The first byte starts the thread that serves, so a machine whose COM2
 * is not used spends nothing on it.
 *
 * Locking: each ring has one reader and one writer; the UART takes bytes under its own lock.
 */
#include <stdatomic.h>
#include <arch/uart.h>
#include <kernel/lock.h>
#include <kernel/ninep.h>
#include <kernel/thread.h>
#include <kernel/work.h>
#include "ninep_session.h"

#define COM_RX_BYTES 16384u
#define COM_TX_BYTES 16384u
#define COM_TX_WAKE  (COM_TX_BYTES / 2) /* wake the writer when this much is free */

static struct {
	struct work start;
	_Atomic bool is_started;
	struct waitq arrived;
	_Atomic uint32_t rx_head; /* the interrupt's */
	_Atomic uint32_t rx_tail; /* com_read()'s */
	struct waitq room;
	_Atomic uint32_t tx_head; /* com_write()'s */
	_Atomic uint32_t tx_tail; /* the UART's */
	_Atomic uint32_t tx_void; /* bytes before this one are not to be sent any more */
	_Atomic bool has_writer;  /* it waits for room */
	_Atomic bool is_aborted;
	uint8_t rx[COM_RX_BYTES];
	uint8_t tx[COM_TX_BYTES];
} com;

static bool com_rx_room(unsigned int port)
{
	(void)port;
	return atomic_load(&com.rx_head) - atomic_load(&com.rx_tail) < COM_RX_BYTES;
}

static void com_rx(unsigned int port, uint8_t byte)
{
	uint32_t head = atomic_load_explicit(&com.rx_head, memory_order_relaxed);

	(void)port;
	com.rx[head % COM_RX_BYTES] = byte;
	/* release: the reader sees the byte when it sees the new head. */
	atomic_store_explicit(&com.rx_head, head + 1, memory_order_release);
	if (!atomic_exchange(&com.is_started, true))
		queue_work(&com.start);
	waitq_wake_all(&com.arrived);
}

/* The position of the next byte to send; void bytes are passed over. */
static uint32_t com_tx_position(void)
{
	uint32_t tail = atomic_load(&com.tx_tail), end = atomic_load(&com.tx_void);

	return (int32_t)(end - tail) > 0 ? end : tail;
}

static uint32_t com_tx_room(void)
{
	return COM_TX_BYTES - (atomic_load(&com.tx_head) - com_tx_position());
}

static bool com_tx(unsigned int port, uint8_t *out_byte)
{
	uint32_t tail = com_tx_position();

	(void)port;
	/* acquire: the byte is there when the head that covers it is seen. */
	if (tail == atomic_load_explicit(&com.tx_head, memory_order_acquire))
		return false;
	*out_byte = com.tx[tail % COM_TX_BYTES];
	atomic_store(&com.tx_tail, tail + 1);
	return true;
}

static void com_sent(unsigned int port)
{
	(void)port;
	if (com_tx_room() >= COM_TX_WAKE && atomic_exchange(&com.has_writer, false))
		waitq_wake_all(&com.room);
}

static bool com_has_bytes(void *arg)
{
	(void)arg;
	return atomic_load(&com.rx_head) != atomic_load(&com.rx_tail);
}

static ssize_t com_read(void *buf, size_t len, uint64_t timeout_ns)
{
	uint32_t tail = atomic_load(&com.rx_tail);
	uint8_t *to = buf;
	size_t done = 0;
	int err = waitq_wait(&com.arrived, com_has_bytes, NULL, false, timeout_ns);

	if (err)
		return err;
	while (done < len && tail != atomic_load_explicit(&com.rx_head, memory_order_acquire))
		to[done++] = com.rx[tail++ % COM_RX_BYTES];
	atomic_store(&com.rx_tail, tail);
	uart_rx_resume(UART_COM2);
	return (ssize_t)done;
}

static bool com_can_write(void *arg)
{
	(void)arg;
	if (atomic_load(&com.is_aborted) || com_tx_room() >= COM_TX_WAKE)
		return true;
	atomic_store(&com.has_writer, true);
	/* Asked again, because the UART may have looked at has_writer before it was set. */
	return com_tx_room() >= COM_TX_WAKE;
}

static void com_write(const void *buf, size_t len)
{
	const uint8_t *from = buf, *end = from + len;

	while (from < end && !atomic_load(&com.is_aborted)) {
		uint32_t head = atomic_load(&com.tx_head), room = com_tx_room();

		while (from < end && room-- > 0)
			com.tx[head++ % COM_TX_BYTES] = *from++;
		/* release: the UART reads bytes after it has seen the new head. */
		atomic_store_explicit(&com.tx_head, head, memory_order_release);
		uart_tx_kick(UART_COM2);
		if (from < end)
			waitq_wait(&com.room, com_can_write, NULL, false, WAIT_FOREVER);
	}
}

static void com_abort(void)
{
	atomic_store(&com.is_aborted, true);
	waitq_wake_all(&com.room);
}

/* All writers have returned: none of their bytes are to be sent from here on. */
static void com_resume(void)
{
	atomic_store(&com.tx_void, atomic_load(&com.tx_head));
	atomic_store(&com.is_aborted, false);
}

static const struct ninep_channel channel = {
	.name = "9p-com2",
	.read = com_read,
	.write = com_write,
	.abort = com_abort,
	.resume = com_resume,
};

static int com_serve(void *arg)
{
	(void)arg;
	pr_warn("%s: cannot be served (%d)\n", channel.name, ninep_serve(&channel));
	atomic_store(&com.is_started, false); /* the next byte tries again */
	return 0;
}

static void com_start(struct work *work)
{
	(void)work;
	if (!thread_create(channel.name, com_serve, NULL, THREAD_DETACHED | THREAD_SERVICE))
		atomic_store(&com.is_started, false);
}

void ninep_init(void)
{
	static const struct uart_client client = {
		.rx = com_rx, .rx_room = com_rx_room, .tx = com_tx, .sent = com_sent
	};
	int err;

	ninep_virtio_init();
	work_init(&com.start, com_start);
	err = uart_start(UART_COM2, &client);
	if (err && err != -ENODEV)
		pr_warn("%s: no interrupt (%d)\n", channel.name, err);
}
