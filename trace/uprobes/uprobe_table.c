/*
 * The table of marks, by file and page: see uprobe_private.h.
 */
#include "uprobe_private.h"

#define NR_CHAINS 512u /* a power of two */

static struct uprobe_mark *_Atomic chains[NR_CHAINS];
_Atomic uint32_t uprobe_nr_marks;

static struct uprobe_mark *_Atomic *uprobe_chain(uint64_t file, uint64_t page)
{
	uint64_t hash = (file * 31 + page) * 0x9e3779b97f4a7c15ull;

	return &chains[(hash >> 32) % NR_CHAINS];
}

static struct uprobe_mark *_Atomic *uprobe_chain_of(const struct uprobe_mark *mark)
{
	return uprobe_chain(mark->file, mark->edit.offset / TRACE_UPROBE_PAGE);
}

void uprobe_table_add(struct uprobe_mark *mark)
{
	struct uprobe_mark *_Atomic *head = uprobe_chain_of(mark);

	atomic_store_explicit(&mark->next, atomic_load_explicit(head, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(head, mark, memory_order_release); /* pairs with uprobe_next() */
	atomic_fetch_add(&uprobe_nr_marks, 1);
}

/* A walk that stands on the mark goes on from there. */
void uprobe_table_remove(struct uprobe_mark *mark)
{
	struct uprobe_mark *_Atomic *link = uprobe_chain_of(mark);

	while (*link != mark)
		link = &(*link)->next;
	atomic_store_explicit(link, atomic_load(&mark->next), memory_order_release);
	atomic_fetch_sub(&uprobe_nr_marks, 1);
}

static struct uprobe_mark *uprobe_next(struct uprobe_mark *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

struct uprobe *uprobe_table_find(uint64_t file, uint64_t offset)
{
	struct uprobe_mark *mark = uprobe_next(uprobe_chain(file, offset / TRACE_UPROBE_PAGE));

	while (mark && (mark->edit.offset != offset || mark->file != file || mark->edit.delta))
		mark = uprobe_next(&mark->next);
	return (struct uprobe *)(void *)mark; /* its first member */
}

static bool uprobe_is_in_page(const struct uprobe_mark *mark, uint64_t file, uint64_t page)
{
	return mark->file == file && mark->edit.offset / TRACE_UPROBE_PAGE == page;
}

bool uprobe_in_page(uint64_t file, uint64_t page)
{
	struct uprobe_mark *mark;

	if (TRACE_LIKELY(!uprobe_table_nr()))
		return false;
	trace_plat_preempt_disable();
	mark = uprobe_next(uprobe_chain(file, page));
	while (mark && !uprobe_is_in_page(mark, file, page))
		mark = uprobe_next(&mark->next);
	trace_plat_preempt_enable();
	return mark;
}

void uprobe_arm_page(uint64_t file, uint64_t page, uint8_t *copy, uint64_t seq)
{
	const struct uprobe_mark *mark;

	trace_plat_preempt_disable();
	mark = uprobe_next(uprobe_chain(file, page));
	for (; mark; mark = uprobe_next(&mark->next)) {
		if (uprobe_is_in_page(mark, file, page) && mark->since <= seq && seq < mark->until)
			trace_uprobe_edit_apply(&mark->edit, copy);
	}
	trace_plat_preempt_enable();
}
