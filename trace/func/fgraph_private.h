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

/* The topmost frame of `user`, at or below `frame`; NULL for none. */
struct fgraph_frame *fgraph_last(const struct trace_thread *thread, struct fgraph_frame *frame,
				 uint32_t user);

/* For a frame on top of others: one level below its user's last, without flags. */
static TRACE_ALWAYS_INLINE uint32_t fgraph_next_head(const struct trace_thread *thread,
						     struct fgraph_frame *top, uint32_t user)
{
	struct fgraph_frame *last = top - 1; /* at worst the sentinel, nobody's */
	uint32_t head = atomic_load_explicit(&last->head, memory_order_relaxed);

	if (TRACE_UNLIKELY((head & FGRAPH_USER_MASK) != user)) {
		last = fgraph_last(thread, last, user);
		if (!last)
			return user;
		head = atomic_load_explicit(&last->head, memory_order_relaxed);
	}
	return (head & ~FGRAPH_FLAGS_MASK) + FGRAPH_LEVEL_ONE;
}

/*
 * The frame of the call of `func` whose return address lies at `slot`, or NULL: no room. The time
 * is missing. The return itself is not touched.
 */
static TRACE_ALWAYS_INLINE struct fgraph_frame *fgraph_push(struct trace_thread *thread,
							    uint32_t user_and_flags, uintptr_t func,
							    const uintptr_t *slot)
{
	struct fgraph_frame *frame = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);
	uint32_t head;

	/* Acquire: with the release in fgraph_stack.c. */
	if (TRACE_UNLIKELY(frame >= atomic_load_explicit(&thread->graph_end, memory_order_acquire)))
		return NULL;
	head = fgraph_next_head(thread, frame, user_and_flags & FGRAPH_USER_MASK) |
	       (user_and_flags & FGRAPH_FLAGS_MASK);
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
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
	return frame;
}

/* The frame is complete: from here on the function returns into the hook. */
static TRACE_ALWAYS_INLINE void fgraph_hook(uintptr_t *slot)
{
	atomic_signal_fence(memory_order_seq_cst);
	*slot = trace_plat_return_hook();
}

/* Give the topmost frame back; its return was not hooked. */
static TRACE_ALWAYS_INLINE void fgraph_unpush(struct trace_thread *thread,
					      struct fgraph_frame *frame)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->graph_top, frame, memory_order_relaxed);
}

/* The same at the return: the stack holds the real address again. */
static TRACE_ALWAYS_INLINE void fgraph_pop(struct trace_thread *thread, struct fgraph_frame *frame,
					   uintptr_t *slot)
{
	*slot = trace_plat_ip_unpack(frame->ret);
	fgraph_unpush(thread, frame);
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
/* No entry of it can run any more. When it returns, no exit does either, or ever will. Thread. */
void fgraph_user_remove(struct fgraph_user *user);

/* What a hooked function returns into calls this, preemption in any state; *slot says where to. */
void trace_graph_return(uintptr_t *slot, uintptr_t retval);

/* ---- fgraph_stack.c: threads. Callers hold fgraph_lock. ---- */

extern struct trace_plat_lock fgraph_lock;

/* Stacks for all threads, and for all that come; 0 or -ENOMEM. */
int fgraph_stacks_get(void);
/* The last user is gone: take back what is empty. */
void fgraph_stacks_put(void);
/* Frames of user `index` become nobody's. Returns how many there were. */
uint64_t fgraph_stacks_forget(uint32_t index);
/* How many frames `index` has. */
uint64_t fgraph_stacks_count(uint32_t index);
/* A frame of `index` goes with its thread. */
void fgraph_abandon(uint32_t index);

/* From trace_thread_created() and trace_thread_exited(), without the lock. */
void fgraph_thread_created(struct trace_thread *thread);
void fgraph_thread_exited(struct trace_thread *thread);

#endif
