/*
 * Handlers at the return of single functions: see <trace/kretprobe.h> and return_probe.h.
 *
 * All share one ops, whose filter has the sites of those that are armed. Which probes are at a site
 * is in a table that entries search without a lock:
 *
 *   arm      the probe comes into the table, then its site is switched on
 *   disarm   the probe leaves the table, its site is switched off, preemption grace period
 *
 * A site that is still on when its last probe has left the table finds nothing there. So disarming
 * needs no memory: if there is none for the filter, the site is switched off later.
 */
#include <trace/kretprobe.h>
#include "kretprobe_list.h"
#include "kretprobe_table.h"
#include "ops/ftrace_private.h"
#include "return_probe.h"

static struct trace_plat_lock kretprobe_lock;
static void kretprobe_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			   struct fgraph_user *user);
/* Those that are armed; guarded by the lock. */
static struct return_probes kretprobes = {
	.user = { .exit = kretprobe_exit, .abandon = return_abandon },
};

static void kretprobe_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs);
static struct ftrace_ops kretprobe_ops = { .func = kretprobe_entry };

/* ---- Entry and exit ---- */

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
		return_push_any(&kretprobes, &rp->ret, ip, ftrace_regs_return_slot(fregs));
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
	    TRACE_UNLIKELY(return_is_off(&kretprobes))) {
		kretprobe_entry_again(ip, parent_ip, fregs);
		return;
	}
	return_push(&kretprobes, return_handle(&rp->ret), frame, ip,
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
	struct return_probe *probe = return_find(&kretprobes, frame);
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

/* ---- On and off, kretprobe_lock held: what is_changing ---- */

/* Switch on just the sites of the table, which are `nr`. */
static int switch_to(uint32_t nr)
{
	uintptr_t *ips = trace_plat_alloc(nr * sizeof(*ips));
	int err;

	if (!ips)
		return -ENOMEM;
	err = ftrace_set_filter_ips(&kretprobe_ops, ips, kretprobe_table_sites(ips), false, true);
	trace_plat_free(ips, nr * sizeof(*ips));
	if (!err && !(kretprobe_ops.flags & FTRACE_OPS_FL_ENABLED))
		err = register_ftrace_function(&kretprobe_ops);
	return err;
}

static int switch_off(void)
{
	int err = 0;

	if (kretprobe_ops.flags & FTRACE_OPS_FL_ENABLED)
		err = ftrace_unregister(&kretprobe_ops); /* late entries find nothing */
	ftrace_free_filter(&kretprobe_ops);
	return err;
}

static int switch_sites(void)
{
	uint32_t nr = kretprobe_table_sites(NULL);

	return nr ? switch_to(nr) : switch_off();
}

static int disarm(struct kretprobe **rps, size_t nr)
{
	int err;

	for (size_t i = 0; i < nr; i++) {
		if (rps[i]->is_changing)
			kretprobe_table_remove(rps[i]);
	}
	err = switch_sites();
	for (size_t i = 0; i < nr; i++) {
		if (rps[i]->is_changing)
			return_remove(&kretprobes, &rps[i]->ret);
		rps[i]->is_changing = false;
	}
	return_put(&kretprobes);
	if (!kretprobes.nr_used)
		kretprobe_table_free();
	return err == -ENOMEM ? 0 : err;
}

static int get_room(uint32_t nr)
{
	int err = return_get(&kretprobes, nr);

	if (!err)
		err = kretprobe_table_room(nr);
	if (err) {
		return_put(&kretprobes);
		if (!kretprobes.nr_used)
			kretprobe_table_free();
	}
	return err;
}

/* `count` of them are changing. */
static int arm(struct kretprobe **rps, size_t nr, uint32_t count)
{
	int err = get_room(count);

	for (size_t i = 0; i < nr && !err; i++) {
		if (!rps[i]->is_changing)
			continue;
		return_add(&kretprobes, &rps[i]->ret);
		kretprobe_table_insert(rps[i]);
	}
	if (!err) {
		err = switch_sites();
		if (err)
			disarm(rps, nr);
	}
	for (size_t i = 0; i < nr; i++)
		rps[i]->is_changing = false;
	return err;
}

/* Arm those that are off and not disabled. */
static int arm_enabled(struct kretprobe **rps, size_t nr)
{
	uint32_t count = 0;

	for (size_t i = 0; i < nr; i++) {
		if (return_handle(&rps[i]->ret) || rps[i]->is_changing ||
		    rps[i]->kp.flags & KRETPROBE_FLAG_DISABLED)
			continue;
		rps[i]->is_changing = true;
		count++;
	}
	return count ? arm(rps, nr, count) : 0;
}

static int disarm_all(struct kretprobe **rps, size_t nr)
{
	bool any = false;

	for (size_t i = 0; i < nr; i++) {
		rps[i]->is_changing = return_handle(&rps[i]->ret) != 0;
		any |= rps[i]->is_changing;
	}
	return any ? disarm(rps, nr) : 0;
}

/* ---- Registration ---- */

static int find_site(struct kretprobe *rp)
{
	uintptr_t addr = rp->kp.addr;

	if (rp->kp.offset || !rp->kp.symbol_name == !addr)
		return -EINVAL;
	if (rp->kp.symbol_name) {
		addr = trace_plat_symbol_find(rp->kp.symbol_name);
		if (!addr)
			return -ENOENT;
	}
	addr = ftrace_location(addr);
	if (!addr)
		return -EINVAL;
	rp->kp.addr = addr;
	return 0;
}

static void forget(struct kretprobe *rp)
{
	return_pool_destroy(&rp->ret);
	kretprobe_list_remove(rp);
	if (rp->kp.symbol_name)
		rp->kp.addr = 0;
	rp->is_registered = false;
}

static int prepare(struct kretprobe *rp)
{
	int err;

	if (rp->is_registered)
		return -EBUSY;
	if (!rp->handler || rp->data_size > FPROBE_MAX_DATA_SIZE)
		return -EINVAL;
	err = find_site(rp);
	if (err)
		return err;
	rp->is_registered = true;
	kretprobe_list_add(rp);
	err = return_pool_create(&rp->ret, rp->maxactive, rp->data_size);
	if (err)
		forget(rp);
	return err;
}

static int register_locked(struct kretprobe **rps, size_t nr)
{
	size_t done = 0;
	int err = 0;

	while (done < nr && !err) {
		err = prepare(rps[done]);
		done += !err;
	}
	if (!err)
		err = arm_enabled(rps, nr);
	while (err && done--)
		forget(rps[done]);
	return err;
}

int register_kretprobes(struct kretprobe **rps, size_t nr)
{
	int err;

	trace_plat_lock(&kretprobe_lock);
	err = register_locked(rps, nr);
	trace_plat_unlock(&kretprobe_lock);
	return err;
}

int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}

