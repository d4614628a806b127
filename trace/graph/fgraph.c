/*
 * Users of graph tracing, and the return of a hooked function: see <trace/fgraph.h> and
 * fgraph_private.h.
 *
 * A user is removed in this order:
 *   1. its sites are switched off
 *   2. FGRAPH_USER_DEAD: the entry of a thread that was preempted on the way to it does nothing
 *   3. its place in `users` goes to the empty user: no exit of it begins any more
 *   4. a preemption grace period: no entry or exit of it runs any more
 *   5. its frames are given to the empty user, and its number is free
 */
#include "fgraph_private.h"
#include <trace/recursion.h>

static void exit_nobody(struct fgraph_frame *frame, struct trace_thread *thread,
			struct fgraph_user *user);

static struct fgraph_user fgraph_nobody = { .exit = exit_nobody };

/*
 * Users by number; users[0] is always the empty user. Changed under fgraph_lock, read by exits
 * without it.
 */
static struct fgraph_user *_Atomic users[FGRAPH_MAX_USERS + 1] = {
	[0 ... FGRAPH_MAX_USERS] = &fgraph_nobody,
};
static uint32_t nr_users; /* guarded by fgraph_lock */
static _Atomic bool fgraph_died;

/*
 * Not fgraph_pop(), which would change the graph_next of a user that may have got the number since.
 */
static void exit_nobody(struct fgraph_frame *frame, struct trace_thread *thread,
			struct fgraph_user *user)
{
	(void)user;
	fgraph_unhook(frame);
	fgraph_free(thread, frame);
	trace_plat_preempt_enable();
}

bool ftrace_graph_is_dead(void)
{
	return atomic_load_explicit(&fgraph_died, memory_order_relaxed);
}

void ftrace_graph_stop(void)
{
	atomic_store(&fgraph_died, true);
	for (uint32_t i = 1; i <= FGRAPH_MAX_USERS; i++)
		atomic_fetch_or(&atomic_load(&users[i])->flags, FGRAPH_USER_DEAD);
}

struct fgraph_frame *fgraph_last(const struct trace_thread *thread, struct fgraph_frame *frame,
				 uint32_t user)
{
	for (; frame > thread->graph_base; frame--) {
		if ((fgraph_head(frame) & FGRAPH_USER_MASK) == user)
			return frame;
	}
	return NULL;
}

struct fgraph_user *fgraph_user_of(const struct fgraph_frame *frame)
{
	return atomic_load_explicit(&users[fgraph_head(frame) & FGRAPH_USER_MASK],
				    memory_order_relaxed);
}

/* ---- Return ---- */

/*
 * A return found a frame of another slot on top. `is_here`: the frame of this return is further
 * down, so the function of `top` was left without a return.
 */
static void stop_for_bad_frame(const struct fgraph_frame *top, const uintptr_t *slot, bool is_here)
{
	if (ftrace_graph_is_dead())
		return;
	ftrace_graph_stop();
	trace_plat_alert("fgraph: bad frame pointer: expected %lx, received %lx, "
			 "function %ps; graph tracing has stopped",
			 top->slot, (uintptr_t)slot, (void *)trace_plat_ip_unpack(top->func));
	if (is_here)
		trace_plat_alert("fgraph: that function was left without a return");
	else
		trace_plat_alert("fgraph: thread %d has no frame of this return: does "
				 "trace_plat_current() change exactly where the stack does?",
				 trace_plat_current_pid());
}

/*
 * The topmost frame is not that of this return, which is an error of the host. Search for its frame
 * further down, and free those above it. NULL when there is none: the return address is lost.
 */
static TRACE_NOINLINE struct fgraph_frame *find_frame(struct trace_thread *thread,
						      const uintptr_t *slot)
{
	struct fgraph_frame *frame = thread->graph_top - 1;
	struct fgraph_frame *first = frame;

	while (frame > thread->graph_base && frame->slot != (uintptr_t)slot)
		frame--;
	stop_for_bad_frame(first, slot, frame > thread->graph_base);
	if (frame == thread->graph_base)
		return NULL;
	while (first > frame)
		fgraph_free(thread, first--);
	return frame;
}

