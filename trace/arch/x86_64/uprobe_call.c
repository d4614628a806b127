/*
 * Calls of programs in place of 10-byte NOPs, and the trampoline that they go to: see <trace/arch_uprobe.h>.
 *
 *   NOP      66 | 2e 0f 1f 84 | 00 00 00 00 00
 *   call     48 | 8d 64 24 80 | e8 rel32         lea -128(%rsp), %rsp; call the trampoline
 *   removed  66 | 2e 0f 1f 84 | e8 rel32         a NOP, which asks for no operand; for a thread between the two
 *
 * The middle changes while the first byte is a breakpoint.
 */
#include <trace/arch_uprobe.h>

#include "insn.h"

#define CALL_MIDDLE 4u /* bytes */
#define CALL_LAST   (1 + CALL_MIDDLE)
#define CALL_FIRST  0x48u
#define CALL_BACK   (TRACE_UPROBE_TRAMPOLINE_CALLED)

static const uint8_t uprobe_call_nop[TRACE_UPROBE_CALL] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84 };
static const uint8_t uprobe_call_lea[CALL_LAST] = { CALL_FIRST, 0x8d, 0x64, 0x24, 0x80 };

/* It keeps the registers that SYSCALL changes, and its return leaves the red zone. */
const uint8_t trace_uprobe_trampoline[TRACE_UPROBE_TRAMPOLINE] = {
	0x51, /* push %rcx */
	0x41,
	0x53, /* push %r11 */
	0x50, /* push %rax */
	0xb8,
	TRACE_UPROBE_SYSCALL & 0xff,
	TRACE_UPROBE_SYSCALL >> 8,
	0,
	0, /* mov to %eax */
	0x0f,
	0x05, /* syscall */
	0x58, /* pop %rax */
	0x41,
	0x5b, /* pop %r11 */
	0x59, /* pop %rcx */
	0xc2,
	TRACE_UPROBE_RED_ZONE,
	0, /* ret $128 */
};

/* Words that the trampoline has on the stack, above them the return address, in front of the instruction at each offset. */
static const uint8_t uprobe_call_words[TRACE_UPROBE_TRAMPOLINE] = {
	[1] = 1, [3] = 2, [4] = 3, [9] = 3, [CALL_BACK] = 3, [12] = 2, [14] = 1,
};

/* ---- Code ---- */

bool trace_uprobe_call_is_for(const struct trace_uprobe_insn *insn)
{
	return insn->len == TRACE_UPROBE_CALL &&
	       !__builtin_memcmp(insn->bytes, uprobe_call_nop, TRACE_UPROBE_CALL);
}

static bool uprobe_call_has_middle(const uint8_t *code, const uint8_t *of)
{
	return !__builtin_memcmp(code + 1, of + 1, CALL_MIDDLE);
}

static void uprobe_call_set_middle(uint8_t *code, const uint8_t *of)
{
	for (uint32_t i = 1; i < CALL_LAST; i++)
		((volatile uint8_t *)code)[i] = of[i];
}

bool trace_uprobe_call_begin(uint8_t *code, uintptr_t addr, uintptr_t trampoline)
{
	intptr_t far = (intptr_t)(trampoline - (addr + TRACE_UPROBE_CALL));
	int32_t rel = (int32_t)far;

	if (rel != far || *code != INSN_INT3 || !uprobe_call_has_middle(code, uprobe_call_nop))
		return false;
	code[CALL_LAST] = INSN_CALL;
	__builtin_memcpy(code + CALL_LAST + 1, &rel, sizeof(rel));
	uprobe_call_set_middle(code, uprobe_call_lea);
	return true;
}

void trace_uprobe_call_finish(uint8_t *code)
{
	*(volatile uint8_t *)code = CALL_FIRST;
}

bool trace_uprobe_call_is(const uint8_t *code)
{
	return (*code == CALL_FIRST || *code == INSN_INT3) &&
	       uprobe_call_has_middle(code, uprobe_call_lea) && code[CALL_LAST] == INSN_CALL;
}

void trace_uprobe_call_stop(uint8_t *code)
{
	*(volatile uint8_t *)code = INSN_INT3;
}

void trace_uprobe_call_restore(uint8_t *code)
{
	uprobe_call_set_middle(code, uprobe_call_nop);
}

/* ---- Threads in the middle of one ---- */

/* In front of the call itself. */
static bool uprobe_call_is_between(const struct ftrace_regs *regs, uintptr_t trampoline)
{
	uint8_t code[TRACE_UPROBE_CALL - CALL_LAST];
	int32_t rel;

	if (!trace_plat_uprobes()->read(code, regs->rip, sizeof(code)) || *code != INSN_CALL)
		return false;
	__builtin_memcpy(&rel, code + 1, sizeof(rel));
	return regs->rip + sizeof(code) + (uintptr_t)(intptr_t)rel == trampoline;
}

/* Registers as they were at the NOP; `top` are the words on the stack. */
static void uprobe_call_unwind(struct ftrace_regs *regs, const uint64_t *top, uint32_t words)
{
	uint64_t *const pushed[TRACE_UPROBE_CALL_WORDS - 1] = { &regs->rcx, &regs->r11,
								&regs->rax };

	for (uint32_t i = 0; i < words && i < TRACE_UPROBE_CALL_WORDS - 1; i++)
		*pushed[i] = top[words - 1 - i];
	regs->rsp += (words + 1) * sizeof(*top) + TRACE_UPROBE_RED_ZONE;
	regs->rip = top[words] - TRACE_UPROBE_CALL;
}

enum trace_uprobe_place trace_uprobe_call_leave(struct ftrace_regs *regs, uintptr_t trampoline)
{
	uintptr_t at = regs->rip - trampoline;
	uint64_t top[TRACE_UPROBE_CALL_WORDS];
	uint32_t words;

	if (at >= TRACE_UPROBE_TRAMPOLINE) {
		if (!uprobe_call_is_between(regs, trampoline))
			return TRACE_UPROBE_ELSEWHERE;
		regs->rip -= CALL_LAST;
		regs->rsp += TRACE_UPROBE_RED_ZONE;
		return TRACE_UPROBE_IN_FRONT;
	}
	words = uprobe_call_words[at];
	if (!trace_plat_uprobes()->read(top, regs->rsp, (words + 1) * sizeof(*top)))
		return TRACE_UPROBE_ELSEWHERE;
	uprobe_call_unwind(regs, top, words);
	if (at < CALL_BACK)
		return TRACE_UPROBE_IN_FRONT;
	regs->rip += TRACE_UPROBE_CALL;
	return TRACE_UPROBE_BEHIND;
}
