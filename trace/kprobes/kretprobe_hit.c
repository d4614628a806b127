/*
 * Calls of functions with kretprobes, from the entry to the return: see <trace/kretprobe.h>,
 * return_probe.h. Each of the two is there twice: for threads and sites with one simple probe, and
 * for everything.
 */
#include <trace/kretprobe.h>
#include "kretprobe_table.h"
#include "return_probe.h"

static void kretprobe_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			   struct fgraph_user *user);
struct return_probes kretprobe_calls = {
	.user = { .exit = kretprobe_exit, .abandon = trace_return_abandon },
};

static void kretprobe_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs);
struct ftrace_ops kretprobe_ops = { .func = kretprobe_entry };

static TRACE_NOINLINE void kretprobe_miss(struct kretprobe *rp)
{
	atomic_fetch_add_explicit(&rp->nmissed, 1, memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE struct kretprobe *kretprobe_next(struct kretprobe *rp)
{
	return atomic_load_explicit(&rp->next, memory_order_acquire);
}

static void kretprobe_miss_all(uintptr_t ip)
{
	struct kretprobe *rp;

	trace_plat_preempt_disable();
	for (rp = kretprobe_first(ip); rp; rp = kretprobe_next(rp))
		kretprobe_miss(rp);
	trace_plat_preempt_enable();
}

static void kretprobe_enter(struct kretprobe *rp, uintptr_t ip, uintptr_t ret,
			    struct ftrace_regs *fregs)
{
	struct fgraph_frame *frame =
		return_push_any(&kretprobe_calls, &rp->ret, ip, ftrace_regs_return_slot(fregs));
	struct kretprobe_instance ri = { rp, ret, NULL };

	if (!frame) {
		kretprobe_miss(rp);
		return;
	}
	ri.data = return_data(frame);
	if (rp->entry_handler && rp->entry_handler(&ri, fregs))
		return_drop(&rp->ret, frame);
	else
		fgraph_hook(ftrace_regs_return_slot(fregs));
}

/* In any context, any number of probes of any kind. */
static TRACE_NOINLINE void kretprobe_entry_any(uintptr_t ip, uintptr_t parent_ip,
					       struct ftrace_regs *fregs)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
	struct kretprobe *rp;
	uintptr_t ret;

	if (bit < 0) {
		kretprobe_miss_all(ip);
		return;
	}
	ret = ftrace_graph_ret_addr(trace_plat_current(), parent_ip,
				    ftrace_regs_return_slot(fregs));
	for (rp = kretprobe_first(ip); rp; rp = kretprobe_next(rp))
		kretprobe_enter(rp, ip, ret, fregs);
	trace_recursion_exit(bit);
}

/* Not a simple site, or there is no room: begin anew. */
static TRACE_NOINLINE void kretprobe_entry_again(uintptr_t ip, uintptr_t parent_ip,
						 struct ftrace_regs *fregs)
{
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
	kretprobe_entry_any(ip, parent_ip, fregs);
}

static void kretprobe_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	struct fgraph_frame *frame;
	struct kretprobe *rp;

	(void)ops;
	if (TRACE_UNLIKELY(!trace_plat_is_free_thread(TRACE_RECURSION_CALLBACK))) {
		kretprobe_entry_any(ip, parent_ip, fregs);
		return;
	}
	trace_recursion_enter_thread(TRACE_RECURSION_CALLBACK);
	frame = fgraph_top(trace_plat_current());
	rp = kretprobe_simple(ip);
	if (TRACE_UNLIKELY(!rp) || TRACE_UNLIKELY(!fgraph_has_room(frame)) ||
	    TRACE_UNLIKELY(return_is_off(&kretprobe_calls))) {
		kretprobe_entry_again(ip, parent_ip, fregs);
		return;
	}
	return_push(&kretprobe_calls, return_handle(&rp->ret), frame, ip,
		    ftrace_regs_return_slot(fregs));
	fgraph_hook(fgraph_slot(frame));
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

static struct kretprobe *kretprobe_of(struct return_probe *probe)
{
	return (struct kretprobe *)(void *)((char *)probe - offsetof(struct kretprobe, ret));
}

/* The real return address is in its place, unless another user has hooked this call before. */
static TRACE_ALWAYS_INLINE void kretprobe_call_exit(struct return_probe *probe,
						    struct fgraph_frame *frame, uintptr_t ret,
						    void *data)
{
	struct kretprobe *rp = kretprobe_of(probe);
	struct kretprobe_instance ri = { rp, ret, data };

	rp->handler(&ri, trace_plat_return_regs(fgraph_slot(frame)));
}

/* Any exit, of a probe that has gone, too. */
static TRACE_NOINLINE void kretprobe_exit_any(struct return_probe *probe,
					      struct fgraph_frame *frame)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());
	bool is_here = return_handle(probe) == frame->handle;

	fgraph_unhook(frame);
	if (is_here && trace_plat_recursion_set(bit)) {
		kretprobe_call_exit(probe, frame, return_addr(frame), return_data(frame));
		trace_plat_recursion_clear(bit);
	} else if (is_here) {
		kretprobe_miss(kretprobe_of(probe));
	}
	if (is_here)
		return_drop(probe, frame);
	else
		fgraph_free(trace_plat_current(), frame);
	trace_plat_preempt_enable();
}

/* Preemption is off; this switches it on. */
static void kretprobe_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			   struct fgraph_user *user)
{
	struct return_probe *probe = return_find(&kretprobe_calls, frame);
	uintptr_t ret = trace_plat_ip_unpack(frame->ret);

	(void)thread;
	(void)user;
	if (!return_try_leave(probe, frame, ret)) {
		kretprobe_exit_any(probe, frame);
		return;
	}
	*fgraph_slot(frame) = ret;
	kretprobe_call_exit(probe, frame, ret, frame->words);
	fgraph_free(trace_plat_current(), frame);
	trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}
