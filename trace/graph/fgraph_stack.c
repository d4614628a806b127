/*
 * Giving shadow stacks to threads and taking them back: see fgraph_private.h.
 *
 * The first user gives a stack to every thread that exists, ftrace_graph_thread_created() to those
 * that come later. When the last user is removed, empty stacks are taken back. One that still has
 * frames stays, and nothing is pushed on it any more; it is freed when its thread ends, or when the
 * last user is removed another time.
 *
 * trace_plat_each_thread() may visit threads with preemption off, where memory cannot be allocated
 * or freed. So stacks are allocated before into a chain, and those taken back go into a chain.
 */
#include <trace/host_tracepoints.h>
#include "fgraph_private.h"

struct trace_plat_lock fgraph_lock;

static bool fgraph_stack_is_wanted; /* there is a user; guarded by fgraph_lock */

/*
 * A stack that belongs to no thread. The link is in its memory, below all frames, which stay zero.
 */
struct spare {
	struct spare *next;
};
_Static_assert(sizeof(struct spare) + (FGRAPH_NR_FRAMES + 1) * sizeof(struct fgraph_frame) <=
		       FGRAPH_STACK_BYTES,
	       "frames stay zero");

struct chain {
	struct spare *first;
	uint64_t nr_missing; /* number of stacks still needed */
};

static void chain_put(struct chain *chain, void *stack)
{
	struct spare *spare = stack;

	spare->next = chain->first;
	chain->first = spare;
}

static void *chain_get(struct chain *chain)
{
	struct spare *spare = chain->first;

	if (spare)
		chain->first = spare->next;
	return spare;
}

static void chain_free(struct chain *chain)
{
	void *stack;

	while ((stack = chain_get(chain)))
		trace_plat_free(stack, FGRAPH_STACK_BYTES);
}

/* The frames are zeroed memory, so all of them belong to the empty user. */
static void give(struct trace_thread *thread, void *stack)
{
	void *end = (char *)stack + FGRAPH_STACK_BYTES;
	struct fgraph_frame *first = (struct fgraph_frame *)end - FGRAPH_NR_FRAMES;

	for (uint32_t i = 1; i <= FGRAPH_MAX_USERS; i++)
		fgraph_set_next(thread, i, i);
	thread->graph_base = first - 1;
	/* The release pairs with the acquire in fgraph_top(). */
	atomic_store_explicit(&thread->graph_top, first, memory_order_release);
}

/* The memory of the stack whose frames begin above `base`. */
static void *fgraph_stack_of(struct fgraph_frame *base)
{
	return (char *)(base + 1 + FGRAPH_NR_FRAMES) - FGRAPH_STACK_BYTES;
}

static void give_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	struct chain *chain = arg;
	void *stack;

	(void)pid;
	if (thread->graph_base || thread->graph_has_ended)
		return;
	stack = chain_get(chain);
	if (stack)
		give(thread, stack);
	else
		chain->nr_missing++;
}

static int fill_chain(struct chain *chain)
{
	for (; chain->nr_missing; chain->nr_missing--) {
		void *stack = trace_plat_alloc(FGRAPH_STACK_BYTES);

		if (!stack)
			return -ENOMEM;
		chain_put(chain, stack);
	}
	return 0;
}

int fgraph_stacks_get(void)
{
	struct chain chain = { .nr_missing = 0 };
	bool was_wanted = fgraph_stack_is_wanted;
	int err = 0;

	fgraph_stack_is_wanted = true;
	do {
		err = fill_chain(&chain);
		if (!err)
			trace_plat_each_thread(give_one, &chain);
	} while (!err && chain.nr_missing);
	chain_free(&chain);
	if (err && !was_wanted)
		fgraph_stacks_put();
	return err;
}

