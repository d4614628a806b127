/*
 * The message ring: fixed slots, no lock.
 *
 * A writer claims slot numbers with one atomic addition, so nested writers (NMI included) never
 * share a slot. A slot's state tells the number it holds and whether it is complete:
 *
 *   state = 2 * number + 1   being written
 *   state = 2 * number + 2   complete
 *
 * A message longer than a slot takes several slots in a row. A writer that finds its slot still
 * being written, because the ring went all the way round meanwhile, drops its message.
 */
#include <stdatomic.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "dmesg.h"

#define NR_SLOTS  1024u
#define SLOT_TEXT 104u

struct slot {
	_Atomic uint64_t state;
	uint64_t time_ns;
	uint16_t len; /* of the whole message */
	uint8_t level;
	uint8_t part; /* which part of the message this slot has, from 0 */
	uint32_t unused;
	char text[SLOT_TEXT];
};

static struct slot slots[NR_SLOTS];
static _Atomic uint64_t next_number;   /* of a slot */
static _Atomic uint64_t cleared_below; /* messages with lower numbers are not shown any more */

static TRACE_ALWAYS_INLINE struct slot *dmesg_slot_of(uint64_t number)
{
	return &slots[number % NR_SLOTS];
}

static TRACE_ALWAYS_INLINE uint32_t dmesg_nr_parts(size_t len)
{
	return len ? (uint32_t)((len + SLOT_TEXT - 1) / SLOT_TEXT) : 1;
}

/* Begin to write slot `number`; false when a writer is in it, or a later message has used it. */
static TRACE_NOTRACE bool dmesg_slot_claim(struct slot *slot, uint64_t number)
{
	uint64_t state = atomic_load(&slot->state);

	return !(state & 1) && state <= 2 * number &&
	       atomic_compare_exchange_strong(&slot->state, &state, 2 * number + 1);
}

/* No call sites: probes call it. */
TRACE_NOTRACE void dmesg_write(enum log_level level, const char *text, size_t len)
{
	uint64_t time_ns = local_clock_ns(), number;
	uint32_t parts;

	if (len > PRINTK_LINE_MAX - 1)
		len = PRINTK_LINE_MAX - 1;
	parts = dmesg_nr_parts(len);
	number = atomic_fetch_add(&next_number, parts);
	for (uint32_t part = 0; part < parts; part++) {
		struct slot *slot = dmesg_slot_of(number + part);
		size_t from = (size_t)part * SLOT_TEXT;

		if (!dmesg_slot_claim(slot, number + part))
			continue;
		slot->time_ns = time_ns;
		slot->level = (uint8_t)level;
		slot->len = (uint16_t)len;
		slot->part = (uint8_t)part;
		memcpy(slot->text, text + from, len - from < SLOT_TEXT ? len - from : SLOT_TEXT);
		/* release: pairs with the acquire in dmesg_slot_read(). */
		atomic_store_explicit(&slot->state, 2 * (number + part) + 2, memory_order_release);
	}
}

enum read_result {
	READ_OK,
	READ_NOT_YET,
	READ_GONE
};

/* Copy part `part` of a message, which is in slot `number`, into `out`. */
static enum read_result dmesg_slot_read(uint64_t number, uint32_t part, struct dmesg_line *out)
{
	struct slot *slot = dmesg_slot_of(number);
	uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
	size_t from = (size_t)part * SLOT_TEXT, len;

	if (state < 2 * number + 2)
		return READ_NOT_YET;
	if (state > 2 * number + 2 || slot->part != part)
		return READ_GONE;
	if (part == 0) {
		out->time_ns = slot->time_ns;
		out->level = slot->level;
		out->len = slot->len;
		if (out->len > PRINTK_LINE_MAX - 1)
			return READ_GONE;
	}
	len = out->len - from < SLOT_TEXT ? out->len - from : SLOT_TEXT;
	memcpy(out->text + from, slot->text, len);
	/* The copy is good only if no writer began to overwrite it. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&slot->state, memory_order_relaxed) != state)
		return READ_GONE;
	return READ_OK;
}

static enum read_result dmesg_message_read(uint64_t number, struct dmesg_line *out)
{
	enum read_result result = dmesg_slot_read(number, 0, out);

	for (uint32_t part = 1; result == READ_OK && part < dmesg_nr_parts(out->len); part++)
		result = dmesg_slot_read(number + part, part, out);
	return result;
}

bool dmesg_read(uint64_t *seq, struct dmesg_line *out)
{
	uint64_t end = atomic_load(&next_number), cleared = atomic_load(&cleared_below);

	if (*seq < cleared)
		*seq = cleared;
	if (end > NR_SLOTS && *seq < end - NR_SLOTS)
		*seq = end - NR_SLOTS;
	while (*seq < end) {
		switch (dmesg_message_read(*seq, out)) {
		case READ_OK:
			out->text[out->len] = '\0';
			out->seq = *seq;
			*seq += dmesg_nr_parts(out->len);
			return true;
		case READ_NOT_YET:
			/*
			 * Its writer was interrupted, or has dropped it. Wait for it, but go on
			 * once half a ring of newer ones has come.
			 */
			if (end - *seq < NR_SLOTS / 2)
				return false;
			break;
		case READ_GONE:
			break;
		}
		*seq += 1;
	}
	return false;
}

size_t dmesg_format(const struct dmesg_line *line, char *buf, size_t size)
{
	uint64_t us = line->time_ns / NSEC_PER_USEC;

	return trace_scnprintf(buf, size, "[%5lu.%06lu] %s", us / 1000000, us % 1000000,
			       line->text);
}

void dmesg_clear(void)
{
	atomic_store(&cleared_below, atomic_load(&next_number));
}

uint64_t dmesg_end(void)
{
	return atomic_load(&next_number);
}
