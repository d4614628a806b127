/* Changes of mappings, in all address spaces: see uprobe.h. */
#include <arch/paging.h>
#include <arch/smp.h>
#include <kernel/mm.h>
#include <trace/arch_host.h>
#include <trace/arch_uprobe.h>
#include "uprobe.h"

#define OLD_PAGES 64u

/* A change, on its way through the address spaces. mm_list_lock. */
struct uprobe_pass {
	uint64_t file;
	const struct trace_uprobe_edit *edits;
	size_t nr;
	/* How they are applied to the copy of a page. */
	void (*apply)(const struct trace_uprobe_edit *edit, uint8_t *copy);
	void *old[OLD_PAGES]; /* replaced by copies, and held until no TLB has them */
	size_t nr_old;
};

void uprobe_flush(void)
{
	arch_user_flush_tlb(smp_online_mask());
}

static void uprobe_pass_flush(struct uprobe_pass *pass)
{
	uprobe_flush();
	while (pass->nr_old)
		put_page(pass->old[--pass->nr_old]);
}

/* Do breakpoints go? */
static bool uprobe_pass_ends(const struct uprobe_pass *pass)
{
	size_t i = 0;

	while (i < pass->nr && pass->edits[i].delta)
		i++;
	return i < pass->nr && pass->edits[i].from == TRACE_UPROBE_INT3;
}

/* The edits of a range begin with that number. */
static size_t uprobe_first_edit(const struct uprobe_pass *pass, const struct vma *vma)
{
	size_t low = 0, high = pass->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (pass->edits[middle].offset < vma->offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Does something with the page of an edit, if it is there. 0 or -ENOMEM. */
typedef int (*uprobe_page_fn)(struct uprobe_pass *pass, struct mm *mm, uintptr_t addr, size_t edit);

static int uprobe_make_own(struct uprobe_pass *pass, struct mm *mm, uintptr_t addr, size_t edit)
{
	bool is_writable;
	uint64_t phys;
	void *old;

	(void)edit;
	if (!arch_user_lookup(mm->root, addr, &phys, &is_writable))
		return 0;
	if (!mm_own_page(mm, addr, &old))
		return -ENOMEM;
	if (old)
		pass->old[pass->nr_old++] = old;
	if (pass->nr_old == OLD_PAGES)
		uprobe_pass_flush(pass);
	return 0;
}

static int uprobe_apply_page(struct uprobe_pass *pass, struct mm *mm, uintptr_t addr, size_t edit)
{
	uint64_t page = pass->edits[edit].offset / PAGE_SIZE, phys;
	bool is_writable;

	if (!arch_user_lookup(mm->root, addr, &phys, &is_writable))
		return 0;
	for (; edit < pass->nr && pass->edits[edit].offset / PAGE_SIZE == page; edit++)
		pass->apply(&pass->edits[edit], arch_phys_to_virt(phys));
	return 0;
}

/* Call fn for each page of the range that has edits. */
static int uprobe_each_page(struct uprobe_pass *pass, struct mm *mm, const struct vma *vma,
			    uprobe_page_fn fn)
{
	uint64_t end = vma->offset + (vma->end - vma->start), last = UINT64_MAX;
	int err = 0;

	for (size_t i = uprobe_first_edit(pass, vma); i < pass->nr && !err; i++) {
		uint64_t at = ALIGN_DOWN(pass->edits[i].offset, PAGE_SIZE);

		if (at >= end)
			break;
		if (at != last)
			err = fn(pass, mm, vma->start + (at - vma->offset), i);
		last = at;
	}
	return err;
}

static int uprobe_each_mapping(struct uprobe_pass *pass, struct mm *mm, uprobe_page_fn fn)
{
	struct list *pos;
	int err = 0;

	list_for_each(pos, &mm->vmas) {
		const struct vma *vma = list_entry(pos, struct vma, link);

		if (!err && uprobe_is_mapping(vma, pass->file))
			err = uprobe_each_page(pass, mm, vma, fn);
	}
	return err;
}

static int uprobe_apply_all(struct uprobe_pass *pass, struct mm *mm,
			    void (*apply)(const struct trace_uprobe_edit *edit, uint8_t *copy))
{
	pass->apply = apply;
	return uprobe_each_mapping(pass, mm, uprobe_apply_page);
}

static void uprobe_edit_byte(const struct trace_uprobe_edit *edit, uint8_t *copy)
{
	trace_uprobe_edit_apply(edit, copy);
}

/* Calls become NOPs behind breakpoints again, where breakpoints go; no CPU is in the middle of changed bytes. */
static void uprobe_end_calls(struct uprobe_pass *pass, struct mm *mm)
{
	if (!mm->uprobe_calls[0] || !uprobe_pass_ends(pass))
		return;
	uprobe_apply_all(pass, mm, uprobe_call_stop);
	uprobe_flush();
	uprobe_apply_all(pass, mm, uprobe_call_restore);
	uprobe_flush();
}

/* First all that may fail, in one address space. */
static int uprobe_edit_mm(struct uprobe_pass *pass, struct mm *mm, uint64_t seq, uint64_t base)
{
	int err = 0;

	mutex_lock(&mm->lock);
	if (mm->uprobe_seq >= base && mm->uprobe_seq < seq) {
		err = uprobe_each_mapping(pass, mm, uprobe_make_own);
		if (!err) {
			uprobe_end_calls(pass, mm);
			err = uprobe_apply_all(pass, mm, uprobe_edit_byte);
		}
	}
	if (!err)
		mm->uprobe_seq = seq;
	mutex_unlock(&mm->lock);
	return err;
}

static void uprobe_renew_byte(const struct trace_uprobe_edit *edit, uint8_t *copy)
{
	atomic_fetch_or((_Atomic uint8_t *)copy + edit->offset % PAGE_SIZE, 0);
}

/*
 * The bytes once more, as they are. No real CPU executes the old ones after the flush, but QEMU's TCG may, for ever: a write
 * between its reading of the code and its entering of the translation leaves a translation of the old bytes behind, which the
 * next write removes. Text of the kernel has the same care, see answer_stale() of text_poke.c.
 */
static void uprobe_renew_all(struct uprobe_pass *pass)
{
	struct list *pos;

	list_for_each(pos, &mm_list) {
		struct mm *mm = list_entry(pos, struct mm, all_link);

		mutex_lock(&mm->lock);
		uprobe_apply_all(pass, mm, uprobe_renew_byte);
		mutex_unlock(&mm->lock);
	}
}

int uprobe_edit_all(uint64_t file, const struct trace_uprobe_edit *edits, size_t nr, uint64_t seq,
		    uint64_t base)
{
	static struct uprobe_pass pass;
	struct list *pos;
	int err = 0;

	mutex_lock(&mm_list_lock);
	pass = (struct uprobe_pass){ .file = file, .edits = edits, .nr = nr };
	/* A copy of an address space stands behind the original, and knows what it has seen. */
	list_for_each(pos, &mm_list) {
		if (!err)
			err = uprobe_edit_mm(&pass, list_entry(pos, struct mm, all_link), seq,
					     base);
	}
	if (!err)
		mm_list_seq = seq;
	uprobe_pass_flush(&pass);
	if (trace_arch_is_emulated())
		uprobe_renew_all(&pass);
	mutex_unlock(&mm_list_lock);
	return err;
}
