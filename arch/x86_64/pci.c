/*
 * PCI devices through the ports 0xcf8 and 0xcfc (PCI Local Bus Specification 3.0, 3.2.2.3.2; MSI-X:
 * 6.8.2). See <arch/pci.h>.
 */
#include "irq_stats.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/pci.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include <trace/events/irq.h>

#define PORT_ADDRESS 0xcf8
#define PORT_DATA    0xcfc

#define CONFIG_ID	    0x00
#define CONFIG_COMMAND	    0x04
#define CONFIG_HEADER	    0x0c
#define CONFIG_BAR	    0x10
#define CONFIG_CAPABILITIES 0x34

#define COMMAND_MEMORY	0x2u
#define COMMAND_MASTER	0x4u
#define COMMAND_NO_INTX 0x400u

#define HEADER_MANY_FUNCS 0x800000u

/* buses that are looked at: our drivers are for QEMU's devices, which are there */
#define NR_BUSES 4u
#define NR_SLOTS 32u

#define BAR_IO	  0x1u
#define BAR_64BIT 0x4u

#define CAPABILITY_MSIX 0x11
#define MSIX_ENABLE	0x80000000u
#define MSIX_MASK_ALL	0x40000000u
#define MSIX_TABLE	4 /* byte offset in the capability */

#define MSI_ADDRESS 0xfee00000u
#define PCI_VECTOR  0x50

static void (*pci_interrupt_fn)(void);

static uint32_t pci_select(const struct pci_device *device, uint8_t offset)
{
	return 0x80000000u | (uint32_t)device->bus << 16 | (uint32_t)device->slot << 11 |
	       (uint32_t)device->func << 8 | (offset & 0xfcu);
}

uint32_t pci_read(const struct pci_device *device, uint8_t offset)
{
	outl(PORT_ADDRESS, pci_select(device, offset));
	return inl(PORT_DATA);
}

static void pci_write(const struct pci_device *device, uint8_t offset, uint32_t value)
{
	outl(PORT_ADDRESS, pci_select(device, offset));
	outl(PORT_DATA, value);
}

static bool pci_has_id(uint32_t id, uint16_t vendor, const uint16_t *devices, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (id == ((uint32_t)devices[i] << 16 | vendor))
			return true;
	}
	return false;
}

/* The number of functions that the device in this slot may have; 0: there is no device. */
static uint8_t pci_nr_funcs(uint8_t bus, uint8_t slot)
{
	const struct pci_device at = { bus, slot, 0 };

	if (pci_read(&at, CONFIG_ID) == 0xffffffffu)
		return 0;
	return pci_read(&at, CONFIG_HEADER) & HEADER_MANY_FUNCS ? 8 : 1;
}

int pci_find(uint16_t vendor, const uint16_t *devices, unsigned int nr_devices,
	     struct pci_device *out_device)
{
	for (uint32_t i = 0; i < NR_BUSES * NR_SLOTS; i++) {
		struct pci_device at = { (uint8_t)(i / NR_SLOTS), i % NR_SLOTS, 0 };
		uint8_t nr_funcs = pci_nr_funcs(at.bus, at.slot);

		for (; at.func < nr_funcs; at.func++) {
			if (!pci_has_id(pci_read(&at, CONFIG_ID), vendor, devices, nr_devices))
				continue;
			*out_device = at;
			return 0;
		}
	}
	return -ENODEV;
}

uint8_t pci_capability(const struct pci_device *device, uint8_t kind, uint8_t after)
{
	uint8_t at = after ? (uint8_t)(pci_read(device, after) >> 8)
			   : (uint8_t)pci_read(device, CONFIG_CAPABILITIES);

	/* The list of a broken device may have a loop. */
	for (int i = 0; i < 48 && at; i++) {
		uint32_t head = pci_read(device, at);

		if ((head & 0xff) == kind)
			return at & 0xfc;
		at = (uint8_t)(head >> 8);
	}
	return 0;
}

void *pci_map(const struct pci_device *device, unsigned int bar, uint32_t offset, uint32_t bytes)
{
	uint8_t at = (uint8_t)(CONFIG_BAR + 4 * bar);
	uint64_t phys = pci_read(device, at);

	if (bar > 5 || phys & BAR_IO)
		return NULL;
	if (phys & BAR_64BIT)
		phys |= (uint64_t)pci_read(device, at + 4) << 32;
	phys &= ~0xfull;
	return phys ? arch_map_device(phys + offset, bytes) : NULL;
}

void pci_enable(const struct pci_device *device)
{
	uint32_t command = pci_read(device, CONFIG_COMMAND) & 0xffff;

	pci_write(device, CONFIG_COMMAND,
		  command | COMMAND_MEMORY | COMMAND_MASTER | COMMAND_NO_INTX);
}

static IRQ_ENTRY void pci_interrupt(struct trap_frame *regs)
{
	(void)regs;
	irq_stats_count(SMP_IRQ_DEVICE);
	apic_eoi();
	trace_irq_handler_entry(PCI_VECTOR, smp_irq_name(SMP_IRQ_DEVICE));
	pci_interrupt_fn();
	trace_irq_handler_exit(PCI_VECTOR, true);
}

int pci_start_interrupt(const struct pci_device *device, void (*fn)(void))
{
	uint8_t msix = pci_capability(device, CAPABILITY_MSIX, 0);
	volatile uint32_t *entry;
	uint32_t table;
	int err;

	if (!msix)
		return -ENODEV;
	table = pci_read(device, msix + MSIX_TABLE);
	entry = pci_map(device, table & 7, table & ~7u, 16);
	if (!entry)
		return -ENOMEM;
	pci_interrupt_fn = fn;
	err = arch_irq_register(PCI_VECTOR, pci_interrupt);
	if (err)
		return err;
	pci_write(device, msix, pci_read(device, msix) | MSIX_ENABLE | MSIX_MASK_ALL);
	entry[0] = MSI_ADDRESS | cpu_local_read(apic_id) << 12;
	entry[1] = 0;
	entry[2] = PCI_VECTOR;
	entry[3] = 0; /* not masked */
	pci_write(device, msix, (pci_read(device, msix) | MSIX_ENABLE) & ~MSIX_MASK_ALL);
	return 0;
}
