/*
 * A device of virtio-serial that the test plays: registers and queues as the standard has them
 * (OASIS, Virtual I/O Device 1.1: 2.6, 4.1, 5.3), messages about ports, bytes both ways.
 *
 * links: kernel/virtio/virtio_pci.c kernel/ninep/ninep_virtio.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <arch/paging.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/ninep.h>
#include <kernel/thread.h>
#include <kernel/work.h>
#include "channel_host.h"
#include "virtio/virtio.h"

#define CONTROL_IN   2
#define CONTROL_OUT  3
#define PORT_IN	     4
#define PORT_OUT     5
#define NR_QUEUES    6
#define BUFFER_BYTES 8192u
#define NOTIFY_STEP  0x40
#define MULTIPORT    2u
#define VERSION_1    1u

/* ---- The device ---- */

static _Alignas(8) uint8_t common[64], notify[NR_QUEUES * NOTIFY_STEP];
static uint8_t capability_types[4]; /* at 0x20, 0x40, .. */
static uint32_t features;
static uint16_t queue_size;
static bool has_page;
static uint8_t *page_of[NR_QUEUES];
static uint16_t nr_taken[NR_QUEUES], nr_used[NR_QUEUES];

static uint64_t number_at(const void *at, size_t bytes)
{
	return ninep_number(at, (unsigned int)bytes);
}

uint64_t ninep_number(const uint8_t *bytes, unsigned int nr)
{
	uint64_t value = 0;

	while (nr-- > 0)
		value = value << 8 | bytes[nr];
	return value;
}

uint8_t pci_capability(const struct pci_device *device, uint8_t kind, uint8_t after)
{
	(void)device;
	assert_int_equal(kind, 9);
	return after < ARRAY_SIZE(capability_types) * 0x20 ? (uint8_t)(after + 0x20) : 0;
}

/* type[24..31] | bar | offset | bytes | step of the notified registers */
uint32_t pci_read(const struct pci_device *device, uint8_t offset)
{
	uint32_t type = capability_types[offset / 0x20 - 1];

	(void)device;
	switch (offset % 0x20) {
	case 0:
		return type << 24;
	case 4:
		return 0xabcd00 | type;
	case 8:
		return 0x1000 * type;
	case 12:
		return 0x100 * type;
	default:
		assert_int_equal(offset % 0x20, 16);
		assert_int_equal(type, 2);
		return NOTIFY_STEP;
	}
}

void *pci_map(const struct pci_device *device, unsigned int bar, uint32_t offset, uint32_t bytes)
{
	(void)device;
	assert_true(offset == 0x1000 * bar && bytes == 0x100 * bar);
	return bar == 1 ? common : notify;
}

void pci_enable(const struct pci_device *device)
{
	(void)device;
	memset(common, 0xee, sizeof(common));
	memcpy(common + 4, &features, 4);
	memcpy(common + 24, &queue_size, 2);
}

static bool has_device = true;

int pci_find(uint16_t vendor, const uint16_t *devices, unsigned int nr, struct pci_device *out)
{
	(void)out;
	assert_int_equal(vendor, 0x1af4);
	assert_true(nr == 2 && devices[0] == 0x1043 && devices[1] == 0x1003);
	return has_device ? 0 : -ENODEV;
}

static void (*interrupt)(void);

int pci_start_interrupt(const struct pci_device *device, void (*fn)(void))
{
	(void)device;
	interrupt = fn;
	return 0;
}

/* For the queue that is selected just then; the registers of the next one read as at first. */
void *page_alloc_zeroed(unsigned int order)
{
	uint16_t nr = (uint16_t)number_at(common + 22, 2);

	assert_int_equal(order, 0);
	assert_true(nr < NR_QUEUES);
	if (!has_page)
		return NULL;
	page_of[nr] = aligned_alloc(4096, 4096);
	memset(page_of[nr], 0, 4096);
	common[30] = (uint8_t)nr;
	common[31] = 0;
	return page_of[nr];
}

static uint64_t phys_of(const void *at)
{
	return (uintptr_t)at - DIRECT_MAP_BASE;
}

struct buffer {
	uint16_t i;
	uint8_t *bytes;
	uint32_t len;
	bool is_written;
};

static bool has_given(unsigned int nr)
{
	return number_at(page_of[nr] + 1024 + 2, 2) != nr_taken[nr];
}

/* The next buffer that the driver has given. */
static struct buffer take(unsigned int nr)
{
	const uint8_t *desc = page_of[nr];
	struct buffer buffer = { 0 };

