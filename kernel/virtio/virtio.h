/*
 * Devices of virtio 1 on PCI, with split queues (OASIS, Virtual I/O Device 1.1: 2.6 queues, 4.1
 * PCI).
 *
 * Each buffer of a queue is one descriptor; buffer number i is always descriptor i.
 *
 *   give: avail ring --> device --> used ring: take
 *
 * Context:   thread; virtio_has_used(): any.
 * Locking:   the caller's: one user of a queue at a time.
 * Ownership: a device and its queues stay for ever.
 */
#ifndef VIRTIO_H
#define VIRTIO_H

#include <arch/pci.h>
#include <kernel/base.h>

#define VIRTQ_SIZE 32u /* buffers of a queue */

struct virtio_device {
	struct pci_device pci;
	volatile uint8_t *common;
	volatile uint8_t *notify;
	uint32_t notify_step; /* bytes between the registers of queues */
};

struct virtq_desc;
struct virtq_avail;
struct virtq_used;

struct virtq {
	struct virtq_desc *desc; /* a page holds all three */
	struct virtq_avail *avail;
	volatile struct virtq_used *used;
	volatile uint16_t *notify;
	uint16_t nr;	    /* of the device's queues */
	uint16_t next_used; /* to be taken */
};

/*
 * Reset the device and agree on `features` (bits 0 to 31) and on version 1. 0; -ENODEV: it lacks
 * something; -ENOMEM.
 */
int virtio_begin(struct virtio_device *device, uint32_t features);
/* Set up queue `nr`, whose events are the device's first message. 0, -ENODEV or -ENOMEM. */
int virtio_add_queue(struct virtio_device *device, uint16_t nr, struct virtq *queue);
/* The device may use its queues from here on. */
void virtio_start(struct virtio_device *device);

/* Give buffer `i`, at `bytes` in the direct map, to the device, which reads it, or writes it. */
void virtio_give(struct virtq *queue, uint16_t i, void *bytes, uint32_t len, bool is_written);
/* Tell the device that it has been given buffers. */
void virtio_notify(struct virtq *queue);
bool virtio_has_used(const struct virtq *queue);
/* Take the next buffer back, after virtio_has_used(); *out_len is how much was written. */
uint16_t virtio_take(struct virtq *queue, uint32_t *out_len);

#endif
