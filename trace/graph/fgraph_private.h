/*
 * The shadow stack of a thread: a frame for each call whose return address was replaced by our
 * hook.
 *
 *     | unused | frame | frame | frame | free | free |
 *      ^                                ^            ^
 *      graph_base                       graph_top    end of the page
 *
 * Each frame belongs to one user of graph tracing. If several users want the same call, each has a
 * frame for it. The frame pushed last is on top, and the return address that it keeps is the hook,
 * so that its return comes into the hook again, for the frame below. (A tail call looks the same: a
 * hooked function jumps to another one that is hooked, too.)
 *
 * For each user the thread has a word, graph_next. It is the head of the user's next frame, and its
 * level is the number of the user's frames. Pushing a frame adds one to the level and popping takes
 * it away again, so that the stack need not be searched for frames of a user. A special frame
 * changes more of the word, such as flags that the calls inside inherit; it keeps the word's
 * earlier value, to restore it.
 *
 * A frame is claimed before it is filled, and read before it is freed; the head of a free frame
 * belongs to the empty user. So an interrupt between any two instructions finds room above all
 * frames in use, never takes a half-made frame for a finished one, and leaves frames and words as
 * it found them.
 *
 * Context:   probe, preemption off, unless a function says otherwise.
 * Locking:   none: only its own thread pushes and pops. When a user is removed, another thread
 *            gives its frames to the empty user, by compare-exchange.
 * Ownership: stacks are allocated and freed by fgraph_stack.c.
 */
#ifndef FGRAPH_PRIVATE_H
#define FGRAPH_PRIVATE_H

#include <stdatomic.h>
#include <trace/asm_entries.h>
#include <trace/fgraph.h>
#include <trace/thread.h>
#include "ops/ftrace_frame.h"

/*
 * Flags in the head of a frame. All but FGRAPH_SPECIAL are inherited by the calls inside. For the
 * frame's own call they hold only if it is special: otherwise it has them from the call around it.
 */
enum fgraph_frame_flags {
	FGRAPH_HIDDEN = 1u << 8,   /* no events for this call and for those inside */
	FGRAPH_INSIDE = 1u << 9,   /* inside a function of set_graph_function */
	FGRAPH_IRQ = 1u << 10,	   /* the same, called by an interrupt */
	FGRAPH_SPECIAL = 1u << 11, /* `outer` has what graph_next is to be after this call */
};

#define FGRAPH_NOBODY	   0u /* number of the user of free and of forgotten frames */
#define FGRAPH_USER_MASK   0x000000ffu
#define FGRAPH_FLAGS_MASK  0x0000ff00u
#define FGRAPH_LEVEL_SHIFT 16
#define FGRAPH_LEVEL_ONE   (1u << FGRAPH_LEVEL_SHIFT)
#define FGRAPH_NO_HEAD	   UINT32_MAX

#define FGRAPH_STACK_BYTES ((size_t)4096)
#define FGRAPH_NR_FRAMES   72u /* the end of the last one is the end of the stack's memory */

_Static_assert(FGRAPH_MAX_USERS < TRACE_THREAD_GRAPH_USERS, "each user has a word");

/* The topmost frame of `user`, at or below `frame`; NULL for none. */
struct fgraph_frame *fgraph_last(const struct trace_thread *thread, struct fgraph_frame *frame,
				 uint32_t user);

/* The head of the user's next frame: its number, its level, the flags of the call around it. */
static TRACE_ALWAYS_INLINE uint32_t fgraph_next(const struct trace_thread *thread, uint32_t user)
{
	return (uint32_t)__atomic_load_n(&thread->graph_next[user], __ATOMIC_RELAXED);
}

static TRACE_ALWAYS_INLINE void fgraph_set_next(struct trace_thread *thread, uint32_t user,
						uint32_t head)
{
	__atomic_store_n(&thread->graph_next[user], head, __ATOMIC_RELAXED);
}

/* The place of the next frame, if fgraph_has_room(). */
static TRACE_ALWAYS_INLINE struct fgraph_frame *fgraph_top(const struct trace_thread *thread)
{
	/*
	 * The acquire pairs with the release in give(), which hands out the stack: fgraph_stack.c.
	 */
	return atomic_load_explicit(&thread->graph_top, memory_order_acquire);
}