	assert_true(has_given(nr));
	buffer.i = (uint16_t)number_at(page_of[nr] + 1024 + 4 + 2 * (nr_taken[nr]++ % 32), 2);
	desc += 16 * buffer.i;
	buffer.bytes = (uint8_t *)(uintptr_t)(number_at(desc, 8) + DIRECT_MAP_BASE);
	buffer.len = (uint32_t)number_at(desc + 8, 4);
	buffer.is_written = desc[12] == 2;
	assert_true((desc[12] & ~2) == 0 && desc[13] == 0);
	return buffer;
}

static void use(unsigned int nr, uint16_t i, uint32_t len)
{
	uint32_t entry[2] = { i, len };
	uint16_t idx = ++nr_used[nr];

	memcpy(page_of[nr] + 2048 + 4 + 8 * ((idx - 1) % 32), entry, sizeof(entry));
	memcpy(page_of[nr] + 2048 + 2, &idx, 2);
}

/* Was the device told of the queue since this was asked last? */
static bool is_notified(unsigned int nr)
{
	bool is = number_at(notify + NOTIFY_STEP * nr, 2) == nr;

	memset(notify + NOTIFY_STEP * nr, 0xff, 2);
	return is;
}

/* ---- Functions that the sources ask for besides ---- */

static int nr_pages_left = -1;

void *alloc_pages(unsigned int order)
{
	if (!nr_pages_left)
		return NULL;
	nr_pages_left--;
	return aligned_alloc(4096, 4096u << order);
}

void *kcalloc(size_t nr, size_t bytes)
{
	return calloc(nr, bytes);
}

static struct waitq *sleeps_in;
static bool is_woken;
static void (*while_asleep)(void);

void waitq_wake_all_waiters(struct waitq *queue)
{
	is_woken |= queue == sleeps_in;
}

int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	static struct waiter waiter;

	assert_false(interruptible);
	if (done(arg))
		return 0;
	if (timeout_ns != WAIT_FOREVER)
		return -ETIMEDOUT;
	queue->first = &waiter;
	sleeps_in = queue;
	is_woken = false;
	while_asleep();
	queue->first = NULL;
	assert_true(is_woken && done(arg));
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memcpy(capability_types, "\x04\x01\x02\x03", 4);
	features = MULTIPORT | VERSION_1;
	queue_size = 64;
	has_page = true;
	return 0;
}

/* ---- Registers ---- */

static void check_register(uint32_t at, size_t bytes, uint64_t wanted)
{
	if (number_at(common + at, bytes) != wanted)
		fail_msg("register %u: %#lx", at, (unsigned long)number_at(common + at, bytes));
}

static void test_registers(void **state)
{
	struct virtio_device device;
	struct virtq queue = { 0 };

	(void)state;
	features = VERSION_1 | 4;
	assert_int_equal(virtio_begin(&device, 4), 0);
	check_register(0, 4, 1);
	check_register(8, 4, 1);
	check_register(12, 4, VERSION_1);
	check_register(20, 1, 1 | 2 | 8);
	assert_int_equal(virtio_add_queue(&device, 3, &queue), 0);
	check_register(22, 2, 3);
	check_register(24, 2, 32);
	check_register(26, 2, 0);
	check_register(28, 2, 1);
	check_register(32, 8, phys_of(page_of[3]));
	check_register(40, 8, phys_of(page_of[3] + 1024));
	check_register(48, 8, phys_of(page_of[3] + 2048));
	virtio_notify(&queue);
	assert_true(is_notified(3));
	virtio_start(&device);
	check_register(16, 2, 0xffff);
	check_register(20, 1, 1 | 2 | 4 | 8);
	free(page_of[3]);
}

static void test_unusable_devices(void **state)
{
	struct virtio_device device;
	struct virtq queue;

	(void)state;
	for (size_t i = 1; i < 3; i++) {
		setup(NULL);
		capability_types[i] = 7;
		assert_int_equal(virtio_begin(&device, 0), -ENODEV);
	}
	setup(NULL);
	features = VERSION_1;
	assert_int_equal(virtio_begin(&device, MULTIPORT), -ENODEV);
	features = MULTIPORT;
	assert_int_equal(virtio_begin(&device, MULTIPORT), -ENODEV);
	setup(NULL);
	queue_size = 31;
	assert_int_equal(virtio_begin(&device, MULTIPORT), 0);
	assert_int_equal(virtio_add_queue(&device, 0, &queue), -ENODEV);
	queue_size = 32;
	assert_int_equal(virtio_begin(&device, MULTIPORT), 0);
	has_page = false;
	assert_int_equal(virtio_add_queue(&device, 0, &queue), -ENOMEM);
	has_page = true;
	assert_int_equal(virtio_add_queue(&device, 0, &queue), 0);
	free(page_of[0]);
	page_of[0] = NULL;
}

