/*
 * Sites that do not call a trampoline, but a function directly, or jump to one; and the switch for
 * all sites. See <trace/ftrace.h>.
 *
 * At a site that other ops want, too, a direct call cannot stand in the text. The ops with the
 * direct call then has call_direct_funcs() as its callback, which tells the trampoline to leave to
 * the function. An ops with a jump (ftrace_set_site_jump()) has a callback that sends the call to
 * the target of the jump; so calls get there by both ways while the site is being switched.
 */
#include "ftrace_grace.h"
#include "ftrace_private.h"
#include "ftrace_set.h"

static const uint32_t DIRECT_FLAGS = FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_SAVE_REGS;

/*
 * The func of an ops with a direct call, used where other ops want the site, too: it tells the
 * trampoline to leave to ops->direct_call. It has Linux's name, because traces and
 * enabled_functions show it.
 */
static void call_direct_funcs(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	ftrace_regs_set_direct(fregs, ops->direct_call);
}

struct ftrace_ops *ftrace_direct_of(uint32_t ip)
{
	struct ftrace_ops *ops = ftrace_ops_list;

	while (ops &&
	       !(ops->flags & FTRACE_OPS_FL_DIRECT && ftrace_hashes_want(ops->func_hash, ip)))
		ops = ops->next;
	return ops;
}

/*
 * Rewrite the sites of a registered ops after ftrace_ops_target() of it has changed from `moved`.
 */
static int move_sites(struct ftrace_ops *ops, struct ftrace_target moved)
{
	struct ftrace_change change = { .ops = ops,
					.wanted_before = true,
					.wanted_after = true,
					.before = ops->func_hash,
					.after = ops->func_hash,
					.moved = &moved };
	int err = ftrace_update(&change);

	trace_plat_synchronize_preempt();
	return err;
}

/*
 * Begin to wait until no thread is in the code at `addr`, which the sites called until now, nor in
 * trampolines that leave to it.
 */
static void begin_wait(struct ftrace_wait *wait, const struct ftrace_ops *ops, uintptr_t addr)
{
	wait->code[0] = ftrace_code_at(addr);
	wait->code[1] = ftrace_code_at(trace_plat_shared_trampoline(true));
	ftrace_wait_begin(wait, NULL);
	ftrace_set_wait(ops);
}

static int register_direct_locked(struct ftrace_ops *ops, uintptr_t addr)
{
	int err;

	if (ops->func || !addr || ops->flags & (FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_IPMODIFY))
		return -EINVAL;
	ops->func = call_direct_funcs;
	ops->flags |= DIRECT_FLAGS;
	ops->direct_call = addr;
	err = ftrace_register_locked(ops);
	if (err && !(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ops->func = NULL;
		ops->flags &= ~DIRECT_FLAGS;
	}
	return err;
}

int register_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = register_direct_locked(ops, addr);
	trace_plat_unlock(&ftrace_lock);
	return err;
}

static bool is_direct(const struct ftrace_ops *ops)
{
	const uint32_t flags = FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_ENABLED;

	return (ops->flags & flags) == flags;
}

int modify_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr)
{
	uint64_t mark = ftrace_grace_mark();
	struct ftrace_wait wait = { 0 };
	struct ftrace_target old;
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	if (!is_direct(ops) || !addr)
		goto unlock;
	err = -ENODEV;
	if (ftrace_is_dead())
		goto unlock;
	old = ftrace_ops_target(ops);
	ops->direct_call = addr;
	err = move_sites(ops, old);
	begin_wait(&wait, ops, old.addr);
unlock:
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_wait(mark, false);
	return err;
}

int unregister_ftrace_direct(struct ftrace_ops *ops, uintptr_t addr, bool free_filters)
{
	uint64_t mark = ftrace_grace_mark();
	struct ftrace_wait wait = { 0 };
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	if (!is_direct(ops) || ops->direct_call != addr)
		goto unlock;
	err = ftrace_unregister_locked(ops);
	ops->func = NULL;
	ops->flags &= ~DIRECT_FLAGS;
	if (free_filters)
		ftrace_free_filter_locked(ops);
	begin_wait(&wait, ops, addr);
unlock:
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_wait(mark, false);
	return err;
}

int ftrace_set_site_jump(struct ftrace_ops *ops, uintptr_t target)
{
	const struct ftrace_ops_hash *want;
	struct ftrace_target old;
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	want = ops->func_hash;
	if (!(ops->flags & FTRACE_OPS_FL_IPMODIFY))
		goto unlock;
	if (target && (!want || !want->only))
		goto unlock;
	err = -ENODEV;
	if (ftrace_is_dead())
		goto unlock;
	old = ftrace_ops_target(ops);
	ops->site_jump = target;
	err = ops->flags & FTRACE_OPS_FL_ENABLED ? move_sites(ops, old) : 0;
unlock:
	trace_plat_unlock(&ftrace_lock);
	return err;
}

bool ftrace_is_enabled(void)
{
	bool on;

	trace_plat_lock(&ftrace_lock);
	on = ftrace_master_on();
	trace_plat_unlock(&ftrace_lock);
	return on;
}

static bool has_permanent(void)
{
	const struct ftrace_ops *ops = ftrace_ops_list;

	while (ops && !(ops->flags & FTRACE_OPS_FL_PERMANENT))
		ops = ops->next;
	return ops;
}

int ftrace_set_enabled(bool on)
{
	int err = 0;

	trace_plat_lock(&ftrace_lock);
	if (ftrace_is_dead())
		err = -ENODEV;
	else if (!on && has_permanent())
		err = -EBUSY;
	else if (on != ftrace_master_on())
		err = ftrace_update_master(on);
	trace_plat_unlock(&ftrace_lock);
	return err;
}
