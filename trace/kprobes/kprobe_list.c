/*
 * The list of all probes at instructions, a line each: see <trace/kprobe.h>.
 */
#include "kprobe_line.h"
#include "kprobe_private.h"
#include "feature/feature.h"

/*
 * A position in the list: address, and number among the probes of one place, counted from 1; behind
 * all of these, probes whose code is gone, by their number.
 */
#define NTH_BITS 16u
#define GONE	 (1ull << 63)

struct kprobe_search {
	uintptr_t after; /* places above this */
	struct kprobe_place *found;
};

static void look_at(struct kprobe_place *place, void *arg)
{
	struct kprobe_search *search = arg;

	if (place->nr && place->addr > search->after &&
	    (!search->found || place->addr < search->found->addr))
		search->found = place;
}

static struct kprobe *nth_of(const struct kprobe_place *place, uint64_t nth)
{
	struct kprobe *p = place ? place->first : NULL;

	while (p && --nth)
		p = p->next;
	return p;
}

/* The probe behind *cursor, which becomes its place in the list. */
static struct kprobe *next_probe(uint64_t *cursor)
{
	uintptr_t addr = trace_plat_ip_unpack((uint32_t)(*cursor >> NTH_BITS));
	uint64_t nth = (*cursor & ((1u << NTH_BITS) - 1)) + 1;
	struct kprobe *p = *cursor ? nth_of(kprobe_place_find(addr), nth) : NULL;
	struct kprobe_search search = { .after = addr };

	if (!p) {
		nth = 1;
		kprobe_table_each(look_at, &search);
		p = nth_of(search.found, nth);
	}
	if (p)
		*cursor = (uint64_t)trace_plat_ip_pack(p->addr) << NTH_BITS | nth;
	return p;
}

static struct kprobe *next_gone(uint64_t *cursor)
{
	uint64_t nth = *cursor & GONE ? (*cursor & ~GONE) + 1 : 1;
	struct kprobe *p = kprobe_gone_nth(nth);

	if (p)
		*cursor = GONE | nth;
	return p;
}

static size_t print_probe(const struct kprobe *p, char *buf, size_t size)
{
	char about[sizeof("[GONE][DISABLED][OPTIMIZED][FTRACE]")];

	trace_scnprintf(about, sizeof(about), "%s%s%s%s",
			p->flags & KPROBE_FLAG_GONE ? "[GONE]" : "",
			p->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "",
			p->flags & KPROBE_FLAG_OPTIMIZED ? "[OPTIMIZED]" : "",
			p->flags & KPROBE_FLAG_FTRACE ? "[FTRACE]" : "");
	return kprobe_line_print(buf, size, p->addr, 'k', about);
}

size_t kprobes_list_next(uint64_t *cursor, char *buf, size_t size)
{
	struct kprobe *p = NULL;
	size_t len = 0;

	trace_plat_lock(&kprobe_lock);
	trace_plat_preempt_disable();
	if (!(*cursor & GONE))
		p = next_probe(cursor);
	trace_plat_preempt_enable();
	if (!p)
		p = next_gone(cursor);
	if (p)
		len = print_probe(p, buf, size);
	trace_plat_unlock(&kprobe_lock);
	return len;
}

/* ---- The feature ---- */

const struct trace_feature trace_feature_kprobes = {
	.name = "kprobes",
};
