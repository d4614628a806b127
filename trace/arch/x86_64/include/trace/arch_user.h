/*
 * The part of the inline half of <trace/platform.h> that is the same on every x86-64 host and works
 * in user mode, too: the contracts are there. A kernel includes <trace/arch_inline.h>, which has
 * this and interrupts; a host that masks them in another way than with cli includes this.
 *
 * Needs cmpxchg16b (-mcx16), and all code in the top or in the lowest 2 GiB.
 *
 * Context: probe. Registers and this CPU's memory: nothing can fault, block or be traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_USER_H
#define TRACE_ARCH_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <trace/arch_regs.h>
#include <trace/platform_ring.h>

TRACE_BEGIN_DECLS

static TRACE_ALWAYS_INLINE uint64_t trace_plat_cycles(void)
{
	uint64_t low, high; /* the upper halves come out as zero */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

/*
 * CLC is for QEMU before 8.0, whose CMPXCHG16B takes the flags that it keeps from a stale record of the
 * last operation. Behind an interrupt, and an instruction that changes flags, these are a number that
 * has nothing to do with flags; the next interrupt saves and restores it with TF, NT or IF set. CLC
 * makes QEMU compute the flags first.
 */
static TRACE_ALWAYS_INLINE bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
							uint64_t old_hi, uint64_t new_lo,
							uint64_t new_hi)
{
	bool done;

	__asm__ volatile("clc\n\tcmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*pair), "+a"(*old_lo), "+d"(old_hi)
			 : "b"(new_lo), "c"(new_hi)
			 : "memory");
	return done;
}

static TRACE_ALWAYS_INLINE void trace_plat_local_add(uint64_t *value, uint64_t delta)
{
	__asm__ volatile("addq %1, %0" : "+m"(*value) : "er"(delta) : "cc");
}

/* An interrupt between the two leaves the carry as it was, and its own sum is complete. */
static TRACE_ALWAYS_INLINE void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo,
							  uint64_t hi)
{
	__asm__ volatile("addq %2, %0\n\tadcq %3, %1"
			 : "+m"(value->lo), "+m"(value->hi)
			 : "er"(lo), "er"(hi)
			 : "cc");
}

/* All code lies in the top 2 GiB, or all in the lowest: the low half says it all. */
static TRACE_ALWAYS_INLINE uint32_t trace_plat_ip_pack(uintptr_t ip)
{
	return (uint32_t)ip;
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_ip_unpack(uint32_t packed)
{
	return (uintptr_t)(intptr_t)(int32_t)packed;
}

extern const char return_to_handler[]; /* graph_return.asm */
void trace_plat_lost(void) __attribute__((noreturn));

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_return_hook(void)
{
	return (uintptr_t)return_to_handler;
}

/* rbp and rax lie below the slot. */
static TRACE_ALWAYS_INLINE uintptr_t trace_plat_return_value(const uintptr_t *slot)
{
	return slot[-2];
}

/* The hook saves rbp and rax where struct ftrace_regs has them below `rip`, which is the slot. */
static TRACE_ALWAYS_INLINE struct ftrace_regs *trace_plat_return_regs(uintptr_t *slot)
{
	return (struct ftrace_regs *)(void *)((char *)slot - offsetof(struct ftrace_regs, rip));
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_return_lost(void)
{
	return (uintptr_t)trace_plat_lost;
}

TRACE_END_DECLS

#endif
