/* The areas [uprobes] of programs: see uprobe.h. */
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/arch_uprobe.h>
#include "process.h"
#include "uprobe.h"

#define AREA_PAGES 4ul
#define AREA_BYTES (AREA_PAGES * PAGE_SIZE)
#define AREA_SLOTS (AREA_BYTES / TRACE_UPROBE_SLOT)
#define AREA_REACH 0x70000000ul /* bytes from an instruction to its slot */
#define TRAMPOLINE 0		/* that slot of the first area */
#define ADDR_BITS  48

/* Of each slot: the address, and above it the length of the instruction; 0: free. A slot is found by hashing. */
struct uprobe_area {
	struct uprobe_area *next;
	uintptr_t start;
	_Atomic uint64_t slots[AREA_SLOTS];
};

/* ---- Areas ---- */

uintptr_t uprobe_find_room(struct mm *mm, uintptr_t near, size_t bytes)
{
	const struct vma *vma = find_vma(mm, near);

	while (vma && !(vma->flags & VM_STACK)) {
		bool is_first = vma->link.prev == &mm->vmas;
		uintptr_t below =
			is_first ? MM_LOWEST : list_entry(vma->link.prev, struct vma, link)->end;

		if (vma->start >= below + bytes)
			return near - vma->start < AREA_REACH ? vma->start - bytes : 0;
		if (is_first)
			return 0;
		vma = list_entry(vma->link.prev, struct vma, link);
	}
	return 0;
}

static struct uprobe_area *uprobe_area_create(struct mm *mm, uintptr_t near)
{
	struct vma range = { .start = uprobe_find_room(mm, near, AREA_BYTES),
			     .flags = VM_EXEC | VM_UPROBES };
	struct uprobe_area *area = range.start ? kzalloc(sizeof(*area)) : NULL;

	range.end = range.start + AREA_BYTES;
	if (!area || vma_add(mm, &range)) {
		kfree(area);
		return NULL;
	}
	area->start = range.start;
	area->slots[TRAMPOLINE] = UINT64_MAX;
	area->next = mm->uprobe_areas;
	mm->uprobe_areas = area;
	return area;
}

int uprobe_areas_copy(struct mm *to, const struct mm *from)
{
	for (const struct uprobe_area *area = from->uprobe_areas; area; area = area->next) {
		struct uprobe_area *copy = kmalloc(sizeof(*copy));

		if (!copy)
			return -ENOMEM;
		*copy = *area;
		copy->next = to->uprobe_areas;
		to->uprobe_areas = copy;
	}
	return 0;
}

void uprobe_areas_free(struct mm *mm)
{
	while (mm->uprobe_areas) {
		struct uprobe_area *area = mm->uprobe_areas;

		mm->uprobe_areas = area->next;
		kfree(area);
	}
}

/* ---- Slots ---- */

/* The bytes at a slot, in a page that no other program has; NULL: no memory, or the area is gone. */
static uint8_t *uprobe_slot_bytes(struct mm *mm, const struct uprobe_area *area, uintptr_t slot)
{
	const struct vma *vma = find_vma(mm, slot);
	uint8_t *page;
	void *old;

	if (!vma || vma->start > area->start || !(vma->flags & VM_UPROBES))
		return NULL;
	page = mm_own_page(mm, ALIGN_DOWN(slot, PAGE_SIZE), &old);
	if (old) {
		uprobe_flush();
		put_page(old);
	}
	return page ? page + slot % PAGE_SIZE : NULL;
}

/* Number `i` of the slots that an address may have. */
static size_t uprobe_slot_try(uintptr_t addr, size_t i)
{
	return (addr * 7 + i) % AREA_SLOTS;
}

/* The slot of an instruction in an area, perhaps a new one; 0: the area is full, far away, or there is no memory. */
static uintptr_t uprobe_slot_in(struct mm *mm, struct uprobe_area *area,
				const struct trace_uprobe_insn *insn, uintptr_t addr)
{
	uint64_t word = addr | (uint64_t)insn->len << ADDR_BITS;
	uint8_t code[TRACE_UPROBE_SLOT], *bytes;

	for (size_t i = 0; i < AREA_SLOTS; i++) {
		size_t at = uprobe_slot_try(addr, i);
		uintptr_t slot = area->start + at * TRACE_UPROBE_SLOT;

		if (area->slots[at] && area->slots[at] != word)
			continue;
		bytes = uprobe_slot_bytes(mm, area, slot);
		if (!bytes || !trace_uprobe_copy(insn, addr, slot, code))
			return 0;
		if (area->slots[at] && memcmp(bytes, code, sizeof(code)) == 0)
			return slot;
		if (area->slots[at])
			continue; /* another instruction was at the address then */
		memcpy(bytes, code, sizeof(code));
		area->slots[at] = word;
		return slot;
	}
	return 0;
}

uintptr_t uprobe_slot_get(struct mm *mm, const struct trace_uprobe_insn *insn, uintptr_t addr)
{
	struct uprobe_area *area;
	uintptr_t slot = 0;

	mutex_lock(&mm->lock);
	for (area = mm->uprobe_areas; area && !slot; area = area->next)
		slot = uprobe_slot_in(mm, area, insn, addr);
	if (!slot) {
		area = uprobe_area_create(mm, addr);
		slot = area ? uprobe_slot_in(mm, area, insn, addr) : 0;
	}
	mutex_unlock(&mm->lock);
	return slot;
}

static uintptr_t uprobe_trampoline_make(struct mm *mm)
{
	uintptr_t near = task_frame(current_task())->rip;
	struct uprobe_area *area =
		mm->uprobe_areas ? mm->uprobe_areas : uprobe_area_create(mm, near);
	uint8_t *bytes = area ? uprobe_slot_bytes(mm, area, area->start) : NULL;

	if (!bytes)
		return 0;
	*bytes = TRACE_UPROBE_INT3;
	return area->start;
}

uintptr_t uprobe_trampoline_get(struct mm *mm)
{
	uintptr_t addr;

	mutex_lock(&mm->lock);
	if (!mm->uprobe_trampoline)
		mm->uprobe_trampoline = uprobe_trampoline_make(mm);
	addr = mm->uprobe_trampoline;
	mutex_unlock(&mm->lock);
	return addr;
}

static TRACE_NOTRACE bool uprobe_slot_find(struct mm *mm, uintptr_t ip, uint64_t *out_word)
{
	for (const struct uprobe_area *area = mm->uprobe_areas; area; area = area->next) {
		if (ip - area->start >= AREA_BYTES)
			continue;
		*out_word = area->slots[(ip - area->start) / TRACE_UPROBE_SLOT];
		return *out_word && *out_word != UINT64_MAX;
	}
	return false;
}

TRACE_NOTRACE bool uprobe_slot_origin(struct mm *mm, uintptr_t ip, uintptr_t *out_addr,
				      bool *out_is_done)
{
	uint64_t word;

	if (TRACE_LIKELY(!mm->uprobe_areas) || !uprobe_slot_find(mm, ip, &word))
		return false;
	*out_is_done = ip % TRACE_UPROBE_SLOT;
	*out_addr = (word & ((1ul << ADDR_BITS) - 1)) + (*out_is_done ? word >> ADDR_BITS : 0);
	return true;
}
