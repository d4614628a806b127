/* Sets of ops that share call sites: see ftrace_set.h. */
#include "ftrace_set.h"
#include "ftrace_tramp.h"

struct set {
	uint64_t ops; /* bits of `known`; 0: free */
	struct ftrace_tramp *tramp;
	uint32_t nr_sites;
	uint8_t calls[FTRACE_MAX_SET_OPS]; /* the called ops in order, by `known_as` of each */
};

/* All guarded by ftrace_lock. */
static struct set sets[FTRACE_MAX_SETS];	       /* set number n is sets[n - 1] */
static struct ftrace_ops *known[FTRACE_MAX_KNOWN_OPS]; /* by `known_as` - 1 */
static uint32_t last_used; /* looked at first: sites next to each other often want the same set */

static struct set *set_of(uint32_t number)
{
	return &sets[number - 1];
}

/* The bit of an ops in the masks of sets. 0: it got no number, and its sites use no sets. */
static uint64_t bit_of(const struct ftrace_ops *ops)
{
	return ops->known_as ? 1ull << (ops->known_as - 1) : 0;
}

void ftrace_set_add_ops(struct ftrace_ops *ops)
{
	ops->known_as = 0;
	for (uint8_t i = 0; i < FTRACE_MAX_KNOWN_OPS; i++) {
		if (!known[i]) {
			known[i] = ops;
			ops->known_as = (uint8_t)(i + 1);
			return;
		}
	}
}

void ftrace_set_remove_ops(struct ftrace_ops *ops)
{
	if (ops->known_as)
		known[ops->known_as - 1] = NULL;
	ops->known_as = 0;
}

/*
 * The ops that want the site, in the order of the list, in which they are called. Returns how many;
 * 0 when they are too many for a set or one of them has no number in sets.
 */
static uint32_t find_ops(uint32_t ip, struct ftrace_ops **out_ops)
{
	struct ftrace_ops *ops = NULL;
	uint32_t nr = 0;

	while ((ops = ftrace_next_user(ip, ops))) {
		if (nr == FTRACE_MAX_SET_OPS || !ops->known_as)
			return 0;
		out_ops[nr++] = ops;
	}
	return nr;
}

/* The number of the set of these ops, or that of a free place; 0 when there is neither. */
static uint32_t find_set(uint64_t ops)
{
	uint32_t number = 0;

	if (last_used && set_of(last_used)->ops == ops)
		return last_used;
	for (uint32_t i = FTRACE_MAX_SETS; i > 0; i--) {
		if (set_of(i)->ops == ops)
			return i;
		if (!set_of(i)->ops)
			number = i;
	}
	return number;
}

static bool make_set(struct set *set, uint64_t ops, struct ftrace_ops *const *members, uint32_t nr)
{
	struct trace_trampoline_call calls[FTRACE_MAX_SET_OPS];
	bool with_regs = false;

	for (uint32_t i = 0; i < nr; i++) {
		with_regs |= (members[i]->flags & FTRACE_OPS_FL_SAVE_REGS) != 0;
		calls[i] = (struct trace_trampoline_call){ members[i], ftrace_ops_entry(members[i]),
							   0 };
		set->calls[i] = members[i]->known_as;
	}
	set->tramp = ftrace_tramp_create(calls, nr, with_regs);
	if (!set->tramp)
		return false;
	set->ops = ops;
	set->nr_sites = 0;
	return true;
}

uint32_t ftrace_set_get(uint32_t ip)
{
	struct ftrace_ops *members[FTRACE_MAX_SET_OPS];
	uint32_t number, nr = find_ops(ip, members);
	uint64_t ops = 0;

	for (uint32_t i = 0; i < nr; i++)
		ops |= bit_of(members[i]);
	number = nr > 1 ? find_set(ops) : 0;
	if (!number)
		return 0;
	if (!set_of(number)->ops && !make_set(set_of(number), ops, members, nr))
		return 0;
	set_of(number)->nr_sites++;
	last_used = number;
	return number;
}

void ftrace_set_put(uint32_t number)
{
	set_of(number)->nr_sites--;
}

uintptr_t ftrace_set_address(uint32_t number)
{
	return set_of(number)->tramp->code.addr;
}

static bool has_ops(const struct set *set, const struct ftrace_ops *ops)
{
	return set->ops & bit_of(ops);
}

/* Stale sets are changed, too, because they may be used again. */
int ftrace_set_retarget(const struct ftrace_ops *ops, ftrace_func_t func)
{
	for (uint32_t i = 0; i < FTRACE_MAX_SETS; i++) {
		uint32_t place = 0;

		if (!has_ops(&sets[i], ops))
			continue;
		while (sets[i].calls[place] != ops->known_as)
			place++;
		if (ftrace_tramp_retarget(sets[i].tramp, place, func)) {
			ftrace_kill();
			return -ENODEV;
		}
	}
	return 0;
}

void ftrace_set_wait(const struct ftrace_ops *ops)
{
	for (uint32_t i = 0; i < FTRACE_MAX_SETS; i++) {
		if (has_ops(&sets[i], ops))
			ftrace_tramp_wait(sets[i].tramp);
	}
}

void ftrace_set_free_stale(void)
{
	for (uint32_t i = 0; i < FTRACE_MAX_SETS; i++) {
		if (!sets[i].ops || sets[i].nr_sites)
			continue;
		ftrace_tramp_release(sets[i].tramp);
		sets[i].ops = 0;
	}
}

void ftrace_set_make_room(void)
{
	for (uint32_t i = 0; i < FTRACE_MAX_SETS; i++) {
		if (!sets[i].ops)
			return;
	}
	ftrace_set_free_stale();
}
