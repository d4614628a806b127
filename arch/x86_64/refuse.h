/*
 * For a machine that this kernel cannot run on: a message on the serial port, which needs no
 * console.
 *
 * Context: boot CPU, before the console: up to apic_init().
 */
#ifndef REFUSE_H
#define REFUSE_H

/* Print `Fathom cannot start: ` and `why`, and halt. */
void arch_refuse(const char *why) __attribute__((noreturn, cold));

#endif
