/*
 * Registering probes, enabling them and back: see <trace/kprobe.h>.
 */
#include "kprobe_private.h"
#include "probe_parts.h"

struct trace_plat_lock kprobe_lock;

#define USER_FLAGS (KPROBE_FLAG_DISABLED | KPROBE_FLAG_ARGS)
#define CORE_FLAGS (KPROBE_FLAG_GONE | KPROBE_FLAG_OPTIMIZED | KPROBE_FLAG_FTRACE)
/* Within a call: is one of those that it changes. A probe may be given twice. */
#define MARK (1u << 31)

static bool is_enabled(const struct kprobe *p)
{
	return !(p->flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE));
}

static bool wants_all_regs(const struct kprobe *p)
{
	return !(p->flags & KPROBE_FLAG_ARGS);
}

/* ---- A place and its probes ---- */

static void count_enabled(struct kprobe *p, bool comes)
{
	struct kprobe_place *place = p->place;

	if (comes) {
		place->nr_enabled++;
		place->nr_all_regs += wants_all_regs(p);
	} else {
		place->nr_enabled--;
		place->nr_all_regs -= wants_all_regs(p);
	}
}

/* Readers of `flags` need no lock. */
static void kprobe_set_disabled(struct kprobe *p, bool is_disabled)
{
	uint32_t flags = p->flags & ~(uint32_t)KPROBE_FLAG_DISABLED;

	__atomic_store_n(&p->flags, is_disabled ? flags | KPROBE_FLAG_DISABLED : flags,
			 __ATOMIC_RELAXED);
}

/* The release pairs with the acquires of hits. */
static void kprobe_link(struct kprobe *p)
{
	struct kprobe *_Atomic *link = &p->place->first;

	while (*link)
		link = &(*link)->next;
	atomic_store_explicit(&p->next, NULL, memory_order_relaxed);
	atomic_store_explicit(link, p, memory_order_release);
	if (p->post_handler)
		atomic_store(&p->place->wants_post, true);
	if (is_enabled(p))
		count_enabled(p, true);
	kprobe_place_refresh(p->place);
}

/* Its own link stays: a hit that stands on it goes on from there. */
static void kprobe_unlink(struct kprobe *p)
{
	struct kprobe *_Atomic *link = &p->place->first;
	bool wants_post = false;

	if (is_enabled(p))
		count_enabled(p, false);
	while (*link != p)
		link = &(*link)->next;
	atomic_store_explicit(link, atomic_load(&p->next), memory_order_release);
	for (struct kprobe *other = p->place->first; other; other = other->next)
		wants_post |= other->post_handler != NULL;
	atomic_store(&p->place->wants_post, wants_post);
	kprobe_place_refresh(p->place);
}

/* ---- Register ---- */

static int kprobe_prepare(struct kprobe *p)
{
	uintptr_t addr;
	int err;

	if (p->place || (p->symbol_name && p->addr))
		return -EINVAL;
	err = kprobe_resolve(p, &addr);
	if (!err)
		err = kprobe_place_get(addr, p->post_handler != NULL, &p->place);
	if (err)
		return err;
	p->addr = addr;
	p->flags &= USER_FLAGS;
	if (p->place->jump == KPROBE_JUMP_DONE)
		p->flags |= KPROBE_FLAG_OPTIMIZED;
	if (p->place->is_site)
		p->flags |= KPROBE_FLAG_FTRACE;
	atomic_store(&p->nmissed, 0);
	return 0;
}

/* Of probes that are not linked, or were unlinked before a grace period. */
static void kprobe_forget(struct kprobe **ps, size_t nr, struct kprobe_place **gone)
{
	for (size_t i = 0; i < nr; i++) {
		if (!ps[i]->place)
			continue;
		kprobe_place_put(ps[i]->place, gone);
		ps[i]->place = NULL;
		if (ps[i]->symbol_name)
			ps[i]->addr = 0;
	}
}

static int prepare_all(struct kprobe **ps, size_t nr, struct kprobe_place **gone)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		err = kprobe_prepare(ps[i]);
		if (err)
			kprobe_forget(ps, i, gone);
	}
	return err;
}

static void kprobe_take_out(struct kprobe **ps, size_t nr, struct kprobe_place **gone)
{
	for (size_t i = 0; i < nr; i++) {
		if (!ps[i]->place || ps[i]->flags & MARK)
			continue;
		kprobe_unlink(ps[i]);
		ps[i]->flags |= MARK;
	}
	kprobe_arm_update(ps, nr);
	trace_plat_synchronize_preempt(); /* no handler of them runs any more */
	for (size_t i = 0; i < nr; i++)
		ps[i]->flags &= ~(MARK | CORE_FLAGS);
	kprobe_forget(ps, nr, gone);
}

static int kprobe_register_locked(struct kprobe **ps, size_t nr, struct kprobe_place **gone)
{
	int err = prepare_all(ps, nr, gone);

	for (size_t i = 0; i < nr && !err; i++)
		kprobe_link(ps[i]);
	if (!err) {
		err = kprobe_arm_update(ps, nr);
		if (err)
			kprobe_take_out(ps, nr, gone);
	}
	kprobe_jump_later(); /* also after an error: for jumps that were in the way */
	return err;
}