/* ---- The port ---- */

static void free_queues(void)
{
	for (size_t i = 0; i < NR_QUEUES; i++) {
		free(page_of[i]);
		page_of[i] = NULL;
	}
}

/* Without a usable device nothing is given to it, and one that is there is spoken of. */
static void test_no_port(void **state)
{
	(void)state;
	has_device = false;
	ninep_virtio_init();
	assert_true(!page_of[CONTROL_IN] && !nr_warnings);
	has_device = true;
	features = VERSION_1;
	ninep_virtio_init();
	assert_int_equal(nr_warnings, 1);
	features |= MULTIPORT;
	has_page = false;
	ninep_virtio_init();
	assert_int_equal(nr_warnings, 2);
	check_register(20, 1, 1 | 2 | 8);
	has_page = true;
	nr_warnings = 0;
}

static void check_control(uint32_t port, uint16_t event, uint16_t value)
{
	struct buffer message = take(CONTROL_OUT);

	assert_true(message.len == 8 && !message.is_written);
	assert_int_equal(number_at(message.bytes, 4), port);
	assert_int_equal(number_at(message.bytes + 4, 2), event);
	assert_int_equal(number_at(message.bytes + 6, 2), value);
	assert_true(is_notified(CONTROL_OUT));
	use(CONTROL_OUT, message.i, 0);
}

static void test_beginning(void **state)
{
	(void)state;
	ninep_virtio_init();
	check_register(20, 1, 1 | 2 | 4 | 8);
	for (unsigned int nr = CONTROL_IN; nr <= PORT_IN; nr += 2) {
		assert_true(is_notified(nr));
		for (uint16_t i = 0; i < VIRTQ_SIZE; i++) {
			struct buffer buffer = take(nr);

			assert_true(buffer.i == i && buffer.is_written);
			assert_int_equal(buffer.len, nr == PORT_IN ? BUFFER_BYTES : 64);
		}
		assert_false(has_given(nr));
	}
	check_control(0, 0, 1);
	assert_false(has_given(CONTROL_OUT) || has_given(PORT_OUT));
}

/* A message of the device; its buffer comes back. */
static void say(uint32_t port, uint16_t event, const char *text, uint32_t len)
{
	static uint16_t i;
	const uint8_t *desc = page_of[CONTROL_IN] + 16 * i;
	uint8_t *bytes = (uint8_t *)(uintptr_t)(number_at(desc, 8) + DIRECT_MAP_BASE);
	struct buffer buffer;

	memcpy(bytes, &port, 4);
	memcpy(bytes + 4, &event, 2);
	memset(bytes + 6, 0, 58);
	memcpy(bytes + 8, text, strlen(text));
	use(CONTROL_IN, i, len);
	is_notified(CONTROL_IN);
	interrupt();
	buffer = take(CONTROL_IN);
	assert_true(buffer.i == i && buffer.len == 64 && buffer.is_written);
	assert_true(buffer.bytes == bytes && is_notified(CONTROL_IN));
	i = (uint16_t)((i + 1) % VIRTQ_SIZE);
}

static void test_control(void **state)
{
	(void)state;
	say(0, 1, "", 8);
	check_control(0, 3, 1);
	say(1, 1, "", 8);
	check_control(1, 3, 1);
	/* Another port, another name, an end of it, no name; too short for any message. */
	say(0, 7, "fathom.9p", 17);
	say(1, 7, "fathom.9q", 17);
	say(1, 7, "fathom.9p", 16);
	say(1, 6, "fathom.9p", 17);
	say(1, 1, "", 7);
	assert_false(has_given(CONTROL_OUT));
	say(1, 7, "fathom.9p", 17);
	check_control(1, 6, 1);
	say(1, 7, "fathom.9p", 18); /* it is open */
	for (int i = 0; i < 2 * (int)VIRTQ_SIZE; i++) {
		say(5, 1, "", 8);
		check_control(5, 3, 1);
	}
	assert_false(has_given(CONTROL_OUT));
}

/* The first bytes start the thread, once; when it cannot be, the next ones try again. */
static void test_thread(void **state)
{
	(void)state;
	assert_int_equal(nr_threads, 0);
	use(PORT_IN, 0, 10);
	has_threads = false;
	interrupt();
	assert_int_equal(nr_threads, 1);
	has_threads = true;
	interrupt();
	assert_int_equal(nr_threads, 2);
	assert_non_null(channel);
	assert_int_equal(nr_warnings, 1); /* it could not serve */
	interrupt();
	assert_int_equal(nr_threads, 3);
}

