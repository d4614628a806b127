/*
 * Handlers at the entry and the return of functions: see <trace/fprobe.h> and return_probe.h.
 *
 * Each probe has ops of its own, whose trampoline calls one of the entries below. Each of these,
 * and the exit, is there twice: for threads and data that fit into a frame, and for everything.
 */
#include <trace/fprobe.h>
#include "ops/ftrace_grace.h"
#include "ops/ftrace_private.h"
#include "return_probe.h"
#include "text/str.h"

static struct trace_plat_lock fprobe_lock;
static void fprobe_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			struct fgraph_user *user);
/* Enabled fprobes with an exit_handler; guarded by fprobe_lock. */
static struct return_probes fprobes = { .user = { .exit = fprobe_exit,
						  .abandon = trace_return_abandon } };

static struct fprobe *fprobe_of(struct return_probe *probe)
{
	return (struct fprobe *)(void *)((char *)probe - offsetof(struct fprobe, ret));
}

/* ---- Entry ---- */

static TRACE_NOINLINE void fprobe_miss(struct fprobe *fp)
{
	atomic_fetch_add_explicit(&fp->nmissed, 1, memory_order_relaxed);
}

static uintptr_t fprobe_ret(uintptr_t parent_ip, struct ftrace_regs *fregs)
{
	return ftrace_graph_ret_addr(trace_plat_current(), parent_ip,
				     ftrace_regs_return_slot(fregs));
}

/* Any entry without an exit. */
static TRACE_NOINLINE void fprobe_entry_any(uintptr_t ip, uintptr_t parent_ip,
					    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe *fp = ops->private;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	if (bit < 0) {
		fprobe_miss(fp);
		return;
	}
	fp->entry_handler(fp, ip, fprobe_ret(parent_ip, fregs), fregs, NULL);
	trace_recursion_exit(bit);
}

static void fprobe_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	struct fprobe *fp = ops->private;

	if (!return_may_enter(parent_ip)) {
		fprobe_entry_any(ip, parent_ip, ops, fregs);
		return;
	}
	trace_recursion_enter_thread(TRACE_RECURSION_CALLBACK);
	fp->entry_handler(fp, ip, parent_ip, fregs, NULL);
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

/* Any entry. */
static TRACE_NOINLINE void fprobe_entry_exit_any(uintptr_t ip, uintptr_t parent_ip,
						 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe *fp = ops->private;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
	struct fgraph_frame *frame;

	if (bit < 0) {
		fprobe_miss(fp);
		return;
	}
	frame = return_push_any(&fprobes, &fp->ret, ip, ftrace_regs_return_slot(fregs));
	if (!frame)
		fprobe_miss(fp);
	else if (fp->entry_handler &&
		 fp->entry_handler(fp, ip, fprobe_ret(parent_ip, fregs), fregs, return_data(frame)))
		return_drop(&fp->ret, frame);
	else
		fgraph_hook(ftrace_regs_return_slot(fregs));
	trace_recursion_exit(bit);
}

/* There is no room, or no more tracing of returns: begin anew, and count it. */
static TRACE_NOINLINE void fprobe_entry_exit_again(uintptr_t ip, uintptr_t parent_ip,
						   struct ftrace_ops *ops,
						   struct ftrace_regs *fregs)
{
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
	fprobe_entry_exit_any(ip, parent_ip, ops, fregs);
}

