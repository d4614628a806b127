/*
 * See pids.h.
 */
#include "pids.h"
#include "text/str.h"
#include <trace/platform.h>

#define PIDS_FIRST_CAPACITY (4096u / sizeof(int32_t))

/* The index at which `pid` is, or at which it would have to be inserted. */
static size_t position_of(const struct trace_pids *set, int32_t pid)
{
	size_t low = 0, high = set->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->pids[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool trace_pids_has(const struct trace_pids *set, int32_t pid)
{
	size_t at = position_of(set, pid);

	return at < set->nr && set->pids[at] == pid;
}

static int pids_reserve(struct trace_pids *set, size_t capacity)
{
	int32_t *pids;

	if (capacity <= set->capacity)
		return 0;
	if (capacity < PIDS_FIRST_CAPACITY)
		capacity = PIDS_FIRST_CAPACITY;
	pids = trace_plat_alloc(capacity * sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	if (set->pids) {
		memcpy(pids, set->pids, set->nr * sizeof(*pids));
		trace_plat_free(set->pids, set->capacity * sizeof(*pids));
	}
	set->pids = pids;
	set->capacity = capacity;
	return 0;
}

int trace_pids_add(struct trace_pids *set, int32_t pid)
{
	size_t at = position_of(set, pid);

	if (at < set->nr && set->pids[at] == pid)
		return 0;
	if (set->nr == set->capacity && pids_reserve(set, set->capacity * 2 + 1))
		return -ENOMEM;
	memmove(set->pids + at + 1, set->pids + at, (set->nr - at) * sizeof(*set->pids));
	set->pids[at] = pid;
	set->nr++;
	return 0;
}

void trace_pids_remove(struct trace_pids *set, int32_t pid)
{
	size_t at = position_of(set, pid);

	if (at == set->nr || set->pids[at] != pid)
		return;
	set->nr--;
	memmove(set->pids + at, set->pids + at + 1, (set->nr - at) * sizeof(*set->pids));
}

int trace_pids_copy(struct trace_pids *to, const struct trace_pids *from)
{
	int err;

	trace_pids_clear(to);
	err = pids_reserve(to, from->nr);
	if (err)
		return err;
	if (from->nr)
		memcpy(to->pids, from->pids, from->nr * sizeof(*from->pids));
	to->nr = from->nr;
	return 0;
}

void trace_pids_clear(struct trace_pids *set)
{
	if (set->pids)
		trace_plat_free(set->pids, set->capacity * sizeof(*set->pids));
	*set = (struct trace_pids){ 0 };
}
