/*
 * The machine's interrupt controllers outside of the CPUs: IO APICs and the older pair of 8259.
 * apic_init() sets them up; ioapic_route_isa() is in <arch/apic.h>.
 *
 * Context: boot CPU, interrupts off.
 */
#ifndef IOAPIC_H
#define IOAPIC_H

/* Map the IO APICs of the MADT and mask all their inputs. -ENODEV, with a message, without any. */
int ioapic_init(void);
/* Mask both 8259. Their vectors are moved away from the exceptions, for spurious interrupts. */
void pic_disable(void);

#endif
