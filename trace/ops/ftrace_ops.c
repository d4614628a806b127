/*
 * The list of ops, and who is called at a site that several of them want: see <trace/ftrace.h>.
 *
 * The order of the steps matters, so that no call is lost and none comes too late:
 *
 *   register ftrace_ops_list_add(), then switch the sites: a site that calls finds its ops in the
 *   list new filter publish the hash, switch the sites, preemption grace period, free the old hash
 *   unregister ftrace_ops_list_remove(), switch the sites, preemption grace period, because
 *   callbacks walk
 *                the list; trampolines are freed when no thread is inside, see ftrace_grace.h
 */
#include <trace/recursion.h>
#include "ftrace_batch.h"
#include "ftrace_grace.h"
#include "ftrace_set.h"
#include "ftrace_tramp.h"

struct trace_plat_lock ftrace_lock;
struct ftrace_ops ftrace_global_ops;

static uint32_t nr_registered; /* guarded by ftrace_lock */

/* Not inlined, so that the loop that calls it needs fewer registers. */
static TRACE_NOINLINE bool wants_site(const struct ftrace_ops_hash *want, uintptr_t ip)
{
	return ftrace_hashes_want(want, trace_plat_ip_pack(ip));
}

/* Atomic, because ftrace_ops_set_func() may change it at any moment. */
static TRACE_ALWAYS_INLINE ftrace_func_t load_func(ftrace_func_t *func)
{
	return __atomic_load_n(func, __ATOMIC_RELAXED);
}

/*
 * Call every ops that wants the site. The acquires pair with the releases that publish an ops
 * (ftrace_ops_list_add()) and its hashes (ftrace_ops_publish()). func_hash is never NULL for an ops
 * in the list. An ops that needs all registers may be in the list while a site still calls the
 * shared trampoline that does not save them: its list_func does nothing, so that it is not called
 * without registers.
 */
static TRACE_ALWAYS_INLINE void call_list(uintptr_t ip, uintptr_t parent_ip,
					  struct ftrace_regs *fregs, bool with_regs)
{
	struct ftrace_ops *ops = atomic_load_explicit(&ftrace_ops_list, memory_order_acquire);

	for (; ops; ops = atomic_load_explicit(&ops->next, memory_order_acquire)) {
		const struct ftrace_ops_hash *want =
			atomic_load_explicit(&ops->func_hash, memory_order_acquire);

		if (TRACE_LIKELY(want->only == ip) || wants_site(want, ip))
			load_func(with_regs ? &ops->func : &ops->list_func)(ip, parent_ip, ops,
									    fregs);
	}
}

/* The rest of list_func() in an interrupt. Preemption is off; this switches it on again. */
static TRACE_NOINLINE void call_list_in_irq(uintptr_t ip, uintptr_t parent_ip,
					    struct ftrace_regs *fregs, bool with_regs)
{
	uint32_t bit = TRACE_RECURSION_LIST + trace_recursion_context(trace_plat_preempt_count());

	if (trace_plat_recursion_set(bit)) {
		call_list(ip, parent_ip, fregs, with_regs);
		trace_plat_recursion_clear(bit);
	}
	trace_plat_preempt_enable();
}

static TRACE_ALWAYS_INLINE void list_func(uintptr_t ip, uintptr_t parent_ip,
					  struct ftrace_regs *fregs, bool with_regs)
{
	trace_plat_preempt_disable();
	if (TRACE_UNLIKELY(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK)) {
		call_list_in_irq(ip, parent_ip, fregs, with_regs);
		return;
	}
	if (TRACE_LIKELY(trace_plat_recursion_set(TRACE_RECURSION_LIST))) {
		call_list(ip, parent_ip, fregs, with_regs);
		trace_plat_recursion_clear(TRACE_RECURSION_LIST);
	}
	trace_plat_preempt_enable();
}

void trace_ops_list_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *unused,
			 struct ftrace_regs *fregs)
{
	(void)unused;
	list_func(ip, parent_ip, fregs, false);
}

void trace_ops_list_regs_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *unused,
			      struct ftrace_regs *fregs)
{
	(void)unused;
	list_func(ip, parent_ip, fregs, true);
}

