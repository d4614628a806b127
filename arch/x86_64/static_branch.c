/*
 * See <arch/static_branch.h>.
 */
#include <arch/static_branch.h>
#include <kernel/base.h>
#include <trace/arch_text.h>
#include <trace/platform.h>
#include <trace/static_key.h>

#define BATCH 256 /* more sites than a key has */

/* An entry of .static_branches, which static_branch() makes and linker.ld gathers. */
struct static_site {
	uintptr_t code;
	uintptr_t target;
	const struct trace_static_key *key;
};
extern struct static_site static_branches_start[], static_branches_end[];

static struct {
	bool is_sorted; /* sites ascend: batches want it */
	struct trace_poke *pokes;
	size_t capacity;	      /* of pokes; 0 before the first change */
	struct trace_poke few[BATCH]; /* too many for a stack */
} update;			      /* guarded by the text lock */

static void sift_down(struct static_site *sites, size_t at, size_t nr)
{
	struct static_site moved = sites[at];
	size_t child;

	while ((child = 2 * at + 1) < nr) {
		if (child + 1 < nr && sites[child].code < sites[child + 1].code)
			child++;
		if (sites[child].code <= moved.code)
			break;
		sites[at] = sites[child];
		at = child;
	}
	sites[at] = moved;
}

/* A heap sort, made at the first change, because most boots change none. */
static void sort_sites(void)
{
	struct static_site *sites = static_branches_start;
	size_t nr = (size_t)(static_branches_end - sites);

	for (size_t i = nr / 2; i-- > 0;)
		sift_down(sites, i, nr);
	while (nr-- > 1) {
		struct static_site first = sites[0];

		sites[0] = sites[nr];
		sites[nr] = first;
		sift_down(sites, 0, nr);
	}
	update.is_sorted = true;
}

/* Room for all sites at once, however many keys change: a batch more costs three syncs. */
static void make_room(void)
{
	size_t nr = (size_t)(static_branches_end - static_branches_start);

	update.pokes = nr > BATCH ? trace_plat_alloc(nr * sizeof(struct trace_poke)) : NULL;
	update.capacity = update.pokes ? nr : BATCH;
	if (!update.pokes)
		update.pokes = update.few;
}

/*
 * Does the site hold the jump? Code that reads as expected needs no second look; otherwise a
 * foreign breakpoint may stand there.
 */
static bool holds_jmp(const struct static_site *site, const uint8_t *jmp, const uint8_t *nop)
{
	uint8_t now[TRACE_INSN_SIZE];

	__builtin_memcpy(now, (const void *)site->code, sizeof(now));
	if (__builtin_memcmp(now, nop, sizeof(now)) == 0)
		return false;
	if (__builtin_memcmp(now, jmp, sizeof(now)) != 0)
		trace_text_meant(site->code, now, sizeof(now));
	return __builtin_memcmp(now, jmp, sizeof(now)) == 0;
}

size_t static_branch_list(struct trace_poke *pokes, size_t room)
{
	uint8_t jmp[TRACE_INSN_SIZE], nop[TRACE_INSN_SIZE];
	size_t nr = 0;

	if (!update.is_sorted)
		sort_sites();
	trace_plat_insn_nop(nop);
	for (const struct static_site *site = static_branches_start; site < static_branches_end;
	     site++) {
		bool is_on = site->key->is_on;

		trace_plat_insn_jmp(site->code, site->target, jmp);
		if (is_on == holds_jmp(site, jmp, nop))
			continue;
		if (nr < room) {
			pokes[nr] = (struct trace_poke){ .site = trace_plat_ip_pack(site->code) };
			__builtin_memcpy(pokes[nr].old_insn, is_on ? nop : jmp, sizeof(nop));
			__builtin_memcpy(pokes[nr].new_insn, is_on ? jmp : nop, sizeof(nop));
		}
		nr++;
	}
	return nr;
}

int static_branch_update(void)
{
	struct trace_poke_error error;
	size_t nr, nr_now;
	int err = 0;

	if (!update.capacity)
		make_room();
	do {
		nr = static_branch_list(update.pokes, update.capacity);
		nr_now = nr < update.capacity ? nr : update.capacity;
		if (nr)
			err = text_poke_batch(update.pokes, nr_now, &error);
	} while (!err && nr_now < nr);
	if (err)
		pr_err(err == -EBUSY ? "static branch: a breakpoint is at site %pS\n"
				     : "static branch: site %pS does not hold what it should\n",
		       (void *)error.site);
	return err;
}

bool static_branch_overlaps(uintptr_t addr, size_t len)
{
	for (const struct static_site *site = static_branches_start; site < static_branches_end;
	     site++) {
		if (site->code < addr + len && addr < site->code + TRACE_INSN_SIZE)
			return true;
		if (site->target > addr && site->target < addr + len)
			return true;
	}
	return false;
}
