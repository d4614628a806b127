/*
 * Devices of virtio 1 on PCI. See virtio.h; numbers in brackets are sections of the standard.
 */
#include <stdatomic.h>
#include <arch/paging.h>
#include <kernel/mm.h>
#include "virtio.h"

#define CAPABILITY_VENDOR 0x09
#define CFG_COMMON	  1 /* types of structures [4.1.4] */
#define CFG_NOTIFY	  2

/* Byte offsets in the common configuration [4.1.4.3]. */
#define COMMON_DRIVER_SELECT 8
#define COMMON_DRIVER	     12
#define COMMON_DEVICE_SELECT 0
#define COMMON_DEVICE	     4
#define COMMON_MSIX	     16
#define COMMON_STATUS	     20
#define COMMON_QUEUE	     22
#define COMMON_QUEUE_SIZE    24
#define COMMON_QUEUE_MSIX    26
#define COMMON_QUEUE_ENABLE  28
#define COMMON_QUEUE_NOTIFY  30
#define COMMON_QUEUE_DESC    32
#define COMMON_QUEUE_AVAIL   40
#define COMMON_QUEUE_USED    48

#define STATUS_ACKNOWLEDGE 1
#define STATUS_DRIVER	   2
#define STATUS_DRIVER_OK   4
#define STATUS_FEATURES_OK 8

#define FEATURE_VERSION_1 1u /* bit 32: the first of the second word */

#define DESC_WRITE 2 /* the device writes it */

struct virtq_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags;
	uint16_t next;
};

struct virtq_avail {
	uint16_t flags;
	_Atomic uint16_t idx;
	uint16_t ring[VIRTQ_SIZE];
};

struct virtq_used {
	uint16_t flags;
	_Atomic uint16_t idx;
	struct {
		uint32_t id;
		uint32_t len;
	} ring[VIRTQ_SIZE];
};

#define AVAIL_OFFSET 1024u /* in the queue's page */
#define USED_OFFSET  2048u

static uint8_t virtio_get8(const struct virtio_device *device, uint32_t at)
{
	return device->common[at];
}

static void virtio_set8(struct virtio_device *device, uint32_t at, uint8_t value)
{
	device->common[at] = value;
}

static uint16_t virtio_get16(const struct virtio_device *device, uint32_t at)
{
	return *(volatile uint16_t *)(device->common + at);
}

static void virtio_set16(struct virtio_device *device, uint32_t at, uint16_t value)
{
	*(volatile uint16_t *)(device->common + at) = value;
}

static uint32_t virtio_get32(const struct virtio_device *device, uint32_t at)
{
	return *(volatile uint32_t *)(device->common + at);
}

static void virtio_set32(struct virtio_device *device, uint32_t at, uint32_t value)
{
	*(volatile uint32_t *)(device->common + at) = value;
}

/* A physical address, as two halves [4.1.3.1]. */
static void virtio_set_address(struct virtio_device *device, uint32_t at, const void *memory)
{
	uint64_t phys = arch_virt_to_phys(memory);

	virtio_set32(device, at, (uint32_t)phys);
	virtio_set32(device, at + 4, (uint32_t)(phys >> 32));
}

/*
 * The structure of that type, mapped; NULL: there is none. *out_capability is the position of its
 * capability.
 */
static void *virtio_map(const struct virtio_device *device, uint8_t type, uint8_t *out_capability)
{
	uint8_t at = 0;

	while ((at = pci_capability(&device->pci, CAPABILITY_VENDOR, at))) {
		uint32_t head = pci_read(&device->pci, at), bar = pci_read(&device->pci, at + 4);

		if (head >> 24 != type)
			continue;
		*out_capability = at;
		return pci_map(&device->pci, bar & 0xff, pci_read(&device->pci, at + 8),
			       pci_read(&device->pci, at + 12));
	}
	return NULL;
}

static void virtio_add_status(struct virtio_device *device, uint8_t bit)
{
	virtio_set8(device, COMMON_STATUS, virtio_get8(device, COMMON_STATUS) | bit);
}

static bool virtio_offers(struct virtio_device *device, uint32_t word, uint32_t features)
{
	virtio_set32(device, COMMON_DEVICE_SELECT, word);
	return (virtio_get32(device, COMMON_DEVICE) & features) == features;
}

