/*
 * The list of ops, and who is called at a site that several of them want: see <trace/ftrace.h>.
 *
 * Order of things, so that no call is lost and none comes too late:
 *
 *   register     into the list, then the sites: a site that calls finds its ops
 *   new filter   hash published, then the sites, then a grace period, then the old hash is freed
 *   unregister   out of the list, then the sites, then grace periods: for the list (preemption off)
 *                and for the ops' own trampoline (a thread may have been preempted in it)
 */
#include "ftrace_private.h"
#include <trace/recursion.h>
#include <trace/trace.h>

#define REFUSED_FLAGS (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT)

struct trace_plat_lock ftrace_lock;
struct ftrace_ops *_Atomic ftrace_ops_list;
struct ftrace_ops ftrace_global_ops;

static _Atomic bool is_dead;

bool ftrace_is_dead(void)
{
	return atomic_load_explicit(&is_dead, memory_order_relaxed);
}

/* The list function finds nobody from here on. */
void ftrace_kill(void)
{
	atomic_store(&is_dead, true);
	atomic_store(&ftrace_ops_list, NULL);
	tracing_off();
}

/* Out of the way: the caller's loop keeps its registers. */
static TRACE_NOINLINE bool wants_site(const struct ftrace_ops_hash *want, uint32_t packed)
{
	return ftrace_hashes_want(want, packed);
}

/*
 * Acquire: with the release that published an ops or its hashes. Every ops of the list has a set of
 * hashes. fregs is NULL for all.
 */
static TRACE_ALWAYS_INLINE void call_list(uintptr_t ip, uintptr_t parent_ip)
{
	struct ftrace_ops *ops = atomic_load_explicit(&ftrace_ops_list, memory_order_acquire);
	uint32_t packed = trace_plat_ip_pack(ip);

	for (; ops; ops = atomic_load_explicit(&ops->next, memory_order_acquire)) {
		const struct ftrace_ops_hash *want =
			atomic_load_explicit(&ops->func_hash, memory_order_acquire);

		if (TRACE_LIKELY(want->only == packed) || wants_site(want, packed))
			ops->func(ip, parent_ip, ops, NULL);
	}
}

/* Preemption is off. */
static TRACE_NOINLINE void call_list_in_irq(uintptr_t ip, uintptr_t parent_ip)
{
	uint32_t bit = TRACE_RECURSION_LIST + trace_recursion_context(trace_plat_preempt_count());

	if (trace_plat_recursion_set(bit)) {
		call_list(ip, parent_ip);
		trace_plat_recursion_clear(bit);
	}
	trace_plat_preempt_enable();
}

void trace_ops_list_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *unused,
			 struct ftrace_regs *fregs)
{
	(void)unused;
	(void)fregs;
	trace_plat_preempt_disable();
	if (TRACE_UNLIKELY(trace_plat_preempt_count() & TRACE_NOT_THREAD_MASK)) {
		call_list_in_irq(ip, parent_ip);
		return;
	}
	if (TRACE_LIKELY(trace_plat_recursion_set(TRACE_RECURSION_LIST))) {
		call_list(ip, parent_ip);
		trace_plat_recursion_clear(TRACE_RECURSION_LIST);
	}
	trace_plat_preempt_enable();
}

void ftrace_ops_assist_func(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	int bit = trace_recursion_enter(TRACE_RECURSION_LIST);

	if (bit < 0)
		return;
	ops->func(ip, parent_ip, ops, fregs);
	trace_recursion_exit(bit);
}

/* Without memory for one, the ops lives with the shared trampoline. */
static void create_trampoline(struct ftrace_ops *ops)
{
	bool assisted = ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
	ftrace_func_t func = assisted ? ftrace_ops_assist_func : ops->func;

	ops->trampoline = (struct trace_trampoline){ 0 };
	if (ops->flags & FTRACE_OPS_FL_STUB)
		return;
	if (trace_plat_trampoline_create(ops, (uintptr_t)func, "ftrace_trampoline",
					 &ops->trampoline))
		ops->trampoline.addr = 0;
}

static void destroy_trampoline(struct ftrace_ops *ops)
{
	if (!ops->trampoline.addr)
		return;
	trace_plat_synchronize_tasks();
	trace_plat_trampoline_destroy(&ops->trampoline);
	ops->trampoline.addr = 0;
}

/* A stub is never called, so nobody has to find it. */
static void list_add(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_STUB)
		return;
	ops->next = atomic_load_explicit(&ftrace_ops_list, memory_order_relaxed);
	atomic_store_explicit(&ftrace_ops_list, ops, memory_order_release);
}

