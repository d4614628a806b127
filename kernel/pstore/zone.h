/*
 * Text in memory that survives a reset, in blocks that can be believed one by one.
 *
 *   zone:  block | block | block | ...      each block: sequence, length and sum, text
 *
 * A block's sequence has the generation, which is one more with each zone_begin(), above the block's
 * number in it. There is no head: a block counts when its sum fits, over the place and size of the
 * zone, the sequence, and the text. The text of the last generation that has any block is the old one.
 * A generation may go round, over its own oldest blocks, or end where the memory does.
 *
 * A reset in the middle of zone_append() leaves the text before it, or that with some bytes more.
 *
 * Context:   zone_append(): any; the others: thread.
 * Locking:   the caller's: one writer at a time; zone_erase() beside it needs none.
 * Ownership: the memory stays the caller's.
 */
#ifndef KERNEL_PSTORE_ZONE_H
#define KERNEL_PSTORE_ZONE_H

#include <kernel/base.h>

#define ZONE_BLOCK_BYTES 256u
#define ZONE_TEXT_BYTES	 240u /* of a block */

struct zone_block;

struct zone {
	struct zone_block *blocks;
	struct zone_block *open; /* being written; NULL: the next byte begins one */
	uint32_t nr_blocks;
	uint64_t seed;
	uint64_t old;	   /* generation of the text that was found; 0: none */
	uint64_t old_last; /* number of its last block */
	uint64_t next;	   /* sequence of the block that is begun next */
	uint64_t end;	   /* sequence that no block gets any more */
};

/*
 * Look for text in `bytes` bytes at `memory`, aligned to 8. `id` tells the zone from others: text that was
 * written under another id or size is none. zone->nr_blocks is 0 when the memory is too small.
 */
void zone_init(struct zone *zone, void *memory, size_t bytes, uint64_t id);
/* The most bytes that zone_text() writes. */
size_t zone_text_max(const struct zone *zone);
/*
 * Copy out the old text; returns its length. For damaged blocks between others it has the line
 * `damaged`, which may be "" and has ZONE_TEXT_BYTES at most.
 */
size_t zone_text(const struct zone *zone, char *out, const char *damaged);
/* The text of this generation and of older ones is gone. A writer may go on with a newer one meanwhile. */
void zone_erase(struct zone *zone, uint64_t generation);
/* Begin a text of that generation, which is above zone->old. `goes_round`: over its own beginning. */
void zone_begin(struct zone *zone, uint64_t generation, bool goes_round);
/* Returns the bytes added: fewer than `len` at the end of memory. */
size_t zone_append(struct zone *zone, const void *bytes, size_t len);

#endif
