/* See fixup.h and <arch/nofault.h>. */
#include <arch/nofault.h>
#include <arch/trap.h>

#include "fixup.h"

struct fixup {
	uint64_t insn;
	uint64_t resume;
};

extern const struct fixup ex_table_start[], ex_table_end[];

bool fixup_apply(struct trap_frame *regs)
{
	if (regs->vector != TRAP_PAGE_FAULT && regs->vector != TRAP_PROTECTION)
		return false;
	for (const struct fixup *f = ex_table_start; f < ex_table_end; f++) {
		if (f->insn == regs->rip) {
			regs->rip = f->resume;
			return true;
		}
	}
	return false;
}

static bool read_byte(uint8_t *out, const volatile uint8_t *from)
{
	uint64_t failed = 1;
	uint8_t value = 0;

	__asm__ volatile("1: movb %2, %1\n\t"
			 "xorl %k0, %k0\n"
			 "2:\n\t" FIXUP_ENTRY("1b", "2b")
			 : "+r"(failed), "+q"(value)
			 : "m"(*from)
			 : "cc");
	*out = value;
	return !failed;
}

/* Words first: most reads are of one, and a byte at a time costs eight times as much. */
bool arch_read_nofault(void *to, const void *from, size_t bytes)
{
	uint8_t *out = to;
	const uint8_t *in = from;

	for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
		uint64_t word;

		if (!arch_read_word_nofault(&word, in))
			return false;
		__builtin_memcpy(out, &word, sizeof(word));
		out += sizeof(uint64_t);
		in += sizeof(uint64_t);
	}
	for (size_t i = 0; i < bytes; i++) {
		if (!read_byte(out + i, in + i))
			return false;
	}
	return true;
}
