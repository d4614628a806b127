/*
 * Reads from addresses that may be bad: false where others would fault. The fault is a signal, whose
 * handler finds the instruction in a table and goes on elsewhere: see trap.c.
 *
 * Context: any; not traced.
 */
#ifndef PROCESS_READ_H
#define PROCESS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

struct process_fixup {
	uintptr_t insn;	  /* the instruction that may fault */
	uintptr_t resume; /* where the thread goes on then */
};

/* For inline assembly: an entry about the instruction at 1. `resume` is a label in it. */
#define PROCESS_FIXUP(resume)                                                                      \
	".pushsection process_fixups, \"a\"\n\t"                                                   \
	".balign 8\n\t"                                                                            \
	".quad 1b, " resume "\n\t"                                                                 \
	".popsection\n\t"

static TRACE_ALWAYS_INLINE bool process_read_word(uint64_t *to, const void *from)
{
	uint64_t word;

	__asm__ goto("1: movq %1, %0\n\t" PROCESS_FIXUP("%l[fault]")
		     : "=r"(word)
		     : "m"(*(const volatile uint64_t *)from)
		     :
		     : fault);
	*to = word;
	return true;
fault:
	return false;
}

static TRACE_ALWAYS_INLINE bool process_read_byte(uint8_t *to, const void *from)
{
	uint8_t byte;

	__asm__ goto("1: movb %1, %0\n\t" PROCESS_FIXUP("%l[fault]")
		     : "=q"(byte)
		     : "m"(*(const volatile uint8_t *)from)
		     :
		     : fault);
	*to = byte;
	return true;
fault:
	return false;
}

#endif