/* `ops->next` stays: a probe may stand on it. */
static void list_remove(struct ftrace_ops *ops)
{
	struct ftrace_ops *_Atomic *link = &ftrace_ops_list;

	while (*link && *link != ops)
		link = &(*link)->next;
	if (*link)
		atomic_store_explicit(link, atomic_load(&ops->next), memory_order_release);
}

static int check_ops(const struct ftrace_ops *ops)
{
	if (!ops->func)
		return -EINVAL;
	if (ops->flags & REFUSED_FLAGS)
		return -EOPNOTSUPP;
	if (ftrace_is_dead())
		return -ENODEV;
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	return 0;
}

int register_ftrace_function(struct ftrace_ops *ops)
{
	struct ftrace_change change = { .ops = ops, .wanted_after = true };
	int err;

	trace_plat_lock(&ftrace_lock);
	err = check_ops(ops);
	if (err)
		goto unlock;
	if (!ops->func_hash)
		ops->func_hash = &ops->hashes[0];
	create_trampoline(ops);
	ops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_INITIALIZED;
	list_add(ops);
	change.after = ops->func_hash;
	err = ftrace_update(&change);
unlock:
	trace_plat_unlock(&ftrace_lock);
	return err;
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	struct ftrace_change change = { .ops = ops, .wanted_before = true };
	int err = -EINVAL;

	trace_plat_lock(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		goto unlock;
	list_remove(ops);
	change.before = ops->func_hash;
	/* With damaged text its sites may go on calling: its trampoline has to stay. */
	err = ftrace_is_dead() ? -ENODEV : ftrace_update(&change);
	trace_plat_synchronize_preempt();
	if (!err)
		destroy_trampoline(ops);
	ops->flags &= ~(uint32_t)FTRACE_OPS_FL_ENABLED;
unlock:
	trace_plat_unlock(&ftrace_lock);
	return err;
}

struct ftrace_hash *ftrace_ops_hash_of(struct ftrace_ops *ops, bool notrace)
{
	struct ftrace_ops_hash *now = ops->func_hash;

	if (!now)
		return NULL;
	return notrace ? now->notrace_hash : now->filter_hash;
}

/* The only site of a filter that has one, 0 for others. */
static uint32_t only_site(const struct ftrace_ops_hash *want)
{
	const struct ftrace_hash *hash = want->filter_hash;

	if (!hash || hash->nr != 1 || want->notrace_hash)
		return 0;
	for (uint32_t i = 0; i <= hash->mask; i++) {
		if (hash->slot[i])
			return hash->slot[i];
	}
	return 0;
}

int ftrace_ops_replace_hash(struct ftrace_ops *ops, bool notrace, struct ftrace_hash *hash)
{
	struct ftrace_ops_hash *before = ops->func_hash;
	struct ftrace_ops_hash *after = &ops->hashes[before == &ops->hashes[0]];
	struct ftrace_change change = { .ops = ops,
					.wanted_before = true,
					.wanted_after = true,
					.before = before,
					.after = after };
	struct ftrace_hash *old = ftrace_ops_hash_of(ops, notrace);
	int err = 0;

	if (hash && !hash->nr) {
		ftrace_hash_free(hash);
		hash = NULL;
	}
	*after = before ? *before : (struct ftrace_ops_hash){ 0 };
	if (notrace)
		after->notrace_hash = hash;
	else
		after->filter_hash = hash;
	after->only = only_site(after);
	ops->flags |= FTRACE_OPS_FL_INITIALIZED;
	/* Release: with the acquire of the list function. */
	atomic_store_explicit(&ops->func_hash, after, memory_order_release);
	if ((ops->flags & FTRACE_OPS_FL_ENABLED) && !ftrace_is_dead())
		err = ftrace_update(&change);
	/* Probes also look at the sets of some that are never registered. */
	if (before)
		trace_plat_synchronize_preempt();
	ftrace_hash_free(old);
	return err;
}

void ftrace_free_filter(struct ftrace_ops *ops)
{
	trace_plat_lock(&ftrace_lock);
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ftrace_hash_free(ftrace_ops_hash_of(ops, false));
		ftrace_hash_free(ftrace_ops_hash_of(ops, true));
		ops->func_hash = NULL;
		ops->hashes[0] = ops->hashes[1] = (struct ftrace_ops_hash){ 0 };
	}
	trace_plat_unlock(&ftrace_lock);
}

void ftrace_totals(struct ftrace_totals *out_totals)
{
	trace_plat_lock(&ftrace_lock);
	*out_totals = (struct ftrace_totals){ .sites = ftrace_nr_records(),
					      .pages = ftrace_nr_pages(),
					      .groups = ftrace_nr_groups,
					      .enabled = ftrace_nr_enabled(),
					      .updates = ftrace_nr_updates() };
	trace_plat_unlock(&ftrace_lock);
}