/* There is no user, so nothing is pushed: a stack that is empty now stays empty. */
static void take_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)pid;
	if (!thread->graph_base ||
	    atomic_load_explicit(&thread->graph_top, memory_order_relaxed) > thread->graph_base + 1)
		return;
	chain_put(arg, fgraph_stack_of(thread->graph_base));
	thread->graph_base = NULL;
	atomic_store_explicit(&thread->graph_top, NULL, memory_order_relaxed);
}

void fgraph_stacks_put(void)
{
	struct chain chain = { 0 };

	fgraph_stack_is_wanted = false;
	trace_plat_each_thread(take_one, &chain);
	trace_plat_synchronize_preempt(); /* ftrace_graph_ret_addr() may be reading any of them */
	chain_free(&chain);
}

/* ---- Frames of a user ---- */

struct fgraph_visit {
	uint32_t user;
	void (*fn)(struct trace_thread *thread, struct fgraph_frame *frame, uint32_t head);
	uint64_t nr;
};

static void visit_frames_of(int32_t pid, struct trace_thread *thread, void *arg)
{
	struct fgraph_visit *visit = arg;
	struct fgraph_frame *frame, *top;

	(void)pid;
	if (!thread->graph_base)
		return;
	top = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);
	for (frame = thread->graph_base + 1; frame < top; frame++) {
		uint32_t head = fgraph_head(frame);

		if ((head & FGRAPH_USER_MASK) != visit->user)
			continue;
		visit->nr++;
		if (visit->fn)
			visit->fn(thread, frame, head);
	}
}

static void visit_frames(struct fgraph_visit *visit)
{
	trace_plat_each_thread(visit_frames_of, visit);
}

/*
 * Give the frame to the empty user. Its thread may pop it at this moment and push another in its
 * place; the exchange fails then, because a new frame has another user.
 */
static void fgraph_stack_forget(struct trace_thread *thread, struct fgraph_frame *frame,
				uint32_t head)
{
	(void)thread;
	atomic_compare_exchange_strong(&frame->head, &head,
				       (head & ~FGRAPH_USER_MASK) | FGRAPH_NOBODY);
}

/*
 * Set graph_next back, so that the next user of this number has no frames. The word is not in use
 * now.
 */
static void forget_word(int32_t pid, struct trace_thread *thread, void *arg)
{
	uint32_t index = *(const uint32_t *)arg;

	(void)pid;
	fgraph_set_next(thread, index, index);
}

void fgraph_stacks_forget(uint32_t index)
{
	struct fgraph_visit visit = { .user = index, .fn = fgraph_stack_forget };

	visit_frames(&visit);
	trace_plat_each_thread(forget_word, &index);
}

uint64_t fgraph_stacks_count(uint32_t index)
{
	struct fgraph_visit visit = { .user = index };

	visit_frames(&visit);
	return visit.nr;
}

uint32_t ftrace_graph_depth(const struct trace_thread *thread)
{
	const struct fgraph_frame *base = thread->graph_base;

	if (!base)
		return 0;
	return (uint32_t)(atomic_load_explicit(&thread->graph_top, memory_order_relaxed) - base -
			  1);
}

static void count_stack(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)pid;
	*(uint64_t *)arg += thread->graph_base != NULL;
}

uint64_t ftrace_graph_nr_stacks(void)
{
	uint64_t nr = 0;

	trace_plat_lock(&fgraph_lock);
	trace_plat_each_thread(count_stack, &nr);
	trace_plat_unlock(&fgraph_lock);
	return nr;
}

static void begin_sleep(struct trace_thread *thread, struct fgraph_frame *frame, uint32_t head)
{
	(void)head;
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
}

void fgraph_stacks_begin_sleep(uint32_t index)
{
	struct fgraph_visit visit = { .user = index, .fn = begin_sleep };

	trace_plat_lock(&fgraph_lock);
	visit_frames(&visit);
	trace_plat_unlock(&fgraph_lock);
}

/* ---- Threads ---- */

