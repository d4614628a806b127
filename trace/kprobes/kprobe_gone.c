/*
 * Code that goes, with the probes in it: see <trace/kprobe.h>. Their places leave the table, so
 * that other code may come to the same addresses and be probed, and are listed here until the last
 * of their probes is unregistered.
 */
#include "kprobe_private.h"

static struct kprobe_place *gone; /* by address; kprobe_lock */

struct gone_range {
	uintptr_t start, end;
	struct kprobe_place *found; /* the rest by `next_gone` */
};

static bool kprobe_gone_is_in(const struct kprobe_place *place, const struct gone_range *range)
{
	return place->nr && place->addr >= range->start && place->addr < range->end;
}

/* Disarm a place for good: the instruction that was there at first is written back. */
static void want_disarmed(struct kprobe_place *place, void *arg)
{
	if (!kprobe_gone_is_in(place, arg))
		return;
	place->nr_enabled = 0;
	place->nr_all_regs = 0;
	kprobe_place_refresh(place);
}

static void kprobe_gone_find_in(struct kprobe_place *place, void *arg)
{
	struct gone_range *range = arg;

	if (!kprobe_gone_is_in(place, range))
		return;
	place->next_gone = range->found;
	range->found = place;
}

static void list_gone(struct kprobe_place *place)
{
	struct kprobe_place **link = &gone;

	while (*link && (*link)->addr < place->addr)
		link = &(*link)->next_gone;
	place->is_gone = true;
	place->next_gone = *link;
	*link = place;
}

static void forget_place(struct kprobe_place *place)
{
	for (struct kprobe *p = place->first; p; p = p->next)
		__atomic_store_n(&p->flags, p->flags | KPROBE_FLAG_GONE, __ATOMIC_RELAXED);
	kprobe_table_remove(place);
	list_gone(place);
}

int kprobes_code_goes(uintptr_t start, uintptr_t end)
{
	struct gone_range range = { .start = start, .end = end };
	struct kprobe_place *place, *next;
	int err;

	trace_plat_lock(&kprobe_lock);
	kprobe_table_each(want_disarmed, &range);
	err = kprobe_arm_update_all();
	kprobe_table_each(kprobe_gone_find_in, &range);
	for (place = range.found; place; place = next) {
		next = place->next_gone;
		forget_place(place);
	}
	trace_plat_synchronize_preempt(); /* no handler of them runs any more */
	kprobe_jump_later();
	trace_plat_unlock(&kprobe_lock);
	return err;
}

void kprobe_gone_remove(struct kprobe_place *place)
{
	struct kprobe_place **link = &gone;

	while (*link != place)
		link = &(*link)->next_gone;
	*link = place->next_gone;
}

struct kprobe *kprobe_gone_nth(uint64_t nth)
{
	for (struct kprobe_place *place = gone; place; place = place->next_gone) {
		for (struct kprobe *p = place->first; p; p = p->next) {
			if (!--nth)
				return p;
		}
	}
	return NULL;
}
