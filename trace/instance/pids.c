/*
 * See pids.h.
 */
#include <stdatomic.h>
#include <trace/thread.h>
#include "array.h"
#include "text/str.h"

#define PIDS_FIRST_CAPACITY (4096u / sizeof(int32_t))

/* Where `pid` is, or would be. */
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

static int reserve(struct trace_pids *set, size_t capacity)
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
	if (set->nr == set->capacity && reserve(set, set->capacity * 2 + 1))
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
	err = reserve(to, from->nr);
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

static uint64_t used_masks; /* bits of trace_thread.ignored_by that instances have; config lock */

static bool is_ignored(const struct trace_array *tr, int32_t pid)
{
	if (tr->pids.nr && !trace_pids_has(&tr->pids, pid))
		return true;
	return trace_pids_has(&tr->no_pids, pid);
}

static void mark(struct trace_thread *thread, uint64_t mask, bool ignored)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)&thread->ignored_by;

	if (ignored)
		atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed);
}

static void apply_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	const struct trace_array *tr = arg;

	mark(thread, tr->pid_mask, is_ignored(tr, pid));
}

/* Have a bit exactly as long as threads are filtered. */
static int take_mask(struct trace_array *tr)
{
	uint64_t free = ~used_masks;

	if (tr->pid_mask)
		return 0;
	if (!free)
		return -ENOSPC;
	tr->pid_mask = free & -free;
	__atomic_store_n(&used_masks, used_masks | tr->pid_mask, __ATOMIC_RELEASE);
	return 0;
}

static void release_mask(struct trace_array *tr)
{
	__atomic_store_n(&used_masks, used_masks & ~tr->pid_mask, __ATOMIC_RELEASE);
	tr->pid_mask = 0;
}

int trace_pids_replace(struct trace_array *tr, struct trace_pids *set, struct trace_pids *with)
{
	struct trace_pids old = *set;
	int err = with->nr ? take_mask(tr) : 0;

	if (err)
		return err;
	*set = *with;
	*with = (struct trace_pids){ 0 };
	tr->filters_pids = tr->pids.nr || tr->no_pids.nr;
	trace_pids_clear(&old);
	trace_plat_each_thread(apply_one, tr);
	err = tracer_settings_changed(tr);
	if (!tr->filters_pids)
		release_mask(tr); /* after the last call that looks at it */
	return err;
}

void trace_pids_release(struct trace_array *tr)
{
	struct trace_pids none = { 0 };

	trace_pids_replace(tr, &tr->pids, &none);
	trace_pids_replace(tr, &tr->no_pids, &none);
}

/* With the option, children belong where their parent belongs. */
static void follow_fork(struct trace_array *tr, int32_t parent_pid, int32_t pid)
{
	if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_FORK)))
		return;
	if (trace_pids_has(&tr->pids, parent_pid) && trace_pids_add(&tr->pids, pid))
		trace_plat_log("trace: no memory to follow thread %d", pid);
	if (trace_pids_has(&tr->no_pids, parent_pid) && trace_pids_add(&tr->no_pids, pid))
		trace_plat_log("trace: no memory to follow thread %d", pid);
}

/* A glance without the lock: no filter that is used before this thread was made is missed. */
static bool is_any_filtered(void)
{
	return __atomic_load_n(&used_masks, __ATOMIC_ACQUIRE) != 0;
}

void trace_pids_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	struct trace_array *tr = NULL;

	if (!is_any_filtered())
		return;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		follow_fork(tr, parent_pid, pid);
		apply_one(pid, thread, tr);
	}
	trace_plat_unlock(&trace_config_lock);
}

/* The last of a set stays: an empty set would mean that every thread is traced again. */
static void forget(struct trace_pids *set, int32_t pid)
{
	if (set->nr > 1)
		trace_pids_remove(set, pid);
}

void trace_pids_thread_exited(int32_t pid)
{
	struct trace_array *tr = NULL;

	if (!is_any_filtered())
		return;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_FORK)))
			continue;
		forget(&tr->pids, pid);
		forget(&tr->no_pids, pid);
	}
	trace_plat_unlock(&trace_config_lock);
}
