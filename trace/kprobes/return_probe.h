/*
 * Open calls of fprobes and kretprobes, on the shadow stacks of graph/fgraph_private.h.
 *
 *   frame:  | words: data of the call, or where it lies | handle |
 *                                                           |
 *   table:  | - | probe | - | probe |  <--------------------+  low half: place in the table,
 *                                                              high half: a number, never used
 *                                                              again
 *
 * All probes of a kind are one user of the shadow stacks. When one goes, its place in the table is
 * emptied, and frames of calls that are still open find no probe there; or, later, one with another
 * number.
 *
 * Context:   the inline functions - probe, preemption off. Everything else -
 *            thread.
 * Locking:   each kind has a sleeping lock, which the caller of the thread functions holds. Probes
 *            read the table without.
 */
#ifndef RETURN_PROBE_H
#define RETURN_PROBE_H

#include <trace/fprobe.h>
#include <trace/recursion.h>
#include "graph/fgraph_private.h"

/* All probes of a kind, which has set `user.exit`, and `user.abandon` to trace_return_abandon(). */
struct return_probes {
	struct fgraph_user user;
	/* Replaced by a larger one; there is one while the user is added. NULL in a place: free. */
	struct return_probe *_Atomic *_Atomic table;
	uint32_t nr_places;
	uint32_t nr_used;
	uint32_t maybe_free; /* no place below is free */
};

/*
 * Get ready for `nr` more probes: places, shadow stacks. To be undone by trace_return_put() if they
 * do not come. 0, -ENOMEM, -EBUSY, -ENODEV.
 */
int trace_return_get(struct return_probes *all, uint32_t nr);
/* Give the probe a place, for which trace_return_get() has been asked. Its pool is as new. */
void trace_return_add(struct return_probes *all, struct return_probe *probe);
/*
 * Remove a probe. Its calls that return from now on find no probe. Does nothing when it has no
 * place.
 */
void trace_return_remove(struct return_probes *all, struct return_probe *probe);
/* Behind some trace_return_remove(): when this returns no exit of theirs runs any more. */
void trace_return_put(struct return_probes *all);

/* Memory for `nr` calls with `bytes` each, if they are too many for a frame. 0 or -ENOMEM. */
int trace_return_pool_create(struct return_probe *probe, uint32_t nr, size_t bytes);
void trace_return_pool_destroy(struct return_probe *probe);
/* Data of a call; NULL when all is in use. Any context. */
void *trace_return_pool_take(struct return_pool *pool);
void trace_return_pool_give(struct return_pool *pool, void *data);

/* For fgraph_user.abandon: the data of the call are free. */
void trace_return_abandon(struct fgraph_frame *frame, struct fgraph_user *user);

#define RETURN_POOLED (1ull << 63) /* in a handle: the data of its calls lie in the pool */

static TRACE_ALWAYS_INLINE uint64_t return_handle(const struct return_probe *probe)
{
	return atomic_load_explicit(&probe->handle, memory_order_relaxed);
}

/*
 * Are calls being entered? Not when graph tracing has stopped for good, and in the entry of a
 * thread that comes late.
 */
static TRACE_ALWAYS_INLINE bool return_is_off(const struct return_probes *all)
{
	return atomic_load_explicit(&all->user.flags, memory_order_relaxed);
}

/* Push `frame`, which is free, for a call of `ip` whose return address lies at `slot`. */
static TRACE_ALWAYS_INLINE void return_push(struct return_probes *all, uint64_t handle,
					    struct fgraph_frame *frame, uintptr_t ip,
					    const uintptr_t *slot)
{
	fgraph_push_flat(trace_plat_current(), frame, all->user.index, ip, slot);
	frame->handle = handle;
}

/* The same with whatever data the probe has; NULL when there is no room, or the probe has gone. */
static inline struct fgraph_frame *return_push_any(struct return_probes *all,
						   const struct return_probe *probe, uintptr_t ip,
						   const uintptr_t *slot)
{
	uint64_t handle = return_handle(probe);
	struct fgraph_frame *frame;
	void *data = NULL;

	if (return_is_off(all) || !handle)
		return NULL;
	frame = fgraph_room(trace_plat_current());
	if (!frame)
		return NULL;
	if (handle & RETURN_POOLED) {
		data = trace_return_pool_take(probe->pool);
		if (!data)
			return NULL;
	}
	return_push(all, handle, frame, ip, slot);
	if (data)
		frame->words[0] = (uintptr_t)data;
	return frame;
}

static TRACE_ALWAYS_INLINE bool return_is_pooled(const struct fgraph_frame *frame)
{
	return frame->handle & RETURN_POOLED;
}

/* Data of the call. */
static TRACE_ALWAYS_INLINE void *return_data(struct fgraph_frame *frame)
{
	return TRACE_UNLIKELY(return_is_pooled(frame)) ? (void *)frame->words[0] : frame->words;
}

/* Find the probe of a call; a probe with another handle when the call's has gone. */
static TRACE_ALWAYS_INLINE struct return_probe *return_find(const struct return_probes *all,
							    const struct fgraph_frame *frame)
{
	/* The acquires pair with the releases of table_grow() and trace_return_add(). */
	struct return_probe *_Atomic *table =
		atomic_load_explicit(&all->table, memory_order_acquire);

	return atomic_load_explicit(&table[(uint32_t)frame->handle], memory_order_acquire);
}

/* Forget the topmost frame and its data. The return address is as return_push() found it. */
static TRACE_ALWAYS_INLINE void return_drop(const struct return_probe *probe,
					    struct fgraph_frame *frame)
{
	if (TRACE_UNLIKELY(return_is_pooled(frame)))
		trace_return_pool_give(probe->pool, (void *)frame->words[0]);
	fgraph_free(trace_plat_current(), frame);
}

/* The address that the call of `frame` returns to in the end. */
static inline uintptr_t return_addr(const struct fgraph_frame *frame)
{
	return ftrace_graph_ret_addr(trace_plat_current(), trace_plat_return_hook(),
				     fgraph_slot(frame));
}

/*
 * May this entry take the short way? Not in interrupts, where the guard is held, and when the call
 * is hooked before, so that it has to be looked up where it returns to.
 */
static TRACE_ALWAYS_INLINE bool return_may_enter(uintptr_t parent_ip)
{
	return TRACE_LIKELY(parent_ip != trace_plat_return_hook()) &&
	       TRACE_LIKELY(trace_plat_is_free_thread(TRACE_RECURSION_CALLBACK));
}

/* The same for an exit of `probe`, to `ret`; takes the guard. Data have to be in the frame, too. */
static TRACE_ALWAYS_INLINE bool return_try_leave(const struct return_probe *probe,
						 const struct fgraph_frame *frame, uintptr_t ret)
{
	return TRACE_LIKELY(return_handle(probe) == frame->handle) &&
	       TRACE_LIKELY(!return_is_pooled(frame)) &&
	       TRACE_LIKELY(ret != trace_plat_return_hook()) &&
	       TRACE_LIKELY(!(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK)) &&
	       TRACE_LIKELY(trace_plat_recursion_set(TRACE_RECURSION_CALLBACK));
}

#endif
