/*
 * Sets of call sites: see ftrace_private.h. A set that an ops uses is never changed, only replaced
 * by another one, so callbacks can look without a lock and without trying again.
 */
#include "ftrace_private.h"
#include "text/str.h"

#define HASH_FIRST_SLOTS 512u /* 2 KiB: the first set fits one page */

static size_t hash_bytes(uint32_t slots)
{
	return sizeof(struct ftrace_hash) + (size_t)slots * sizeof(uint32_t);
}

static struct ftrace_hash *create_slots(uint32_t slots)
{
	struct ftrace_hash *hash = trace_plat_alloc(hash_bytes(slots));

	if (!hash)
		return NULL;
	hash->mask = slots - 1;
	hash->shift = 32 - (uint32_t)__builtin_ctz(slots);
	return hash;
}

struct ftrace_hash *ftrace_hash_create(void)
{
	return create_slots(HASH_FIRST_SLOTS);
}

struct ftrace_hash *ftrace_hash_copy(const struct ftrace_hash *hash)
{
	struct ftrace_hash *copy;

	if (!hash)
		return ftrace_hash_create();
	copy = create_slots(hash->mask + 1);
	if (copy)
		memcpy(copy, hash, hash_bytes(hash->mask + 1));
	return copy;
}

void ftrace_hash_free(struct ftrace_hash *hash)
{
	if (hash)
		trace_plat_free(hash, hash_bytes(hash->mask + 1));
}

/* The table has a free slot. False when `ip` was there already. */
static bool ftrace_hash_insert(struct ftrace_hash *hash, uint32_t ip)
{
	uint32_t at = ftrace_hash_slot(hash, ip);

	while (hash->slot[at]) {
		if (hash->slot[at] == ip)
			return false;
		at = (at + 1) & hash->mask;
	}
	hash->slot[at] = ip;
	hash->nr++;
	return true;
}

static int grow(struct ftrace_hash **hash)
{
	struct ftrace_hash *old = *hash;
	struct ftrace_hash *bigger = create_slots((old->mask + 1) * 2);

	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = 0; i <= old->mask; i++) {
		if (old->slot[i])
			ftrace_hash_insert(bigger, old->slot[i]);
	}
	ftrace_hash_free(old);
	*hash = bigger;
	return 0;
}

int ftrace_hash_add(struct ftrace_hash **hash, uint32_t ip)
{
	if ((*hash)->nr * 2 >= (*hash)->mask) {
		int err = ftrace_hash_has(*hash, ip) ? 0 : grow(hash);

		if (err)
			return err;
	}
	ftrace_hash_insert(*hash, ip);
	return 0;
}

/*
 * A search ends at the first free slot, so removing must not leave a hole in front of an entry that
 * was displaced from its own slot: such entries are moved up into the hole.
 */
void ftrace_hash_remove(struct ftrace_hash *hash, uint32_t ip)
{
	uint32_t hole = ftrace_hash_slot(hash, ip), at, home;

	while (hash->slot[hole] != ip) {
		if (!hash->slot[hole])
			return;
		hole = (hole + 1) & hash->mask;
	}
	for (at = (hole + 1) & hash->mask; hash->slot[at]; at = (at + 1) & hash->mask) {
		home = ftrace_hash_slot(hash, hash->slot[at]);
		if (((at - home) & hash->mask) < ((at - hole) & hash->mask))
			continue; /* its own slot lies behind the hole */
		hash->slot[hole] = hash->slot[at];
		hole = at;
	}
	hash->slot[hole] = 0;
	hash->nr--;
}
