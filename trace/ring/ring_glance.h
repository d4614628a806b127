/*
 * A look at a ring without waiting: for explanations of a trace, even while another thread holds
 * the ring's locks and does not let go. See <trace/ring_buffer.h>.
 *
 * Locking: none. Preemption is off while words or sub-buffers are looked at. An exchange of a
 *          ring's memory first marks it as moving, and then waits until the look has ended.
 */
#ifndef TRACE_RING_GLANCE_H
#define TRACE_RING_GLANCE_H

#include <trace/ring_buffer.h>

/*
 * The state of a ring that can be read without waiting, even if a lock of the ring is never given
 * back. Numbers that change meanwhile may be from slightly different moments. Any context.
 */
struct ring_glance {
	uint64_t committed;	 /* events since the ring was emptied */
	uint64_t read;		 /* consumed */
	uint64_t commit_overrun; /* as in struct ring_stats, and so on */
	uint64_t dropped;
	uint64_t unbuilt; /* of these, events that their writers had no room to build */
	uint64_t now_ts;
	uint32_t nr_disabled; /* calls of ring_buffer_record_disable() that were not undone */
	/*
	 * False: no memory, or it is being emptied or resized just now: numbers are 0, but for
	 * these two
	 */
	bool is_there;
	bool is_damaged; /* events in it could not be decoded, and the reader has skipped them */
};
void ring_buffer_glance_cpu(struct ring_buffer *buffer, uint32_t cpu,
			    struct ring_glance *out_glance);
/*
 * Show each event that is still to be read to `fn`, the oldest first; like an iterator, but without
 * locks or memory of its own. It ends early when the ring is emptied or resized meanwhile. `page`:
 * memory for a copy of a sub-buffer. Thread.
 */
struct ring_look_page {
	uint8_t *data;	/* aligned to 8 */
	uint32_t bytes; /* ring_buffer_subbuf_size() at least, or nothing is shown */
};
typedef void (*ring_look_fn)(const struct ring_event *event, void *arg);
void ring_buffer_look_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_look_page *page,
			  ring_look_fn fn, void *arg);

#endif
