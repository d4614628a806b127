/*
 * A port of virtio-serial as a channel (OASIS, Virtual I/O Device 1.1, 5.3): the first one, if it has
 * the name fathom.9p.
 *
 *   queue 2, 3: control, from the device and to it   4, 5: the port, from the host and to it
 *
 * Locking: each queue has one user: the channel's thread reads, the holder of the session's
 * send_lock writes, `control` runs in a worker. The interrupt only wakes.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/ninep.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/work.h>
#include "ninep_session.h"
#include "virtio/virtio.h"

#define VENDOR		  0x1af4
#define FEATURE_MULTIPORT 2u
#define QUEUE_CONTROL_IN  2
#define QUEUE_CONTROL_OUT 3
#define QUEUE_PORT_IN	  4
#define QUEUE_PORT_OUT	  5
#define THE_PORT	  1u /* the queues are its; port 0 is for a console */
#define BUFFER_ORDER	  1
#define BUFFER_BYTES	  ((uint32_t)PAGE_SIZE << BUFFER_ORDER)
#define CONTROL_BYTES	  64u

/* Events on the control queues [5.3.6.2]. */
enum control_event {
	CONTROL_DEVICE_READY = 0,
	CONTROL_PORT_ADD = 1,
	CONTROL_PORT_READY = 3,
	CONTROL_PORT_OPEN = 6,
	CONTROL_PORT_NAME = 7,
};

struct control {
	uint32_t port;
	uint16_t event;
	uint16_t value;
	char text[CONTROL_BYTES - 8]; /* of PORT_NAME */
};

static struct {
	struct virtio_device device;
	struct virtq control_in, control_out, in, out;
	struct control *controls; /* VIRTQ_SIZE from the device, and as many to it */
	uint16_t next_control;
	struct work control;
	struct work start;
	bool is_open;
	_Atomic bool is_started;
	_Atomic bool is_aborted;
	struct waitq arrived;
	struct waitq sent;
	uint8_t *in_buffers[VIRTQ_SIZE];
	uint8_t *out_buffers[VIRTQ_SIZE];
	uint16_t nr_out; /* the first buffer that was never given to the device */
	/* The buffer that is being read: number, bytes in it, bytes read. */
	bool has_part;
	uint16_t part;
	uint32_t part_len, part_done;
} port;

static const char port_name[] = "fathom.9p";

static void virtio_interrupt(void)
{
	if (virtio_has_used(&port.control_in))
		queue_work(&port.control);
	if (virtio_has_used(&port.in) && !atomic_exchange(&port.is_started, true))
		queue_work(&port.start);
	waitq_wake_all(&port.arrived);
	waitq_wake_all(&port.sent);
}

/* Messages to the device are few: the buffers are used one after the other. */
static void virtio_tell(uint32_t nr, enum control_event event, uint16_t value)
{
	uint16_t i = port.next_control++ % VIRTQ_SIZE;
	struct control *message = &port.controls[VIRTQ_SIZE + i];

	*message = (struct control){ .port = nr, .event = (uint16_t)event, .value = value };
	virtio_give(&port.control_out, i, message, 8, false);
	virtio_notify(&port.control_out);
}

static void virtio_hear(const struct control *message, uint32_t len)
{
	size_t name_len = sizeof(port_name) - 1;

	if (len < 8)
		return;
	if (message->event == CONTROL_PORT_ADD)
		virtio_tell(message->port, CONTROL_PORT_READY, 1);
	if (message->event != CONTROL_PORT_NAME || message->port != THE_PORT || port.is_open)
		return;
	/* The device may end the name with a NUL, or not. */
	if (len < 8 + name_len || memcmp(message->text, port_name, name_len) != 0)
		return;
	port.is_open = true;
	virtio_tell(THE_PORT, CONTROL_PORT_OPEN, 1);
}

static void virtio_control(struct work *work)
{
	(void)work;
	while (virtio_has_used(&port.control_in)) {
		uint32_t len;
		uint16_t i = virtio_take(&port.control_in, &len);

		virtio_hear(&port.controls[i], len);
		virtio_give(&port.control_in, i, &port.controls[i], CONTROL_BYTES, true);
	}
	virtio_notify(&port.control_in);
}

static bool virtio_has_bytes(void *arg)
{
	(void)arg;
	return port.has_part || virtio_has_used(&port.in);
}

static ssize_t virtio_read(void *buf, size_t len, uint64_t timeout_ns)
{
	int err = waitq_wait(&port.arrived, virtio_has_bytes, NULL, false, timeout_ns);

	if (err)
		return err;
	if (!port.has_part) {
		port.part = virtio_take(&port.in, &port.part_len);
		port.part_done = 0;
		port.has_part = true;
	}
	if (len > port.part_len - port.part_done)
		len = port.part_len - port.part_done;
	memcpy(buf, port.in_buffers[port.part] + port.part_done, len);
	port.part_done += (uint32_t)len;
	if (port.part_done == port.part_len) {
		port.has_part = false;
		virtio_give(&port.in, port.part, port.in_buffers[port.part], BUFFER_BYTES, true);
		virtio_notify(&port.in);
	}
	return (ssize_t)len;
}

