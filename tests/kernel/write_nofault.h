/*
 * Writing to addresses that may be read-only: false where others would fault.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef KTEST_WRITE_NOFAULT_H
#define KTEST_WRITE_NOFAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/arch_read.h>
#include <trace/compiler.h>

/* Without a call site, like what else runs with the alias open. */
static TRACE_ALWAYS_INLINE bool write_nofault(void *to, uint8_t value)
{
	uint64_t failed = 1;

	__asm__ volatile("1: movb %2, %1\n\t"
			 "xorl %k0, %k0\n"
			 "2:\n\t" TRACE_FIXUP("1b", "2b")
			 : "+r"(failed), "=m"(*(volatile uint8_t *)to)
			 : "q"(value)
			 : "cc");
	return !failed;
}

#endif
