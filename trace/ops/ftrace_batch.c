/*
 * See ftrace_batch.h. Trampolines are made before text is written, and what text may still lead to
 * is released after that.
 */
#include "ftrace_batch.h"
#include "ftrace_grace.h"
#include "ftrace_pokes.h"
#include "ftrace_set.h"

/* The number of sites of `a` that are not in `b`. */
static size_t nr_missing(const struct ftrace_hash *a, const struct ftrace_hash *b)
{
	size_t nr = 0;

	for (uint32_t i = 0; a && i <= a->mask; i++)
		nr += a->slot[i] && !(b && ftrace_hash_has(b, a->slot[i]));
	return nr;
}

/* No fewer than the sites that one changes. */
static size_t bound_of(const struct ftrace_batch_ops *one)
{
	const struct ftrace_hash *now = NULL;

	if (one->ops->flags & FTRACE_OPS_FL_ENABLED)
		now = ftrace_ops_hash_of(one->ops, false);
	return nr_missing(now, one->filter) + nr_missing(one->filter, now);
}

/* Progress of an ops in a batch. */
enum done {
	DONE_NOTHING,
	DONE_COME,   /* registered; `filter` is the earlier one */
	DONE_FILTER, /* the same of one that was registered */
	DONE_LEAVE,
	DONE_UNDO_COME, /* taken back: `filter` is still the earlier one */
	DONE_UNDO,	/* taken back */
};

static int filter_and_come(struct ftrace_batch_ops *one)
{
	int err = ftrace_ops_exchange_hash(one->ops, false, &one->filter);

	if (err)
		return err;
	err = ftrace_register_locked(one->ops);
	if (err)
		(void)ftrace_ops_exchange_hash(one->ops, false, &one->filter);
	return err;
}

static int ftrace_batch_change(struct ftrace_batch_ops *one)
{
	const bool is_registered = one->ops->flags & FTRACE_OPS_FL_ENABLED;
	enum done done = DONE_NOTHING;
	int err = 0;

	if (one->filter && is_registered) {
		err = ftrace_ops_exchange_hash(one->ops, false, &one->filter);
		done = DONE_FILTER;
	} else if (one->filter) {
		err = filter_and_come(one);
		done = DONE_COME;
	} else if (is_registered) {
		err = ftrace_ops_leave(one->ops);
		done = DONE_LEAVE;
	}
	one->done = (uint8_t)(err ? DONE_NOTHING : done);
	return err;
}

/*
 * Undo an update, which cannot fail: records become as before, and the list of text changes empty.
 */
static void ftrace_batch_undo(struct ftrace_batch_ops *one)
{
	switch (one->done) {
	case DONE_COME:
		(void)ftrace_ops_leave(one->ops);
		one->done = DONE_UNDO_COME;
		break;
	case DONE_FILTER:
		(void)ftrace_ops_exchange_hash(one->ops, false, &one->filter);
		one->done = DONE_UNDO;
		break;
	case DONE_LEAVE:
		(void)ftrace_ops_come(one->ops);
		one->done = DONE_UNDO;
		break;
	default:
		break;
	}
}

/* Clean up: text has changed, and no callback reads the old data. */
static void clean_up(struct ftrace_batch_ops *one, int err)
{
	if (one->done == DONE_UNDO_COME) {
		ftrace_ops_left(one->ops, 0);
		(void)ftrace_ops_exchange_hash(one->ops, false, &one->filter);
	} else if (one->done == DONE_LEAVE) {
		ftrace_ops_left(one->ops, err);
		ftrace_free_filter_locked(one->ops);
	} else if (one->done == DONE_COME && err) {
		one->ops->flags &= ~(uint32_t)FTRACE_OPS_FL_ENABLED;
	}
	ftrace_hash_free(one->filter);
	one->filter = NULL;
}

/* One update alone needs no open list, and so no memory. */
static int open_list(const struct ftrace_batch *batch)
{
	size_t bound = 0;
	int err;

	for (size_t i = 0; i < batch->nr_ops; i++)
		bound += bound_of(&batch->ops[i]);
	for (size_t i = 0; i < batch->nr_runs; i++)
		bound += batch->runs[i].nr;
	ftrace_set_make_room();
	err = ftrace_pokes_open(bound);
	return batch->nr_ops > 1 || batch->nr_runs ? err : 0;
}

static int change_all(struct ftrace_batch *batch)
{
	int err = 0;

	for (size_t i = 0; i < batch->nr_ops && !err; i++)
		err = ftrace_batch_change(&batch->ops[i]);
	if (!err) {
		for (size_t i = 0; i < batch->nr_runs; i++)
			ftrace_pokes_add(batch->runs[i].pokes, batch->runs[i].nr);
		err = ftrace_pokes_write();
	}
	if (!err || ftrace_is_dead())
		return err;
	/* An ops that goes back to the list may not be one that a callback stands on. */
	trace_plat_synchronize_preempt();
	for (size_t i = batch->nr_ops; i; i--)
		ftrace_batch_undo(&batch->ops[i - 1]);
	return err;
}

int ftrace_batch_make(struct ftrace_batch *batch)
{
	int err = ftrace_is_dead() ? -ENODEV : 0;

	if (!err)
		err = open_list(batch);
	if (!err) {
		err = change_all(batch);
		ftrace_pokes_close();
		trace_plat_synchronize_preempt();
	}
	for (size_t i = 0; i < batch->nr_ops; i++)
		clean_up(&batch->ops[i], err);
	return err;
}

void ftrace_batch_add_ops(struct ftrace_batch *batch, struct ftrace_ops *ops,
			  struct ftrace_hash *filter)
{
	batch->ops[batch->nr_ops++] =
		(struct ftrace_batch_ops){ .ops = ops, .filter = filter, .done = DONE_NOTHING };
}

void ftrace_batch_drop(struct ftrace_batch *batch)
{
	while (batch->nr_ops)
		ftrace_hash_free(batch->ops[--batch->nr_ops].filter);
}

/* ---- Parts ---- */

static int add_and_make(struct ftrace_part *const *parts, size_t nr)
{
	struct ftrace_batch batch = { 0 };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = parts[i]->add(parts[i], &batch);
	if (err)
		ftrace_batch_drop(&batch);
	else if (batch.nr_ops || batch.nr_runs)
		err = ftrace_batch_make(&batch);
	return err;
}

static void part_unlock(const struct ftrace_part *part)
{
	if (part->lock)
		trace_plat_unlock(part->lock);
}

static int ftrace_batch_part_begin(struct ftrace_part *part)
{
	int err;

	if (part->lock)
		trace_plat_lock(part->lock);
	err = part->begin(part);
	if (err)
		part_unlock(part);
	return err;
}

int ftrace_parts_change(struct ftrace_part *const *parts, size_t nr)
{
	size_t nr_begun = 0;
	int err = 0;

	while (nr_begun < nr && !err) {
		err = ftrace_batch_part_begin(parts[nr_begun]);
		nr_begun += !err;
	}
	if (!err) {
		trace_plat_lock(&ftrace_lock);
		err = add_and_make(parts, nr);
		trace_plat_unlock(&ftrace_lock);
	}
	while (nr_begun--) {
		parts[nr_begun]->end(parts[nr_begun], err);
		part_unlock(parts[nr_begun]);
	}
	ftrace_grace_look();
	return err;
}