void unregister_kretprobes(struct kretprobe **rps, size_t nr)
{
	trace_plat_lock(&kretprobe_lock);
	disarm_all(rps, nr);
	for (size_t i = 0; i < nr; i++) {
		if (rps[i]->is_registered)
			forget(rps[i]);
	}
	trace_plat_unlock(&kretprobe_lock);
}

void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}

static int check_registered(struct kretprobe **rps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!rps[i]->is_registered)
			return -EINVAL;
	}
	return 0;
}

int enable_kretprobes(struct kretprobe **rps, size_t nr)
{
	int err;

	trace_plat_lock(&kretprobe_lock);
	err = check_registered(rps, nr);
	for (size_t i = 0; i < nr && !err; i++)
		rps[i]->kp.flags &= ~(uint32_t)KRETPROBE_FLAG_DISABLED;
	if (!err)
		err = arm_enabled(rps, nr);
	/* After an error those that were off still are. */
	for (size_t i = 0; i < nr && err; i++) {
		if (!return_handle(&rps[i]->ret))
			rps[i]->kp.flags |= KRETPROBE_FLAG_DISABLED;
	}
	trace_plat_unlock(&kretprobe_lock);
	return err;
}

int disable_kretprobes(struct kretprobe **rps, size_t nr)
{
	int err;

	trace_plat_lock(&kretprobe_lock);
	err = check_registered(rps, nr);
	for (size_t i = 0; i < nr && !err; i++)
		rps[i]->kp.flags |= KRETPROBE_FLAG_DISABLED;
	if (!err)
		err = disarm_all(rps, nr);
	trace_plat_unlock(&kretprobe_lock);
	return err;
}

int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kretprobes(&rp, 1);
}

int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kretprobes(&rp, 1);
}

size_t kretprobes_list_next(uint64_t *cursor, char *buf, size_t size)
{
	size_t len;

	trace_plat_lock(&kretprobe_lock);
	len = kretprobe_list_line(cursor, buf, size);
	trace_plat_unlock(&kretprobe_lock);
	return len;
}
