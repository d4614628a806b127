/*
 * The update engine: see ftrace_private.h. One pass over all records finds those whose count or
 * target changes, and lists the changes of those sites that have to be rewritten: ftrace_pokes.h.
 */
#include "ftrace_batch.h"
#include "ftrace_pokes.h"
#include "ftrace_set.h"

/* All guarded by ftrace_lock. */
static uint64_t nr_enabled;
static uint64_t nr_updates;
static _Atomic bool ftrace_update_is_off; /* the master switch */

/* An update while it is being made. */
struct plan {
	struct ftrace_ops *ops;		 /* whose wishes change; NULL: the master switch does */
	struct ftrace_target own_before; /* earlier target of sites wanted by `ops` alone */
	struct ftrace_target own_after;	 /* and what they hold from now on */
	uintptr_t shared[2]; /* shared trampolines: [0] without all registers, [1] with */
	uint32_t marks;	     /* flags that `ops` adds to the records of its sites */
	/* For change_alone(): flags and target of a site that only `ops` wants. */
	uint32_t alone_flags;
	struct ftrace_target alone;
	struct trace_poke *pokes;
	size_t nr;
	size_t room;
	uint64_t nr_on;	 /* sites that begin to call something */
	uint64_t nr_off; /* sites that become NOPs */
	uint8_t nop[TRACE_INSN_SIZE];
};

uint64_t ftrace_nr_enabled(void)
{
	return nr_enabled;
}

static void log_bytes(const char *what, const uint8_t *insn)
{
	trace_plat_log(" %s %02x:%02x:%02x:%02x:%02x", what, insn[0], insn[1], insn[2], insn[3],
		       insn[4]);
}

void ftrace_bug(int err, const struct trace_poke_error *error)
{
	const char *why = err == -EBUSY ? "a breakpoint that is not ftrace's is at a call site"
					: "text at a call site is not what was written there";
	char name[TRACE_SYM_LEN];
	uintptr_t start = error->site;
	size_t size;
	bool is_known;

	ftrace_kill_because(why);
	is_known = trace_plat_symbol(error->site, name, &start, &size);
	trace_plat_log("------------[ ftrace bug ]------------");
	trace_plat_log("ftrace failed to modify [<%016lx>] %s+0x%lx", (unsigned long)error->site,
		       is_known ? name : "?", (unsigned long)(error->site - start));
	log_bytes("actual:  ", error->found);
	log_bytes("expected:", error->expected);
	trace_plat_bug("ftrace: %s", why);
}

bool ftrace_master_on(void)
{
	return !ftrace_update_is_off;
}

static bool ops_wants(const struct ftrace_ops *ops, uint32_t ip)
{
	return ftrace_hashes_want(atomic_load_explicit(&ops->func_hash, memory_order_relaxed), ip);
}

struct ftrace_ops *ftrace_next_user(uint32_t ip, const struct ftrace_ops *ops)
{
	struct ftrace_ops *_Atomic const *next = ops ? &ops->next : &ftrace_ops_list;
	struct ftrace_ops *user = atomic_load_explicit(next, memory_order_relaxed);

	while (user && !ops_wants(user, ip))
		user = atomic_load_explicit(&user->next, memory_order_relaxed);
	return user;
}

struct ftrace_ops *ftrace_user_of(uint32_t ip, const struct ftrace_ops *except)
{
	struct ftrace_ops *ops = ftrace_next_user(ip, NULL);

	return ops && ops == except ? ftrace_next_user(ip, ops) : ops;
}

static bool others_want_regs(uint32_t ip, const struct ftrace_ops *except)
{
	struct ftrace_ops *ops = NULL;

	while ((ops = ftrace_next_user(ip, ops))) {
		if (ops != except && ops->flags & FTRACE_OPS_FL_SAVE_REGS)
			return true;
	}
	return false;
}

