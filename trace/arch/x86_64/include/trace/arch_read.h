/*
 * Reads from addresses that may be bad: false where others would fault. For trace_plat_read() and
 * trace_plat_read_word() of hosts whose handler of faults asks trace_fixup_find().
 *
 *   a read  --fault-->  the host's handler  --trace_fixup_find()-->  goes on at the other address
 *
 * The table of all such instructions is the section `trace_fixups`. A linker script of the host's
 * has
 *
 * 	. = ALIGN(8);
 * 	__start_trace_fixups = .;
 * 	KEEP(*(trace_fixups))
 * 	__stop_trace_fixups = .;
 *
 * A script that does not speak of the section leaves the two symbols to the linker; one that drops
 * it does not link.
 *
 * Context: any, NMI included; not traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_READ_H
#define TRACE_ARCH_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_fixup {
	uintptr_t insn;	  /* the instruction that may fault */
	uintptr_t resume; /* address at which the CPU then goes on */
};

extern const struct trace_fixup __start_trace_fixups[];
extern const struct trace_fixup __stop_trace_fixups[];

/* For inline assembly: `insn` and `resume` are labels in it, such as "1b" and "2b". */
#define TRACE_FIXUP(insn, resume)                                                                  \
	".pushsection trace_fixups, \"a\"\n\t"                                                     \
	".balign 8\n\t"                                                                            \
	".quad " insn ", " resume "\n\t"                                                           \
	".popsection\n\t"

/*
 * The address to go on at after a fault of the instruction at `insn`; 0 when it is none of these.
 */
static TRACE_ALWAYS_INLINE uintptr_t trace_fixup_find(uintptr_t insn)
{
	const struct trace_fixup *fixup = __start_trace_fixups;

	TRACE_SECTION(trace_fixups); /* also where nothing is read */
	while (fixup < __stop_trace_fixups && fixup->insn != insn)
		fixup++;
	return fixup < __stop_trace_fixups ? fixup->resume : 0;
}

/* 8 bytes: one instruction. */
static TRACE_ALWAYS_INLINE bool trace_arch_read_word(uint64_t *to, const void *from)
{
	uint64_t word;

	__asm__ goto("1: movq %1, %0\n\t" TRACE_FIXUP("1b", "%l[fault]")
		     : "=r"(word)
		     : "m"(*(const volatile uint64_t *)from)
		     :
		     : fault);
	*to = word;
	return true;
fault:
	return false;
}

static TRACE_ALWAYS_INLINE bool trace_arch_read_byte(uint8_t *to, const void *from)
{
	uint8_t byte;

	__asm__ goto("1: movb %1, %0\n\t" TRACE_FIXUP("1b", "%l[fault]")
		     : "=q"(byte)
		     : "m"(*(const volatile uint8_t *)from)
		     :
		     : fault);
	*to = byte;
	return true;
fault:
	return false;
}

/*
 * Any number of bytes; on failure `to` is partly written. Words first: most reads are of one, and a
 * byte at a time costs eight times as much.
 */
static TRACE_ALWAYS_INLINE bool trace_arch_read(void *to, const void *from, size_t bytes)
{
	const uint8_t *in = (const uint8_t *)from;
	uint8_t *out = (uint8_t *)to;
	uint64_t word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		if (!trace_arch_read_word(&word, in))
			return false;
		__builtin_memcpy(out, &word, sizeof(word));
		out += sizeof(word);
		in += sizeof(word);
	}
	for (size_t i = 0; i < bytes; i++) {
		if (!trace_arch_read_byte(out + i, in + i))
			return false;
	}
	return true;
}

TRACE_END_DECLS

#endif
