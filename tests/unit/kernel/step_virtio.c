/*
 * A queue of virtio against a device that the test plays, which looks at it before each instruction
 * of virtio_give(): a buffer that it sees given is whole. And the channel on top: a writer that
 * waits for a host that does not read is let go when another client comes.
 *
 * links: kernel/virtio/virtio_pci.c kernel/ninep/ninep_virtio.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <arch/paging.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include "channel_host.h"
#include "fast.h"
#include "virtio/virtio.h"

#define MAX_INSNS  200u
#define PORT_IN	   4
#define PORT_OUT   5
#define NR_QUEUES  6
#define CFG_COMMON 1

#define QUEUE_NOTIFY 30	  /* register: which step of the notified ones is the queue's */
#define NOTIFY_STEP  0x40 /* as pci_read() says behind the capability of those */

/* The device's registers, and where the driver has put each queue. */
static _Alignas(8) uint8_t common[64], notify[256];
static uint64_t queue_at[NR_QUEUES][3];

static void *at_phys(uint64_t phys)
{
	return (void *)(uintptr_t)(phys + DIRECT_MAP_BASE);
}

uint8_t pci_capability(const struct pci_device *device, uint8_t kind, uint8_t after)
{
	(void)device;
	(void)kind;
	return after < 2 * 0x20 ? (uint8_t)(after + 0x20) : 0;
}

/* The capability at 0x20 is of the common registers, that at 0x40 of those that are notified. */
uint32_t pci_read(const struct pci_device *device, uint8_t offset)
{
	(void)device;
	return offset % 0x20 ? offset & 0x60 : (uint32_t)(offset / 0x20) << 24;
}

void *pci_map(const struct pci_device *device, unsigned int bar, uint32_t offset, uint32_t bytes)
{
	(void)device;
	(void)offset;
	(void)bytes;
	return bar == 0x20 ? common : notify;
}

void pci_enable(const struct pci_device *device)
{
	(void)device;
	memset(common + 4, 0xff, 4);  /* all features */
	memset(common + 24, 0xff, 2); /* long queues */
}

int pci_find(uint16_t vendor, const uint16_t *devices, unsigned int nr, struct pci_device *out)
{
	(void)vendor;
	(void)devices;
	(void)nr;
	(void)out;
	return 0;
}

static void (*interrupt)(void);

int pci_start_interrupt(const struct pci_device *device, void (*fn)(void))
{
	(void)device;
	interrupt = fn;
	return 0;
}

/* The page of the queue that is selected just then. */
void *page_alloc_zeroed(unsigned int order)
{
	uint8_t *page = aligned_alloc(4096, 4096u << order);
	uint16_t nr = (uint16_t)(common[22] | common[23] << 8);

	memset(page, 0, 4096u << order);
	memset(common + 24, 0xff, 2);
	queue_at[nr][0] = (uintptr_t)page;
	return page;
}

void *alloc_pages(unsigned int order)
{
	return aligned_alloc(4096, 4096u << order);
}

void *kcalloc(size_t nr, size_t bytes)
{
	return calloc(nr, bytes);
}

static bool was_woken, is_reading;

void waitq_wake_all_waiters(struct waitq *queue)
{
	(void)queue;
	was_woken = true;
}

/* A writer sleeps: then another client comes. A reader finds something. */
int waitq_wait(struct waitq *queue, bool (*done)(void *arg), void *arg, bool interruptible,
	       uint64_t timeout_ns)
{
	static struct waiter waiter;

	(void)interruptible;
	(void)timeout_ns;
	if (is_reading) {
		assert_true(done(arg));
		return 0;
	}
	assert_false(done(arg));
	queue->first = &waiter;
	was_woken = false;
	channel->abort();
	queue->first = NULL;
	assert_true(was_woken);
	assert_true(done(arg));
	return 0;
}

/* ---- Layout, from the standard: 2.6 ---- */

struct desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

static struct virtq queue;
static uint8_t buffers[VIRTQ_SIZE][16];
static uint16_t nr_seen;

