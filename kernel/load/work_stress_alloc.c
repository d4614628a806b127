/*
 * stress alloc: objects of all sizes, pages and mappings, filled, checked, freed in any order.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "work_stress.h"

#define NR_SLOTS      24
#define SMALL_BYTES   4096u
#define LARGE_ORDER   3u
#define VMALLOC_PAGES 6u

enum slot_kind {
	SLOT_EMPTY,
	SLOT_KMALLOC,
	SLOT_PAGES,
	SLOT_VMALLOC
};

struct slot {
	enum slot_kind kind;
	uint8_t fill;
	uint32_t order;
	size_t bytes;
	uint8_t *memory;
};

static void stress_alloc_fill_slot(struct stress_worker *worker, struct slot *slot)
{
	uint32_t dice = stress_random(worker, 16);

	slot->fill = (uint8_t)stress_random(worker, 256);
	if (dice == 0) {
		slot->kind = SLOT_VMALLOC;
		slot->bytes = (1 + stress_random(worker, VMALLOC_PAGES)) * PAGE_SIZE;
		slot->memory = vmalloc(slot->bytes);
	} else if (dice < 4) {
		slot->kind = SLOT_PAGES;
		slot->order = stress_random(worker, LARGE_ORDER + 1);
		slot->bytes = PAGE_SIZE << slot->order;
		slot->memory = alloc_pages(slot->order);
	} else {
		slot->kind = SLOT_KMALLOC;
		slot->bytes = 1 + stress_random(worker, SMALL_BYTES);
		slot->memory = kmalloc(slot->bytes);
	}
	if (slot->memory)
		memset(slot->memory, slot->fill, slot->bytes);
	else
		slot->kind = SLOT_EMPTY; /* out of memory is no failure */
}

/* Check that every byte is as it was left, then free the memory. */
static void stress_alloc_empty_slot(struct stress_run *run, struct slot *slot)
{
	for (size_t i = 0; slot->kind && i < slot->bytes; i++) {
		if (slot->memory[i] == slot->fill)
			continue;
		stress_fail(run, "byte %lu of %lu at %p is %#x, not %#x", i, slot->bytes,
			    (void *)slot->memory, slot->memory[i], slot->fill);
		break;
	}
	if (slot->kind == SLOT_KMALLOC)
		kfree(slot->memory);
	else if (slot->kind == SLOT_PAGES)
		free_pages(slot->memory, slot->order);
	else if (slot->kind == SLOT_VMALLOC)
		vfree(slot->memory);
	slot->kind = SLOT_EMPTY;
}

static void alloc_round(struct stress_worker *worker)
{
	struct slot slots[NR_SLOTS] = { 0 };

	for (uint32_t i = 0; i < 2 * NR_SLOTS; i++) {
		struct slot *slot = &slots[stress_random(worker, NR_SLOTS)];

		if (slot->kind)
			stress_alloc_empty_slot(worker->run, slot);
		else
			stress_alloc_fill_slot(worker, slot);
	}
	for (uint32_t i = 0; i < NR_SLOTS; i++)
		stress_alloc_empty_slot(worker->run, &slots[i]);
}

const struct stress_kind stress_alloc = {
	.name = "alloc",
	.checked = "every byte as it was left, all memory back",
	.shared_bytes = 1,
	.round = alloc_round,
};
