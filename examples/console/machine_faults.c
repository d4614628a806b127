/*
 * Faults of the library's own reads, which go on at an address that the library names: what a script
 * asks for may not be there. See <trace/arch_read.h>.
 */
#include <trace/arch_host.h>
#include <trace/arch_read.h>
#include <trace/platform.h>
#include "console.h"

#define GP_FAULT   13 /* an address that no page can have */
#define PAGE_FAULT 14

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, zero;
};

struct __attribute__((packed)) pointer {
	uint16_t limit;
	uintptr_t base;
};

static struct gate idt[PAGE_FAULT + 1];

extern char fault_entry[];
uintptr_t machine_fault(uintptr_t rip);

uintptr_t machine_fault(uintptr_t rip)
{
	uintptr_t next = trace_fixup_find(rip);

	if (!next)
		trace_arch_broken("a fault outside of the library's reads");
	return next;
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	return trace_arch_read(to, from, bytes);
}

/* The gate of #BP is the one that is there. */
void machine_faults_init(void)
{
	uintptr_t entry = (uintptr_t)fault_entry;
	struct pointer pointer;

	__asm__ volatile("sidt %0" : "=m"(pointer));
	idt[3] = ((const struct gate *)pointer.base)[3];
	idt[GP_FAULT] = (struct gate){ .offset_low = (uint16_t)entry,
				       .offset_middle = (uint16_t)(entry >> 16),
				       .selector = 8,
				       .type = 0x8e };
	idt[PAGE_FAULT] = idt[GP_FAULT];
	pointer = (struct pointer){ sizeof(idt) - 1, (uintptr_t)idt };
	__asm__ volatile("lidt %0" : : "m"(pointer));
}
