/*
 * Places at call sites: which of two ops calls for them, and how that changes. See kprobe_plan.h.
 */
#include "kprobe_plan.h"
#include "kprobe_private.h"

#define NR_OPS 2u

static struct ftrace_ops *const both[NR_OPS] = { &kprobe_ops_plain, &kprobe_ops_regs };
struct ftrace_ops kprobe_ops_either;

static size_t nr_of_ops[NR_OPS]; /* places that each of `both` calls for; kprobe_lock */

static struct ftrace_ops *ops_now(const struct kprobe_place *place)
{
	return atomic_load_explicit(&place->ops, memory_order_relaxed);
}

static struct ftrace_ops *ops_wanted(const struct kprobe_place *place)
{
	if (!kprobe_arm_wants(place))
		return NULL;
	return place->nr_all_regs ? &kprobe_ops_regs : &kprobe_ops_plain;
}

/* It goes from one ops to the other. */
static bool is_moving(const struct kprobe_place *place)
{
	return place->left_ops && ops_wanted(place);
}

static size_t *nr_of(const struct ftrace_ops *ops)
{
	return &nr_of_ops[ops == &kprobe_ops_regs];
}

/* The number of places an ops calls for after the plan. */
static size_t nr_after(const struct kprobe_plan *plan, const struct ftrace_ops *ops)
{
	size_t nr = *nr_of(ops);

	for (size_t i = 0; i < plan->nr_sites; i++) {
		nr += ops_wanted(plan->sites[i]) == ops;
		nr -= ops_now(plan->sites[i]) == ops;
	}
	return nr;
}

static bool comes(const struct kprobe_place *place, const struct ftrace_ops *ops, unsigned parts)
{
	return parts & KPROBE_COMERS && ops_wanted(place) == ops;
}

static bool leaves(const struct kprobe_place *place, const struct ftrace_ops *ops, unsigned parts)
{
	return parts & KPROBE_LEAVERS && place->left_ops == ops;
}

static bool has_any(const struct kprobe_plan *plan, const struct ftrace_ops *ops, unsigned parts)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (comes(plan->sites[i], ops, parts) || leaves(plan->sites[i], ops, parts))
			return true;
	}
	return false;
}

static int fill_filter(const struct kprobe_plan *plan, const struct ftrace_ops *ops, unsigned parts,
		       struct ftrace_hash **filter)
{
	int err = *filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < plan->nr_sites && !err; i++) {
		uint32_t ip = trace_plat_ip_pack(plan->sites[i]->addr);

		if (comes(plan->sites[i], ops, parts))
			err = ftrace_hash_add(filter, ip);
		else if (leaves(plan->sites[i], ops, parts))
			ftrace_hash_remove(*filter, ip);
	}
	return err;
}

/* Add the new filters of an ops to the batch. */
static int add_ops(const struct kprobe_plan *plan, struct ftrace_ops *ops, unsigned parts,
		   struct ftrace_batch *batch)
{
	struct ftrace_hash *filter = NULL;
	int err = 0;

	if (!has_any(plan, ops, parts))
		return 0;
	if (nr_after(plan, ops)) {
		filter = ftrace_hash_copy(ftrace_ops_hash_of(ops, false));
		err = fill_filter(plan, ops, parts, &filter);
	}
	if (err)
		ftrace_hash_free(filter);
	else
		ftrace_batch_add_ops(batch, ops, filter);
	return err;
}

/*
 * A site that moves is called for by both for a while, each call once, as the code there says. But
 * if what it calls looks into filters, it might find it in neither.
 */
static bool may_lose(const struct kprobe_plan *plan)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (is_moving(plan->sites[i]) && ftrace_site_searches(plan->sites[i]->addr))
			return true;
	}
	return false;
}

static void let_both_call(const struct kprobe_plan *plan)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (is_moving(plan->sites[i]))
			atomic_store(&plan->sites[i]->ops, &kprobe_ops_either);
	}
}

static void set_ops(struct kprobe_place *place, struct ftrace_ops *ops)
{
	if (place->left_ops)
		--*nr_of(place->left_ops);
	if (ops)
		++*nr_of(ops);
	atomic_store(&place->ops, ops);
	place->is_armed = ops;
}

void kprobe_sites_settle(const struct kprobe_plan *plan, int err)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		struct kprobe_place *place = plan->sites[i];

		if (!err || (err == -ENODEV && !ops_wanted(place)))
			set_ops(place, ops_wanted(place));
		else
			set_ops(place, place->left_ops);
	}
}

bool kprobe_site_changes(const struct kprobe_place *place)
{
	return ops_now(place) != ops_wanted(place);
}

/* From one ops to the other: `ops` is to be looked at by hits. */
void kprobe_site_begin(struct kprobe_place *place)
{
	place->left_ops = ops_now(place);
	kprobe_place_hold(place);
}

int kprobe_sites_add(const struct kprobe_plan *plan, unsigned parts, struct ftrace_batch *batch)
{
	int err = parts & KPROBE_LEAVERS && may_lose(plan) ? -EAGAIN : 0;

	for (size_t i = 0; i < NR_OPS && !err; i++)
		err = add_ops(plan, both[i], parts, batch);
	if (!err && parts & KPROBE_LEAVERS)
		let_both_call(plan);
	return err;
}

void kprobe_sites_remove(const struct kprobe_plan *plan)
{
	for (size_t i = 0; i < NR_OPS; i++) {
		struct ftrace_batch batch = { 0 };

		if (!add_ops(plan, both[i], KPROBE_LEAVERS, &batch))
			(void)ftrace_batch_make(&batch);
	}
}
