/*
 * Registering and unregistering probes of tracepoints, see <trace/tracepoint.h>.
 */
#include <trace/platform.h>
#include <trace/tracepoint.h>

static struct trace_plat_lock tracepoint_lock; /* guards funcs and key of every tracepoint */

/*
 * Start and end of the section that TRACEPOINT_OBJECT() fills. The linker defines them when there
 * is at least one tracepoint; otherwise both are NULL.
 */
extern struct tracepoint *const __start_trace_tracepoints[] __attribute__((weak));
extern struct tracepoint *const __stop_trace_tracepoints[] __attribute__((weak));

static size_t bytes_of(size_t nr)
{
	return sizeof(struct tracepoint_funcs) + nr * sizeof(struct tracepoint_func);
}

/* The lock is held. */
static struct tracepoint_funcs *funcs_of(struct tracepoint *tp)
{
	return atomic_load_explicit(&tp->funcs, memory_order_relaxed);
}

/* The release pairs with the acquire in TRACEPOINT_CALL_EACH(). */
static void set_funcs(struct tracepoint *tp, struct tracepoint_funcs *funcs)
{
	atomic_store_explicit(&tp->funcs, funcs, memory_order_release);
}

static struct tracepoint_func *find(struct tracepoint_funcs *funcs, tracepoint_probe_fn func,
				    void *data)
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

static void append(struct tracepoint_funcs *funcs, tracepoint_probe_fn func, void *data, int prio)
{
	struct tracepoint_func *last = &funcs->at[funcs->nr++];

	atomic_store_explicit(&last->func, func, memory_order_relaxed);
	last->data = data;
	last->prio = prio;
}

/*
 * A new array: the probes of `old` that are still registered, and the new one behind those of the
 * same or a higher priority. NULL when out of memory.
 */
static struct tracepoint_funcs *copy_with(const struct tracepoint_funcs *old,
					  tracepoint_probe_fn func, void *data, int prio)
{
	struct tracepoint_funcs *funcs = trace_plat_alloc(bytes_of(nr_left(old) + 1));
	bool is_in = false;

	if (!funcs)
		return NULL;
	for (size_t i = 0; old && i < old->nr; i++) {
		const struct tracepoint_func *other = &old->at[i];

		if (!other->func)
			continue;
		if (!is_in && other->prio < prio) {
			append(funcs, func, data, prio);
			is_in = true;
		}
		append(funcs, other->func, other->data, other->prio);
	}
	if (!is_in)
		append(funcs, func, data, prio);
	return funcs;
}

/*
 * The lock is held. *out_old is the array to be freed after a grace period; unchanged if none is.
 */
static int add(struct tracepoint *tp, tracepoint_probe_fn func, void *data, int prio,
	       struct tracepoint_funcs **out_old)
{
	struct tracepoint_funcs *old = funcs_of(tp), *funcs;
	int err;

	if (find(old, func, data))
		return -EEXIST;
	funcs = copy_with(old, func, data, prio);
	if (!funcs)
		return -ENOMEM;
	set_funcs(tp, funcs);
	err = old ? 0 : trace_static_key_set(&tp->key, true);
	if (err)
		set_funcs(tp, NULL);
	*out_old = err ? funcs : old;
	return err;
}

/*
 * The lock is held. The last probe switches the key off before it takes the array away; a call that
 * has already passed the key finds an array without probes, or no array. The same is true of all
 * calls when the key cannot be switched because code is damaged, which the host has reported.
 */
static int take(struct tracepoint *tp, tracepoint_probe_fn func, void *data,
		struct tracepoint_funcs **out_old)
{
	struct tracepoint_funcs *funcs = funcs_of(tp);
	struct tracepoint_func *found = find(funcs, func, data);

	if (!found)
		return -ENOENT;
	atomic_store_explicit(&found->func, NULL, memory_order_relaxed);
	if (nr_left(funcs) > 0)
		return 0;
	(void)trace_static_key_set(&tp->key, false);
	set_funcs(tp, NULL);
	*out_old = funcs;
	return 0;
}

static void free_after_grace(struct tracepoint_funcs *funcs)
{
	if (!funcs)
		return;
	trace_plat_synchronize_preempt();
	trace_plat_free(funcs, bytes_of(funcs->nr));
}

static bool may_sleep(void)
{
	return !trace_plat_preempt_count() && !trace_plat_irqs_disabled();
}

int tracepoint_probe_register(struct tracepoint *tp, tracepoint_probe_fn func, void *data, int prio)
{
	struct tracepoint_funcs *old = NULL;
	int err;

	if (!func)
		return -EINVAL;
	if (!may_sleep())
		return -EBUSY;
	trace_plat_lock(&tracepoint_lock);
	err = add(tp, func, data, prio, &old);
	trace_plat_unlock(&tracepoint_lock);
	free_after_grace(old);
	return err;
}

int tracepoint_probe_unregister(struct tracepoint *tp, tracepoint_probe_fn func, void *data)
{
	struct tracepoint_funcs *old = NULL;
	int err;

	if (!func)
		return -ENOENT;
	if (!may_sleep())
		return -EBUSY;
	trace_plat_lock(&tracepoint_lock);
	err = take(tp, func, data, &old);
	trace_plat_unlock(&tracepoint_lock);
	free_after_grace(old);
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