/* list_func of an ops that needs all registers, for callers that do not have them. */
static void not_without_regs(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
}

/*
 * The function that trampolines call instead of `func` for an ops with FTRACE_OPS_FL_RECURSION or
 * _RCU: it guards against recursion, switches preemption off, and calls `func`.
 */
static void ftrace_ops_assist_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				   struct ftrace_regs *fregs)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_LIST);

	if (bit < 0)
		return;
	load_func (&ops->func)(ip, parent_ip, ops, fregs);
	trace_recursion_exit(bit);
}

static bool is_assisted(const struct ftrace_ops *ops)
{
	return ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
}

uintptr_t ftrace_ops_entry(const struct ftrace_ops *ops)
{
	return (uintptr_t)(is_assisted(ops) ? ftrace_ops_assist_func : ops->func);
}

/* If there is no memory for a trampoline, the sites of the ops call the shared one. */
static void create_trampoline(struct ftrace_ops *ops)
{
	const struct trace_trampoline_call call = { ops, ftrace_ops_entry(ops),
						    (uintptr_t)ops->site_func };

	ops->trampoline = (struct trace_trampoline){ 0 };
	ops->tramp = NULL;
	if (ops->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_DIRECT))
		return;
	ops->tramp = ftrace_tramp_create(&call, 1, ops->flags & FTRACE_OPS_FL_SAVE_REGS);
	if (ops->tramp)
		ops->trampoline = ops->tramp->code;
}

/* Only after the update that switched the sites: none of them calls such a trampoline any more. */
static void release_trampolines(struct ftrace_ops *ops)
{
	if (ops->tramp)
		ftrace_tramp_release(ops->tramp);
	ops->tramp = NULL;
	ops->trampoline.addr = 0;
	ftrace_set_free_stale();
	ftrace_set_remove_ops(ops);
}

/* An ops with FTRACE_OPS_FL_STUB is never called, so it is not in the list. */
static void ftrace_ops_list_add(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_STUB)
		return;
	ops->next = atomic_load_explicit(&ftrace_ops_list, memory_order_relaxed);
	atomic_store_explicit(&ftrace_ops_list, ops, memory_order_release);
}

/* `ops->next` keeps its value: a callback may be walking the list and stand on this ops. */
static void ftrace_ops_list_remove(struct ftrace_ops *ops)
{
	struct ftrace_ops *_Atomic *link = &ftrace_ops_list;

	while (*link && *link != ops)
		link = &(*link)->next;
	if (*link)
		atomic_store_explicit(link, atomic_load(&ops->next), memory_order_release);
}

