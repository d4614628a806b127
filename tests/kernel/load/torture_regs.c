/*
 * Users of all kinds of ops on the targets of `torture`, beside everything else:
 *
 *   registers  an ops that gets all of them: counts the calls, looks at the argument
 *   direct     half of the targets call one of two functions that count, switched under load
 *   returns    a user of the shadow stack counts entries and returns of all targets
 *   visitor    another one, comes and goes
 */
#include <stdatomic.h>
#include <kernel/string.h>
#include <trace/fgraph.h>
#include "torture.h"

#define NR_DIRECT (TORTURE_NR_TARGETS / 2) /* the last ones */

static struct {
	_Atomic uint64_t with_regs;
	_Atomic uint64_t wrong_regs;
	_Atomic uint64_t direct;
	_Atomic uint64_t entries;
	_Atomic uint64_t returns;
	_Atomic uint64_t late; /* of the visitor, when it was gone */
} seen;

static _Atomic bool visitor_may_be_called;

static TRACE_ALWAYS_INLINE void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- Callbacks ---- */

static TRACE_NOTRACE void look_at_regs(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	count(&seen.with_regs);
	if (ftrace_regs_get_argument(fregs, 0) >= TORTURE_MAX_VALUE)
		count(&seen.wrong_regs);
}

static TRACE_DIRECT_BODY void torture_regs_count_direct(void)
{
	count(&seen.direct);
}

TRACE_DIRECT(direct_one, torture_regs_count_direct);
TRACE_DIRECT(direct_other, torture_regs_count_direct);

static TRACE_NOTRACE bool enter(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	(void)gops;
	*ent->data = ent->func;
	count(&seen.entries);
	return true;
}

/* Counts what is a return of what it entered. */
static TRACE_NOTRACE void leave(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	(void)gops;
	if (*ret->data == ret->func)
		count(&seen.returns);
}

static TRACE_NOTRACE bool visit(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	(void)ent;
	(void)gops;
	if (!atomic_load(&visitor_may_be_called))
		count(&seen.late);
	return true;
}

static TRACE_NOTRACE void end_visit(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	(void)ret;
	(void)gops;
	if (!atomic_load(&visitor_may_be_called))
		count(&seen.late);
}

static struct ftrace_ops with_regs = { .func = look_at_regs, .flags = FTRACE_OPS_FL_SAVE_REGS };
static struct ftrace_ops direct;
static struct fgraph_ops returns = { .entryfunc = enter, .retfunc = leave };
static struct fgraph_ops visitor = { .entryfunc = visit, .retfunc = end_visit };
static bool direct_is_on, returns_are_on, visitor_is_on;

/* ---- A user of tracing ---- */

static int torture_regs_filter_targets(struct ftrace_ops *ops, uint32_t first)
{
	uintptr_t ips[TORTURE_NR_TARGETS];

	for (uint32_t i = first; i < TORTURE_NR_TARGETS; i++)
		ips[i - first] = (uintptr_t)torture_targets[i];
	return ftrace_set_filter_ips(ops, ips, TORTURE_NR_TARGETS - first, false, true);
}

static int torture_regs_start_direct(void)
{
	int err = torture_regs_filter_targets(&direct, TORTURE_NR_TARGETS - NR_DIRECT);

	if (!err)
		err = register_ftrace_direct(&direct, (uintptr_t)direct_one);
	direct_is_on = !err;
	return err;
}

static int torture_regs_start_returns(void)
{
	int err = torture_regs_filter_targets(&returns.ops, 0);

	if (!err)
		err = torture_regs_filter_targets(&visitor.ops, 0);
	if (!err)
		err = register_ftrace_graph(&returns);
	returns_are_on = !err;
	return err;
}

static int torture_regs_start(void)
{
	int err = torture_regs_filter_targets(&with_regs, 0);

	if (!err)
		err = register_ftrace_function(&with_regs);
	if (!err)
		err = torture_regs_start_direct();
	return err ? err : torture_regs_start_returns();
}

static int torture_regs_begin_round(void)
{
	atomic_store(&seen.with_regs, 0);
	atomic_store(&seen.wrong_regs, 0);
	atomic_store(&seen.direct, 0);
	atomic_store(&seen.entries, 0);
	atomic_store(&seen.returns, 0);
	atomic_store(&seen.late, 0);
	return 0;
}

static int torture_regs_change_direct(void)
{
	uintptr_t one = (uintptr_t)direct_one;

	return modify_ftrace_direct(&direct,
				    direct.direct_call == one ? (uintptr_t)direct_other : one);
}

static int torture_regs_toggle_visitor(void)
{
	int err;

	if (visitor_is_on) {
		err = unregister_ftrace_graph(&visitor);
		atomic_store(&visitor_may_be_called, false);
		visitor_is_on = err;
		return err;
	}
	atomic_store(&visitor_may_be_called, true);
	err = register_ftrace_graph(&visitor);
	visitor_is_on = !err;
	return err;
}

static int torture_regs_change(void)
{
	return torture_pick(2) ? torture_regs_change_direct() : torture_regs_toggle_visitor();
}

static bool torture_regs_check_round(struct command_env *env, uint64_t expected)
{
	uint64_t all = expected * TORTURE_NR_TARGETS;
	bool is_right = torture_expect(env, "late visits", atomic_load(&seen.late), 0);

	is_right &= torture_expect(env, "calls with registers", atomic_load(&seen.with_regs), all);
	is_right &= torture_expect(env, "wrong registers", atomic_load(&seen.wrong_regs), 0);
	is_right &= torture_expect(env, "direct calls", atomic_load(&seen.direct),
				   expected * NR_DIRECT);
	is_right &= torture_expect(env, "entries", atomic_load(&seen.entries), all);
	is_right &= torture_expect(env, "returns", atomic_load(&seen.returns), all);
	return is_right & torture_expect(env, "open calls", ftrace_graph_pending(&returns), 0);
}

static int torture_regs_stop(void)
{
	int err = visitor_is_on ? torture_regs_toggle_visitor() : 0;

	if (!err && returns_are_on)
		err = unregister_ftrace_graph(&returns);
	if (!err && direct_is_on)
		err = unregister_ftrace_direct(&direct, direct.direct_call, true);
	if (!err && (with_regs.flags & FTRACE_OPS_FL_ENABLED))
		err = unregister_ftrace_function(&with_regs);
	if (err)
		return err;
	returns_are_on = direct_is_on = false;
	ftrace_free_filter(&visitor.ops);
	ftrace_free_filter(&returns.ops);
	ftrace_free_filter(&with_regs);
	return 0;
}

const struct torture_user torture_regs = {
	.start = torture_regs_start,
	.begin = torture_regs_begin_round,
	.change = torture_regs_change,
	.check = torture_regs_check_round,
	.stop = torture_regs_stop,
};