/* Data are in the frame. */
static void fprobe_entry_exit(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct fprobe *fp = ops->private;
	struct fgraph_frame *frame;

	if (!return_may_enter(parent_ip)) {
		fprobe_entry_exit_any(ip, parent_ip, ops, fregs);
		return;
	}
	trace_recursion_enter_thread(TRACE_RECURSION_CALLBACK);
	frame = fgraph_top(trace_plat_current());
	if (TRACE_UNLIKELY(!fgraph_has_room(frame)) || TRACE_UNLIKELY(return_is_off(&fprobes))) {
		fprobe_entry_exit_again(ip, parent_ip, ops, fregs);
		return;
	}
	return_push(&fprobes, return_handle(&fp->ret), frame, ip, ftrace_regs_return_slot(fregs));
	if (TRACE_LIKELY(fp->entry_handler) &&
	    TRACE_UNLIKELY(fp->entry_handler(fp, ip, parent_ip, fregs, frame->words)))
		fgraph_free(trace_plat_current(), frame);
	else
		fgraph_hook(fgraph_slot(frame));
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

/* ---- Exit ---- */

/*
 * The handler sees the real return address in its place, unless another user has hooked this call
 * before.
 */
static TRACE_ALWAYS_INLINE void
fprobe_call_exit(struct return_probe *probe, struct fgraph_frame *frame, uintptr_t ret, void *data)
{
	struct fprobe *fp = fprobe_of(probe);

	fp->exit_handler(fp, trace_plat_ip_unpack(frame->func), ret,
			 trace_plat_return_regs(fgraph_slot(frame)), data);
}

/* Any exit, of a probe that has gone, too. */
static TRACE_NOINLINE void fprobe_exit_any(struct return_probe *probe, struct fgraph_frame *frame)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());
	bool is_here = return_handle(probe) == frame->handle;

	fgraph_unhook(frame);
	if (is_here && trace_plat_recursion_set(bit)) {
		fprobe_call_exit(probe, frame, return_addr(frame), return_data(frame));
		trace_plat_recursion_clear(bit);
	} else if (is_here) {
		fprobe_miss(fprobe_of(probe));
	}
	if (is_here)
		return_drop(probe, frame);
	else
		fgraph_free(trace_plat_current(), frame);
	trace_plat_preempt_enable();
}

/* Preemption is off; this switches it on. */
static void fprobe_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			struct fgraph_user *user)
{
	struct return_probe *probe = return_find(&fprobes, frame);
	uintptr_t ret = trace_plat_ip_unpack(frame->ret);

	(void)thread;
	(void)user;
	if (!return_try_leave(probe, frame, ret)) {
		fprobe_exit_any(probe, frame);
		return;
	}
	*fgraph_slot(frame) = ret;
	fprobe_call_exit(probe, frame, ret, frame->words);
	fgraph_free(trace_plat_current(), frame);
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

/* ---- On and off, fprobe_lock held ---- */

static int fprobe_arm(struct fprobe *fp)
{
	int err = 0;

	if (fp->exit_handler) {
		err = trace_return_get(&fprobes, 1);
		if (err)
			return err;
		trace_return_add(&fprobes, &fp->ret);
	}
	err = register_ftrace_function(&fp->ops);
	if (err) {
		trace_return_remove(&fprobes, &fp->ret);
		trace_return_put(&fprobes);
	}
	return err;
}

/*
 * Does nothing with a disabled probe. A thread that was preempted on its way may still call the
 * entry_handler until ftrace_grace_wait() has returned.
 */
static int fprobe_disarm(struct fprobe *fp)
{
	int err;

	if (fp->flags & FPROBE_FL_DISABLED)
		return 0;
	err = ftrace_unregister(&fp->ops);
	if (fp->exit_handler) {
		trace_return_remove(&fprobes, &fp->ret);
		trace_return_put(&fprobes);
	}
	return err;
}

/* ---- Registration ---- */

/* Forget what fprobe_prepare() has made, and the filter. */
static void fprobe_forget(struct fprobe *fp)
{
	ftrace_free_filter(&fp->ops);
	trace_return_pool_destroy(&fp->ret);
	fp->is_registered = false;
}

static ftrace_func_t func_of(const struct fprobe *fp)
{
	if (!fp->exit_handler)
		return fprobe_entry;
	return fp->ret.pool ? fprobe_entry_exit_any : fprobe_entry_exit;
}

static int fprobe_prepare(struct fprobe *fp)
{
	int err;

	if (fp->is_registered)
		return -EBUSY;
	if ((!fp->entry_handler && !fp->exit_handler) || fp->entry_data_size > FPROBE_MAX_DATA_SIZE)
		return -EINVAL;
	err = trace_return_pool_create(&fp->ret, fp->nr_maxactive,
				       fp->exit_handler ? fp->entry_data_size : 0);
	if (err)
		return err;
	fp->ops = (struct ftrace_ops){
		.func = func_of(fp),
		.flags = fp->flags & FPROBE_FL_REGS ? FTRACE_OPS_FL_SAVE_REGS : 0,
		.private = fp,
	};
	return 0;
}

/* `err`: of setting the filter. */
static int fprobe_finish(struct fprobe *fp, int err)
{
	if (!err && !(fp->flags & FPROBE_FL_DISABLED))
		err = fprobe_arm(fp);
	if (err)
		fprobe_forget(fp);
	else
		fp->is_registered = true;
	return err;
}

static int fprobe_register_glob(struct fprobe *fp, const char *filter, const char *notfilter)
{
	int err = fprobe_prepare(fp);

	if (err)
		return err;
	err = ftrace_set_filter(&fp->ops, filter, trace_strlen(filter), true);
	if (!err && notfilter)
		err = ftrace_set_notrace(&fp->ops, notfilter, trace_strlen(notfilter), true);
	return fprobe_finish(fp, err);
}

int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter)
{
	int err;

	trace_plat_lock(&fprobe_lock);
	err = fprobe_register_glob(fp, filter, notfilter);
	trace_plat_unlock(&fprobe_lock);
	return err;
}

