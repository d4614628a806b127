/*
 * PCI: finding a device, its configuration space, its registers, its interrupt.
 *
 * Context:   thread, boot.
 * Locking:   configuration space is reached through two ports as a pair: one user at a time, by the
 *            caller.
 * Ownership: a device is the driver's that has found it.
 */
#ifndef ARCH_PCI_H
#define ARCH_PCI_H

#include <stdint.h>

struct pci_device {
	uint8_t bus;
	uint8_t slot;
	uint8_t func;
};

/* The first device that has one of these ids. 0 or -ENODEV. */
int pci_find(uint16_t vendor, const uint16_t *devices, unsigned int nr_devices,
	     struct pci_device *out_device);
/* `offset` is a multiple of 4. */
uint32_t pci_read(const struct pci_device *device, uint8_t offset);
/* Offset of the first capability of that kind behind capability `after` (0: of all); 0: none. */
uint8_t pci_capability(const struct pci_device *device, uint8_t kind, uint8_t after);
/* Map `bytes` of the memory that BAR number `bar` names, from `offset` on, for ever; or NULL. */
void *pci_map(const struct pci_device *device, unsigned int bar, uint32_t offset, uint32_t bytes);
/* Turn on the device's registers, and its own access to memory. */
void pci_enable(const struct pci_device *device);
/*
 * Have the device's first MSI-X message call fn() on the running CPU, interrupts off. For one
 * device. 0; -ENODEV: it has no MSI-X; -ENOMEM; -EBUSY: another one has it.
 */
int pci_start_interrupt(const struct pci_device *device, void (*fn)(void));

#endif