/* Which buffer is given as number `nr`: another one than the place in the ring had before. */
static uint16_t buffer_of(uint16_t nr)
{
	return (uint16_t)((nr * 5 + 3 + nr / VIRTQ_SIZE) % VIRTQ_SIZE);
}

/* The device: each buffer that it sees given is that which was to be given, and described. */
static void device_looks(void)
{
	const uint16_t *avail = (const uint16_t *)(const void *)queue.avail;
	const struct desc *desc = (const struct desc *)(const void *)queue.desc;

	for (; nr_seen != *(const volatile uint16_t *)&avail[1]; nr_seen++) {
		uint16_t i = avail[2 + nr_seen % VIRTQ_SIZE];

		assert_int_equal(i, buffer_of(nr_seen));
		assert_ptr_equal(at_phys(desc[i].addr), buffers[i]);
		assert_int_equal(desc[i].len, 7 + nr_seen % 3);
		assert_int_equal(desc[i].flags, 2);
	}
}

static void give_one(void *arg)
{
	uint16_t nr = *(uint16_t *)arg, i = buffer_of(nr);

	virtio_give(&queue, i, buffers[i], 7u + nr % 3, true);
}

static void test_device_that_looks_at_any_moment(void **state)
{
	static struct virtio_device device;
	uint8_t *insns[MAX_INSNS];
	uint16_t nr_given = 0;
	size_t nr, nr_came = 0;

	(void)state;
	assert_int_equal(virtio_begin(&device, 0), 0);
	common[QUEUE_NOTIFY] = 2;
	assert_int_equal(virtio_add_queue(&device, 0, &queue), 0);
	assert_ptr_equal(queue.notify, notify + 2 * NOTIFY_STEP);
	common[QUEUE_NOTIFY] = 0;
	fast_trace(give_one, &nr_given, insns, MAX_INSNS, &nr);
	device_looks();
	assert_int_equal(nr_seen, ++nr_given);
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < nr; i++) {
			const struct fast_point point = { .insn = insns[i], .irq = device_looks };

			nr_came += fast_run_at(give_one, &nr_given, &point, 1);
			device_looks();
			assert_int_equal(nr_seen, ++nr_given);
		}
	}
	assert_in_range(nr_came, 50 * nr / 2, 50 * nr);
}

/* The host takes nothing: all buffers are given, and the writer waits until it is let go. */
static void test_host_that_does_not_read(void **state)
{
	static const uint8_t data[4096];
	uint16_t *used;

	(void)state;
	ninep_virtio_init();
	used = (uint16_t *)(queue_at[PORT_IN][0] + 2048);
	used[1] = 1; /* something has come: the thread starts */
	interrupt();
	assert_non_null(channel);
	for (uint32_t i = 0; i < VIRTQ_SIZE; i++)
		channel->write(data, sizeof(data));
	channel->write(data, sizeof(data));
	channel->resume();
}

/* The bytes of one buffer are read in two parts: nothing else need come for the second. */
static void test_buffer_that_is_read_in_parts(void **state)
{
	uint32_t *used = (uint32_t *)(queue_at[PORT_IN][0] + 2048);
	const struct desc *desc = (const struct desc *)queue_at[PORT_IN][0];
	uint8_t part[16];

	(void)state;
	used[1] = 0; /* the first used one is buffer 0, in which are ten bytes */
	used[2] = 10;
	memcpy(at_phys(desc[0].addr), "0123456789", 10);
	is_reading = true;
	assert_int_equal(channel->read(part, 4, WAIT_FOREVER), 4);
	assert_memory_equal(part, "0123", 4);
	assert_int_equal(channel->read(part, sizeof(part), WAIT_FOREVER), 6);
	assert_memory_equal(part, "456789", 6);
	is_reading = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_that_looks_at_any_moment),
		cmocka_unit_test(test_host_that_does_not_read),
		cmocka_unit_test(test_buffer_that_is_read_in_parts),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
