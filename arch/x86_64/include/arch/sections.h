/*
 * Borders of the kernel's sections, from linker.ld. All page aligned but the tables.
 */
#ifndef ARCH_SECTIONS_H
#define ARCH_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

extern char kernel_start[]; /* first byte of the higher-half image */
extern char text_start[], text_end[];
extern char rodata_start[], rodata_end[];
extern char data_start[], data_end[];
extern char bss_start[], bss_end[];
extern char kernel_end[];
extern char irq_entry_start[], irq_entry_end[]; /* functions that are IRQ_ENTRY */
extern char exec_pool_start[], exec_pool_end[]; /* physical home of the executable area */

/* The boot CPU's first stack, 16 KiB, and the unmapped page below it. */
extern char boot_stack_guard[], boot_stack[], boot_stack_top[];

/* Table of traced call sites, and the symbol tables of the second link. */
extern const uintptr_t __start_mcount_loc[], __stop_mcount_loc[];
extern const char ksyms_start[], ksyms_end[];
extern const char whynot_start[], whynot_end[];

/* A function of traced code that interrupts call first: traces show where one begins and ends. */
#define IRQ_ENTRY __attribute__((noinline, section(".text.irqentry")))

static inline bool arch_is_irq_entry(uintptr_t addr)
{
	return addr >= (uintptr_t)irq_entry_start && addr < (uintptr_t)irq_entry_end;
}

static inline bool arch_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)text_start && addr < (uintptr_t)text_end;
}

#endif
