/*
 * The update engine: see ftrace_private.h. One pass over all records finds those whose count or
 * target changes and makes one batch of the sites that have to be rewritten.
 *
 * An update cannot fail for want of memory: without room for a batch of the right size, a small one
 * of our own is used again and again. Every site is right after each batch, it only takes more of
 * them.
 */
#include "ftrace_private.h"

#define RESERVE_POKES 64u

static struct trace_poke reserve[RESERVE_POKES]; /* ftrace_lock */
static uint64_t nr_enabled;			 /* ftrace_lock */
static uint64_t nr_updates;			 /* ftrace_lock */

struct plan {
	struct ftrace_ops *ops; /* whose wishes change */
	uintptr_t own;		/* its trampoline, 0: none */
	uintptr_t shared;	/* trampoline of sites with several users */
	struct trace_poke *pokes;
	size_t nr;
	size_t room;
	uint64_t nr_on;	 /* sites that begin to call something */
	uint64_t nr_off; /* sites that end */
	int err;
	uint8_t nop[TRACE_INSN_SIZE];
};

uint64_t ftrace_nr_enabled(void)
{
	return nr_enabled;
}

uint64_t ftrace_nr_updates(void)
{
	return nr_updates;
}

static void log_bytes(const char *what, const uint8_t *insn)
{
	trace_plat_log(" %s %02x:%02x:%02x:%02x:%02x", what, insn[0], insn[1], insn[2], insn[3],
		       insn[4]);
}

void ftrace_bug(const struct trace_poke_error *error)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start = error->site;
	size_t size;

	ftrace_kill();
	if (!trace_plat_symbol(error->site, name, &start, &size)) {
		name[0] = '?';
		name[1] = '\0';
	}
	trace_plat_log("------------[ ftrace bug ]------------");
	trace_plat_log("ftrace failed to modify [<%016lx>] %s+0x%lx", (unsigned long)error->site,
		       name, (unsigned long)(error->site - start));
	log_bytes("actual:  ", error->found);
	log_bytes("expected:", error->expected);
	trace_plat_bug("ftrace: text at a call site is not what was written there");
}

struct ftrace_ops *ftrace_owner_of(uint32_t ip, const struct ftrace_ops *except)
{
	struct ftrace_ops *ops = atomic_load_explicit(&ftrace_ops_list, memory_order_relaxed);

	for (; ops; ops = atomic_load_explicit(&ops->next, memory_order_relaxed)) {
		if (ops != except && ops->trampoline.addr &&
		    ftrace_hashes_want(atomic_load_explicit(&ops->func_hash, memory_order_relaxed),
				       ip))
			return ops;
	}
	return NULL;
}

static void flush(struct plan *plan)
{
	struct trace_poke_error error;

	if (!plan->err && ftrace_is_dead())
		plan->err = -ENODEV;
	if (plan->nr && !plan->err && trace_plat_poke_batch(plan->pokes, plan->nr, &error)) {
		ftrace_bug(&error);
		plan->err = -EIO;
	}
	plan->nr = 0;
}

static void make_insn(const struct plan *plan, uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	if (target)
		trace_plat_insn_call(site, target, out_insn);
	else
		__builtin_memcpy(out_insn, plan->nop, TRACE_INSN_SIZE);
}

static void add_poke(struct plan *plan, uint32_t packed, uintptr_t old_target, uintptr_t new_target)
{
	uintptr_t site = trace_plat_ip_unpack(packed);
	struct trace_poke *poke;

	if (plan->nr == plan->room)
		flush(plan);
	poke = &plan->pokes[plan->nr++];
	poke->site = packed;
	make_insn(plan, site, old_target, poke->old_insn);
	make_insn(plan, site, new_target, poke->new_insn);
}

/* Trampoline of the only ops that wants the site; the shared one when it has none. */
static uintptr_t only_target(const struct plan *plan, uint32_t ip, bool mine)
{
	const struct ftrace_ops *ops;

	if (mine)
		return plan->own ? plan->own : plan->shared;
	ops = ftrace_owner_of(ip, plan->ops);
	return ops ? ops->trampoline.addr : plan->shared;
}

