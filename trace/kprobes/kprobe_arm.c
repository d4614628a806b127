/*
 * Arming places, and back: see kprobe_private.h. Breakpoints and call sites are written by one batch,
 * however many there are.
 *
 *   plan      each place that is not as it should be goes into one of the lists, once
 *   together  one batch for all; on failure nothing has changed
 *   apart     when that cannot be: a batch for the breakpoints, then one for each change of an ops;
 *             on failure what could not be armed counts as not armed
 *
 * It cannot fail for want of memory where breakpoints are concerned: without a list of the right
 * size, a small static one is written again and again.
 */
#include "kprobe_private.h"
#include "ops/ftrace_batch.h"

#define NR_FEW 32u
#define NR_OPS 2u

/* What changes; the lists have room for `room` each. kprobe_lock guards the static ones. */
struct plan {
	struct trace_poke *pokes;
	struct kprobe_place **sites;
	void *memory; /* of the lists; NULL: they are the static ones */
	size_t room;
	size_t nr_pokes;
	size_t nr_sites;
	int err;
};

#define LIST_BYTES (sizeof(struct trace_poke) + sizeof(struct kprobe_place *))

static struct trace_poke few_pokes[NR_FEW];
static struct kprobe_place *few_sites[NR_FEW];

static struct ftrace_ops *const both[NR_OPS] = { &kprobe_ops_plain, &kprobe_ops_regs };
struct ftrace_ops kprobe_ops_either;

static _Atomic bool is_off;	 /* the switch; changes with kprobe_lock held */
static size_t nr_of_ops[NR_OPS]; /* places that each of `both` calls for; kprobe_lock */

bool kprobe_arm_is_on(void)
{
	return !is_off;
}

void kprobe_arm_set_on(bool on)
{
	is_off = !on;
}

/* ---- Call sites ---- */

static struct ftrace_ops *ops_now(const struct kprobe_place *place)
{
	return atomic_load_explicit(&place->ops, memory_order_relaxed);
}

static bool wants_armed(const struct kprobe_place *place)
{
	return place->nr_enabled && !is_off;
}

static struct ftrace_ops *ops_wanted(const struct kprobe_place *place)
{
	if (!wants_armed(place))
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

/* How many places an ops calls for when the plan has been carried out. */
static size_t nr_after(const struct plan *plan, const struct ftrace_ops *ops)
{
	size_t nr = *nr_of(ops);

	for (size_t i = 0; i < plan->nr_sites; i++) {
		nr += ops_wanted(plan->sites[i]) == ops;
		nr -= ops_now(plan->sites[i]) == ops;
	}
	return nr;
}

/* Which sites of the plan are added to filters or removed. */
enum part {
	COMERS = 1,
	LEAVERS = 2,
};

static bool comes(const struct kprobe_place *place, const struct ftrace_ops *ops, unsigned parts)
{
	return parts & COMERS && ops_wanted(place) == ops;
}

static bool leaves(const struct kprobe_place *place, const struct ftrace_ops *ops, unsigned parts)
{
	return parts & LEAVERS && place->left_ops == ops;
}

static bool has_any(const struct plan *plan, const struct ftrace_ops *ops, unsigned parts)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (comes(plan->sites[i], ops, parts) || leaves(plan->sites[i], ops, parts))
			return true;
	}
	return false;
}

static int fill_filter(const struct plan *plan, const struct ftrace_ops *ops, unsigned parts,
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

/* Add to the batch what an ops is to want. On failure the batch is as before. */
static int add_ops(const struct plan *plan, struct ftrace_ops *ops, unsigned parts,
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
		batch->ops[batch->nr_ops++] =
			(struct ftrace_batch_ops){ .ops = ops, .filter = filter };
	return err;
}

/*
 * A site that moves is called for by both for a while, each call once, as the code there says. But
 * if what it calls looks into filters, it might find it in neither.
 */
static bool may_lose(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (is_moving(plan->sites[i]) && ftrace_site_searches(plan->sites[i]->addr))
			return true;
	}
	return false;
}

static void let_both_call(const struct plan *plan)
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

/*
 * From here on the callback of the one ops does nothing, and that of the other calls handlers. After
 * an error all are as before; but where tracing is dead, those that are to be disarmed are.
 */
