/*
 * See pid_filter.h.
 */
#include <stdatomic.h>
#include <trace/thread.h>
#include "pid_filter.h"

/* Bits of trace_thread.ignored_by that instances have. Changed with the config lock held. */
static uint64_t used_masks;

static bool is_ignored(const struct trace_array *tr, int32_t pid)
{
	const struct trace_pid_sets *sets = trace_pid_sets_of(tr);

	if (sets->only.nr && !trace_pids_has(&sets->only, pid))
		return true;
	return trace_pids_has(&sets->except, pid);
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

/* Give the instance a bit of its own, if it has none. It keeps it while it filters threads. */
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

int trace_pid_filter_replace(struct trace_array *tr, struct trace_pids *set,
			     struct trace_pids *with)
{
	struct trace_pids old = *set;
	int err = with->nr ? take_mask(tr) : 0;

	if (err)
		return err;
	*set = *with;
	*with = (struct trace_pids){ 0 };
	tr->filters_pids = trace_pid_sets_of(tr)->only.nr || trace_pid_sets_of(tr)->except.nr;
	trace_pids_clear(&old);
	trace_plat_each_thread(apply_one, tr);
	err = tracer_settings_changed(tr);
	if (!tr->filters_pids)
		release_mask(tr); /* the tracer does not look at it any more */
	return err;
}

void trace_pid_filter_release(struct trace_array *tr)
{
	struct trace_pids none = { 0 };

	trace_pid_filter_replace(tr, &trace_pid_sets_of(tr)->only, &none);
	trace_pid_filter_replace(tr, &trace_pid_sets_of(tr)->except, &none);
}

/* With the option function-fork a thread is put into the sets that its parent is in. */
static void follow_fork(struct trace_array *tr, int32_t parent_pid, int32_t pid)
{
	struct trace_pid_sets *sets = trace_pid_sets_of(tr);

	if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_FORK)))
		return;
	if (trace_pids_has(&sets->only, parent_pid) && trace_pids_add(&sets->only, pid))
		trace_plat_log("trace: no memory to follow thread %d", pid);
	if (trace_pids_has(&sets->except, parent_pid) && trace_pids_add(&sets->except, pid))
		trace_plat_log("trace: no memory to follow thread %d", pid);
}

/*
 * Does any instance filter threads? Asked without the lock: a filter that was set before the thread
 * was made is seen, and one that is set later visits the thread itself.
 */
static bool is_any_filtered(void)
{
	return __atomic_load_n(&used_masks, __ATOMIC_ACQUIRE) != 0;
}

void trace_pid_filter_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
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

void trace_pid_filter_thread_exited(int32_t pid)
{
	struct trace_array *tr = NULL;

	if (!is_any_filtered())
		return;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_FORK)))
			continue;
		forget(&trace_pid_sets_of(tr)->only, pid);
		forget(&trace_pid_sets_of(tr)->except, pid);
	}
	trace_plat_unlock(&trace_config_lock);
}
