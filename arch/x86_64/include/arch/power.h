/*
 * Ending the machine. But for power_init(), none of these functions returns: each tries the ways in
 * its comment, in that order, and halts when none has worked.
 *
 * Context: any; interrupts are turned off. Other CPUs go on, unless the caller stops them first.
 * Locking: none is taken, because after a panic a stopped CPU may hold any lock.
 */
#ifndef ARCH_POWER_H
#define ARCH_POWER_H

#include <stdint.h>

/*
 * Map the registers that power_reboot() needs, while locks and memory can be had. Boot CPU, once,
 * after acpi_init().
 */
void power_init(void);
/* ACPI S5 (soft off). */
void power_off(void) __attribute__((noreturn));
/* ACPI reset register, port 0xcf9, keyboard controller, triple fault. */
void power_reboot(void) __attribute__((noreturn));
/* QEMU's isa-debug-exit at 0xf4: QEMU ends with (code << 1) | 1. Without it: power_off(). */
void power_debug_exit(uint32_t code) __attribute__((noreturn));
/* Interrupts off and halt, forever. */
void power_halt(void) __attribute__((noreturn));

#endif
