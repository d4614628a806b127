/* Text that survives a reset; see zone.h. No call sites: probes write through these. */
#include <stdatomic.h>
#include <kernel/string.h>
#include <trace/compiler.h>
#include "zone.h"

#define ZONE_MAGIC	 0x46746d5a6f6eull
#define ZONE_PRIME	 0x100000001b3ull
#define ZONE_SUM_BITS	 48
#define ZONE_SUM_MASK	 ((1ull << ZONE_SUM_BITS) - 1)
#define ZONE_NUMBER_BITS 40 /* of a sequence; the generation is above */
#define ZONE_NUMBER_MASK ((1ull << ZONE_NUMBER_BITS) - 1)

struct zone_block {
	uint64_t seq;
	_Atomic uint64_t word; /* the sum, and the length of the text in the low 16 bits */
	uint8_t text[ZONE_TEXT_BYTES];
};

/* One-to-one in `sum` for each value and in the value for each `sum`: no single change goes unseen. */
static TRACE_ALWAYS_INLINE uint64_t zone_sum(uint64_t sum, uint64_t value)
{
	return ((sum ^ value) * ZONE_PRIME) & ZONE_SUM_MASK;
}

/* The sum of a block without text. */
static uint64_t zone_sum_seq(const struct zone *zone, uint64_t seq)
{
	return zone_sum(zone_sum(zone->seed, seq & UINT32_MAX), seq >> 32);
}

static uint64_t zone_sum_text(uint64_t sum, const uint8_t *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = zone_sum(sum, text[i]);
	return sum;
}

static bool zone_is_sound(const struct zone *zone, uint32_t place)
{
	struct zone_block *block = &zone->blocks[place];
	uint64_t word = atomic_load_explicit(&block->word, memory_order_relaxed);
	size_t len = word & UINT16_MAX;

	return (block->seq & ZONE_NUMBER_MASK) % zone->nr_blocks == place &&
	       len <= ZONE_TEXT_BYTES &&
	       zone_sum_text(zone_sum_seq(zone, block->seq), block->text, len) == word >> 16;
}

static void zone_find(struct zone *zone)
{
	for (uint32_t place = 0; place < zone->nr_blocks; place++) {
		uint64_t seq = zone->blocks[place].seq;

		if (seq < (zone->old << ZONE_NUMBER_BITS | zone->old_last) ||
		    !zone_is_sound(zone, place))
			continue;
		zone->old = seq >> ZONE_NUMBER_BITS;
		zone->old_last = seq & ZONE_NUMBER_MASK;
	}
}

void zone_init(struct zone *zone, void *memory, size_t bytes, uint64_t id)
{
	*zone = (struct zone){ .blocks = memory,
			       .nr_blocks = (uint32_t)(bytes / ZONE_BLOCK_BYTES) };
	zone->seed = zone_sum(zone_sum(ZONE_MAGIC, id), zone->nr_blocks);
	zone_find(zone);
}

size_t zone_text_max(const struct zone *zone)
{
	return (size_t)zone->nr_blocks * ZONE_TEXT_BYTES;
}

size_t zone_text(const struct zone *zone, char *out, const char *damaged)
{
	uint64_t number =
		zone->old_last + 1 > zone->nr_blocks ? zone->old_last + 1 - zone->nr_blocks : 0;
	bool has_gap = false;
	size_t len = 0;

	for (; zone->old && number <= zone->old_last; number++) {
		uint32_t place = (uint32_t)(number % zone->nr_blocks);
		const struct zone_block *block = &zone->blocks[place];
		size_t bytes = block->word & UINT16_MAX;

		if (block->seq != (zone->old << ZONE_NUMBER_BITS | number) ||
		    !zone_is_sound(zone, place)) {
			has_gap = len;
			continue;
		}
		if (has_gap)
			len += strlcpy(out + len, damaged, ZONE_TEXT_BYTES);
		has_gap = false;
		memcpy(out + len, block->text, bytes);
		len += bytes;
	}
	return len;
}

void zone_erase(struct zone *zone, uint64_t generation)
{
	for (uint32_t place = 0; place < zone->nr_blocks; place++) {
		struct zone_block *block = &zone->blocks[place];
		uint64_t word = atomic_load(&block->word);

		/* A writer that takes the block meanwhile has stored another word before its sequence. */
		if (block->seq >> ZONE_NUMBER_BITS <= generation)
			atomic_compare_exchange_strong(&block->word, &word, 0);
	}
	zone->old = zone->old_last = 0;
}

void zone_begin(struct zone *zone, uint64_t generation, bool goes_round)
{
	zone->open = NULL;
	zone->next = generation << ZONE_NUMBER_BITS;
	zone->end = goes_round ? UINT64_MAX : zone->next + zone->nr_blocks;
}

/*
 * The next block becomes the open one, without text. The stores are in this order, so that at no moment
 * an old text has a new sequence.
 */
static void zone_open_block(struct zone *zone)
{
	uint64_t seq = zone->next++;
	struct zone_block *block = &zone->blocks[(seq & ZONE_NUMBER_MASK) % zone->nr_blocks];

	atomic_store_explicit(&block->word, 0, memory_order_seq_cst);
	block->seq = seq;
	atomic_store_explicit(&block->word, zone_sum_seq(zone, seq) << 16, memory_order_seq_cst);
	zone->open = block;
}

/* Add to the open block; the text counts from the moment when its word is stored. */
static size_t zone_fill_block(struct zone_block *block, const uint8_t *bytes, size_t len)
{
	uint64_t word = atomic_load_explicit(&block->word, memory_order_relaxed);
	size_t used = word & UINT16_MAX;

	if (len > ZONE_TEXT_BYTES - used)
		len = ZONE_TEXT_BYTES - used;
	memcpy(block->text + used, bytes, len);
	word = zone_sum_text(word >> 16, bytes, len) << 16 | (used + len);
	atomic_store_explicit(&block->word, word, memory_order_release);
	return len;
}

size_t zone_append(struct zone *zone, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	size_t done = 0;

	while (done < len) {
		if (!zone->open) {
			if (zone->next >= zone->end)
				break;
			zone_open_block(zone);
		}
		done += zone_fill_block(zone->open, at + done, len - done);
		if ((zone->open->word & UINT16_MAX) == ZONE_TEXT_BYTES)
			zone->open = NULL;
	}
	return done;
}