/* False at the end of the stack, and without a stack. */
static TRACE_ALWAYS_INLINE bool fgraph_has_room(const struct fgraph_frame *top)
{
	return (uintptr_t)top % FGRAPH_STACK_BYTES != 0;
}

/* The place of the next frame; NULL when there is no room, and the call was counted as overrun. */
static TRACE_ALWAYS_INLINE struct fgraph_frame *fgraph_room(struct trace_thread *thread)
{
	struct fgraph_frame *top = fgraph_top(thread);

	if (TRACE_LIKELY(fgraph_has_room(top)))
		return top;
	if (thread->graph_overrun < UINT16_MAX) /* events have 16 bits for it */
		thread->graph_overrun++;
	return NULL;
}

/*
 * Claim the free `frame`, which fgraph_room() has returned, for the call of `func` whose return
 * address lies at `slot`. fgraph_begin() fills in the times, fgraph_hook() replaces the return
 * address.
 */
static TRACE_ALWAYS_INLINE void fgraph_push(struct trace_thread *thread, struct fgraph_frame *frame,
					    uint32_t user, uintptr_t func, const uintptr_t *slot)
{
	uint32_t head = fgraph_next(thread, user);

	/* `frame` + 1, by one instruction. An interrupt in between leaves it as it was. */
	trace_plat_local_add((uint64_t *)(void *)&thread->graph_top, sizeof(*frame));
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&frame->head, head, memory_order_relaxed);
	trace_plat_local_add(&thread->graph_next[user], FGRAPH_LEVEL_ONE);
	frame->slot = (uintptr_t)slot;
	frame->func = trace_plat_ip_pack(func);
	frame->ret = trace_plat_ip_pack(*slot);
}

/*
 * The same for a user that has no use for levels and special frames: its word graph_next stays as
 * it is, and fgraph_free() undoes this.
 */
static TRACE_ALWAYS_INLINE void fgraph_push_flat(struct trace_thread *thread,
						 struct fgraph_frame *frame, uint32_t user,
						 uintptr_t func, const uintptr_t *slot)
{
	atomic_store_explicit(&thread->graph_top, frame + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&frame->head, user, memory_order_relaxed);
	frame->slot = (uintptr_t)slot;
	frame->func = trace_plat_ip_pack(func);
	frame->ret = trace_plat_ip_pack(*slot);
}

/* Remember how long the thread has slept so far: that is not part of this call. */
static TRACE_ALWAYS_INLINE void fgraph_begin_sleep(const struct trace_thread *thread,
						   struct fgraph_frame *frame)
{
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
}

/* The call of the frame that was just pushed begins now: take the time. */
static TRACE_ALWAYS_INLINE void fgraph_begin(const struct trace_thread *thread,
					     struct fgraph_frame *frame)
{
	fgraph_begin_sleep(thread, frame);
	frame->calltime = trace_plat_clock_ns();
}

/*
 * Make the frame that was just pushed special. `head` becomes its head, and, one level deeper, the
 * first head of the calls inside.
 */
static TRACE_ALWAYS_INLINE void fgraph_make_special(struct trace_thread *thread,
						    struct fgraph_frame *frame, uint32_t head)
{
	frame->outer = atomic_load_explicit(&frame->head, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&frame->head, head | FGRAPH_SPECIAL, memory_order_relaxed);
	fgraph_set_next(thread, head & FGRAPH_USER_MASK, head + FGRAPH_LEVEL_ONE);
}

static TRACE_ALWAYS_INLINE uintptr_t *fgraph_slot(const struct fgraph_frame *frame)
{
	return (uintptr_t *)frame->slot;
}

/* The packed address in the caller to which the function of a frame returns. */
static TRACE_ALWAYS_INLINE uint32_t fgraph_caller(const struct trace_thread *thread,
						  const struct fgraph_frame *frame)
{
	uintptr_t ret = trace_plat_ip_unpack(frame->ret);

	if (TRACE_LIKELY(ret != trace_plat_return_hook()))
		return frame->ret;
	return trace_plat_ip_pack(ftrace_graph_ret_addr(thread, ret, fgraph_slot(frame)));
}

/* After pushing the frame of `slot`: make the function return into the hook. */
static TRACE_ALWAYS_INLINE void fgraph_hook(uintptr_t *slot)
{
	atomic_signal_fence(memory_order_seq_cst);
	*slot = trace_plat_return_hook();
}