int register_kprobes(struct kprobe **ps, size_t nr)
{
	struct kprobe_place *gone = NULL;
	int err;

	trace_plat_lock(&kprobe_lock);
	err = kprobe_register_locked(ps, nr, &gone);
	kprobe_places_free(gone);
	trace_plat_unlock(&kprobe_lock);
	if (gone)
		ftrace_grace_look();
	return err;
}

int register_kprobe(struct kprobe *p)
{
	return register_kprobes(&p, 1);
}

/* ---- Unregister ---- */

static bool kprobe_any_registered(struct kprobe **ps, size_t nr)
{
	while (nr && !ps[nr - 1]->place)
		nr--;
	return nr;
}

void unregister_kprobes(struct kprobe **ps, size_t nr)
{
	struct kprobe_place *gone = NULL;

	if (!kprobe_any_registered(ps, nr))
		return;
	trace_plat_lock(&kprobe_lock);
	kprobe_take_out(ps, nr, &gone);
	kprobe_places_free(gone);
	kprobe_jump_later(); /* there may be room for others' jumps now */
	trace_plat_unlock(&kprobe_lock);
	ftrace_grace_look();
}

void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}

/* ---- Enable, disable ---- */

static void switch_probe(struct kprobe *p, bool on)
{
	if (is_enabled(p) == on)
		return;
	kprobe_set_disabled(p, !on);
	count_enabled(p, on);
	kprobe_place_refresh(p->place);
	p->flags |= MARK;
}

/* After an error all are as before; but where tracing is dead, those that were disabled stay so. */
static void switch_end(struct kprobe *const *ps, size_t nr, bool on, int err)
{
	const bool goes_back = err && (on || err != -ENODEV);

	for (size_t i = 0; i < nr; i++) {
		if (goes_back && ps[i]->flags & MARK)
			switch_probe(ps[i], !on);
		ps[i]->flags &= ~MARK;
	}
	kprobe_jump_later();
}

static int switch_begin(struct kprobe *const *ps, size_t nr, bool on)
{
	if (ftrace_is_dead())
		return -ENODEV;
	for (size_t i = 0; i < nr; i++) {
		if (!ps[i]->place || ps[i]->flags & KPROBE_FLAG_GONE)
			return -EINVAL;
	}
	for (size_t i = 0; i < nr; i++)
		switch_probe(ps[i], on);
	return 0;
}

static int kprobe_switch_all(struct kprobe *const *ps, size_t nr, bool on)
{
	int err = switch_begin(ps, nr, on);

	if (err)
		return err;
	err = kprobe_arm_update(ps, nr);
	switch_end(ps, nr, on, err);
	if (err) /* some may have been changed */
		kprobe_arm_update(ps, nr);
	return err;
}

static int switch_kprobes(struct kprobe **ps, size_t nr, bool on)
{
	int err;

	trace_plat_lock(&kprobe_lock);
	err = kprobe_switch_all(ps, nr, on);
	trace_plat_unlock(&kprobe_lock);
	return err;
}

int enable_kprobes(struct kprobe **ps, size_t nr)
{
	return switch_kprobes(ps, nr, true);
}

int disable_kprobes(struct kprobe **ps, size_t nr)
{
	return switch_kprobes(ps, nr, false);
}

int enable_kprobe(struct kprobe *p)
{
	return enable_kprobes(&p, 1);
}

int disable_kprobe(struct kprobe *p)
{
	return disable_kprobes(&p, 1);
}

int kprobes_set_enabled(bool on)
{
	int err;

	trace_plat_lock(&kprobe_lock);
	kprobe_arm_set_on(on);
	err = kprobe_arm_update_all();
	kprobe_jump_later();
	trace_plat_unlock(&kprobe_lock);
	return err;
}

bool kprobes_are_enabled(void)
{
	return kprobe_arm_is_on();
}

/* ---- Together with other kinds ---- */

static int kprobe_part_begin(struct ftrace_part *part)
{
	struct kprobe_part *own = (struct kprobe_part *)part;
	int err = switch_begin(own->ps, own->nr, own->on);

	if (err)
		return err;
	err = kprobe_plan_make(&own->plan, own->ps, own->nr);
	if (err)
		switch_end(own->ps, own->nr, own->on, err);
	return err;
}

static int kprobe_part_add(struct ftrace_part *part, struct ftrace_batch *batch)
{
	return kprobe_plan_add(&((struct kprobe_part *)part)->plan, batch);
}

static void kprobe_part_end(struct ftrace_part *part, int err)
{
	struct kprobe_part *own = (struct kprobe_part *)part;

	kprobe_plan_end(&own->plan, err);
	switch_end(own->ps, own->nr, own->on, err);
}

void kprobe_part_init(struct kprobe_part *part, struct kprobe *const *ps, size_t nr, bool on)
{
	*part = (struct kprobe_part){ .part = { .lock = &kprobe_lock,
						.begin = kprobe_part_begin,
						.add = kprobe_part_add,
						.end = kprobe_part_end },
				      .ps = ps,
				      .nr = nr,
				      .on = on };
}
