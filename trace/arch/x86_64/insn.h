/*
 * The three instructions that a patched site can hold: NOP, CALL rel32, JMP rel32, 5 bytes each.
 *
 * Context: any; not traced.
 */
#ifndef INSN_H
#define INSN_H

#include <trace/arch_breakpoint.h>
#include <trace/platform.h>

#define INSN_INT3 0xccu
#define INSN_CALL 0xe8u
#define INSN_JMP  0xe9u
#define INSN_PUSH 0x68u /* of four bytes, as eight with their sign: for detours only */
/* nopl 0x0(%rax,%rax,1), low byte first */
#define INSN_NOP  0x0000441f0full
#define INSN_MASK 0xffffffffffull

/* The 5 bytes at `insn` as a number. Reads 8 bytes. */
static TRACE_ALWAYS_INLINE uint64_t insn_load(const void *insn)
{
	uint64_t word;

	__builtin_memcpy(&word, insn, sizeof(word));
	return word & INSN_MASK;
}

/* Store all 5 bytes. */
static TRACE_ALWAYS_INLINE void insn_store(void *to, uint64_t insn)
{
	uint32_t low = (uint32_t)insn;

	__builtin_memcpy(to, &low, sizeof(low));
	((volatile uint8_t *)to)[4] = (uint8_t)(insn >> 32);
}

static TRACE_ALWAYS_INLINE uint64_t insn_make(uint8_t opcode, uintptr_t site, uintptr_t target)
{
	return opcode | (uint64_t)(uint32_t)(target - (site + TRACE_INSN_SIZE)) << 8;
}

static TRACE_ALWAYS_INLINE uintptr_t insn_target(uint64_t insn, uintptr_t site)
{
	return site + TRACE_INSN_SIZE + (uintptr_t)(intptr_t)(int32_t)(insn >> 8);
}

/*
 * Do what `insn` would do in place of the int3 that was hit. False, with nothing done: `insn` is
 * not one of the three instructions.
 */
static TRACE_ALWAYS_INLINE bool insn_emulate(const struct trace_breakpoint_hit *hit, uint64_t insn)
{
	uint8_t opcode = (uint8_t)insn;

	if (insn != INSN_NOP && opcode != INSN_CALL && opcode != INSN_JMP)
		return false;
	if (opcode == INSN_CALL) {
		*hit->rsp -= sizeof(uintptr_t);
		*(volatile uintptr_t *)*hit->rsp = hit->site + TRACE_INSN_SIZE;
	}
	*hit->rip = insn == INSN_NOP ? hit->site + TRACE_INSN_SIZE : insn_target(insn, hit->site);
	return true;
}

#endif
