/*
 * Borders of the kernel's sections, from linker.ld. Those between different access rights (text,
 * rodata, data with bss) and those of the executable area are page aligned.
 */
#ifndef ARCH_SECTIONS_H
#define ARCH_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

extern char kernel_start[]; /* first byte of the higher-half image */
extern char text_start[], text_end[];
extern char assembly_start[]; /* in the text: from here to its end it is from assembly */
/*
 * Numbers, whose addresses they are: 0 less that of the text, and the bytes of it in front of trampolines
 * and the hook of returns.
 */
extern char minus_text_start[], plain_bytes[];
extern char rodata_start[], rodata_end[];
extern char data_start[], data_end[];
extern char bss_start[], bss_end[];
extern char kernel_end[];
extern char irq_entry_start[], irq_entry_end[]; /* functions that are IRQ_ENTRY */
extern char exec_pool_start[], exec_pool_end[]; /* memory of the executable area, see paging.h */

/* The boot CPU's first stack, 16 KiB, and the unmapped page below it. */
extern char boot_stack_guard[], boot_stack[], boot_stack_top[];

/* The addresses of all call sites, ascending. */
extern const uintptr_t __start_mcount_loc[], __stop_mcount_loc[];

/*
 * For handlers of interrupts in traced code: traces show the calls of these functions as the begin
 * and end of an interrupt.
 */
#define IRQ_ENTRY __attribute__((noinline, section(".text.irqentry")))

static inline bool arch_is_irq_entry(uintptr_t addr)
{
	return addr >= (uintptr_t)irq_entry_start && addr < (uintptr_t)irq_entry_end;
}

/* Is it in what a compiler made of C? No entry code lies there. */
static inline bool arch_is_compiled(uintptr_t addr)
{
	return addr - (uintptr_t)text_start < (uintptr_t)(assembly_start - text_start);
}

/* Is it in code that makes usual frames when it calls? No trampoline does, nor the hook of returns. */
static inline bool arch_is_plain(uintptr_t addr)
{
	return addr + (uintptr_t)minus_text_start < (uintptr_t)plain_bytes;
}

static inline bool arch_is_text(uintptr_t addr)
{
	return addr >= (uintptr_t)text_start && addr < (uintptr_t)text_end;
}

#endif
