/*
 * Reading from addresses that may be bad: it returns false where others would fault.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef ARCH_NOFAULT_H
#define ARCH_NOFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

/* For inline assembly: `insn` and `resume` are labels in it, such as "1b" and "2b". */
#define FIXUP_ENTRY(insn, resume)                                                                  \
	".pushsection .ex_table, \"a\"\n\t"                                                        \
	".balign 8\n\t"                                                                            \
	".quad " insn ", " resume "\n\t"                                                           \
	".popsection\n\t"

/* Copy from kernel memory. False, with `to` partly written, when some of it cannot be read. */
bool arch_read_nofault(void *to, const void *from, size_t bytes);

/* The same for 8 bytes: one instruction. */
static TRACE_ALWAYS_INLINE bool arch_read_word_nofault(uint64_t *to, const void *from)
{
	uint64_t word;

	__asm__ goto("1: movq %1, %0\n\t" FIXUP_ENTRY("1b", "%l[fault]")
		     : "=r"(word)
		     : "m"(*(const volatile uint64_t *)from)
		     :
		     : fault);
	*to = word;
	return true;
fault:
	return false;
}

#endif
