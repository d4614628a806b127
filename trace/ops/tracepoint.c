/*
 * Registering and unregistering probes of tracepoints, see <trace/tracepoint.h>.
 */
#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "tracepoint_part.h"

static struct trace_plat_lock tracepoint_lock; /* guards funcs and key of every tracepoint */

/* The section that TRACEPOINT_OBJECT() fills. */
TRACE_SECTION(trace_tracepoints);
extern struct tracepoint *const __start_trace_tracepoints[];
extern struct tracepoint *const __stop_trace_tracepoints[];

static size_t tracepoint_bytes_of(size_t nr)
{
	return sizeof(struct tracepoint_funcs) + nr * sizeof(struct tracepoint_func);
}

/* NULL: there are no probes. The lock is held. */
static struct tracepoint_funcs *funcs_of(struct tracepoint *tp)
{
	struct tracepoint_funcs *funcs = atomic_load_explicit(&tp->funcs, memory_order_relaxed);

	return funcs == &tp->none ? NULL : funcs;
}

/* `funcs` may be NULL. The release pairs with the acquire in TRACEPOINT_CALL_EACH(). */
static void set_funcs(struct tracepoint *tp, struct tracepoint_funcs *funcs)
{
	atomic_store_explicit(&tp->funcs, funcs ? funcs : &tp->none, memory_order_release);
}

static struct tracepoint_func *tracepoint_find(struct tracepoint_funcs *funcs,
					       tracepoint_probe_fn func, void *data)
{
	for (size_t i = 0; funcs && i < funcs->nr; i++) {
		if (funcs->at[i].func == func && funcs->at[i].data == data)
			return &funcs->at[i];
	}
	return NULL;
}

static size_t nr_left(const struct tracepoint_funcs *funcs)
{
	size_t nr = 0;

	for (size_t i = 0; funcs && i < funcs->nr; i++)
		nr += funcs->at[i].func != NULL;
	return nr;
}

static void tracepoint_append(struct tracepoint_funcs *funcs, tracepoint_probe_fn func, void *data,
			      int prio)
{
	struct tracepoint_func *last = &funcs->at[funcs->nr++];

	atomic_store_explicit(&last->func, func, memory_order_relaxed);
	last->data = data;
	last->prio = prio;
}

/* Room for `nr` probes, none of which is there yet; NULL when out of memory. The lock is held. */
static struct tracepoint_funcs *make_funcs(struct tracepoint *tp, size_t nr)
{
	struct tracepoint_funcs *funcs;

	if (nr == 1 && !atomic_load(&tp->one_is_used)) {
		atomic_store(&tp->one_is_used, true);
		tp->one = (struct tracepoint_funcs){ .at = &tp->one_func };
		return &tp->one;
	}
	funcs = trace_plat_alloc(tracepoint_bytes_of(nr));
	if (funcs)
		funcs->at = (struct tracepoint_func *)(funcs + 1);
	return funcs;
}

/* Free an array that has no readers any more. */
static void free_funcs(struct tracepoint *tp, struct tracepoint_funcs *funcs)
{
	if (funcs == &tp->one)
		atomic_store(&tp->one_is_used, false);
	else
		trace_plat_free(funcs, tracepoint_bytes_of(funcs->nr));
}

/*
 * A new array: the probes of `old` that are still registered, and the new one behind those of the
 * same or a higher priority. NULL when out of memory.
 */
static struct tracepoint_funcs *copy_with(struct tracepoint *tp, const struct tracepoint_funcs *old,
					  tracepoint_probe_fn func, void *data, int prio)
{
	struct tracepoint_funcs *funcs = make_funcs(tp, nr_left(old) + 1);
	bool is_in = false;

	if (!funcs)
		return NULL;
	for (size_t i = 0; old && i < old->nr; i++) {
		const struct tracepoint_func *other = &old->at[i];

		if (!other->func)
			continue;
		if (!is_in && other->prio < prio) {
			tracepoint_append(funcs, func, data, prio);
			is_in = true;
		}
		tracepoint_append(funcs, other->func, other->data, other->prio);
	}
	if (!is_in)
		tracepoint_append(funcs, func, data, prio);
	funcs->func = funcs->nr == 1 ? funcs->at[0].func : tp->iterate;
	funcs->data = funcs->nr == 1 ? funcs->at[0].data : funcs;
	return funcs;
}

