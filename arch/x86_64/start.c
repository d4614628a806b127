/* The boot CPU's way from boot/ to the kernel proper. */
#include <arch/cpu.h>
#include <arch/handover.h>
#include <arch/memory.h>
#include <arch/boot_info.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <kernel/base.h>
#include <kernel/upcall.h>

#include "paging_priv.h"
#include "percpu_priv.h"
#include "refuse.h"

void arch_start(const struct handover *handover) __attribute__((noreturn));

static const void *start_at(uint64_t phys)
{
	return arch_phys_to_virt(phys);
}

static int start_take_boot_info(const struct handover *handover)
{
	if (handover->magic == PVH_MAGIC)
		return boot_info_from_pvh(handover->info_phys, start_at);
	return boot_info_from_multiboot(arch_phys_to_virt(handover->info_phys));
}

/* From boot/boot.asm: boot stack, boot page tables, interrupts off. */
void arch_start(const struct handover *handover)
{
	percpu_early_init();
	cpu_features_init();
	if (start_take_boot_info(handover) != 0)
		arch_refuse("the boot loader's information is damaged");
	memory_init(handover);
	paging_init();
	trap_init();
	if (cpu_prepare(0, cpuid(1, 0).ebx >> 24) != 0)
		arch_refuse("no memory for the trap stacks");
	cpu_load(0);
	paging_early_done();
	kernel_main(handover);
}