struct ftrace_target ftrace_ops_target(const struct ftrace_ops *ops)
{
	if (ops->site_jump)
		return (struct ftrace_target){ ops->site_jump, true };
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		return (struct ftrace_target){ ops->direct_call, false };
	return (struct ftrace_target){ ops->trampoline.addr, false };
}

/* A stub is never called, so a site need not offer what its flags ask for. */
static uint32_t marks_of(const struct ftrace_ops *ops)
{
	uint32_t marks = 0;

	if (ops->flags & FTRACE_OPS_FL_STUB)
		return 0;
	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS)
		marks |= FTRACE_FL_REGS;
	if (ops->flags & FTRACE_OPS_FL_IPMODIFY)
		marks |= FTRACE_FL_IPMODIFY;
	if (ops->flags & FTRACE_OPS_FL_DIRECT)
		marks |= FTRACE_FL_DIRECT;
	return marks;
}

static void make_insn(const struct plan *plan, uintptr_t site, struct ftrace_target target,
		      uint8_t *out_insn)
{
	if (!target.addr)
		__builtin_memcpy(out_insn, plan->nop, TRACE_INSN_SIZE);
	else if (target.is_jump)
		trace_plat_insn_jmp(site, target.addr, out_insn);
	else
		trace_plat_insn_call(site, target.addr, out_insn);
}

static struct trace_poke *new_poke(struct plan *plan, uint32_t packed)
{
	struct trace_poke *poke;

	if (plan->nr == plan->room) {
		(void)ftrace_pokes_flush(plan->nr); /* the end says what this did, too */
		plan->nr = 0;
	}
	poke = &plan->pokes[plan->nr++];
	poke->site = packed;
	poke->len = 0;
	poke->is_probe = false;
	return poke;
}

static void add_poke(struct plan *plan, uint32_t packed, struct ftrace_target old_target,
		     struct ftrace_target new_target)
{
	uintptr_t site = trace_plat_ip_unpack(packed);
	struct trace_poke *poke = new_poke(plan, packed);

	make_insn(plan, site, old_target, poke->old_insn);
	make_insn(plan, site, new_target, poke->new_insn);
}

/*
 * The target of a site whose only user is not plan->ops. With an `addr` of 0 the user has no
 * trampoline of its own, and the site calls a shared one.
 */
static struct ftrace_target other_target(const struct plan *plan, uint32_t ip)
{
	const struct ftrace_ops *ops = ftrace_user_of(ip, plan->ops);

	return ops ? ftrace_ops_target(ops) : (struct ftrace_target){ 0 };
}

/* The present target of the site. `mine`: plan->ops is one of its users. */
static struct ftrace_target current_target(const struct plan *plan, const struct dyn_ftrace *record,
					   bool mine)
{
	if (!(record->flags & FTRACE_FL_ENABLED))
		return (struct ftrace_target){ 0 };
	if (ftrace_record_set(record->flags))
		return (struct ftrace_target){ ftrace_set_address(ftrace_record_set(record->flags)),
					       false };
	if (!(record->flags & FTRACE_FL_TRAMP_EN))
		return (struct ftrace_target){ plan->shared[!!(record->flags & FTRACE_FL_REGS_EN)],
					       false };
	return mine ? plan->own_before : other_target(plan, record->ip);
}

bool ftrace_site_searches(uintptr_t ip)
{
	const struct dyn_ftrace *record = ftrace_record_find(ip);

	return record && record->flags & FTRACE_FL_ENABLED &&
	       !(record->flags & FTRACE_FL_TRAMP_EN) && !ftrace_record_set(record->flags);
}

#define DONE_FLAGS                                                                                 \
	(FTRACE_FL_ENABLED | FTRACE_FL_REGS_EN | FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN)

/*
 * The new target of the site, by the count, the marks and the set in `flags`. Completes `flags` by
 * those that describe the target. `mine`: plan->ops will be one of its users.
 */