/* An array with that probe alone. NULL when out of memory. */
static struct tracepoint_funcs *make_first(struct tracepoint *tp, tracepoint_probe_fn func,
					   void *data, int prio)
{
	struct tracepoint_funcs *funcs = make_funcs(tp, 1);

	if (!funcs)
		return NULL;
	tracepoint_append(funcs, func, data, prio);
	funcs->func = func;
	funcs->data = data;
	return funcs;
}

/*
 * The lock is held. change->old is the array to be freed after a grace period. The key is set, but
 * no code is patched yet; until it is, the probe is not called.
 */
static int tracepoint_add(struct tracepoint_change *change)
{
	struct tracepoint *tp = change->tp;
	struct tracepoint_funcs *old = funcs_of(tp), *funcs;

	if (!old)
		funcs = make_first(tp, change->func, change->data, change->prio);
	else if (tracepoint_find(old, change->func, change->data))
		return -EEXIST;
	else
		funcs = copy_with(tp, old, change->func, change->data, change->prio);
	if (!funcs)
		return -ENOMEM;
	set_funcs(tp, funcs);
	change->old = old;
	if (!old)
		trace_atomic_store(&tp->key.is_on, true);
	return 0;
}

/*
 * The lock is held. A call that passes the key before the code is patched finds an array without
 * probes, or no array. The same is true of all calls when the code cannot be patched because it is
 * damaged, which the host has reported.
 */
static int tracepoint_take(struct tracepoint_change *change)
{
	struct tracepoint *tp = change->tp;
	struct tracepoint_funcs *funcs = funcs_of(tp);
	struct tracepoint_func *found = tracepoint_find(funcs, change->func, change->data);

	if (!found)
		return -ENOENT;
	atomic_store_explicit(&found->func, NULL, memory_order_relaxed);
	if (nr_left(funcs) > 0)
		return 0;
	trace_atomic_store(&tp->key.is_on, false);
	set_funcs(tp, NULL);
	change->old = funcs;
	return 0;
}

/*
 * Undo an addition: the tracepoint's code could not be patched, so the probe will not be called.
 * The lock is held.
 */
static void undo_add(struct tracepoint_change *change, int err)
{
	if (!change->is_add || change->err || change->old)
		return; /* it has other probes, and its code was patched for them */
	trace_atomic_store(&change->tp->key.is_on, false);
	change->old = funcs_of(change->tp);
	set_funcs(change->tp, NULL);
	change->err = err;
}

/* The lock is held. */
static void tracepoint_make_changes(struct tracepoint_change *changes, size_t nr)
{
	bool have_keys_changed = false;
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		bool was_on = changes[i].tp->key.is_on;

		changes[i].old = NULL;
		changes[i].err = changes[i].is_add ? tracepoint_add(&changes[i])
						   : tracepoint_take(&changes[i]);
		have_keys_changed |= was_on != changes[i].tp->key.is_on;
	}
	if (have_keys_changed)
		err = trace_plat_static_branches_update();
	for (size_t i = 0; err && i < nr; i++)
		undo_add(&changes[i], err);
}

/* Frees what the changes have replaced; returns the first error. */
static int free_after_grace(struct tracepoint_change *changes, size_t nr)
{
	bool has_waited = false;
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		err = err ? err : changes[i].err;
		if (!changes[i].old)
			continue;
		if (!has_waited)
			trace_plat_synchronize_preempt();
		has_waited = true;
		free_funcs(changes[i].tp, changes[i].old);
	}
	return err;
}

static bool may_sleep(void)
{
	return !trace_plat_preempt_count() && !trace_plat_irqs_disabled();
}

int tracepoint_change_probes(struct tracepoint_change *changes, size_t nr)
{
	if (!may_sleep())
		return -EBUSY;
	trace_plat_lock(&tracepoint_lock);
	tracepoint_make_changes(changes, nr);
	trace_plat_unlock(&tracepoint_lock);
	return free_after_grace(changes, nr);
}

int tracepoint_probe_register(struct tracepoint *tp, tracepoint_probe_fn func, void *data, int prio)
{
	struct tracepoint_change change = {
		.tp = tp, .func = func, .data = data, .prio = prio, .is_add = true
	};

	return func ? tracepoint_change_probes(&change, 1) : -EINVAL;
}

