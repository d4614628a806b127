/*
 * Places of probes, from the first probe to the last: see kprobe_private.h.
 */
#include "kprobe_private.h"

static size_t kprobe_place_bytes_of(bool is_site)
{
	return is_site ? __builtin_offsetof(struct kprobe_place, code)
		       : sizeof(struct kprobe_place);
}

static int kprobe_place_make(uintptr_t addr, bool with_post, struct kprobe_place **out_place)
{
	const bool is_site = ftrace_location(addr) == addr;
	struct kprobe_place *place;
	int err = kprobe_table_reserve(1);

	if (err)
		return err;
	place = trace_plat_alloc(kprobe_place_bytes_of(is_site));
	if (!place)
		return -ENOMEM;
	place->addr = addr;
	place->is_site = is_site;
	place->has_post = with_post;
	kprobe_jump_make_room(addr);
	if (!is_site)
		err = trace_plat_probe_create(&place->code, addr, with_post);
	if (err) {
		trace_plat_free(place, kprobe_place_bytes_of(is_site));
		return err;
	}
	kprobe_table_insert(place);
	*out_place = place;
	return 0;
}

int kprobe_place_get(uintptr_t addr, bool with_post, struct kprobe_place **out_place)
{
	struct kprobe_place *place = kprobe_place_find(addr);
	int err = 0;

	if (!place) {
		err = kprobe_place_make(addr, with_post, &place);
	} else if (with_post) {
		kprobe_jump_undo(place);
		if (!place->is_site && !place->has_post)
			err = trace_plat_probe_create(&place->code, addr, true);
		place->has_post |= !err;
	}
	if (err)
		return err;
	place->nr++;
	*out_place = place;
	return 0;
}

void kprobe_place_put(struct kprobe_place *place, struct kprobe_place **gone)
{
	if (--place->nr || place->is_armed)
		return;
	if (place->is_gone)
		kprobe_gone_remove(place);
	else
		kprobe_table_remove(place);
	place->next_gone = *gone;
	*gone = place;
}

static struct kprobe kprobe_nobody;
struct kprobe *_Atomic kprobe_alone[KPROBE_ALONE_MAX] = {
	[0 ... KPROBE_ALONE_MAX - 1] = &kprobe_nobody,
};

/* NULL: none. The release pairs with the acquires of hits. */
static void set_only(struct kprobe_place *place, struct kprobe *only)
{
	struct kprobe *_Atomic *alone = kprobe_alone_at(place->addr);
	struct kprobe *before = atomic_load_explicit(&place->only, memory_order_relaxed);

	atomic_store_explicit(&place->only, only, memory_order_release);
	if (!place->is_site) {
		bool is_args = only && only->flags & KPROBE_FLAG_ARGS;

		atomic_store_explicit(&place->code.only, is_args ? only : NULL,
				      memory_order_release);
		return;
	}
	if (*alone == before)
		atomic_store(alone, &kprobe_nobody);
	if (only && *alone == &kprobe_nobody)
		atomic_store_explicit(alone, only, memory_order_release);
}

void kprobe_place_hold(struct kprobe_place *place)
{
	set_only(place, NULL);
}

void kprobe_place_refresh(struct kprobe_place *place)
{
	struct kprobe *only = NULL;

	for (struct kprobe *p = place->first; p && place->nr_enabled == 1; p = p->next) {
		if (!(p->flags & KPROBE_FLAG_DISABLED) && p->pre_handler)
			only = p;
	}
	if (atomic_load(&place->wants_post))
		only = NULL;
	set_only(place, only);
}

static _Atomic uint32_t nr_leaving; /* lists that are to be freed */

bool kprobe_places_leave(void)
{
	return atomic_load(&nr_leaving);
}

/* No thread is in any of the code that is freed here. */
static void kprobe_place_free_all(struct ftrace_after *after)
{
	struct kprobe_place *place, *next;

	atomic_fetch_sub(&nr_leaving, 1);
	place = (struct kprobe_place *)(void *)((char *)after -
						__builtin_offsetof(struct kprobe_place, after));
	for (; place; place = next) {
		next = place->next_gone;
		if (!place->is_site)
			trace_plat_probe_destroy(&place->code);
		trace_plat_free(place, kprobe_place_bytes_of(place->is_site));
	}
}

/* The code of all of them, and what lies between. */
static struct ftrace_code kprobe_place_code_of(const struct kprobe_place *place)
{
	struct ftrace_code code = { 0 };

	for (; place; place = place->next_gone) {
		uintptr_t first = 0, last = 0;

		if (!place->is_site)
			trace_plat_probe_code(&place->code, true, &first, &last);
		if (first && (!code.start || first < code.start))
			code.start = first;
		if (last > code.end)
			code.end = last;
	}
	return code;
}

/* For all threads that are in it, as a wait of one of those that have some. */
static void wait_for_code(struct kprobe_place *gone)
{
	struct ftrace_code code = kprobe_place_code_of(gone);

	if (!code.end)
		return;
	while (gone->is_site)
		gone = gone->next_gone;
	gone->wait.code[0] = code;
	ftrace_wait_begin(&gone->wait, NULL);
}

void kprobe_places_free(struct kprobe_place *gone)
{
	if (!gone)
		return;
	atomic_fetch_add(&nr_leaving, 1);
	trace_plat_synchronize_preempt(); /* for CPUs that have found one in the table */
	wait_for_code(gone);
	/* Waits of jumps may be pending, too. */
	gone->after.fn = kprobe_place_free_all;
	ftrace_call_after(&gone->after);
}