void ftrace_graph_thread_created(struct trace_thread *thread)
{
	void *stack;

	trace_plat_lock(&fgraph_lock);
	thread->graph_has_ended = false;
	if (fgraph_stack_is_wanted && !thread->graph_base) {
		stack = trace_plat_alloc(FGRAPH_STACK_BYTES);
		if (stack) /* otherwise its calls count as overrun */
			give(thread, stack);
	}
	trace_plat_unlock(&fgraph_lock);
}

/*
 * Take the stack of a thread that ends; calls that are still on it never return. Interrupts have
 * popped their own frames, and push no more.
 */
static void *abandon(struct trace_thread *thread)
{
	struct fgraph_frame *base = thread->graph_base;
	struct fgraph_frame *top = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);

	atomic_store_explicit(&thread->graph_top, NULL, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	for (struct fgraph_frame *frame = base + 1; frame < top; frame++) {
		struct fgraph_user *user = fgraph_user_of(frame);

		atomic_fetch_add(&user->nr_abandoned, 1);
		if (user->abandon)
			user->abandon(frame, user);
	}
	thread->graph_base = NULL;
	return fgraph_stack_of(base);
}

void ftrace_graph_thread_exited(struct trace_thread *thread)
{
	void *stack = NULL;

	trace_plat_lock(&fgraph_lock);
	/*
	 * A user that is added from here on must not give it a stack, which would never be freed.
	 */
	thread->graph_has_ended = true;
	if (thread->graph_base)
		stack = abandon(thread);
	trace_plat_unlock(&fgraph_lock);
	if (stack)
		trace_plat_free(stack, FGRAPH_STACK_BYTES);
}

/* ---- Sleep ---- */

static struct trace_plat_lock sleep_lock;
static uint32_t nr_sleep_users; /* guarded by sleep_lock */

static void fgraph_probe_switch(void *data, const struct trace_sched_thread *prev,
				const struct trace_sched_thread *next)
{
	uint64_t now = trace_plat_clock_ns();
	uint64_t since = atomic_load_explicit(&next->thread->switched_out_ns, memory_order_relaxed);

	(void)data;
	atomic_store_explicit(&prev->thread->switched_out_ns, now, memory_order_relaxed);
	if (since && now > since) /* `since` may be of another CPU, whose clock is ahead */
		atomic_store_explicit(&next->thread->sleep_ns,
				      next->thread->sleep_ns + (now - since), memory_order_relaxed);
}

static void forget_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)pid;
	(void)arg;
	atomic_store(&thread->switched_out_ns, 0);
}

/*
 * For a thread that is switched out now, sleep counts from now on. For one that runs the time is
 * wrong, but not used: the probe, which is registered already, overwrites it when the thread is
 * switched out.
 */
static void fgraph_stack_begin_one(int32_t pid, struct trace_thread *thread, void *arg)
{
	uint64_t unknown = 0;

	(void)pid;
	atomic_compare_exchange_strong(&thread->switched_out_ns, &unknown, *(const uint64_t *)arg);
}

/* sleep_lock is held. */
static int begin_to_measure(void)
{
	uint64_t now;
	int err;

	trace_plat_each_thread(forget_one, NULL);
	err = register_trace_sched_switch(fgraph_probe_switch, NULL);
	if (err)
		return err;
	now = trace_plat_clock_ns();
	trace_plat_each_thread(fgraph_stack_begin_one, &now);
	return 0;
}

int ftrace_graph_sleep_get(void)
{
	int err = 0;

	trace_plat_lock(&sleep_lock);
	if (nr_sleep_users == 0)
		err = begin_to_measure();
	if (!err)
		nr_sleep_users++;
	trace_plat_unlock(&sleep_lock);
	return err;
}

void ftrace_graph_sleep_put(void)
{
	trace_plat_lock(&sleep_lock);
	if (--nr_sleep_users == 0) {
		unregister_trace_sched_switch(fgraph_probe_switch, NULL);
		tracepoint_synchronize_unregister(); /* the next begin_to_measure() resets times */
	}
	trace_plat_unlock(&sleep_lock);
}