static int ftrace_ops_check(const struct ftrace_ops *ops)
{
	const uint32_t modify = FTRACE_OPS_FL_IPMODIFY;

	if (!ops->func || ops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;
	if (ftrace_is_dead())
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	if (nr_registered == FTRACE_REF_MAX) /* the count in a record could overflow */
		return -ENOSPC;
	if ((ops->flags & modify) && !(ops->flags & FTRACE_OPS_FL_SAVE_REGS))
		return -EINVAL;
	if ((ops->flags & FTRACE_OPS_FL_PERMANENT) && !ftrace_master_on())
		return -EBUSY;
	return 0;
}

int ftrace_ops_come(struct ftrace_ops *ops)
{
	struct ftrace_change change = { .ops = ops, .wanted_after = true, .after = ops->func_hash };

	ftrace_ops_list_add(ops);
	nr_registered++;
	return ftrace_update(&change);
}

int ftrace_register_locked(struct ftrace_ops *ops)
{
	struct ftrace_change change = { .ops = ops, .wanted_after = true, .after = ops->func_hash };
	uint32_t flags = ops->flags;
	int err;

	if (flags & FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
		ops->flags |= FTRACE_OPS_FL_SAVE_REGS;
	err = ftrace_ops_check(ops);
	if (!err)
		err = ftrace_check_change(&change);
	if (err) {
		ops->flags = flags;
		return err;
	}
	if (!ops->func_hash)
		ops->func_hash = &ops->hashes[0];
	ops->list_func = ops->flags & FTRACE_OPS_FL_SAVE_REGS ? not_without_regs : ops->func;
	create_trampoline(ops);
	ftrace_set_add_ops(ops);
	ops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_INITIALIZED;
	err = ftrace_ops_come(ops);
	if (err) /* tracing is dead; sites may call the trampoline, so it is not released */
		ops->flags &= ~(uint32_t)FTRACE_OPS_FL_ENABLED;
	return err;
}

int register_ftrace_function(struct ftrace_ops *ops)
{
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		err = ftrace_register_locked(ops);
	trace_plat_unlock(&ftrace_lock);
	return err;
}

int ftrace_ops_leave(struct ftrace_ops *ops)
{
	struct ftrace_change change = { .ops = ops,
					.wanted_before = true,
					.before = ops->func_hash };

	ftrace_ops_list_remove(ops);
	nr_registered--;
	return ftrace_is_dead() ? -ENODEV : ftrace_update(&change);
}

/* If text is damaged, sites may go on calling the trampoline, so it is not released. */
void ftrace_ops_left(struct ftrace_ops *ops, int err)
{
	if (!err)
		release_trampolines(ops);
	ops->flags &= ~(uint32_t)FTRACE_OPS_FL_ENABLED;
}

int ftrace_unregister_locked(struct ftrace_ops *ops)
{
	int err;

	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return ftrace_is_dead() ? -ENODEV : -EBUSY;
	err = ftrace_ops_leave(ops);
	trace_plat_synchronize_preempt();
	ftrace_ops_left(ops, err);
	return err;
}

int ftrace_unregister(struct ftrace_ops *ops)
{
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_DIRECT))
		err = ftrace_unregister_locked(ops);
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_look();
	return err;
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	uint64_t mark = ftrace_grace_mark();
	int err = ftrace_unregister(ops);

	ftrace_grace_wait(mark, false);
	return err;
}

/* ftrace_ops_set_func() of a registered ops. While this runs, a call goes to the old or the new. */
static int switch_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	int err = 0;

	if (ops->tramp && !is_assisted(ops))
		err = ftrace_tramp_retarget(ops->tramp, 0, func);
	if (!err && !is_assisted(ops))
		err = ftrace_set_retarget(ops, func);
	if (err)
		return err;
	__atomic_store_n(&ops->func, func, __ATOMIC_RELAXED);
	if (!(ops->flags & FTRACE_OPS_FL_SAVE_REGS))
		__atomic_store_n(&ops->list_func, func, __ATOMIC_RELAXED);
	trace_plat_synchronize_preempt();
	if (ops->tramp)
		ftrace_tramp_wait(ops->tramp); /* for threads preempted on the way to the old one */
	ftrace_set_wait(ops);
	return 0;
}

int ftrace_ops_set_func(struct ftrace_ops *ops, ftrace_func_t func)
{
	int err = 0;

	trace_plat_lock(&ftrace_lock);
	if (ftrace_is_dead())
		err = -ENODEV;
	else if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		ops->func = func;
	else if (ops->func != func)
		err = switch_func(ops, func);
	trace_plat_unlock(&ftrace_lock);
	ftrace_grace_look();
	return err;
}

struct ftrace_hash *ftrace_ops_hash_of(struct ftrace_ops *ops, bool notrace)
{
	struct ftrace_ops_hash *now = ops->func_hash;

	if (!now)
		return NULL;
	return notrace ? now->notrace_hash : now->filter_hash;
}

/* The site of a filter that has exactly one; 0 for other filters. */
static uintptr_t only_site(const struct ftrace_ops_hash *want)
{
	const struct ftrace_hash *hash = want->filter_hash;

	if (!hash || hash->nr != 1 || want->notrace_hash)
		return 0;
	for (uint32_t i = 0; i <= hash->mask; i++) {
		if (hash->slot[i])
			return trace_plat_ip_unpack(hash->slot[i]);
	}
	return 0;
}

/* The release pairs with the acquire in call_list(). */
static void ftrace_ops_publish(struct ftrace_ops *ops, struct ftrace_ops_hash *hash)
{
	atomic_store_explicit(&ops->func_hash, hash, memory_order_release);
}

