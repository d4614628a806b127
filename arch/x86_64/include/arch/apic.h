/*
 * Local APICs (xAPIC by memory, x2APIC by MSR) and IO APICs. The 8259 pair is masked.
 *
 * Vectors, high ones more urgent:
 *   0xff spurious   0xf4 sync   0xf3 call   0xf2 reschedule   0xec timer   0xeb error
 *   0x30 + n ISA interrupt n, as routed here
 *
 * An interrupt handler registered for one of these calls apic_eoi() itself, before it does
 * anything long.
 *
 * Context:   sending - any, NMI included. Setting up - interrupts off.
 * Locking:   IO APIC registers have a spin lock; local APICs are this CPU's alone.
 */
#ifndef ARCH_APIC_H
#define ARCH_APIC_H

#include <stdbool.h>
#include <stdint.h>

#define APIC_VECTOR_ISA_BASE   0x30
#define APIC_VECTOR_ERROR      0xeb
#define APIC_VECTOR_TIMER      0xec
#define APIC_VECTOR_RESCHEDULE 0xf2
#define APIC_VECTOR_CALL       0xf3
#define APIC_VECTOR_SYNC       0xf4
#define APIC_VECTOR_SPURIOUS   0xff

/*
 * Bring up this machine's controllers and the boot CPU's local APIC; acpi_init() has run.
 * x2APIC is used when the CPU has it and `allow_x2apic`. A machine without a local or an IO APIC
 * is refused: a sentence, and a halt.
 */
void apic_init(bool allow_x2apic);
/* The same for an AP. Not traced. */
void apic_init_cpu(void);
bool apic_is_x2apic(void);
/* Id of the running CPU's APIC. */
uint32_t apic_read_id(void);
void apic_eoi(void);

/* Fixed interrupt `vector` to one CPU. */
void apic_send_ipi(uint32_t apic_id, uint8_t vector);
/* ... to every CPU but this one, CPUs that are not online included (they ignore it). */
void apic_send_ipi_others(uint8_t vector);
void apic_send_nmi(uint32_t apic_id);
void apic_send_init(uint32_t apic_id);
/* Start at physical `page` << 12. */
void apic_send_startup(uint32_t apic_id, uint8_t page);

/* The local timer counts down from `count`, at a rate to be measured; 0 stops it. This CPU. */
void apic_timer_start(uint32_t count);
uint32_t apic_timer_count(void);
/* Make this CPU's timer one-shot, or driven by absolute TSC values; nothing armed. */
void apic_timer_setup_oneshot(void);
void apic_timer_setup_deadline(void);

/*
 * Send ISA interrupt `isa_irq` to the CPU `apic_id` as vector APIC_VECTOR_ISA_BASE + isa_irq,
 * with the firmware's overrides, unmasked. -ENODEV when no IO APIC serves it.
 */
int ioapic_route_isa(uint8_t isa_irq, uint32_t apic_id);

#endif
