/*
 * Handlers at the return of single functions: see <trace/kretprobe.h> and return_probe.h.
 *
 * All share one ops, whose filter has the sites of those that are armed. Which probes are at a site
 * is in a table that entries search without a lock:
 *
 *   arm      the probe comes into the table, then its site is switched on
 *   disarm   the probe leaves the table, its site is switched off, preemption grace period
 *
 * Sites are switched by a batch, which other kinds of probes may have a part in.
 *
 * A site that is still on when its last probe has left the table finds nothing there. So disarming
 * needs no memory: if there is none for the filter, the site is switched off later.
 */
#include <trace/kretprobe.h>
#include "kretprobe_list.h"
#include "kretprobe_table.h"
#include "ops/ftrace_batch.h"
#include "probe_parts.h"
#include "return_probe.h"

static struct trace_plat_lock kretprobe_lock;

/* ---- On and off, for probes with is_changing; kretprobe_lock held ---- */

static struct kretprobe_part *kretprobe_own_of(struct ftrace_part *part)
{
	return (struct kretprobe_part *)part;
}

/* Mark probes that are off and not disabled, or those that are on. */
static uint32_t mark_changing(const struct kretprobe_part *part)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < part->nr; i++) {
		struct kretprobe *rp = part->rps[i];
		bool is_on = return_handle(&rp->ret);

		if (is_on == part->on || rp->is_changing ||
		    (part->on && rp->kp.flags & KRETPROBE_FLAG_DISABLED))
			continue;
		rp->is_changing = true;
		nr++;
	}
	return nr;
}

static void unmark(const struct kretprobe_part *part)
{
	for (size_t i = 0; i < part->nr; i++)
		part->rps[i]->is_changing = false;
}

static void kretprobe_put_room(void)
{
	trace_return_put(&kretprobe_calls);
	if (!kretprobe_calls.nr_used)
		kretprobe_table_free();
}

static int kretprobe_get_room(uint32_t nr)
{
	int err = trace_return_get(&kretprobe_calls, nr);

	if (!err)
		err = kretprobe_table_room(nr);
	if (err)
		kretprobe_put_room();
	return err;
}

static void come(struct kretprobe *rp)
{
	trace_return_add(&kretprobe_calls, &rp->ret);
	kretprobe_table_insert(rp);
}

static int arm_begin(struct ftrace_part *part)
{
	struct kretprobe_part *own = kretprobe_own_of(part);
	int err;

	own->nr_changing = mark_changing(own);
	err = own->nr_changing && own->on ? kretprobe_get_room(own->nr_changing) : 0;
	if (err) {
		unmark(own);
		return err;
	}
	for (size_t i = 0; i < own->nr; i++) {
		if (own->rps[i]->is_changing && own->on)
			come(own->rps[i]);
		else if (own->rps[i]->is_changing)
			kretprobe_table_remove(own->rps[i]);
	}
	return 0;
}

static int arm_add(struct ftrace_part *part, struct ftrace_batch *batch)
{
	const struct kretprobe_part *own = kretprobe_own_of(part);
	struct ftrace_hash *filter;
	int err;

	if (!own->nr_changing)
		return 0;
	err = kretprobe_table_filter(&filter);
	if (err)
		return own->on ? err : 0;
	ftrace_batch_add_ops(batch, &kretprobe_ops, filter);
	return 0;
}

/* Their sites are off, or were not switched on. */
static void go(const struct kretprobe_part *part)
{
	if (part->on) {
		for (size_t i = 0; i < part->nr; i++) {
			if (part->rps[i]->is_changing)
				kretprobe_table_remove(part->rps[i]);
		}
	}
	trace_plat_synchronize_preempt(); /* entries that have found one use its handle */
	for (size_t i = 0; i < part->nr; i++) {
		if (part->rps[i]->is_changing)
			trace_return_remove(&kretprobe_calls, &part->rps[i]->ret);
	}
	kretprobe_put_room();
}

/* In the reverse order of arm_begin(). */
static void come_back(const struct kretprobe_part *part)
{
	for (size_t i = part->nr; i; i--) {
		if (part->rps[i - 1]->is_changing)
			kretprobe_table_put_back(part->rps[i - 1]);
	}
}

static void arm_end(struct ftrace_part *part, int err)
{
	const struct kretprobe_part *own = kretprobe_own_of(part);

	if (!own->nr_changing)
		return;
	if (!own->on && err && err != -ENODEV)
		come_back(own);
	else if (!own->on || err)
		go(own);
	unmark(own);
}

static int change_armed(struct kretprobe **rps, size_t nr, bool on)
{
	struct kretprobe_part own = {
		.part = { .begin = arm_begin, .add = arm_add, .end = arm_end },
		.rps = rps,
		.nr = nr,
		.on = on,
	};
	struct ftrace_part *part = &own.part;

	return ftrace_parts_change(&part, 1);
}

/* ---- Registration ---- */

