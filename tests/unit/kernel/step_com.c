/*
 * COM2 as a channel, against a serial port that the test plays. The port takes all bytes before any
 * instruction of what a writer does: each comes once and in order, and no writer sleeps while there
 * is room.
 *
 * links: kernel/ninep/ninep_com.c
 */
#include "unit.h"
#include <string.h>
#include <arch/uart.h>
#include <kernel/lock.h>
#include "channel_host.h"
#include "fast.h"

#define RING_BYTES 16384u
#define MAX_INSNS  400u

static const struct uart_client *uart;

static uint8_t sent[4 * RING_BYTES];
static size_t nr_sent;
static bool was_woken, is_idle; /* nothing more comes: a reader's time is over */
static uint32_t nr_resumes;	/* of the receiver */
static void (*while_asleep)(void);
static bool (*only_look)(bool (*done)(void *arg), void *arg); /* in place of the call of `done` */

int uart_start(unsigned int port, const struct uart_client *client)
{
	assert_int_equal(port, UART_COM2);
	uart = client;
	return 0;
}

void uart_tx_kick(unsigned int port)
{
	(void)port;
}

void uart_rx_resume(unsigned int port)
{
	assert_int_equal(port, UART_COM2);
	nr_resumes++;
}

static void take_all_bytes(void)
{
	while (uart->tx(UART_COM2, &sent[nr_sent]))
		nr_sent++;
}

/* The interrupt of the transmitter: all bytes go. The port has a lock, so it is not interrupted by itself. */
static void uart_send_all(void)
{
	static bool is_locked;

	if (is_locked)
		return;
	is_locked = true;
	fast_untraced(take_all_bytes);
	is_locked = false;
	uart->sent(UART_COM2);
}

void waitq_wake_all_waiters(struct waitq *queue)
{
	(void)queue;
	was_woken = true;
}

/* Who sleeps is woken by `while_asleep`, or for ever asleep. */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	static struct waiter waiter;

	(void)interruptible;
	if (!only_look && done(arg))
		return 0;
	if (is_idle && timeout_ns != WAIT_FOREVER)
		return -ETIMEDOUT;
	queue->first = &waiter;
	for (;;) {
		was_woken = false;
		if (only_look ? only_look(done, arg) : done(arg))
			break;
		if (!was_woken && while_asleep)
			while_asleep();
		assert_true(was_woken);
	}
	queue->first = NULL;
	return 0;
}

void ninep_virtio_init(void)
{
}

static void bring(uint8_t byte)
{
	assert_true(uart->rx_room(UART_COM2));
	uart->rx(UART_COM2, byte);
}

static int setup(void **state)
{
	uint8_t rest[64];

	(void)state;
	while_asleep = NULL;
	only_look = NULL;
	if (!channel) {
		ninep_init();
		bring('x'); /* the first byte starts the thread */
		channel->read(rest, sizeof(rest), WAIT_FOREVER);
	}
	channel->abort();
	channel->resume();
	uart_send_all();
	nr_sent = 0;
	return 0;
}

static uint8_t data[RING_BYTES + 8];

static void fill_data(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
}

/* The ring is full but for three bytes: five more are written. */
static void write_five(void *arg)
{
	(void)arg;
	channel->write(data + RING_BYTES - 3, 5);
}

static void check_sent(void)
{
	uart_send_all();
	assert_int_equal(nr_sent, RING_BYTES + 2);
	assert_memory_equal(sent, data, nr_sent);
}

/* Room comes between the look at it and the sleep: the writer goes on. */
static void test_room_that_comes_at_any_moment(void **state)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	setup(state);
	fill_data();
	channel->write(data, RING_BYTES - 3);
	while_asleep = uart_send_all;
	fast_trace(write_five, NULL, insns, MAX_INSNS, &nr);
	check_sent();
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = uart_send_all };

		setup(state);
		channel->write(data, RING_BYTES - 3);
		while_asleep = uart_send_all;
		nr_came += fast_run_at(write_five, NULL, &point, 1);
		check_sent();
	}
	assert_in_range(nr_came, nr / 2, nr);
}

/* ---- The writer is queued and looks once; room comes meanwhile, and no interrupt after it ---- */

static struct {
	bool (*done)(void *arg);
	void *arg;
	bool is_done;
	struct fast_point point;
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came;
} look;

static void look_once(void *arg)
{
	(void)arg;
	look.is_done = look.done(look.arg);
}

static bool traced_look(bool (*done)(void *arg), void *arg)
{
	look.done = done;
	look.arg = arg;
	only_look = NULL;
	fast_trace(look_once, NULL, look.insns, MAX_INSNS, &look.nr);
	return look.is_done;
}

static bool interrupted_look(bool (*done)(void *arg), void *arg)
{
	look.done = done;
	look.arg = arg;
	only_look = NULL;
	if (fast_run_at(look_once, NULL, &look.point, 1)) {
		look.nr_came++;
		while_asleep = NULL; /* the port has nothing more to send, and does not interrupt */
	}
	return look.is_done;
}

static void test_room_that_comes_in_the_only_look(void **state)
{
	setup(state);
	fill_data();
	channel->write(data, RING_BYTES - 3);
	while_asleep = uart_send_all;
	only_look = traced_look;
	write_five(NULL);
	check_sent();
	assert_in_range(look.nr, 1, MAX_INSNS - 1);
	for (size_t i = 0; i < look.nr; i++) {
		setup(state);
		channel->write(data, RING_BYTES - 3);
		while_asleep = uart_send_all;
		look.point = (struct fast_point){ .insn = look.insns[i], .irq = uart_send_all };
		only_look = interrupted_look;
		write_five(NULL);
		check_sent();
	}
	assert_in_range(look.nr_came, look.nr / 2, look.nr);
}

/* Bytes of the client before are not sent to the next one. */
static void test_bytes_of_the_client_before(void **state)
{
	setup(state);
	channel->write("of the one before", 17);
	channel->abort();
	channel->write("of its other threads", 20);
	channel->resume();
	channel->write("new", 3);
	uart_send_all();
	assert_int_equal(nr_sent, 3);
	assert_memory_equal(sent, "new", 3);
}

/* Bytes that have come are read in their order, in parts; then there are none, and room for more. */
static void test_reading(void **state)
{
	uint8_t part[RING_BYTES];
	uint32_t nr = 0, resumes, nr_read = 0;

	setup(state);
	is_idle = true;
	assert_int_equal(channel->read(part, sizeof(part), 1), -ETIMEDOUT);
	for (int round = 0; round < 3; round++) {
		while (uart->rx_room(UART_COM2))
			bring((uint8_t)(nr++ * 5));
		resumes = nr_resumes;
		assert_int_equal(channel->read(part, 3, 1), 3);
		assert_int_equal(nr_resumes, resumes + 1);
		assert_true(uart->rx_room(UART_COM2));
		for (ssize_t got = 3; got > 0; got = channel->read(part, 1000, 1)) {
			for (ssize_t i = 0; i < got; i++)
				assert_int_equal(part[i], (uint8_t)(nr_read++ * 5));
		}
		assert_int_equal(nr_read, nr);
	}
	assert_in_range(nr, 3 * 1024, 1u << 20);
	is_idle = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_that_comes_at_any_moment),
		cmocka_unit_test(test_room_that_comes_in_the_only_look),
		cmocka_unit_test(test_bytes_of_the_client_before),
		cmocka_unit_test(test_reading),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
