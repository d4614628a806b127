/*
 * Arming places, and back: see kprobe_private.h. Breakpoints are written by one batch, however many
 * there are; call sites change by one update of each ops, which is a batch of its own.
 *
 *   plan    each place that is not as it should be goes into one of the lists, once
 *   carry   the batch, then the sites; on failure what could not be armed counts as not armed
 *
 * It cannot fail for want of memory where breakpoints are concerned: without a list of the right
 * size, a small static one is written again and again.
 */
#include "kprobe_private.h"

#define NR_FEW 32u

/* What changes; the lists have room for `room` each. kprobe_lock guards the static ones. */
struct plan {
	struct trace_poke *pokes;
	struct kprobe_place **sites;
	uintptr_t *ips; /* for one change of an ops */
	void *memory;	/* of the lists; NULL: they are the static ones */
	size_t room;
	size_t nr_pokes;
	size_t nr_sites;
	int err;
};

#define LIST_BYTES (sizeof(struct trace_poke) + sizeof(struct kprobe_place *) + sizeof(uintptr_t))

static struct trace_poke few_pokes[NR_FEW];
static struct kprobe_place *few_sites[NR_FEW];
static uintptr_t few_ips[NR_FEW];

static _Atomic bool is_off; /* the switch; changes with kprobe_lock held */
static size_t nr_of_ops[2]; /* places of plain and regs; kprobe_lock */

bool kprobe_arm_is_on(void)
{
	return !is_off;
}

void kprobe_arm_set_on(bool on)
{
	is_off = !on;
}

/* ---- Call sites ---- */

static size_t *nr_of(const struct ftrace_ops *ops)
{
	return &nr_of_ops[ops == &kprobe_ops_regs];
}

/* An ops without a filter would want all sites: it is registered after it has got one. */
static int add_sites(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr)
{
	int err = ftrace_set_filter_ips(ops, ips, nr, false, false);

	if (!err && !*nr_of(ops)) {
		err = register_ftrace_function(ops);
		if (err)
			ftrace_free_filter(ops);
	}
	if (!err)
		*nr_of(ops) += nr;
	return err;
}

/* And unregistered before it has none. Its callback is there for good, so nobody waits. */
static int remove_sites(struct ftrace_ops *ops, const uintptr_t *ips, size_t nr)
{
	int err = 0;

	*nr_of(ops) -= nr;
	if (*nr_of(ops))
		return ftrace_set_filter_ips(ops, ips, nr, true, false);
	err = ftrace_unregister(ops);
	ftrace_free_filter(ops);
	return err;
}

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

/* Those of the plan that are to come to `ops`. */
static size_t list_comers(const struct plan *plan, const struct ftrace_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (ops_wanted(plan->sites[i]) == ops)
			plan->ips[nr++] = plan->sites[i]->addr;
	}
	return nr;
}

/* Those that have left `ops`. */
static size_t list_leavers(const struct plan *plan, const struct ftrace_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_sites; i++) {
		if (plan->sites[i]->left_ops == ops)
			plan->ips[nr++] = plan->sites[i]->addr;
	}
	return nr;
}

static int add_comers(const struct plan *plan, struct ftrace_ops *ops)
{
	size_t nr = list_comers(plan, ops);

	return nr ? add_sites(ops, plan->ips, nr) : 0;
}

/*
 * What fails for want of memory leaves sites that call, and then find that nobody wants that. A
 * damaged text ends all tracing.
 */
static void remove_leavers(const struct plan *plan, struct ftrace_ops *ops)
{
	size_t nr = list_leavers(plan, ops);

	if (nr)
		remove_sites(ops, plan->ips, nr);
}

/* From here on the callback of the one ops does nothing, and that of the other calls handlers. */
static void change_ops(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_sites; i++) {
		struct kprobe_place *place = plan->sites[i];

		place->left_ops = ops_now(place);
		atomic_store(&place->ops, ops_wanted(place));
		place->is_armed = wants_armed(place);
	}
}

/* A site that moves from one ops to the other calls both for a while, and loses no hit. */
static int change_sites(const struct plan *plan)
{
	size_t nr;
	int err;

	err = add_comers(plan, &kprobe_ops_plain);
	if (err)
		return err;
	err = add_comers(plan, &kprobe_ops_regs);
	if (err) {
		nr = list_comers(plan, &kprobe_ops_plain);
		if (nr)
			remove_sites(&kprobe_ops_plain, plan->ips, nr);
		return err;
	}
	change_ops(plan);
	remove_leavers(plan, &kprobe_ops_plain);
	remove_leavers(plan, &kprobe_ops_regs);
	return 0;
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

static void carry_out(struct plan *plan)
{
	int err = 0;

	sort_pokes(plan->pokes, plan->nr_pokes);
	if (plan->nr_pokes)
		err = change_breakpoints(plan);
	if (plan->nr_sites && !err)
		err = change_sites(plan);
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
	*plan = (struct plan){
		.pokes = few_pokes, .sites = few_sites, .ips = few_ips, .room = NR_FEW
	};
	if (nr <= NR_FEW)
		return;
	plan->memory = trace_plat_alloc(nr * LIST_BYTES);
	if (!plan->memory)
		return;
	plan->room = nr;
	plan->sites = plan->memory;
	plan->ips = (uintptr_t *)(plan->sites + nr);
	plan->pokes = (struct trace_poke *)(plan->ips + nr);
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