static TRACE_ALWAYS_INLINE void exit_frame(struct fgraph_frame *frame, struct trace_thread *thread)
{
	struct fgraph_user *user =
		atomic_load_explicit(&users[frame->part.user], memory_order_relaxed);

	user->exit(frame, thread, user);
}

static TRACE_NOINLINE void return_to_lost_frame(uintptr_t *slot, struct trace_thread *thread)
{
	struct fgraph_frame *frame = find_frame(thread, slot);

	if (frame) {
		exit_frame(frame, thread);
		return;
	}
	*slot = trace_plat_return_lost();
	trace_plat_preempt_enable();
}

void trace_graph_return(uintptr_t *slot)
{
	struct trace_thread *thread;
	struct fgraph_frame *top;

	trace_plat_preempt_disable();
	thread = trace_plat_current();
	top = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);
	if (TRACE_LIKELY(top[-1].slot == (uintptr_t)slot))
		exit_frame(&top[-1], thread);
	else
		return_to_lost_frame(slot, thread);
}

uintptr_t ftrace_graph_ret_addr(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *slot)
{
	const struct fgraph_frame *frame, *top;

	if (ret != trace_plat_return_hook() || !thread || !thread->graph_base)
		return ret;
	/*
	 * Search from the outermost frame on. Of several frames for one slot the outermost has the
	 * real address, the others the hook; and a frame that is being filled is the last one.
	 */
	top = atomic_load_explicit(&thread->graph_top, memory_order_relaxed);
	for (frame = thread->graph_base + 1; frame < top; frame++) {
		if (frame->slot == (uintptr_t)slot)
			return trace_plat_ip_unpack(frame->ret);
	}
	return ret;
}

/* ---- Users ---- */

static int user_add_locked(struct fgraph_user *user)
{
	uint32_t index = 1;
	int err;

	if (ftrace_graph_is_dead() || ftrace_is_dead())
		return -ENODEV;
	while (index <= FGRAPH_MAX_USERS && users[index] != &fgraph_nobody)
		index++;
	if (user->is_added || index > FGRAPH_MAX_USERS)
		return -EBUSY;
	err = fgraph_stacks_get();
	if (err)
		return err;
	user->index = index;
	atomic_fetch_and(&user->flags, ~(uint32_t)FGRAPH_USER_DEAD);
	user->is_added = true;
	atomic_store(&user->nr_abandoned, 0);
	atomic_store(&users[index], user);
	nr_users++;
	return 0;
}

int fgraph_user_add(struct fgraph_user *user)
{
	int err;

	trace_plat_lock(&fgraph_lock);
	err = user_add_locked(user);
	trace_plat_unlock(&fgraph_lock);
	return err;
}

void fgraph_user_remove(struct fgraph_user *user)
{
	trace_plat_lock(&fgraph_lock);
	/*
	 * Entries of late threads, or of sites that call for ever after damage, push nothing now.
	 */
	atomic_fetch_or(&user->flags, FGRAPH_USER_DEAD);
	atomic_store(&users[user->index], &fgraph_nobody);
	trace_plat_synchronize_preempt();
	fgraph_stacks_forget(user->index);
	user->is_added = false;
	if (--nr_users == 0)
		fgraph_stacks_put();
	trace_plat_unlock(&fgraph_lock);
}

/* ---- Users of the API ---- */

static struct fgraph_ops *gops_of(struct fgraph_user *user)
{
	return (struct fgraph_ops *)(void *)((char *)user - offsetof(struct fgraph_ops, user));
}

/*
 * The frame of the call around `frame` that has the same user, or NULL. A frame of the same level
 * may lie between: that of a call which was interrupted while it was being pushed or popped.
 */
static struct fgraph_frame *parent_of(const struct trace_thread *thread, struct fgraph_frame *frame)
{
	uint32_t level = fgraph_level(frame), user = frame->part.user;

	if (level == 0)
		return NULL;
	do
		frame = fgraph_last(thread, frame - 1, user);
	while (frame && fgraph_level(frame) >= level);
	return frame;
}