static void virtio_accept(struct virtio_device *device, uint32_t word, uint32_t features)
{
	virtio_set32(device, COMMON_DRIVER_SELECT, word);
	virtio_set32(device, COMMON_DRIVER, features);
}

/* In the order of [3.1.1]. */
int virtio_begin(struct virtio_device *device, uint32_t features)
{
	uint8_t at = 0;

	pci_enable(&device->pci);
	device->common = virtio_map(device, CFG_COMMON, &at);
	device->notify = virtio_map(device, CFG_NOTIFY, &at);
	if (!device->common || !device->notify)
		return -ENODEV;
	device->notify_step = pci_read(&device->pci, at + 16);
	virtio_set8(device, COMMON_STATUS, 0);
	while (virtio_get8(device, COMMON_STATUS))
		;
	virtio_add_status(device, STATUS_ACKNOWLEDGE);
	virtio_add_status(device, STATUS_DRIVER);
	if (!virtio_offers(device, 0, features) || !virtio_offers(device, 1, FEATURE_VERSION_1))
		return -ENODEV;
	virtio_accept(device, 0, features);
	virtio_accept(device, 1, FEATURE_VERSION_1);
	virtio_add_status(device, STATUS_FEATURES_OK);
	return virtio_get8(device, COMMON_STATUS) & STATUS_FEATURES_OK ? 0 : -ENODEV;
}

int virtio_add_queue(struct virtio_device *device, uint16_t nr, struct virtq *queue)
{
	uint8_t *page;

	virtio_set16(device, COMMON_QUEUE, nr);
	if (virtio_get16(device, COMMON_QUEUE_SIZE) < VIRTQ_SIZE)
		return -ENODEV;
	page = page_alloc_zeroed(0);
	if (!page)
		return -ENOMEM;
	queue->desc = (struct virtq_desc *)page;
	queue->avail = (struct virtq_avail *)(page + AVAIL_OFFSET);
	queue->used = (struct virtq_used *)(page + USED_OFFSET);
	queue->nr = nr;
	queue->notify = (volatile uint16_t *)(device->notify +
					      (size_t)device->notify_step *
						      virtio_get16(device, COMMON_QUEUE_NOTIFY));
	virtio_set16(device, COMMON_QUEUE_SIZE, VIRTQ_SIZE);
	virtio_set16(device, COMMON_QUEUE_MSIX, 0);
	virtio_set_address(device, COMMON_QUEUE_DESC, queue->desc);
	virtio_set_address(device, COMMON_QUEUE_AVAIL, queue->avail);
	virtio_set_address(device, COMMON_QUEUE_USED, page + USED_OFFSET);
	virtio_set16(device, COMMON_QUEUE_ENABLE, 1);
	return 0;
}

void virtio_start(struct virtio_device *device)
{
	virtio_set16(device, COMMON_MSIX, 0xffff); /* no message when the configuration changes */
	virtio_add_status(device, STATUS_DRIVER_OK);
}

void virtio_give(struct virtq *queue, uint16_t i, void *bytes, uint32_t len, bool is_written)
{
	uint16_t idx = atomic_load_explicit(&queue->avail->idx, memory_order_relaxed);

	queue->desc[i] = (struct virtq_desc){ .addr = arch_virt_to_phys(bytes),
					      .len = len,
					      .flags = is_written ? DESC_WRITE : 0 };
	queue->avail->ring[idx % VIRTQ_SIZE] = i;
	/* release: the device reads the buffer after it has seen the new index. */
	atomic_store_explicit(&queue->avail->idx, (uint16_t)(idx + 1), memory_order_release);
}

void virtio_notify(struct virtq *queue)
{
	atomic_thread_fence(memory_order_seq_cst);
	*queue->notify = queue->nr;
}

bool virtio_has_used(const struct virtq *queue)
{
	/* acquire: what the device has written is seen when its index is. */
	return atomic_load_explicit(&queue->used->idx, memory_order_acquire) != queue->next_used;
}

uint16_t virtio_take(struct virtq *queue, uint32_t *out_len)
{
	uint16_t at = queue->next_used++ % VIRTQ_SIZE;

	*out_len = queue->used->ring[at].len;
	return queue->used->ring[at].id % VIRTQ_SIZE;
}