/* Free the topmost frame. The user's word and the return address stay as they are. */
static TRACE_ALWAYS_INLINE void fgraph_free(struct trace_thread *thread, struct fgraph_frame *frame)
{
	atomic_store_explicit(&frame->head, FGRAPH_NOBODY, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->graph_top, frame, memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE bool fgraph_is_special(const struct fgraph_frame *frame)
{
	return frame->part.flags & FGRAPH_SPECIAL >> 8;
}

/* Undo fgraph_push(): free the topmost frame, which is not special, and restore the user's word. */
static TRACE_ALWAYS_INLINE void fgraph_unpush(struct trace_thread *thread,
					      struct fgraph_frame *frame)
{
	trace_plat_local_add(&thread->graph_next[frame->part.user], -(uint64_t)FGRAPH_LEVEL_ONE);
	fgraph_free(thread, frame);
}

/* The same for a frame that may be special. */
static inline void fgraph_unpush_any(struct trace_thread *thread, struct fgraph_frame *frame)
{
	if (!fgraph_is_special(frame)) {
		fgraph_unpush(thread, frame);
		return;
	}
	fgraph_set_next(thread, frame->part.user, frame->outer);
	atomic_signal_fence(memory_order_seq_cst);
	fgraph_free(thread, frame);
}

/* Put the real return address back on the stack. */
static TRACE_ALWAYS_INLINE void fgraph_unhook(const struct fgraph_frame *frame)
{
	*fgraph_slot(frame) = trace_plat_ip_unpack(frame->ret);
}

/*
 * The call has returned: undo hook and push of the topmost frame, not special. Enables preemption.
 */
static TRACE_ALWAYS_INLINE void fgraph_pop(struct trace_thread *thread, struct fgraph_frame *frame)
{
	fgraph_unhook(frame);
	fgraph_unpush(thread, frame);
	trace_plat_preempt_enable();
}

/* The same for a frame that may be special. */
static inline void fgraph_pop_any(struct trace_thread *thread, struct fgraph_frame *frame)
{
	fgraph_unhook(frame);
	fgraph_unpush_any(thread, frame);
	trace_plat_preempt_enable();
}

static TRACE_ALWAYS_INLINE uint32_t fgraph_head(const struct fgraph_frame *frame)
{
	return atomic_load_explicit(&frame->head, memory_order_relaxed);
}

/* Does this call have no events, at its entry and at its return? */
static inline bool fgraph_is_hidden(const struct fgraph_frame *frame)
{
	const uint32_t hidden = FGRAPH_SPECIAL | FGRAPH_HIDDEN;

	return (fgraph_head(frame) & hidden) == hidden;
}

static TRACE_ALWAYS_INLINE uint32_t fgraph_level(const struct fgraph_frame *frame)
{
	return frame->part.level;
}

/* ---- Users ---- */

/*
 * Give the user a number, and all threads shadow stacks. 0; -EBUSY (it is added, or there is no
 * number left), -ENOMEM, -ENODEV (tracing is dead). Thread.
 */
int fgraph_user_add(struct fgraph_user *user);
/*
 * Remove a user whose sites have been switched off. When this returns, no entry or exit of it runs.
 * The entry of a thread that comes late finds FGRAPH_USER_DEAD in the flags, until the user is
 * added again, and has to do nothing. Thread.
 */
void fgraph_user_remove(struct fgraph_user *user);

/* The user of a frame. */
struct fgraph_user *fgraph_user_of(const struct fgraph_frame *frame);

/* ---- fgraph_stack.c: threads. Callers hold fgraph_lock. ---- */

extern struct trace_plat_lock fgraph_lock;

/* Stacks for all threads, and for all that come; 0 or -ENOMEM. */
int fgraph_stacks_get(void);
/* The last user is gone: take back what is empty. */
void fgraph_stacks_put(void);
/* Give all frames of user `index` to the empty user. */
void fgraph_stacks_forget(uint32_t index);
/* The number of frames of user `index`. */
uint64_t fgraph_stacks_count(uint32_t index);
/* Calls of `index` have slept nothing so far: those that were pushed without. Takes the lock. */
void fgraph_stacks_begin_sleep(uint32_t index);

#endif
