/*
 * Kept buffers: ring buffers in memory that the host names and that survives a reset of the machine.
 *
 *   the host's memory:  | head | note | CPU 0: words, slots, sub-buffers | CPU 1 ... |
 *
 * Writing is that of any buffer, instruction for instruction: the words that say how far a ring is
 * filled lie in the memory, too. After the reset the next kernel makes the buffer anew on the same
 * memory and finds the events of the one before: all that were committed. Nothing is trusted: each
 * sub-buffer is walked event by event, and one with a length, a time or an event that cannot be is
 * dropped and counts as lost. A kernel that is itself reset during this finds the same again.
 *
 * The found events stay until the buffer is emptied. New ones come behind them, and their times
 * begin at 0 again; so the caller keeps recording off until it empties the buffer.
 *
 * A kept buffer has rings for all CPUs from the start. It has no twin, its size stays
 * (-EOPNOTSUPP), and ring_buffer_free() leaves the memory as it is.
 *
 * Context:   thread.
 * Locking:   the caller sees to it that a memory is used once.
 * Ownership: the memory stays the host's, and in use until ring_buffer_free().
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_RING_KEPT_H
#define TRACE_RING_KEPT_H

#include <trace/ring_buffer.h>

TRACE_BEGIN_DECLS

struct ring_kept_memory {
	void *memory; /* aligned to 64 */
	size_t bytes;
	size_t note_bytes; /* for the caller's own use; a multiple of 64 */
	/*
	 * Is a payload of `len` bytes one that may be shown? NULL: each is. It may have any contents,
	 * and lies in the memory.
	 */
	bool (*is_sound)(void *arg, const void *payload, uint32_t len);
	void *arg;
};

struct ring_kept_report {
	bool is_found;	     /* a buffer of the same layout was in the memory */
	bool is_blank;	     /* there was none, and where its head would be all bytes are 0 */
	uint64_t nr_events;  /* that are there */
	uint64_t nr_damaged; /* sub-buffers that were dropped */
};

/*
 * The note of the buffer that lies in the memory: note_bytes bytes with any contents. NULL when
 * there is no buffer, or it has another layout: number of CPUs, sizes, version of the library.
 */
void *ring_kept_find(const struct ring_kept_memory *memory);
/*
 * A buffer in the memory, with the events that it holds, or empty. `flags` as for
 * ring_buffer_alloc(). NULL when the memory is too small for the CPUs of the platform, or when out of
 * other memory.
 */
struct ring_buffer *ring_buffer_alloc_kept(const struct ring_kept_memory *memory, uint32_t flags,
					   struct ring_kept_report *out_report);
/* Where its note is; NULL for a buffer that is not kept. */
void *ring_kept_note(const struct ring_buffer *buffer);
/*
 * Empty `to`, an ordinary buffer without a twin, give it the size of `from` and copy all events there.
 * Recording is off in both. 0, -EBUSY, -ENOMEM.
 */
int ring_kept_copy(struct ring_buffer *to, struct ring_buffer *from);

TRACE_END_DECLS

#endif