static bool virtio_can_write(void *arg)
{
	(void)arg;
	return atomic_load(&port.is_aborted) || port.nr_out < VIRTQ_SIZE ||
	       virtio_has_used(&port.out);
}

static void virtio_write(const void *buf, size_t len)
{
	const uint8_t *from = buf;

	while (len) {
		uint32_t part = len < BUFFER_BYTES ? (uint32_t)len : BUFFER_BYTES, unused;
		uint16_t i;

		if (port.nr_out == VIRTQ_SIZE && !virtio_has_used(&port.out)) {
			virtio_notify(&port.out);
			waitq_wait(&port.sent, virtio_can_write, NULL, false, WAIT_FOREVER);
		}
		if (atomic_load(&port.is_aborted))
			break;
		i = port.nr_out < VIRTQ_SIZE ? port.nr_out++ : virtio_take(&port.out, &unused);
		memcpy(port.out_buffers[i], from, part);
		virtio_give(&port.out, i, port.out_buffers[i], part, false);
		from += part;
		len -= part;
	}
	virtio_notify(&port.out);
}

/* Buffers that the device has been given cannot be taken back: the host passes over their bytes. */
static void virtio_abort(void)
{
	atomic_store(&port.is_aborted, true);
	waitq_wake_all(&port.sent);
}

static void virtio_resume(void)
{
	atomic_store(&port.is_aborted, false);
}

static const struct ninep_channel virtio_channel = {
	.name = "9p-virtio",
	.read = virtio_read,
	.write = virtio_write,
	.abort = virtio_abort,
	.resume = virtio_resume,
};

static int virtio_serve(void *arg)
{
	(void)arg;
	pr_warn("%s: cannot be served (%d)\n", virtio_channel.name, ninep_serve(&virtio_channel));
	atomic_store(&port.is_started, false);
	return 0;
}

static void virtio_start_thread(struct work *work)
{
	(void)work;
	if (!thread_create(virtio_channel.name, virtio_serve, NULL,
			   THREAD_DETACHED | THREAD_SERVICE))
		atomic_store(&port.is_started, false);
}

static int virtio_make_buffers(void)
{
	port.controls = kcalloc((size_t)2 * VIRTQ_SIZE, sizeof(struct control));
	if (!port.controls)
		return -ENOMEM;
	for (uint16_t i = 0; i < VIRTQ_SIZE; i++) {
		port.in_buffers[i] = alloc_pages(BUFFER_ORDER);
		port.out_buffers[i] = alloc_pages(BUFFER_ORDER);
		if (!port.in_buffers[i] || !port.out_buffers[i])
			return -ENOMEM; /* so early that nothing else will work either */
	}
	return 0;
}

static void virtio_give_all(void)
{
	for (uint16_t i = 0; i < VIRTQ_SIZE; i++) {
		virtio_give(&port.control_in, i, &port.controls[i], CONTROL_BYTES, true);
		virtio_give(&port.in, i, port.in_buffers[i], BUFFER_BYTES, true);
	}
	virtio_notify(&port.control_in);
	virtio_notify(&port.in);
}

static int virtio_set_up(void)
{
	struct virtio_device *device = &port.device;
	int err = virtio_begin(device, FEATURE_MULTIPORT);

	if (!err)
		err = pci_start_interrupt(&device->pci, virtio_interrupt);
	if (!err)
		err = virtio_add_queue(device, QUEUE_CONTROL_IN, &port.control_in);
	if (!err)
		err = virtio_add_queue(device, QUEUE_CONTROL_OUT, &port.control_out);
	if (!err)
		err = virtio_add_queue(device, QUEUE_PORT_IN, &port.in);
	if (!err)
		err = virtio_add_queue(device, QUEUE_PORT_OUT, &port.out);
	return err ? err : virtio_make_buffers();
}

void ninep_virtio_init(void)
{
	static const uint16_t ids[] = { 0x1043, 0x1003 };
	int err = pci_find(VENDOR, ids, ARRAY_SIZE(ids), &port.device.pci);

	if (err)
		return;
	work_init(&port.control, virtio_control);
	work_init(&port.start, virtio_start_thread);
	err = virtio_set_up();
	if (err) {
		pr_warn("%s: virtio-serial is not usable (%d)\n", virtio_channel.name, err);
		return;
	}
	virtio_start(&port.device);
	virtio_give_all();
	virtio_tell(0, CONTROL_DEVICE_READY, 1);
}