static struct ftrace_target new_target_of(const struct plan *plan, uint32_t ip, bool mine,
					  uint32_t *flags)
{
	struct ftrace_target target = { 0 };

	*flags &= ~(uint32_t)(DONE_FLAGS | FTRACE_FL_TRAMP);
	if (!(*flags & FTRACE_REF_MAX))
		return target;
	if ((*flags & FTRACE_REF_MAX) == 1)
		target = mine ? plan->own_after : other_target(plan, ip);
	if (target.addr)
		*flags |= FTRACE_FL_TRAMP;
	else if (ftrace_record_set(*flags))
		target.addr = ftrace_set_address(ftrace_record_set(*flags));
	else
		target.addr = plan->shared[!!(*flags & FTRACE_FL_REGS)];
	if (ftrace_update_is_off)
		return (struct ftrace_target){ 0 };
	*flags |= FTRACE_FL_ENABLED | FTRACE_FL_TOUCHED;
	if (*flags & (FTRACE_FL_IPMODIFY | FTRACE_FL_DIRECT))
		*flags |= FTRACE_FL_MODIFIED;
	if (*flags & FTRACE_FL_REGS)
		*flags |= FTRACE_FL_REGS_EN;
	if (*flags & FTRACE_FL_TRAMP)
		*flags |= FTRACE_FL_TRAMP_EN;
	if ((*flags & FTRACE_FL_TRAMP) && (*flags & FTRACE_FL_DIRECT))
		*flags |= FTRACE_FL_DIRECT_EN;
	return target;
}

/* The flags of a record with one user more or fewer, because plan->ops comes to it or leaves it. */
static uint32_t count_user(const struct plan *plan, const struct dyn_ftrace *record, bool comes)
{
	uint32_t flags = record->flags + (comes ? 1u : -1u);

	if (comes)
		return flags | plan->marks;
	flags &= ~plan->marks;
	if ((plan->marks & FTRACE_FL_REGS) && others_want_regs(record->ip, plan->ops))
		flags |= FTRACE_FL_REGS;
	return flags;
}

static void ftrace_update_plan_site(struct plan *plan, uint32_t ip, struct ftrace_target old_target,
				    struct ftrace_target new_target)
{
	if (old_target.addr == new_target.addr && old_target.is_jump == new_target.is_jump)
		return;
	if (!old_target.addr)
		plan->nr_on++;
	if (!new_target.addr)
		plan->nr_off++;
	add_poke(plan, ip, old_target, new_target);
}

/*
 * Put the number of the set of all ops that want the site now into `flags`. The set that it had may
 * become stale by this; it is not freed before this update has written the site.
 */
static void change_set(uint32_t ip, uint32_t *flags)
{
	uint32_t old_set = ftrace_record_set(*flags);

	*flags &= ~FTRACE_SET_MASK;
	if ((*flags & FTRACE_REF_MAX) > 1)
		*flags |= ftrace_set_get(ip) << FTRACE_SET_SHIFT;
	if (old_set)
		ftrace_set_put(old_set);
}

static void change_record(struct plan *plan, struct dyn_ftrace *record, bool before, bool after)
{
	struct ftrace_target old_target = current_target(plan, record, before), new_target;
	uint32_t flags = before == after ? record->flags : count_user(plan, record, after);

	if (before != after)
		change_set(record->ip, &flags);
	new_target = new_target_of(plan, record->ip, after, &flags);
	record->flags = flags;
	ftrace_update_plan_site(plan, record->ip, old_target, new_target);
}

/*
 * change_record() for the most common case, a site wanted by plan->ops alone: without a look at the
 * list of ops. Returns false, with nothing done, for any other site.
 */
static bool change_alone(struct plan *plan, struct dyn_ftrace *record, bool comes)
{
	uint32_t past = record->flags & FTRACE_PAST;
	struct trace_poke *poke;

	if ((record->flags ^ past) != (comes ? 0 : plan->alone_flags & ~(uint32_t)FTRACE_PAST))
		return false;
	record->flags = past | (comes ? plan->alone_flags : 0);
	if (!plan->alone.addr)
		return true; /* the master switch is off */
	poke = new_poke(plan, record->ip);
	__builtin_memcpy(comes ? poke->old_insn : poke->new_insn, plan->nop, TRACE_INSN_SIZE);
	make_insn(plan, trace_plat_ip_unpack(record->ip), plan->alone,
		  comes ? poke->new_insn : poke->old_insn);
	if (comes)
		plan->nr_on++;
	else
		plan->nr_off++;
	return true;
}

