/*
 * The shadow stack of a thread: frames of calls whose return goes through us.
 *
 *   graph_base  (nobody's) | frame | frame | ... | free | free      end of the page
 *                                            graph_top ^
 *
 * Each frame belongs to one user. A call that several users want has a frame of each, the last one
 * pushed on top: its return address is the hook, so it returns into the hook again, for the frame
 * below. (A tail call looks the same: a jump out of a hooked function, to one that is hooked too.)
 *
 * For each user the thread has a word, graph_next: the head that the user's next frame gets, which
 * says how many frames of the user there are. A frame adds one to the level in it and takes it away
 * again, so that nobody has to search the stack for frames of a user. A special frame is one that
 * does more to the word, flags for the calls inside for one: it keeps what the word was before.
 *
 * Frames are claimed before they are filled, and read before they are given back; a free frame is
 * nobody's. So an interrupt between any two instructions finds room above what is in use, takes no
 * frame for what it is not yet or no more, and leaves frames and words as they were.
 *
 * Context:   probe, preemption off, where nothing else is said.
 * Locking:   none: a stack is changed by its thread. Other threads turn frames of a user that goes
 *            into frames of nobody, by compare-exchange.
 * Ownership: fgraph_stack.c.
 */
#ifndef FGRAPH_PRIVATE_H
#define FGRAPH_PRIVATE_H

#include <stdatomic.h>
#include <trace/asm_entries.h>
#include <trace/fgraph.h>
#include <trace/thread.h>
#include "ops/ftrace_frame.h"

/*
 * What the users of frames keep there. All but the last are inherited by the calls inside; what
 * they mean for a frame of its own holds when it is special.
 */
enum fgraph_frame_flags {
	FGRAPH_HIDDEN = 1u << 8, /* no event for it and what it calls */
	FGRAPH_INSIDE = 1u << 9, /* in a function of set_graph_function */
	FGRAPH_IRQ = 1u << 10,	 /* the same, called by an interrupt */
	FGRAPH_SPECIAL = 1u << 11,
};

#define FGRAPH_NOBODY	   0u /* number of the user of free and of forgotten frames */
#define FGRAPH_USER_MASK   0x000000ffu
#define FGRAPH_FLAGS_MASK  0x0000ff00u
#define FGRAPH_LEVEL_SHIFT 16
#define FGRAPH_LEVEL_ONE   (1u << FGRAPH_LEVEL_SHIFT)
#define FGRAPH_NO_HEAD	   UINT32_MAX

#define FGRAPH_STACK_BYTES ((size_t)4096)
#define FGRAPH_NR_FRAMES   72u /* the last ends with the stack */

_Static_assert(FGRAPH_MAX_USERS < TRACE_THREAD_GRAPH_USERS, "each user has a word");

/* The topmost frame of `user`, at or below `frame`; NULL for none. */
struct fgraph_frame *fgraph_last(const struct trace_thread *thread, struct fgraph_frame *frame,
				 uint32_t user);

/* What the next frame of `user` gets: its level, and the flags of the call around it. */
static TRACE_ALWAYS_INLINE uint32_t fgraph_next(const struct trace_thread *thread, uint32_t user)
{
	return (uint32_t)__atomic_load_n(&thread->graph_next[user], __ATOMIC_RELAXED);
}

static TRACE_ALWAYS_INLINE void fgraph_set_next(struct trace_thread *thread, uint32_t user,
						uint32_t head)
{
	__atomic_store_n(&thread->graph_next[user], head, __ATOMIC_RELAXED);
}

/* Where the next frame goes, if there is room. */
static TRACE_ALWAYS_INLINE struct fgraph_frame *fgraph_top(const struct trace_thread *thread)
{
	/* Acquire: with the release in fgraph_stack.c. */
	return atomic_load_explicit(&thread->graph_top, memory_order_acquire);
}