/* What the site calls now, 0 for nothing; `mine`: the ops that changes is one of its users. */
static uintptr_t current_target(const struct plan *plan, const struct dyn_ftrace *record, bool mine)
{
	if (!(record->flags & FTRACE_FL_ENABLED))
		return 0;
	if (!(record->flags & FTRACE_FL_TRAMP_EN))
		return plan->shared;
	return only_target(plan, record->ip, mine); /* no owner: killed meanwhile */
}

/* The same for the count in `flags`, which are completed by what they say of it. */
static uintptr_t new_target_of(const struct plan *plan, uint32_t ip, bool mine, uint32_t *flags)
{
	uintptr_t target;

	*flags &= ~(FTRACE_FL_ENABLED | FTRACE_FL_TRAMP | FTRACE_FL_TRAMP_EN);
	if (!(*flags & FTRACE_REF_MAX))
		return 0;
	*flags |= FTRACE_FL_ENABLED;
	if ((*flags & FTRACE_REF_MAX) > 1)
		return plan->shared;
	target = only_target(plan, ip, mine);
	if (target != plan->shared)
		*flags |= FTRACE_FL_TRAMP | FTRACE_FL_TRAMP_EN;
	return target;
}

static void plan_record(struct plan *plan, struct dyn_ftrace *record, bool before, bool after)
{
	uint32_t flags = record->flags + (after ? 1u : -1u);
	uintptr_t old_target = current_target(plan, record, before);
	uintptr_t new_target = new_target_of(plan, record->ip, after, &flags);

	record->flags = flags;
	if (old_target == new_target)
		return;
	if (!old_target)
		plan->nr_on++;
	if (!new_target)
		plan->nr_off++;
	add_poke(plan, record->ip, old_target, new_target);
}

static void plan_all(struct plan *plan, const struct ftrace_change *change)
{
	const struct ftrace_change wish = *change; /* in registers */
	struct ftrace_cursor cursor = { 0 };
	struct dyn_ftrace *record;

	while ((record = ftrace_next_record(&cursor))) {
		bool before = wish.wanted_before && ftrace_hashes_want(wish.before, record->ip);
		bool after = wish.wanted_after && ftrace_hashes_want(wish.after, record->ip);

		if (before != after && !(record->flags & FTRACE_FL_DISABLED))
			plan_record(plan, record, before, after);
	}
	flush(plan);
}

/* No more sites than this can change. */
static size_t upper_bound(const struct ftrace_change *change)
{
	const struct ftrace_ops_hash *sides[] = { change->wanted_before ? change->before : NULL,
						  change->wanted_after ? change->after : NULL };
	const bool wanted[] = { change->wanted_before, change->wanted_after };
	size_t bound = 0;

	for (int i = 0; i < 2; i++) {
		if (wanted[i] && (!sides[i] || !sides[i]->filter_hash))
			return ftrace_nr_records();
		if (wanted[i])
			bound += sides[i]->filter_hash->nr;
	}
	return bound < ftrace_nr_records() ? bound : ftrace_nr_records();
}

int ftrace_update(const struct ftrace_change *change)
{
	struct plan plan = { .ops = change->ops,
			     .own = change->ops->trampoline.addr,
			     .shared = trace_plat_shared_trampoline() };
	size_t bound = upper_bound(change), bytes = bound * sizeof(struct trace_poke);

	trace_plat_insn_nop(plan.nop);
	plan.pokes = bound > RESERVE_POKES ? trace_plat_alloc(bytes) : NULL;
	plan.room = bound;
	if (!plan.pokes) {
		plan.pokes = reserve;
		plan.room = RESERVE_POKES;
	}
	plan_all(&plan, change);
	nr_enabled += plan.nr_on - plan.nr_off;
	nr_updates++;
	if (plan.pokes != reserve)
		trace_plat_free(plan.pokes, bytes);
	return plan.err;
}
