/*
 * IO APICs and the 8259 pair. See <arch/apic.h> and ioapic.h.
 */
#include "ioapic.h"
#include "irq_stats.h"
#include "raw_lock.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/paging.h>
#include <arch/trap.h>

#define IOAPIC_BYTES   0x20
#define IOAPIC_SELECT  0 /* byte offsets */
#define IOAPIC_WINDOW  0x10
#define IOAPIC_VERSION 1 /* indirect registers */
#define IOAPIC_ENTRY   0x10

#define ENTRY_ACTIVE_LOW 0x2000u
#define ENTRY_LEVEL	 0x8000u
#define ENTRY_MASKED	 0x10000u

#define PIC1_COMMAND 0x20
#define PIC1_DATA    0x21
#define PIC2_COMMAND 0xa0
#define PIC2_DATA    0xa1
#define PIC1_VECTOR  0x20
#define PIC2_VECTOR  0x28

struct ioapic {
	volatile uint8_t *regs;
	uint32_t gsi_base;
	uint32_t nr_entries;
};

static struct ioapic ioapics[ACPI_MAX_IOAPICS];
static uint32_t nr_ioapics;
static struct raw_lock ioapic_lock; /* select and window are used as a pair */

static volatile uint32_t *ioapic_reg_at(const struct ioapic *io, uint32_t offset)
{
	return (volatile uint32_t *)(io->regs + offset);
}

static uint32_t ioapic_read(const struct ioapic *io, uint32_t reg)
{
	*ioapic_reg_at(io, IOAPIC_SELECT) = reg;
	return *ioapic_reg_at(io, IOAPIC_WINDOW);
}

static void ioapic_write(const struct ioapic *io, uint32_t reg, uint32_t value)
{
	*ioapic_reg_at(io, IOAPIC_SELECT) = reg;
	*ioapic_reg_at(io, IOAPIC_WINDOW) = value;
}

int ioapic_init(void)
{
	const struct acpi_info *info = acpi_info();
	uint32_t i, entry;

	for (i = 0; i < info->nr_ioapics; i++) {
		struct ioapic *io = &ioapics[nr_ioapics];

		io->regs = arch_map_device(info->ioapics[i].phys, IOAPIC_BYTES);
		if (!io->regs)
			continue;
		io->gsi_base = info->ioapics[i].gsi_base;
		io->nr_entries = (ioapic_read(io, IOAPIC_VERSION) >> 16 & 0xff) + 1;
		for (entry = 0; entry < io->nr_entries; entry++)
			ioapic_write(io, IOAPIC_ENTRY + 2 * entry, ENTRY_MASKED);
		pr_info("IOAPIC: id %u, interrupts %u-%u\n", info->ioapics[i].id, io->gsi_base,
			io->gsi_base + io->nr_entries - 1);
		nr_ioapics++;
	}
	if (nr_ioapics == 0) {
		pr_err("APIC: this machine has no IO APIC\n");
		return -ENODEV;
	}
	return 0;
}

/* The override of `isa_irq`, or the wiring without one. */
static struct acpi_override ioapic_isa_wiring(uint8_t isa_irq)
{
	const struct acpi_info *info = acpi_info();
	uint32_t i;

	for (i = 0; i < info->nr_overrides; i++) {
		if (info->overrides[i].isa_irq == isa_irq)
			return info->overrides[i];
	}
	return (struct acpi_override){ .gsi = isa_irq, .isa_irq = isa_irq };
}

static const struct ioapic *ioapic_of(uint32_t gsi)
{
	uint32_t i;

	for (i = 0; i < nr_ioapics; i++) {
		if (gsi - ioapics[i].gsi_base < ioapics[i].nr_entries)
			return &ioapics[i];
	}
	return NULL;
}

int ioapic_route_isa(uint8_t isa_irq, uint32_t apic_id)
{
	struct acpi_override wiring = ioapic_isa_wiring(isa_irq);
	const struct ioapic *io = ioapic_of(wiring.gsi);
	uint32_t reg, low = APIC_VECTOR_ISA_BASE + isa_irq;
	uint64_t flags;

	if (!io)
		return -ENODEV;
	if (wiring.active_low)
		low |= ENTRY_ACTIVE_LOW;
	if (wiring.level)
		low |= ENTRY_LEVEL;
	reg = IOAPIC_ENTRY + 2 * (wiring.gsi - io->gsi_base);
	flags = raw_lock(&ioapic_lock);
	ioapic_write(io, reg, ENTRY_MASKED);
	ioapic_write(io, reg + 1, apic_id << 24);
	ioapic_write(io, reg, low);
	raw_unlock(&ioapic_lock, flags);
	return 0;
}

/* An 8259 raises its interrupt 7, even masked, if its request is gone before the CPU answers it. */
static void ioapic_pic_spurious(struct trap_frame *regs)
{
	(void)regs;
	irq_stats_count(SMP_IRQ_SPURIOUS);
}

void pic_disable(void)
{
	outb(PIC1_COMMAND, 0x11); /* ICW1: cascade, ICW4 follows */
	outb(PIC2_COMMAND, 0x11);
	outb(PIC1_DATA, PIC1_VECTOR); /* ICW2 */
	outb(PIC2_DATA, PIC2_VECTOR);
	outb(PIC1_DATA, 4); /* ICW3: the second one is at input 2 */
	outb(PIC2_DATA, 2);
	outb(PIC1_DATA, 1); /* ICW4: 8086 mode */
	outb(PIC2_DATA, 1);
	outb(PIC1_DATA, 0xff); /* all masked */
	outb(PIC2_DATA, 0xff);
	arch_irq_register(PIC1_VECTOR + 7, ioapic_pic_spurious);
	arch_irq_register(PIC2_VECTOR + 7, ioapic_pic_spurious);
}