static int fprobe_register_ips(struct fprobe *fp, const uintptr_t *addrs, size_t nr)
{
	int err = nr ? fprobe_prepare(fp) : -EINVAL;

	if (err)
		return err;
	err = ftrace_set_filter_ips(&fp->ops, addrs, nr, false, true);
	return fprobe_finish(fp, err);
}

int register_fprobe_ips(struct fprobe *fp, const uintptr_t *addrs, size_t nr)
{
	int err;

	trace_plat_lock(&fprobe_lock);
	err = fprobe_register_ips(fp, addrs, nr);
	trace_plat_unlock(&fprobe_lock);
	return err;
}

int register_fprobe_syms(struct fprobe *fp, const char *const *syms, size_t nr)
{
	uintptr_t *addrs;
	int err = 0;

	if (!nr)
		return -EINVAL;
	addrs = trace_plat_alloc(nr * sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++) {
		addrs[i] = trace_plat_symbol_find(syms[i]);
		err = addrs[i] ? 0 : -ENOENT;
	}
	if (!err)
		err = register_fprobe_ips(fp, addrs, nr);
	trace_plat_free(addrs, nr * sizeof(*addrs));
	return err;
}

static int fprobe_disarm_and_wait(struct fprobe *fp)
{
	uint64_t mark = ftrace_grace_mark();
	int err;

	trace_plat_lock(&fprobe_lock);
	err = fp->is_registered ? fprobe_disarm(fp) : -EINVAL;
	if (!err)
		fp->flags |= FPROBE_FL_DISABLED;
	trace_plat_unlock(&fprobe_lock);
	ftrace_grace_wait(mark, false);
	return err;
}

int unregister_fprobe(struct fprobe *fp)
{
	uint32_t disabled = fp->flags & FPROBE_FL_DISABLED;
	int err = fprobe_disarm_and_wait(fp);

	if (err == -EINVAL)
		return err;
	trace_plat_lock(&fprobe_lock);
	if (err)
		fp->is_registered = false; /* sites may call it for ever: nothing is freed */
	else
		fprobe_forget(fp);
	fp->flags = (fp->flags & ~(uint32_t)FPROBE_FL_DISABLED) | disabled;
	trace_plat_unlock(&fprobe_lock);
	return err;
}

int disable_fprobe(struct fprobe *fp)
{
	return fprobe_disarm_and_wait(fp);
}

int enable_fprobe(struct fprobe *fp)
{
	int err = -EINVAL;

	trace_plat_lock(&fprobe_lock);
	if (fp->is_registered)
		err = fp->flags & FPROBE_FL_DISABLED ? fprobe_arm(fp) : 0;
	if (!err)
		fp->flags &= ~(uint32_t)FPROBE_FL_DISABLED;
	trace_plat_unlock(&fprobe_lock);
	return err;
}