static void bring_more(void)
{
	use(PORT_IN, 1, BUFFER_BYTES);
	interrupt();
}

static uint8_t *in_buffer(unsigned int i)
{
	return (uint8_t *)(uintptr_t)(number_at(page_of[PORT_IN] + (size_t)16 * i, 8) +
				      DIRECT_MAP_BASE);
}

/* A buffer is given back when all of it was read, whole. */
static void test_reading(void **state)
{
	static uint8_t bytes[2 * BUFFER_BYTES];
	struct buffer buffer;

	(void)state;
	memcpy(in_buffer(0), "0123456789", 10);
	memset(in_buffer(1), 'x', BUFFER_BYTES);
	is_notified(PORT_IN);
	assert_int_equal(channel->read(bytes, 4, WAIT_FOREVER), 4);
	assert_memory_equal(bytes, "0123", 4);
	assert_false(has_given(PORT_IN) || is_notified(PORT_IN));
	assert_int_equal(channel->read(bytes, 8, 1), 6); /* of which not all are left */
	assert_memory_equal(bytes, "456789", 6);
	buffer = take(PORT_IN);
	assert_true(buffer.i == 0 && buffer.len == BUFFER_BYTES && buffer.is_written);
	assert_true(buffer.bytes == in_buffer(0) && is_notified(PORT_IN));
	assert_int_equal(channel->read(bytes, sizeof(bytes), 1), -ETIMEDOUT);
	while_asleep = bring_more;
	assert_int_equal(channel->read(bytes, sizeof(bytes), WAIT_FOREVER), BUFFER_BYTES);
	assert_true(bytes[0] == 'x' && bytes[BUFFER_BYTES - 1] == 'x');
	assert_int_equal(take(PORT_IN).i, 1);
}

static uint8_t data[(VIRTQ_SIZE + 2) * BUFFER_BYTES];
static size_t nr_seen; /* bytes of `data` that the host has */

static void host_reads_one(void)
{
	struct buffer buffer = take(PORT_OUT);

	assert_false(buffer.is_written);
	assert_true(buffer.len <= BUFFER_BYTES && nr_seen + buffer.len <= sizeof(data));
	assert_memory_equal(buffer.bytes, data + nr_seen, buffer.len);
	nr_seen += buffer.len;
	use(PORT_OUT, buffer.i, 0);
}

static void host_reads(void)
{
	assert_true(is_notified(PORT_OUT));
	host_reads_one();
	interrupt();
}

/* In as many buffers as it takes; the writer waits for one when the host has all of them. */
static void test_writing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	while_asleep = host_reads;
	channel->write(data, 3);
	host_reads();
	assert_int_equal(nr_seen, 3);
	channel->write(data + 3, BUFFER_BYTES + 1);
	assert_int_equal(number_at(page_of[PORT_OUT] + 1024 + 2, 2), 3);
	host_reads();
	host_reads_one();
	channel->write(data + nr_seen, sizeof(data) - nr_seen);
	assert_true(is_notified(PORT_OUT));
	while (has_given(PORT_OUT))
		host_reads_one();
	assert_int_equal(nr_seen, sizeof(data));
}

static void client_goes(void)
{
	channel->abort();
}

/* Between abort and resume nothing is sent, and a writer that waits goes on at once. */
static void test_ending(void **state)
{
	(void)state;
	while_asleep = client_goes;
	channel->write(data, sizeof(data));
	for (uint32_t i = 0; i < VIRTQ_SIZE; i++) {
		struct buffer buffer = take(PORT_OUT);

		use(PORT_OUT, buffer.i, 0);
	}
	assert_false(has_given(PORT_OUT));
	channel->write(data, 10);
	assert_false(has_given(PORT_OUT));
	channel->resume();
	nr_seen = 0;
	channel->write(data, 10);
	host_reads_one();
	assert_int_equal(nr_seen, 10);
}

/* Nothing is left for the checks of memory. */
static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < VIRTQ_SIZE; i++) {
		free(in_buffer(i));
		free((void *)(uintptr_t)(number_at(page_of[PORT_OUT] + (size_t)16 * i, 8) +
					 DIRECT_MAP_BASE));
	}
	free_queues();
	return 0;
}

int main(void)
{
	/* From the beginning of the port on they follow on one another. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_registers, setup),
		cmocka_unit_test_setup(test_unusable_devices, setup),
		cmocka_unit_test_setup(test_no_port, setup),
		cmocka_unit_test_setup(test_beginning, setup),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_writing),
		cmocka_unit_test(test_ending),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