int tracepoint_probe_unregister(struct tracepoint *tp, tracepoint_probe_fn func, void *data)
{
	struct tracepoint_change change = { .tp = tp, .func = func, .data = data };

	return func ? tracepoint_change_probes(&change, 1) : -ENOENT;
}

int trace_static_key_set(struct trace_static_key *key, bool on)
{
	bool was_on;
	int err;

	trace_plat_lock(&tracepoint_lock);
	was_on = trace_atomic_exchange(&key->is_on, on);
	err = trace_plat_static_branches_update();
	if (err)
		trace_atomic_store(&key->is_on, was_on);
	trace_plat_unlock(&tracepoint_lock);
	return err;
}

void tracepoint_synchronize_unregister(void)
{
	trace_plat_synchronize_preempt();
}

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *arg), void *arg)
{
	for (struct tracepoint *const *tp = __start_trace_tracepoints;
	     tp < __stop_trace_tracepoints; tp++)
		fn(*tp, arg);
}

/* ---- By a batch with others: all or none ---- */

static struct tracepoint_part *tracepoint_own_of(struct ftrace_part *part)
{
	return (struct tracepoint_part *)part;
}

/* Its place in the array is the empty one with this data. */
static void undo_take(struct tracepoint_change *change)
{
	struct tracepoint_funcs *funcs = change->old ? change->old : funcs_of(change->tp);

	tracepoint_find(funcs, NULL, change->data)->func = change->func;
	if (!change->old)
		return;
	set_funcs(change->tp, funcs);
	trace_atomic_store(&change->tp->key.is_on, true);
	change->old = NULL;
}

/* The first `nr`, in the reverse order of tracepoint_part_begin(). */
static void tracepoint_undo(const struct tracepoint_part *own, size_t nr)
{
	while (nr--) {
		if (own->changes[nr].is_add)
			(void)tracepoint_take(&own->changes[nr]);
		else
			undo_take(&own->changes[nr]);
	}
}

static int tracepoint_part_begin(struct ftrace_part *part)
{
	struct tracepoint_part *own = tracepoint_own_of(part);
	int err = may_sleep() ? 0 : -EBUSY;
	size_t nr = 0;

	while (nr < own->nr && !err) {
		struct tracepoint_change *change = &own->changes[nr];

		change->old = NULL;
		change->err = 0;
		err = change->is_add ? tracepoint_add(change) : tracepoint_take(change);
		nr += !err;
	}
	if (err) {
		tracepoint_undo(own, nr);
		(void)free_after_grace(own->changes, nr);
	}
	return err;
}

static int tracepoint_part_add(struct ftrace_part *part, struct ftrace_batch *batch)
{
	struct tracepoint_part *own = tracepoint_own_of(part);

	own->nr_pokes = trace_plat_static_branches_list(NULL, 0);
	if (!own->nr_pokes)
		return 0;
	own->pokes = trace_plat_alloc(own->nr_pokes * sizeof(*own->pokes));
	if (!own->pokes)
		return -ENOMEM;
	(void)trace_plat_static_branches_list(own->pokes, own->nr_pokes);
	ftrace_batch_add_pokes(batch, own->pokes, own->nr_pokes);
	return 0;
}

static void tracepoint_part_end(struct ftrace_part *part, int err)
{
	struct tracepoint_part *own = tracepoint_own_of(part);

	if (err)
		tracepoint_undo(own, own->nr);
	(void)free_after_grace(own->changes, own->nr);
	if (own->pokes)
		trace_plat_free(own->pokes, own->nr_pokes * sizeof(*own->pokes));
}

void tracepoint_part_init(struct tracepoint_part *part, struct tracepoint_change *changes,
			  size_t nr)
{
	*part = (struct tracepoint_part){ .part = { .lock = &tracepoint_lock,
						    .begin = tracepoint_part_begin,
						    .add = tracepoint_part_add,
						    .end = tracepoint_part_end },
					  .changes = changes,
					  .nr = nr };
}

int tracepoint_part_change(struct tracepoint_part *part)
{
	int err;

	trace_plat_lock(&tracepoint_lock);
	err = tracepoint_part_begin(&part->part);
	if (!err) {
		err = trace_plat_static_branches_update();
		tracepoint_part_end(&part->part, err);
	}
	trace_plat_unlock(&tracepoint_lock);
	return err;
}
