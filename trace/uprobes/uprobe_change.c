/*
 * Changes: marks that come into all programs together, or go. See uprobe_private.h.
 */
#include <trace/errno.h>
#include "uprobe_private.h"

#define MARKS_OF_PLACE 2u

/* Guarded by the lock of uprobe.c. */
static struct trace_uprobe_edit *edits; /* of the change that is being made */
static size_t max_edits;
static uint64_t last_change;

int uprobe_change_reserve(size_t nr)
{
	size_t max = uprobe_table_nr() + MARKS_OF_PLACE * nr;
	struct trace_uprobe_edit *more;

	if (max <= max_edits)
		return 0;
	if (max < 2 * max_edits)
		max = 2 * max_edits;
	more = trace_plat_alloc(max * sizeof(*more));
	if (!more)
		return -ENOMEM;
	if (edits)
		trace_plat_free(edits, max_edits * sizeof(*edits));
	edits = more;
	max_edits = max;
	return 0;
}

void uprobe_change_release(void)
{
	if (uprobe_table_nr() || !edits)
		return;
	trace_plat_free(edits, max_edits * sizeof(*edits));
	edits = NULL;
	max_edits = 0;
}

void uprobe_change_add(struct uprobe_change *change, struct uprobe *uprobe)
{
	uprobe->next_in_change = NULL;
	if (change->last)
		change->last->next_in_change = uprobe;
	else
		change->first = uprobe;
	change->last = uprobe;
}

static bool uprobe_change_is_sorted(size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (edits[i].offset < edits[i - 1].offset)
			return false;
	}
	return true;
}

/* By offset: Shell's way. */
static void uprobe_change_sort(size_t nr)
{
	if (uprobe_change_is_sorted(nr))
		return;
	for (size_t gap = nr / 2; gap; gap /= 2) {
		for (size_t i = gap; i < nr; i++) {
			struct trace_uprobe_edit edit = edits[i];
			size_t at = i;

			for (; at >= gap && edits[at - gap].offset > edit.offset; at -= gap)
				edits[at] = edits[at - gap];
			edits[at] = edit;
		}
	}
}

static void uprobe_change_reverse(struct trace_uprobe_edit *edit)
{
	const struct trace_uprobe_edit was = *edit;

	edit->delta = (int16_t)-was.delta;
	edit->from = was.to;
	edit->to = was.from;
}

static struct trace_uprobe_edit uprobe_mark_comes(struct uprobe_mark *mark)
{
	atomic_store(&mark->until, UINT64_MAX);
	atomic_store(&mark->since, last_change);
	return mark->edit;
}

static struct trace_uprobe_edit uprobe_mark_goes(struct uprobe_mark *mark)
{
	struct trace_uprobe_edit edit = mark->edit;

	atomic_store(&mark->until, last_change);
	uprobe_change_reverse(&edit);
	return edit;
}

/* Begin the next change, of all places in the file that are due. The edits. */
static size_t uprobe_change_collect(const struct uprobe_change *change, uint64_t file,
				    struct trace_uprobe_edit (*mark_fn)(struct uprobe_mark *mark))
{
	size_t nr = 0;

	last_change++;
	for (struct uprobe *uprobe = change->first; uprobe; uprobe = uprobe->next_in_change) {
		if (!uprobe->is_due || uprobe->code.file != file)
			continue;
		uprobe->is_due = false;
		edits[nr++] = mark_fn(&uprobe->code);
		if (uprobe->count.edit.delta)
			edits[nr++] = mark_fn(&uprobe->count);
	}
	uprobe_change_sort(nr);
	return nr;
}

static bool uprobe_is_made(const struct uprobe *uprobe)
{
	return uprobe->code.since != UINT64_MAX && uprobe->code.until == UINT64_MAX;
}

/* The last change came to some programs only: take it back from those, which have the pages for that. */
static void uprobe_change_take_back(struct uprobe_change *change, uint64_t file, size_t nr)
{
	uint64_t base = last_change++;

	for (struct uprobe *uprobe = change->first; uprobe; uprobe = uprobe->next_in_change) {
		if (uprobe->code.since == base)
			uprobe->code.until = uprobe->count.until = last_change;
	}
	for (size_t i = 0; i < nr; i++)
		uprobe_change_reverse(&edits[i]);
	(void)trace_plat_uprobes()->edit(file, edits, nr, last_change, base);
}

int uprobe_change_make(struct uprobe_change *change)
{
	struct uprobe *uprobe;
	int err = 0;

	for (uprobe = change->first; uprobe; uprobe = uprobe->next_in_change)
		uprobe->is_due = true;
	for (uprobe = change->first; uprobe && !err; uprobe = uprobe->next_in_change) {
		uint64_t file = uprobe->code.file;
		size_t nr;

		if (!uprobe->is_due)
			continue;
		nr = uprobe_change_collect(change, file, uprobe_mark_comes);
		err = trace_plat_uprobes()->edit(file, edits, nr, last_change, 0);
		if (err)
			uprobe_change_take_back(change, file, nr);
	}
	return err;
}

void uprobe_change_undo(struct uprobe_change *change)
{
	struct uprobe *uprobe;

	for (uprobe = change->first; uprobe; uprobe = uprobe->next_in_change)
		uprobe->is_due = uprobe_is_made(uprobe);
	for (uprobe = change->first; uprobe; uprobe = uprobe->next_in_change) {
		uint64_t file = uprobe->code.file;
		size_t nr;

		if (!uprobe->is_due)
			continue;
		nr = uprobe_change_collect(change, file, uprobe_mark_goes);
		(void)trace_plat_uprobes()->edit(file, edits, nr, last_change,
						 0); /* its pages are there */
	}
}