static bool wants_entry(struct fgraph_ops *gops, struct trace_thread *thread,
			struct fgraph_frame *frame, uintptr_t parent_ip)
{
	struct fgraph_frame *parent = parent_of(thread, frame);
	struct ftrace_graph_ent ent = {
		.func = trace_plat_ip_unpack(frame->func),
		.retaddr = ftrace_graph_ret_addr(thread, parent_ip, fgraph_slot(frame)),
		.depth = fgraph_level(frame),
		.data = &frame->data,
		.parent_data = parent ? &parent->data : NULL,
	};

	return gops->entryfunc(&ent, gops);
}

static void fgraph_enter(struct fgraph_ops *gops, uintptr_t ip, uintptr_t parent_ip,
			 uintptr_t *slot)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame;

	if (TRACE_UNLIKELY(atomic_load_explicit(&gops->user.flags, memory_order_relaxed)))
		return;
	frame = fgraph_room(thread);
	if (!frame)
		return;
	fgraph_push(thread, frame, gops->user.index, ip, slot);
	if (gops->entryfunc && !wants_entry(gops, thread, frame, parent_ip)) {
		fgraph_unpush(thread, frame);
		return;
	}
	frame->child_ns = 0;
	fgraph_begin(thread, frame);
	fgraph_hook(slot);
}

static void gops_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	if (TRACE_UNLIKELY(bit < 0))
		return;
	fgraph_enter(ops->private, ip, parent_ip, ftrace_regs_return_slot(fregs));
	trace_recursion_exit(bit);
}

static void call_retfunc(struct fgraph_ops *gops, struct fgraph_frame *frame,
			 struct trace_thread *thread)
{
	struct fgraph_frame *parent = parent_of(thread, frame);
	struct ftrace_graph_ret ret = {
		.func = trace_plat_ip_unpack(frame->func),
		.retval = trace_plat_return_value(fgraph_slot(frame)),
		.calltime = frame->calltime,
		.rettime = trace_plat_clock_ns(),
		.sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed) -
			    frame->sleep_ns,
		.child_ns = frame->child_ns,
		.depth = fgraph_level(frame),
		.overrun = thread->graph_overrun,
		.data = &frame->data,
	};

	if (parent) {
		parent->child_ns += ret.rettime - ret.calltime;
		ret.parent_data = &parent->data;
	}
	gops->retfunc(&ret, gops);
}

/* Preemption is off. The recursion guard keeps functions that retfunc calls from being hooked. */
static void gops_exit(struct fgraph_frame *frame, struct trace_thread *thread,
		      struct fgraph_user *user)
{
	struct fgraph_ops *gops = gops_of(user);
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());

	if (gops->retfunc && !atomic_load_explicit(&user->flags, memory_order_relaxed) &&
	    trace_plat_recursion_set(bit)) {
		call_retfunc(gops, frame, thread);
		trace_plat_recursion_clear(bit);
	}
	fgraph_pop(thread, frame);
}

int register_ftrace_graph(struct fgraph_ops *gops)
{
	int err;

	if (!gops->entryfunc && !gops->retfunc)
		return -EINVAL;
	gops->user.exit = gops_exit;
	err = fgraph_user_add(&gops->user);
	if (err)
		return err;
	gops->ops.func = gops_entry;
	gops->ops.private = gops;
	err = register_ftrace_function(&gops->ops);
	if (err)
		fgraph_user_remove(&gops->user);
	return err;
}

int unregister_ftrace_graph(struct fgraph_ops *gops)
{
	int err;

	if (!gops->user.is_added)
		return -EINVAL;
	err = unregister_ftrace_function(&gops->ops);
	fgraph_user_remove(&gops->user);
	return err;
}

uint64_t ftrace_graph_pending(struct fgraph_ops *gops)
{
	uint64_t nr = 0;

	trace_plat_lock(&fgraph_lock);
	if (gops->user.is_added)
		nr = fgraph_stacks_count(gops->user.index);
	trace_plat_unlock(&fgraph_lock);
	return nr;
}
