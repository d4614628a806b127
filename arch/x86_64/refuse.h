/*
 * A machine this kernel cannot run on: said on the serial port, before there is a console.
 *
 * Context: boot CPU, before the console: up to apic_init().
 */
#ifndef REFUSE_H
#define REFUSE_H

/* Print `Fathom cannot start: ` and `why`, and halt. */
void arch_refuse(const char *why) __attribute__((noreturn, cold));

#endif