/* False at the end of the stack, and without a stack. */
static TRACE_ALWAYS_INLINE bool fgraph_has_room(const struct fgraph_frame *top)
{
	return (uintptr_t)top % FGRAPH_STACK_BYTES != 0;
}

/* Where the next frame goes. NULL: there is no room, and the call is counted as one without. */
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
 * Claim the free `frame` for the call of `func` whose return address lies at `slot`. Time and sleep
 * are missing. The return itself is not touched.
 */
static TRACE_ALWAYS_INLINE void fgraph_push(struct trace_thread *thread, struct fgraph_frame *frame,
					    uint32_t user, uintptr_t func, const uintptr_t *slot)
{
	uint32_t head = fgraph_next(thread, user);

	atomic_store_explicit(&thread->graph_top, frame + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&frame->head, head, memory_order_relaxed);
	trace_plat_local_add(&thread->graph_next[user], FGRAPH_LEVEL_ONE);
	frame->slot = (uintptr_t)slot;
	frame->func = trace_plat_ip_pack(func);
	frame->ret = trace_plat_ip_pack(*slot);
}

/* Its sleep so far belongs to others. */
static TRACE_ALWAYS_INLINE void fgraph_begin_sleep(const struct trace_thread *thread,
						   struct fgraph_frame *frame)
{
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
}

/* The call of the frame that was just pushed begins now. */
static TRACE_ALWAYS_INLINE void fgraph_begin(const struct trace_thread *thread,
					     struct fgraph_frame *frame)
{
	fgraph_begin_sleep(thread, frame);
	frame->calltime = trace_plat_clock_ns();
}

/* Make the frame that was just pushed special: `head` is its own, and says what is inherited. */
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

/* The frame of `slot` is pushed: from here on the function returns into the hook. */
static TRACE_ALWAYS_INLINE void fgraph_hook(uintptr_t *slot)
{
	atomic_signal_fence(memory_order_seq_cst);
	*slot = trace_plat_return_hook();
}

/* Give the topmost frame back, and nothing else. */
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

/* Give the topmost frame back, which is not special; its return was not hooked. */
static TRACE_ALWAYS_INLINE void fgraph_unpush(struct trace_thread *thread,
					      struct fgraph_frame *frame)
{
	trace_plat_local_add(&thread->graph_next[frame->part.user], -(uint64_t)FGRAPH_LEVEL_ONE);
	fgraph_free(thread, frame);
}

/* The same for any frame. */
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

/* The stack holds the real return address again. */
static TRACE_ALWAYS_INLINE void fgraph_unhook(const struct fgraph_frame *frame)
{
	*fgraph_slot(frame) = trace_plat_ip_unpack(frame->ret);
}

/* The end of a frame at the return; it is not special. Enables preemption. */
static TRACE_ALWAYS_INLINE void fgraph_pop(struct trace_thread *thread, struct fgraph_frame *frame)
{
	fgraph_unhook(frame);
	fgraph_unpush(thread, frame);
	trace_plat_preempt_enable();
}

/* The same for any frame. */
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

/* Without an event, at the entry and at the return. */
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

/* 0 (with stacks for all threads), -EBUSY, -ENOMEM, -ENODEV. Thread. */
int fgraph_user_add(struct fgraph_user *user);
/*
 * Its sites are off. When it returns, no entry or exit of it runs; an entry that comes late finds
 * FGRAPH_USER_DEAD in its flags and has to do nothing, until the user is added again. Thread.
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
/* Frames of user `index` become nobody's. */
void fgraph_stacks_forget(uint32_t index);
/* How many frames `index` has. */
uint64_t fgraph_stacks_count(uint32_t index);
/* Calls of `index` have slept nothing so far: those that were pushed without. Takes the lock. */
void fgraph_stacks_begin_sleep(uint32_t index);

/* From trace_thread_created() and trace_thread_exited(), without the lock. */
void fgraph_thread_created(struct trace_thread *thread);
void fgraph_thread_exited(struct trace_thread *thread);

#endif