/* Let a registered ops want `after` instead of `before`. */
static int switch_hashes(struct ftrace_ops *ops, struct ftrace_ops_hash *before,
			 struct ftrace_ops_hash *after)
{
	struct ftrace_change change = { .ops = ops,
					.wanted_before = true,
					.wanted_after = true,
					.before = before,
					.after = after };
	int err = ftrace_check_change(&change);

	if (err)
		return err;
	ftrace_ops_publish(ops, after);
	return ftrace_is_dead() ? 0 : ftrace_update(&change);
}

int ftrace_ops_exchange_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash **hash)
{
	struct ftrace_ops_hash *before = ops->func_hash;
	struct ftrace_ops_hash *after = &ops->hashes[before == &ops->hashes[0]];
	struct ftrace_hash *old = ftrace_ops_hash_of(ops, notrace);
	int err = 0;

	if (ftrace_hash_empty(*hash)) {
		ftrace_hash_free(*hash);
		*hash = NULL;
	}
	*after = before ? *before : (struct ftrace_ops_hash){ 0 };
	if (notrace)
		after->notrace_hash = *hash;
	else
		after->filter_hash = *hash;
	after->only = only_site(after);
	if (ops->site_jump)
		err = -EBUSY;
	else if (ops->flags & FTRACE_OPS_FL_ENABLED)
		err = switch_hashes(ops, before, after);
	else
		ftrace_ops_publish(ops, after);
	if (ops->func_hash != after)
		return err;			       /* refused */
	if (!(ops->flags & FTRACE_OPS_FL_INITIALIZED)) /* callbacks read flags: no needless store */
		ops->flags |= FTRACE_OPS_FL_INITIALIZED;
	*hash = old;
	return err;
}

/* Callbacks also look into the sets of ops that are never registered. */
static int replace_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash *hash)
{
	const bool had_any = ops->func_hash;
	int err = ftrace_ops_exchange_hash(ops, notrace, &hash);

	if (had_any)
		trace_plat_synchronize_preempt();
	ftrace_hash_free(hash);
	return err;
}

/* The follower's copy is made first: after the first replacement nothing may fail. */
int ftrace_ops_replace_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash *hash)
{
	struct ftrace_hash *copy = NULL;
	int err;

	if (ops->follower && !ftrace_hash_empty(hash)) {
		copy = ftrace_hash_copy(hash);
		if (!copy) {
			ftrace_hash_free(hash);
			return -ENOMEM;
		}
	}
	err = replace_hash(ops, notrace, hash);
	if (ops->follower && !err)
		return replace_hash(ops->follower, notrace, copy);
	ftrace_hash_free(copy);
	return err;
}

static int follow_locked(struct ftrace_ops *leader, struct ftrace_ops *follower)
{
	for (int notrace = 0; notrace < 2; notrace++) {
		struct ftrace_hash *hash = ftrace_ops_hash_of(leader, notrace);
		struct ftrace_hash *copy = NULL;

		if (hash) {
			copy = ftrace_hash_copy(hash);
			if (!copy)
				return -ENOMEM;
		}
		replace_hash(follower, notrace, copy);
	}
	leader->follower = follower;
	return 0;
}

int ftrace_ops_follow(struct ftrace_ops *leader, struct ftrace_ops *follower)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = follow_locked(leader, follower);
	if (err)
		ftrace_free_filter_locked(follower);
	trace_plat_unlock(&ftrace_lock);
	return err;
}

void ftrace_ops_unfollow(struct ftrace_ops *leader)
{
	trace_plat_lock(&ftrace_lock);
	ftrace_free_filter_locked(leader->follower);
	leader->follower = NULL;
	trace_plat_unlock(&ftrace_lock);
}

void ftrace_free_filter_locked(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return;
	ftrace_hash_free(ftrace_ops_hash_of(ops, false));
	ftrace_hash_free(ftrace_ops_hash_of(ops, true));
	ops->site_jump = 0;
	ops->func_hash = NULL;
	ops->hashes[0] = ops->hashes[1] = (struct ftrace_ops_hash){ 0 };
}

void ftrace_free_filter(struct ftrace_ops *ops)
{
	trace_plat_lock(&ftrace_lock);
	ftrace_free_filter_locked(ops);
	trace_plat_unlock(&ftrace_lock);
}
