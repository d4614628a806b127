/* Backtraces: the place of a function's return address, read from its code. See unwind_priv.h. */
#include <stdatomic.h>

#include <arch/nofault.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <trace/arch_code.h>
#include <trace/arch_text.h>
#include <trace/platform.h>

#include "unwind_priv.h"

#define PUSH_RBP 0x55
#define POP_RBP	 0x5d
#define RET	 0xc3
#define RET_IMM	 0xc2
#define JMP	 0xe9
#define JMP8	 0xeb
#define INT3	 0xcc
#define SITE_LEN 5
#define MOVE_LEN 3

#define WINDOW_BYTES 32u
#define DEPTHS_KNOWN 256u
#define CALLS_KNOWN  256u

/*
 * Depths that unwind_return_depth() has found: the low half of an address, and the depth plus 2. The meant code of the
 * kernel does not change, so they stay right. Loops are interrupted at the same places again and again.
 */
static _Atomic uint64_t depths_known[DEPTHS_KNOWN];
/* The low halves of addresses behind calls that are no call sites. */
static _Atomic uint32_t calls_known[CALLS_KNOWN];

/* The last call site at or before `addr`; 0 for none. */
static uintptr_t site_before(uintptr_t addr)
{
	const uintptr_t *sites = __start_mcount_loc;
	size_t lo = 0, hi = (size_t)(__stop_mcount_loc - __start_mcount_loc);

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sites[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? sites[lo - 1] : 0;
}

static bool is_call_site(uintptr_t addr)
{
	return site_before(addr) == addr;
}

bool unwind_is_behind_site(uintptr_t ret)
{
	_Atomic uint32_t *known = &calls_known[ret % CALLS_KNOWN];

	if (!arch_is_text(ret))
		return is_call_site(ret - TRACE_INSN_SIZE);
	if (atomic_load_explicit(known, memory_order_relaxed) == (uint32_t)ret)
		return false;
	if (is_call_site(ret - TRACE_INSN_SIZE))
		return true;
	atomic_store_explicit(known, (uint32_t)ret, memory_order_relaxed);
	return false;
}

bool unwind_is_called_by_site(uintptr_t addr, uintptr_t ret)
{
	return trampoline_contains(addr) || unwind_is_behind_site(ret);
}

static bool is_move_rsp_rbp(const uint8_t *insn)
{
	return insn[0] == 0x48 && insn[1] == 0x89 && insn[2] == 0xe5;
}

/* Read code without breakpoints: the instructions that they stand for tell where a frame is. */
static bool unwind_text(uintptr_t addr, uint8_t *insn, size_t len)
{
	bool is_code;

	trace_plat_preempt_disable();
	is_code = trace_text_meant(addr, insn, len);
	trace_plat_preempt_enable();
	return is_code;
}

/*
 * The code around `rip`: the byte before it, and three from there on. False: there is none. A
 * missing byte before it is 0.
 */
static bool unwind_around(uintptr_t rip, uint8_t *out_code)
{
	out_code[0] = 0;
	return unwind_text(rip - 1, out_code, 4) || unwind_text(rip, out_code + 1, 3);
}

/* Is a breakpoint right before `rip`? The instruction that it stands for has not run then. */
static bool is_behind_breakpoint(uintptr_t rip, uint8_t meant)
{
	uint8_t now;

	return meant != INT3 && arch_read_nofault(&now, (const void *)(rip - 1), 1) && now == INT3;
}

static bool is_raise_rsp(const uint8_t *insn)
{
	return insn[0] == 0x48 && insn[1] == 0x8d && insn[2] == 0x64;
}

/* unwind_return_depth() at the end of trace_probe_detour: `lea rsp, [rsp + n]`, and it returns. */
static int depth_before_return(uintptr_t rip)
{
	uint8_t insn[6];

	if (!unwind_text(rip, insn, sizeof(insn)) || insn[3] != 0x24 || insn[5] != RET_IMM)
		return -1;
	return insn[4] / (int)sizeof(uintptr_t);
}

/*
 * unwind_return_depth() for the prologue of a function with a call site. Up to `push rbp` the return
 * address is at rsp, behind it one word above; behind `mov rbp, rsp` there is a frame. The code is
 * searched for both, because compilers mix other instructions in. For a function without a site
 * the search begins in an earlier one that has a site, and finds that one's `mov`: -1.
 */
static int prologue_depth(uintptr_t rip, uintptr_t start)
{
	uintptr_t push = 0, from = 0, end = 0;
	uint8_t window[WINDOW_BYTES]; /* the code between these two */

	if (!start || !arch_is_text(rip))
		return -1;
	for (uintptr_t at = start + SITE_LEN; at <= rip; at++) {
		const uint8_t *insn;

		if (at + MOVE_LEN > end) {
			from = at;
			end = rip + MOVE_LEN - at < sizeof(window) ? rip + MOVE_LEN
								   : at + sizeof(window);
			if (!unwind_text(from, window, end - from))
				return -1;
		}
		insn = window + (at - from);
		if (insn[0] == PUSH_RBP && !push)
			push = at;
		if (is_move_rsp_rbp(insn))
			return rip > at ? -1 : push && rip > push;
	}
	return push && rip > push;
}

/* unwind_return_depth() by the code; `site` is the last call site at or before `rip`. */
static int unwind_code_depth(uintptr_t rip, uintptr_t site)
{
	uint8_t code[4], *insn = code + 1;

	if (!unwind_around(rip, code))
		return -1;
	if (is_behind_breakpoint(rip, code[0]) && !unwind_around(--rip, code))
		return -1;
	if (insn[0] == PUSH_RBP || insn[0] == RET || insn[0] == RET_IMM)
		return 0;
	if (is_raise_rsp(insn))
		return depth_before_return(rip);
	if (code[0] == POP_RBP && (insn[0] == JMP || insn[0] == JMP8)) /* a tail call */
		return 0;
	if (code[0] == PUSH_RBP && is_move_rsp_rbp(insn))
		return 1;
	return prologue_depth(rip, site);
}

/* unwind_return_depth() for an address that is not known yet. */
static int unwind_search_depth(uintptr_t rip)
{
	uintptr_t site = site_before(rip);

	if (site == rip || site == rip - 1) /* rip - 1: an int3 was hit at the site */
		return 0;
	if (!arch_is_text(rip) && !arch_exec_contains(rip))
		return 0; /* a bad address was called */
	if (rip == (uintptr_t)return_to_handler_pop || rip == (uintptr_t)ftrace_regs_caller_direct)
		return 0;
	return unwind_code_depth(rip, site);
}

int unwind_return_depth(uintptr_t rip)
{
	_Atomic uint64_t *known = &depths_known[rip % DEPTHS_KNOWN];
	uint64_t found;
	int depth;

	/* Behind a breakpoint it depends on whether that is still there. */
	if (!arch_is_text(rip) || !arch_is_text(rip - 1) ||
	    *(const volatile uint8_t *)(rip - 1) == INT3)
		return unwind_search_depth(rip);
	found = atomic_load_explicit(known, memory_order_relaxed);
	if (found >> 32 == (uint32_t)rip)
		return (int)(uint32_t)found - 2;
	depth = unwind_search_depth(rip);
	atomic_store_explicit(known, (uint64_t)(uint32_t)rip << 32 | (uint32_t)(depth + 2),
			      memory_order_relaxed);
	return depth;
}