static void settle(const struct plan *plan, int err)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		struct kprobe_place *place = plan->sites[i];

		if (!err || (err == -ENODEV && !ops_wanted(place)))
			set_ops(place, ops_wanted(place));
		else
			set_ops(place, place->left_ops);
	}
}

/* With the first `nr_pokes` of the plan. -ENOMEM, -EAGAIN: it has to be done in steps. */
static int make_batch(const struct plan *plan, unsigned parts, size_t nr_pokes)
{
	struct ftrace_batch_ops ops[NR_OPS];
	struct ftrace_batch batch = { .ops = ops, .pokes = plan->pokes, .nr_pokes = nr_pokes };
	int err = parts & LEAVERS && may_lose(plan) ? -EAGAIN : 0;

	for (size_t i = 0; i < NR_OPS && !err; i++)
		err = add_ops(plan, both[i], parts, &batch);
	if (err) {
		while (batch.nr_ops)
			ftrace_hash_free(ops[--batch.nr_ops].filter);
		return err;
	}
	if (parts & LEAVERS)
		let_both_call(plan);
	err = ftrace_batch_make(&batch);
	settle(plan, err);
	return err;
}

/*
 * What fails for want of memory leaves sites that call, and then find that nobody wants that. A
 * damaged text ends all tracing.
 */
static void remove_leavers(const struct plan *plan)
{
	for (size_t i = 0; i < NR_OPS; i++) {
		struct ftrace_batch_ops ops;
		struct ftrace_batch batch = { .ops = &ops };

		if (!add_ops(plan, both[i], LEAVERS, &batch))
			(void)ftrace_batch_make(&batch);
	}
}

/* ---- Breakpoints ---- */

/* By address, as a batch wants them. Those that come in order cost little. */
static void sort_pokes(struct trace_poke *pokes, size_t nr)
{
	size_t gap = 1;

	while (gap < nr / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3) {
		for (size_t i = gap; i < nr; i++) {
			struct trace_poke poke = pokes[i];
			size_t at = i;

			for (; at >= gap && pokes[at - gap].site > poke.site; at -= gap)
				pokes[at] = pokes[at - gap];
			pokes[at] = poke;
		}
	}
}

static enum trace_probe_state state_of(const struct kprobe_place *place)
{
	if (!place->is_armed)
		return TRACE_PROBE_NONE;
	return place->jump == KPROBE_JUMP_DONE ? TRACE_PROBE_JUMP : TRACE_PROBE_BREAKPOINT;
}

/* The batch is written, or it is not: places are as it says. */
static void note_pokes(const struct plan *plan, bool is_written)
{
	for (size_t i = 0; i < plan->nr_pokes; i++) {
		struct kprobe_place *place =
			kprobe_place_find(trace_plat_ip_unpack(plan->pokes[i].site));

		place->is_planned = false;
		if (!is_written)
			continue;
		place->is_armed = place->wanted != TRACE_PROBE_NONE;
		if (place->wanted == TRACE_PROBE_JUMP)
			kprobe_jump_set(place, KPROBE_JUMP_DONE);
		else if (place->jump == KPROBE_JUMP_DONE ||
			 (place->jump != KPROBE_JUMP_NO && !place->is_armed))
			kprobe_jump_set(place, KPROBE_JUMP_NO);
	}
}

/* A breakpoint of somebody else's is no damage: the user tries again without. */
static int change_breakpoints(const struct plan *plan)
{
	struct trace_poke_error error;
	int err;

	if (ftrace_is_dead())
		err = -ENODEV;
	else
		err = trace_plat_poke_batch(plan->pokes, plan->nr_pokes, &error);
	note_pokes(plan, !err);
	if (err == -EINVAL) {
		ftrace_bug(err, &error);
		return -ENODEV;
	}
	return err;
}

/* ---- Plans ---- */

/* A site that moves from one ops to the other calls both for a while, and loses no hit. */
static int change_apart(const struct plan *plan)
{
	int err = plan->nr_pokes ? change_breakpoints(plan) : 0;

	if (err || !plan->nr_sites)
		return err;
	trace_plat_lock(&ftrace_lock);
	err = make_batch(plan, COMERS, 0);
	if (!err)
		remove_leavers(plan);
	trace_plat_unlock(&ftrace_lock);
	return err;
}

static int change_together(const struct plan *plan)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = make_batch(plan, COMERS | LEAVERS, plan->nr_pokes);
	trace_plat_unlock(&ftrace_lock);
	if (err != -ENOMEM && err != -EAGAIN)
		note_pokes(plan, !err);
	return err;
}