static void plan_all(struct plan *plan, const struct ftrace_change *change)
{
	const struct ftrace_change wish = *change; /* a copy that the compiler keeps in registers */
	struct ftrace_cursor cursor = { 0 };
	struct dyn_ftrace *record;

	while ((record = ftrace_next_record(&cursor))) {
		bool before = wish.wanted_before && ftrace_hashes_want(wish.before, record->ip);
		bool after = wish.wanted_after && ftrace_hashes_want(wish.after, record->ip);

		if (before == after && !(wish.moved && after))
			continue;
		if (before != after && change_alone(plan, record, after))
			continue;
		change_record(plan, record, before, after);
	}
}

int ftrace_check_change(const struct ftrace_change *change)
{
	uint32_t exclusive = FTRACE_FL_IPMODIFY | FTRACE_FL_DIRECT;
	struct ftrace_cursor cursor = { 0 };
	struct dyn_ftrace *record;

	if (!(marks_of(change->ops) & exclusive))
		return 0;
	if (!change->after || ftrace_hash_empty(change->after->filter_hash))
		return -EINVAL;
	while ((record = ftrace_next_record(&cursor))) {
		if (!(record->flags & exclusive) || !ftrace_hashes_want(change->after, record->ip))
			continue;
		if (!change->wanted_before || !ftrace_hashes_want(change->before, record->ip))
			return -EBUSY;
	}
	return 0;
}

/* An upper bound of the number of sites that the change rewrites. */
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

static void ftrace_update_plan_begin(struct plan *plan, size_t bound)
{
	plan->shared[0] = trace_plat_shared_trampoline(false);
	plan->shared[1] = trace_plat_shared_trampoline(true);
	trace_plat_insn_nop(plan->nop);
	if (!ftrace_pokes_are_open()) /* sites may call sets that their records have left */
		ftrace_set_make_room();
	plan->pokes = ftrace_pokes_begin(bound, &plan->room);
}

static int ftrace_update_plan_end(const struct plan *plan)
{
	nr_enabled += plan->nr_on - plan->nr_off;
	nr_updates++;
	return ftrace_pokes_end(plan->nr);
}

int ftrace_update(const struct ftrace_change *change)
{
	struct plan plan = { .ops = change->ops, .own_after = ftrace_ops_target(change->ops) };

	plan.own_before = change->moved ? *change->moved : plan.own_after;
	plan.marks = marks_of(change->ops);
	ftrace_update_plan_begin(&plan, upper_bound(change));
	plan.alone_flags = 1 | plan.marks;
	plan.alone = new_target_of(&plan, 0, true, &plan.alone_flags);
	plan_all(&plan, change);
	return ftrace_update_plan_end(&plan);
}

int ftrace_update_master(bool on)
{
	struct ftrace_cursor cursor = { 0 };
	struct dyn_ftrace *record;
	struct plan plan = { 0 };

	ftrace_update_is_off = !on;
	ftrace_update_plan_begin(&plan, ftrace_nr_records());
	while ((record = ftrace_next_record(&cursor))) {
		if (ftrace_record_count(record))
			change_record(&plan, record, false, false);
	}
	return ftrace_update_plan_end(&plan);
}

void ftrace_totals(struct ftrace_totals *out_totals)
{
	trace_plat_lock(&ftrace_lock);
	*out_totals = (struct ftrace_totals){ .sites = ftrace_nr_records(),
					      .pages = ftrace_nr_pages(),
					      .groups = ftrace_nr_groups,
					      .enabled = ftrace_nr_enabled(),
					      .updates = nr_updates };
	trace_plat_unlock(&ftrace_lock);
}
