/*
 * The shadow stack of a thread: frames of calls whose return goes through us.
 *
 *   graph_base  sentinel | frame | frame | ... | free | free      graph_end
 *                                        graph_top ^
 *
 * Each frame belongs to one user. A call that several users want has a frame of each, the last one
 * pushed on top: its return address is the hook, so it returns into the hook again, for the frame
 * below. (A tail call looks the same: a jump out of a hooked function, to one that is hooked too.)
 *
 * Frames are claimed before they are filled, and read before they are given back, so an interrupt
 * between any two instructions finds room above what is in use, and leaves all as it was.
 *
 * Context:   probe, preemption off, where nothing else is said.
 * Locking:   none: a stack is changed by its thread. Other threads turn frames of a user that goes
 *            into frames of nobody, by compare-exchange.
 * Ownership: fgraph_stack.c.
 */
#ifndef FGRAPH_PRIVATE_H
#define FGRAPH_PRIVATE_H

#include <stdatomic.h>
#include <trace/fgraph.h>
#include <trace/thread.h>

struct fgraph_frame {
	uint64_t calltime;     /* trace_plat_clock_ns() */
	uint64_t sleep_ns;     /* of the thread, at entry */
	uint64_t data;	       /* its user's */
	uint64_t child_ns;     /* in calls below of the same user; API users */
	uintptr_t slot;	       /* where on the stack the return address lies */
	uint32_t func;	       /* call site, packed */
	uint32_t ret;	       /* return address, packed */
	_Atomic uint32_t head; /* 0-7: user, 8-15: enum fgraph_frame_flags, 16-31: level */
	uint32_t unused;
};

/* What the users of frames keep there; not inherited by themselves. */
enum fgraph_frame_flags {
	FGRAPH_HIDDEN = 1u << 8, /* no event for it and what it calls */
	FGRAPH_INSIDE = 1u << 9, /* in a function of set_graph_function */
	FGRAPH_IRQ = 1u << 10,	 /* the same, called by an interrupt */
};

#define FGRAPH_NOBODY	   FGRAPH_MAX_USERS /* number of the user of forgotten frames */
#define FGRAPH_USER_MASK   0x000000ffu
#define FGRAPH_FLAGS_MASK  0x0000ff00u
#define FGRAPH_LEVEL_SHIFT 16
#define FGRAPH_LEVEL_ONE   (1u << FGRAPH_LEVEL_SHIFT)
#define FGRAPH_SENTINEL	   0xffff0000u /* user 0, level -1 */
#define FGRAPH_NO_HEAD	   UINT32_MAX

/* The topmost frame of `user`, at or below `frame`; NULL for none. */
struct fgraph_frame *fgraph_last(const struct trace_thread *thread, struct fgraph_frame *frame,
				 uint32_t user);

/*
 * Head of a frame on top of `last`, when that has the same user; 0 otherwise. The sentinel counts
 * as a frame of user 0, one level above the outermost.
 */
static TRACE_ALWAYS_INLINE uint32_t fgraph_head_below(const struct fgraph_frame *last,
						      uint32_t user)
{
	uint32_t head = atomic_load_explicit(&last->head, memory_order_relaxed);

	if (TRACE_UNLIKELY((head & FGRAPH_USER_MASK) != user))
		return FGRAPH_NO_HEAD;
	return (head & ~FGRAPH_FLAGS_MASK) + FGRAPH_LEVEL_ONE;
}

static TRACE_ALWAYS_INLINE bool fgraph_has_room(const struct trace_thread *thread)
{
	/* Acquire: with the release in fgraph_stack.c. */
	return atomic_load_explicit(&thread->graph_top, memory_order_relaxed) <
	       atomic_load_explicit(&thread->graph_end, memory_order_acquire);
}

/* The next free frame; NULL for none. */
static TRACE_ALWAYS_INLINE struct fgraph_frame *fgraph_free_frame(const struct trace_thread *thread)
{
	struct fgraph_frame *frame = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);

	/* Acquire: with the release in fgraph_stack.c. */
	if (TRACE_UNLIKELY(frame >= atomic_load_explicit(&thread->graph_end, memory_order_acquire)))
		return NULL;
	return frame;
}

/*
 * Claim the free `frame` for the call of `func` whose return address lies at `slot`. Time and sleep
 * are missing. The return itself is not touched.
 */
static TRACE_ALWAYS_INLINE void fgraph_push(struct trace_thread *thread, struct fgraph_frame *frame,
					    uint32_t head, uintptr_t func, const uintptr_t *slot)
{
	/*
	 * Before and behind the claim: an interrupt then finds the right level in the topmost
	 * frame, whether it comes before or after the second store.
	 */
	atomic_store_explicit(&frame->head, head, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->graph_top, frame + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&frame->head, head, memory_order_relaxed);
	frame->slot = (uintptr_t)slot;
	frame->func = trace_plat_ip_pack(func);
	frame->ret = trace_plat_ip_pack(*slot);
}

static TRACE_ALWAYS_INLINE uintptr_t *fgraph_slot(const struct fgraph_frame *frame)
{
	return (uintptr_t *)frame->slot;
}

/* The frame is complete: from here on the function returns into the hook. */
static TRACE_ALWAYS_INLINE void fgraph_hook(const struct fgraph_frame *frame)
{
	atomic_signal_fence(memory_order_seq_cst);
	*fgraph_slot(frame) = trace_plat_return_hook();
}

/* Give the topmost frame back; its return was not hooked. */
static TRACE_ALWAYS_INLINE void fgraph_unpush(struct trace_thread *thread,
					      struct fgraph_frame *frame)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->graph_top, frame, memory_order_relaxed);
}

/* The same at the return: the stack holds the real address again. Enables preemption. */
static TRACE_ALWAYS_INLINE void fgraph_pop(struct fgraph_frame *frame)
{
	*fgraph_slot(frame) = trace_plat_ip_unpack(frame->ret);
	fgraph_unpush(trace_plat_current(), frame);
	trace_plat_preempt_enable();
}

static TRACE_ALWAYS_INLINE uint32_t fgraph_head(const struct fgraph_frame *frame)
{
	return atomic_load_explicit(&frame->head, memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE uint32_t fgraph_level(const struct fgraph_frame *frame)
{
	return fgraph_head(frame) >> FGRAPH_LEVEL_SHIFT;
}

/* A call found no room. The event has 16 bits for it. */
static inline void fgraph_count_overrun(struct trace_thread *thread)
{
	if (thread->graph_overrun < UINT16_MAX)
		thread->graph_overrun++;
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
/*
 * The topmost frame's head for one more of `user`: with flags of the call around it; and without,
 * one level below.
 */
uint32_t fgraph_next_head(const struct trace_thread *thread, uint32_t user, uint32_t *out_flags);

/* What a hooked function returns into calls this, preemption in any state; *slot says where to. */
void trace_graph_return(uintptr_t *slot);

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
