/*
 * Arming places, and back: see kprobe_private.h. Breakpoints and call sites are written by one
 * batch, however many there are.
 *
 *   plan      each place that is not as it should be goes into one of the lists, once
 *   together  one batch for all; on failure nothing has changed
 *   apart     when that cannot be: a batch for the breakpoints, then one for each change of an ops;
 *             on failure what could not be armed counts as not armed
 *
 * It cannot fail for want of memory where breakpoints are concerned: without a list of the right
 * size, a small static one is written again and again.
 */
#include "kprobe_plan.h"
#include "kprobe_private.h"

#define NR_FEW	   32u
#define LIST_BYTES (sizeof(struct trace_poke) + sizeof(struct kprobe_place *))

/* Lists of a plan that finds no memory; kprobe_lock. */
static struct trace_poke few_pokes[NR_FEW];
static struct kprobe_place *few_sites[NR_FEW];

_Atomic bool kprobe_arm_is_off;

bool kprobe_arm_is_on(void)
{
	return !kprobe_arm_is_off;
}

void kprobe_arm_set_on(bool on)
{
	kprobe_arm_is_off = !on;
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
static void note_pokes(const struct kprobe_plan *plan, bool is_written)
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

/* A breakpoint of another owner is no damage: the user tries again without. */
static int change_breakpoints(const struct kprobe_plan *plan)
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

static int make_batch(const struct kprobe_plan *plan, unsigned parts, size_t nr_pokes)
{
	struct ftrace_batch batch = { 0 };
	int err = kprobe_sites_add(plan, parts, &batch);

	ftrace_batch_add_pokes(&batch, plan->pokes, nr_pokes);
	if (err) {
		ftrace_batch_drop(&batch);
		return err;
	}
	err = ftrace_batch_make(&batch);
	kprobe_sites_settle(plan, err);
	return err;
}

/* A site that moves from one ops to the other calls both for a while, and loses no hit. */
static int change_apart(const struct kprobe_plan *plan)
{
	int err = plan->nr_pokes ? change_breakpoints(plan) : 0;

	if (err || !plan->nr_sites)
		return err;
	trace_plat_lock(&ftrace_lock);
	err = make_batch(plan, KPROBE_COMERS, 0);
	if (!err)
		kprobe_sites_remove(plan);
	trace_plat_unlock(&ftrace_lock);
	return err;
}

/* -ENOMEM, -EAGAIN: it has to be done in steps. */
static int change_together(const struct kprobe_plan *plan)
{
	int err;

	trace_plat_lock(&ftrace_lock);
	err = make_batch(plan, KPROBE_COMERS | KPROBE_LEAVERS, plan->nr_pokes);
	trace_plat_unlock(&ftrace_lock);
	if (err != -ENOMEM && err != -EAGAIN)
		note_pokes(plan, !err);
	return err;
}

static int kprobe_arm_change(const struct kprobe_plan *plan)
{
	int err = plan->nr_sites ? change_together(plan) : -EAGAIN;

	if (err == -ENOMEM || err == -EAGAIN)
		err = change_apart(plan);
	if (plan->nr_sites)
		ftrace_grace_look();
	return err;
}

static void kprobe_arm_empty(struct kprobe_plan *plan)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		plan->sites[i]->is_planned = false;
		kprobe_place_refresh(plan->sites[i]);
	}
	plan->nr_pokes = 0;
	plan->nr_sites = 0;
}

static void kprobe_arm_carry_out(struct kprobe_plan *plan)
{
	int err = 0;

	sort_pokes(plan->pokes, plan->nr_pokes);
	if (plan->nr_pokes || plan->nr_sites)
		err = kprobe_arm_change(plan);
	if (!plan->err)
		plan->err = err;
	kprobe_arm_empty(plan);
}

static void kprobe_arm_plan_begin(struct kprobe_plan *plan, size_t nr)
{
	*plan = (struct kprobe_plan){ .pokes = few_pokes, .sites = few_sites, .room = NR_FEW };
	if (nr <= NR_FEW)
		return;
	plan->memory = trace_plat_alloc(nr * LIST_BYTES);
	if (!plan->memory)
		return;
	plan->room = nr;
	plan->sites = plan->memory;
	plan->pokes = (struct trace_poke *)(plan->sites + nr);
}