static int change(const struct plan *plan)
{
	int err = plan->nr_sites ? change_together(plan) : -EAGAIN;

	if (err == -ENOMEM || err == -EAGAIN)
		err = change_apart(plan);
	if (plan->nr_sites)
		ftrace_grace_look();
	return err;
}

static void carry_out(struct plan *plan)
{
	int err = 0;

	sort_pokes(plan->pokes, plan->nr_pokes);
	if (plan->nr_pokes || plan->nr_sites)
		err = change(plan);
	if (!plan->err)
		plan->err = err;
	for (size_t i = 0; i < plan->nr_sites; i++) {
		plan->sites[i]->is_planned = false;
		kprobe_place_refresh(plan->sites[i]);
	}
	plan->nr_pokes = 0;
	plan->nr_sites = 0;
}

static void plan_begin(struct plan *plan, size_t nr)
{
	*plan = (struct plan){ .pokes = few_pokes, .sites = few_sites, .room = NR_FEW };
	if (nr <= NR_FEW)
		return;
	plan->memory = trace_plat_alloc(nr * LIST_BYTES);
	if (!plan->memory)
		return;
	plan->room = nr;
	plan->sites = plan->memory;
	plan->pokes = (struct trace_poke *)(plan->sites + nr);
}

static int plan_end(struct plan *plan)
{
	carry_out(plan);
	if (plan->memory)
		trace_plat_free(plan->memory, plan->room * LIST_BYTES);
	return plan->err;
}

static void make_room(struct plan *plan)
{
	if (plan->nr_pokes == plan->room || plan->nr_sites == plan->room)
		carry_out(plan);
}

static void plan_state(struct plan *plan, struct kprobe_place *place, enum trace_probe_state wanted)
{
	enum trace_probe_state now = state_of(place);

	if (now == wanted || place->is_planned)
		return;
	make_room(plan);
	place->wanted = (uint8_t)wanted;
	place->is_planned = true;
	trace_plat_probe_poke(&place->code, now, wanted, &plan->pokes[plan->nr_pokes++]);
}

static void plan_site(struct plan *plan, struct kprobe_place *place)
{
	if (ops_now(place) == ops_wanted(place) || place->is_planned)
		return;
	make_room(plan);
	place->is_planned = true;
	place->left_ops = ops_now(place);
	kprobe_place_hold(place); /* from one ops to the other: `ops` is to be looked at */
	plan->sites[plan->nr_sites++] = place;
}

/* As its probes and the switch want it; a jump stays one. */
static void plan_place(struct kprobe_place *place, void *arg)
{
	if (place->is_site)
		plan_site(arg, place);
	else if (!wants_armed(place))
		plan_state(arg, place, TRACE_PROBE_NONE);
	else if (!place->is_armed)
		plan_state(arg, place, TRACE_PROBE_BREAKPOINT);
}

int kprobe_arm_update(struct kprobe *const *ps, size_t nr)
{
	struct plan plan;

	plan_begin(&plan, nr);
	for (size_t i = 0; i < nr; i++) {
		if (ps[i]->place)
			plan_place(ps[i]->place, &plan);
	}
	return plan_end(&plan);
}

int kprobe_arm_update_all(void)
{
	struct plan plan;

	plan_begin(&plan, kprobe_table_nr());
	kprobe_table_each(plan_place, &plan);
	return plan_end(&plan);
}

static void plan_jump(struct kprobe_place *place, void *arg)
{
	if (place->is_armed && kprobe_jump_is_ready(place))
		plan_state(arg, place, TRACE_PROBE_JUMP);
}

static void plan_no_jump(struct kprobe_place *place, void *arg)
{
	if (state_of(place) == TRACE_PROBE_JUMP)
		plan_state(arg, place, TRACE_PROBE_BREAKPOINT);
}

int kprobe_arm_jumps(bool on)
{
	struct plan plan;

	plan_begin(&plan, kprobe_table_nr());
	kprobe_table_each(on ? plan_jump : plan_no_jump, &plan);
	return plan_end(&plan);
}

int kprobe_arm_no_jump(struct kprobe_place *place)
{
	struct plan plan;

	plan_begin(&plan, 1);
	plan_no_jump(place, &plan);
	return plan_end(&plan);
}
