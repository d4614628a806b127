/*
 * See pid_filter.h.
 */
#include <stdatomic.h>
#include <trace/thread.h>
#include "pid_filter.h"
#include "feature/feature.h"

/* Bits of trace_thread.ignored_by that instances have. Changed with the config lock held. */
static uint64_t used_masks;

/* With this option a thread is put into the sets that its parent is in. */
static const enum trace_option fork_options[TRACE_NR_PID_KINDS] = {
	[TRACE_PIDS_FUNCTIONS] = TRACE_OPT_FUNCTION_FORK,
	[TRACE_PIDS_EVENTS] = TRACE_OPT_EVENT_FORK,
};

const struct trace_pid_user trace_function_pids = {
	.kind = TRACE_PIDS_FUNCTIONS,
	.changed = tracer_settings_changed,
};

static _Atomic uint64_t *mask_of(struct trace_array *tr, enum trace_pid_kind kind)
{
	return kind == TRACE_PIDS_FUNCTIONS ? &tr->pid_mask : &tr->event_pid_mask;
}

static bool pid_filter_is_ignored(const struct trace_pid_sets *sets, int32_t pid)
{
	if (sets->only.nr && !trace_pids_has(&sets->only, pid))
		return true;
	return trace_pids_has(&sets->except, pid);
}

static void pid_filter_mark(struct trace_thread *thread, uint64_t mask, bool ignored)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)&thread->ignored_by;

	if (ignored)
		atomic_fetch_or_explicit(word, mask, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(word, ~mask, memory_order_relaxed);
}

/* The bit of an instance that is to be set or cleared in each thread. */
struct pid_visit {
	const struct trace_pid_sets *sets;
	uint64_t mask;
};

static void apply_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	const struct pid_visit *visit = arg;

	pid_filter_mark(thread, visit->mask, pid_filter_is_ignored(visit->sets, pid));
}

/* Give the instance a bit of its own, if it has none. It keeps it while it filters threads. */
static int take_mask(_Atomic uint64_t *mask)
{
	uint64_t free = ~used_masks;

	if (*mask)
		return 0;
	if (!free)
		return -ENOSPC;
	*mask = free & -free;
	__atomic_store_n(&used_masks, used_masks | *mask, __ATOMIC_RELEASE);
	return 0;
}

static void release_mask(_Atomic uint64_t *mask)
{
	__atomic_store_n(&used_masks, used_masks & ~*mask, __ATOMIC_RELEASE);
	*mask = 0;
}

int trace_pid_filter_replace(struct trace_array *tr, const struct trace_pid_user *user,
			     struct trace_pids *set, struct trace_pids *with)
{
	_Atomic uint64_t *mask = mask_of(tr, user->kind);
	struct trace_pids old = *set;
	int err = with->nr ? take_mask(mask) : 0;
	struct pid_visit visit;

	if (err)
		return err;
	*set = *with;
	*with = (struct trace_pids){ 0 };
	trace_pids_clear(&old);
	visit = (struct pid_visit){ .sets = trace_pid_sets_of(tr, user->kind), .mask = *mask };
	trace_plat_each_thread(apply_one, &visit);
	err = user->changed(tr);
	if (!trace_pid_filter_is_used(tr, user->kind))
		release_mask(mask); /* no probe reads it any more */
	return err;
}

void trace_pid_filter_release(struct trace_array *tr, const struct trace_pid_user *user)
{
	struct trace_pid_sets *sets = trace_pid_sets_of(tr, user->kind);
	struct trace_pids none = { 0 };

	trace_pid_filter_replace(tr, user, &sets->only, &none);
	trace_pid_filter_replace(tr, user, &sets->except, &none);
}

static bool follows_forks(const struct trace_array *tr, enum trace_pid_kind kind)
{
	return tr->options & TRACE_OPT_BIT(fork_options[kind]);
}

static void follow_fork(struct trace_pid_sets *sets, int32_t parent_pid, int32_t pid)
{
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

/*
 * To be called for a new thread before it runs, and for a thread that ends. A new thread gets the
 * bits of all instances that do not trace it; in an instance with the option function-fork or
 * event-fork it is put into the sets that its parent is in. No lock held.
 */
static void pid_filter_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	struct trace_array *tr = NULL;

	if (!is_any_filtered())
		return;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		for (enum trace_pid_kind kind = 0; kind < TRACE_NR_PID_KINDS; kind++) {
			struct trace_pid_sets *sets = trace_pid_sets_of(tr, kind);

			if (follows_forks(tr, kind))
				follow_fork(sets, parent_pid, pid);
			pid_filter_mark(thread, *mask_of(tr, kind),
					pid_filter_is_ignored(sets, pid));
		}
	}
	trace_plat_unlock(&trace_config_lock);
}

/* The last of a set stays: an empty set would mean that every thread is traced again. */
static void pid_filter_forget(struct trace_pids *set, int32_t pid)
{
	if (set->nr > 1)
		trace_pids_remove(set, pid);
}

static void pid_filter_thread_exited(int32_t pid)
{
	struct trace_array *tr = NULL;

	if (!is_any_filtered())
		return;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr))) {
		for (enum trace_pid_kind kind = 0; kind < TRACE_NR_PID_KINDS; kind++) {
			if (!follows_forks(tr, kind))
				continue;
			pid_filter_forget(&trace_pid_sets_of(tr, kind)->only, pid);
			pid_filter_forget(&trace_pid_sets_of(tr, kind)->except, pid);
		}
	}
	trace_plat_unlock(&trace_config_lock);
}

/* ---- The feature ---- */

static void pids_exited(int32_t pid, struct trace_thread *thread)
{
	(void)thread;
	pid_filter_thread_exited(pid);
}

const struct trace_feature trace_feature_pids = {
	.name = "pids",
	.thread_created = pid_filter_thread_created,
	.thread_exited = pids_exited,
};