static void kprobe_arm_free_lists(struct kprobe_plan *plan)
{
	if (plan->memory)
		trace_plat_free(plan->memory, plan->room * LIST_BYTES);
}

static int kprobe_arm_plan_end(struct kprobe_plan *plan)
{
	kprobe_arm_carry_out(plan);
	kprobe_arm_free_lists(plan);
	return plan->err;
}

static void make_room(struct kprobe_plan *plan)
{
	if (plan->nr_pokes == plan->room || plan->nr_sites == plan->room)
		kprobe_arm_carry_out(plan);
}

static void plan_state(struct kprobe_plan *plan, struct kprobe_place *place,
		       enum trace_probe_state wanted)
{
	enum trace_probe_state now = state_of(place);

	if (now == wanted || place->is_planned)
		return;
	make_room(plan);
	place->wanted = (uint8_t)wanted;
	place->is_planned = true;
	trace_plat_probe_poke(&place->code, now, wanted, &plan->pokes[plan->nr_pokes++]);
}

static void kprobe_arm_plan_site(struct kprobe_plan *plan, struct kprobe_place *place)
{
	if (!kprobe_site_changes(place) || place->is_planned)
		return;
	make_room(plan);
	place->is_planned = true;
	kprobe_site_begin(place);
	plan->sites[plan->nr_sites++] = place;
}

/* As its probes and the switch want it; a jump stays one. */
static void plan_place(struct kprobe_place *place, void *arg)
{
	if (place->is_site)
		kprobe_arm_plan_site(arg, place);
	else if (!kprobe_arm_wants(place))
		plan_state(arg, place, TRACE_PROBE_NONE);
	else if (!place->is_armed)
		plan_state(arg, place, TRACE_PROBE_BREAKPOINT);
}

static void plan_places(struct kprobe_plan *plan, struct kprobe *const *ps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (ps[i]->place)
			plan_place(ps[i]->place, plan);
	}
}

int kprobe_arm_update(struct kprobe *const *ps, size_t nr)
{
	struct kprobe_plan plan;

	kprobe_arm_plan_begin(&plan, nr);
	plan_places(&plan, ps, nr);
	return kprobe_arm_plan_end(&plan);
}

int kprobe_arm_update_all(void)
{
	struct kprobe_plan plan;

	kprobe_arm_plan_begin(&plan, kprobe_table_nr());
	kprobe_table_each(plan_place, &plan);
	return kprobe_arm_plan_end(&plan);
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
	struct kprobe_plan plan;

	kprobe_arm_plan_begin(&plan, kprobe_table_nr());
	kprobe_table_each(on ? plan_jump : plan_no_jump, &plan);
	return kprobe_arm_plan_end(&plan);
}

int kprobe_arm_no_jump(struct kprobe_place *place)
{
	struct kprobe_plan plan;

	kprobe_arm_plan_begin(&plan, 1);
	plan_no_jump(place, &plan);
	return kprobe_arm_plan_end(&plan);
}

/* ---- By a batch with others ---- */

int kprobe_plan_make(struct kprobe_plan *plan, struct kprobe *const *ps, size_t nr)
{
	kprobe_arm_plan_begin(plan, nr);
	if (nr > plan->room)
		return -ENOMEM;
	plan_places(plan, ps, nr);
	sort_pokes(plan->pokes, plan->nr_pokes);
	return 0;
}

int kprobe_plan_add(const struct kprobe_plan *plan, struct ftrace_batch *batch)
{
	ftrace_batch_add_pokes(batch, plan->pokes, plan->nr_pokes);
	return kprobe_sites_add(plan, KPROBE_COMERS | KPROBE_LEAVERS, batch);
}

void kprobe_plan_end(struct kprobe_plan *plan, int err)
{
	kprobe_sites_settle(plan, err);
	note_pokes(plan, !err);
	kprobe_arm_empty(plan);
	kprobe_arm_free_lists(plan);
}