static int kretprobe_find_site(struct kretprobe *rp)
{
	uintptr_t addr = rp->kp.addr;

	if (rp->kp.offset || !rp->kp.symbol_name == !addr)
		return -EINVAL;
	if (rp->kp.symbol_name) {
		addr = trace_plat_symbol_find(rp->kp.symbol_name);
		if (!addr)
			return -ENOENT;
	}
	addr = ftrace_location(addr);
	if (!addr)
		return -EINVAL;
	rp->kp.addr = addr;
	return 0;
}

static void kretprobe_forget(struct kretprobe *rp)
{
	trace_return_pool_destroy(&rp->ret);
	kretprobe_list_remove(rp);
	if (rp->kp.symbol_name)
		rp->kp.addr = 0;
	rp->is_registered = false;
}

static int kretprobe_prepare(struct kretprobe *rp)
{
	int err;

	if (rp->is_registered)
		return -EBUSY;
	if (!rp->handler || rp->data_size > FPROBE_MAX_DATA_SIZE)
		return -EINVAL;
	err = kretprobe_find_site(rp);
	if (err)
		return err;
	rp->is_registered = true;
	kretprobe_list_add(rp);
	err = trace_return_pool_create(&rp->ret, rp->maxactive, rp->data_size);
	if (err)
		kretprobe_forget(rp);
	return err;
}

static int kretprobe_register_locked(struct kretprobe **rps, size_t nr)
{
	size_t done = 0;
	int err = 0;

	while (done < nr && !err) {
		err = kretprobe_prepare(rps[done]);
		done += !err;
	}
	if (!err)
		err = change_armed(rps, nr, true);
	while (err && done--)
		kretprobe_forget(rps[done]);
	return err;
}

int register_kretprobes(struct kretprobe **rps, size_t nr)
{
	int err;

	trace_plat_lock(&kretprobe_lock);
	err = kretprobe_register_locked(rps, nr);
	trace_plat_unlock(&kretprobe_lock);
	return err;
}

int register_kretprobe(struct kretprobe *rp)
{
	return register_kretprobes(&rp, 1);
}

static bool kretprobe_any_registered(struct kretprobe **rps, size_t nr)
{
	while (nr && !rps[nr - 1]->is_registered)
		nr--;
	return nr;
}

void unregister_kretprobes(struct kretprobe **rps, size_t nr)
{
	if (!kretprobe_any_registered(rps, nr))
		return;
	trace_plat_lock(&kretprobe_lock);
	(void)change_armed(rps, nr, false);
	for (size_t i = 0; i < nr; i++) {
		if (rps[i]->is_registered)
			kretprobe_forget(rps[i]);
	}
	trace_plat_unlock(&kretprobe_lock);
}

void unregister_kretprobe(struct kretprobe *rp)
{
	unregister_kretprobes(&rp, 1);
}

/* ---- Enable, disable ---- */

static void kretprobe_set_disabled(struct kretprobe *rp, bool is_disabled)
{
	rp->kp.flags &= ~(uint32_t)KRETPROBE_FLAG_DISABLED;
	rp->kp.flags |= is_disabled ? KRETPROBE_FLAG_DISABLED : 0;
}

/* As they are, whatever was tried. */
static void note_disabled(const struct kretprobe_part *part)
{
	for (size_t i = 0; i < part->nr; i++)
		kretprobe_set_disabled(part->rps[i], !return_handle(&part->rps[i]->ret));
}

static int kretprobe_part_begin(struct ftrace_part *part)
{
	const struct kretprobe_part *own = kretprobe_own_of(part);
	int err;

	for (size_t i = 0; i < own->nr; i++) {
		if (!own->rps[i]->is_registered)
			return -EINVAL;
	}
	for (size_t i = 0; i < own->nr; i++)
		kretprobe_set_disabled(own->rps[i], !own->on);
	err = arm_begin(part);
	if (err)
		note_disabled(own);
	return err;
}

static void kretprobe_part_end(struct ftrace_part *part, int err)
{
	arm_end(part, err);
	note_disabled(kretprobe_own_of(part));
}

void kretprobe_part_init(struct kretprobe_part *part, struct kretprobe *const *rps, size_t nr,
			 bool on)
{
	*part = (struct kretprobe_part){ .part = { .lock = &kretprobe_lock,
						   .begin = kretprobe_part_begin,
						   .add = arm_add,
						   .end = kretprobe_part_end },
					 .rps = rps,
					 .nr = nr,
					 .on = on };
}

static int switch_kretprobes(struct kretprobe **rps, size_t nr, bool on)
{
	struct kretprobe_part own;
	struct ftrace_part *part = &own.part;

	kretprobe_part_init(&own, rps, nr, on);
	return ftrace_parts_change(&part, 1);
}

int enable_kretprobes(struct kretprobe **rps, size_t nr)
{
	return switch_kretprobes(rps, nr, true);
}

int disable_kretprobes(struct kretprobe **rps, size_t nr)
{
	return switch_kretprobes(rps, nr, false);
}

int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kretprobes(&rp, 1);
}

int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kretprobes(&rp, 1);
}

size_t kretprobes_list_next(uint64_t *cursor, char *buf, size_t size)
{
	size_t len;

	trace_plat_lock(&kretprobe_lock);
	len = kretprobe_list_line(cursor, buf, size);
	trace_plat_unlock(&kretprobe_lock);
	return len;
}
