/*
 * The older interrupt controllers of the machine, set up by apic_init(). Routing: <arch/apic.h>.
 *
 * Context: boot CPU, interrupts off.
 */
#ifndef IOAPIC_H
#define IOAPIC_H

/* Map the IO APICs of the MADT, everything masked. -ENODEV, reported, when there is none. */
int ioapic_init(void);
/* Move the vectors of both 8259 away from the exceptions and mask all of them. */
void pic_disable(void);

#endif
