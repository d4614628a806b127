/*
 * The inline half of <trace/platform.h> on x86-64: contracts are there. Probe context: everything
 * here is this CPU's memory behind GS, or registers; nothing can fault, block or be traced.
 *
 * Locking:   none: one instruction, or preemption off.
 * Ownership: struct cpu_local belongs to its CPU.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <arch/cpu_local.h>
#include <trace/arch_regs.h>

/*
 * Fields that do not change under code with preemption off, or only as an interrupt leaves them:
 * not volatile, so that one load may serve several readers. Preempt on and off are barriers.
 */
#define TRACE_PLAT_LOCAL(field) (((const struct cpu_local __seg_gs *)0)->field)

/* Preempt depth reached 0 with a reschedule wanted. Not traced. */
void trace_plat_preempt_schedule(void);

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	return TRACE_PLAT_LOCAL(id);
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_cycles(void)
{
	uint64_t low, high; /* the upper halves come out as zero */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	uint64_t cycles = trace_plat_cycles() - TRACE_PLAT_LOCAL(tsc_base);
	unsigned __int128 product = (unsigned __int128)cycles * TRACE_PLAT_LOCAL(tsc_mult);
	uint64_t ns = (uint64_t)(product >> 32);

	/* One value of 64 bits from here on: gcc would carry the pair around, 8 instructions more.
	 */
	__asm__("" : "+r"(ns));
	return ns;
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_disable(void)
{
	__asm__ volatile("incl %%gs:%c0"
			 :
			 : "i"(offsetof(struct cpu_local, preempt_count))
			 : "memory", "cc");
}

static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable(void)
{
	bool wanted;

	__asm__ volatile("decl %%gs:%c1"
			 : "=@ccz"(wanted)
			 : "i"(offsetof(struct cpu_local, preempt_count))
			 : "memory");
	if (TRACE_UNLIKELY(wanted))
		trace_plat_preempt_schedule();
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_count(void)
{
	return TRACE_PLAT_LOCAL(preempt_count) & ~PREEMPT_NO_RESCHED;
}

static TRACE_ALWAYS_INLINE bool trace_plat_need_resched(void)
{
	return !(TRACE_PLAT_LOCAL(preempt_count) & PREEMPT_NO_RESCHED);
}

static TRACE_ALWAYS_INLINE uint32_t trace_plat_preempt_word(void)
{
	return TRACE_PLAT_LOCAL(preempt_count);
}

static TRACE_ALWAYS_INLINE bool trace_plat_irqs_disabled(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n\tpopq %0" : "=r"(flags));
	return !((uint32_t)flags & (1u << 9));
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_irq_save(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n\tpopq %0\n\tcli" : "=r"(flags) : : "memory");
	return flags;
}

static TRACE_ALWAYS_INLINE void trace_plat_irq_restore(uint64_t flags)
{
	if (flags & (1u << 9))
		__asm__ volatile("sti" : : : "memory");
}

static TRACE_ALWAYS_INLINE bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
							uint64_t old_hi, uint64_t new_lo,
							uint64_t new_hi)
{
	bool done;

	__asm__ volatile("cmpxchg16b %1"
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

static TRACE_ALWAYS_INLINE uint32_t trace_plat_recursion_word(void)
{
	return TRACE_PLAT_LOCAL(trace_recursion);
}

_Static_assert(offsetof(struct cpu_local, preempt_count) % 8 == 0 &&
		       offsetof(struct cpu_local, trace_recursion) ==
			       offsetof(struct cpu_local, preempt_count) + 4,
	       "two halves of one word");

static TRACE_ALWAYS_INLINE uint64_t trace_plat_context_word(void)
{
	uint64_t word;

	__asm__ volatile("movq %%gs:%c1, %0"
			 : "=r"(word)
			 : "i"(offsetof(struct cpu_local, preempt_count)));
	return word;
}

static TRACE_ALWAYS_INLINE bool trace_plat_recursion_set(uint32_t bit)
{
	bool was_set;

	__asm__ volatile("btsl %1, %%gs:%c2"
			 : "=@ccc"(was_set)
			 : "Ir"(bit), "i"(offsetof(struct cpu_local, trace_recursion))
			 : "memory");
	return !was_set;
}

static TRACE_ALWAYS_INLINE void trace_plat_recursion_clear(uint32_t bit)
{
	__asm__ volatile("btrl %0, %%gs:%c1"
			 :
			 : "Ir"(bit), "i"(offsetof(struct cpu_local, trace_recursion))
			 : "memory", "cc");
}

static TRACE_ALWAYS_INLINE int32_t trace_plat_current_pid(void)
{
	return TRACE_PLAT_LOCAL(current_pid);
}

static TRACE_ALWAYS_INLINE struct trace_thread *trace_plat_current(void)
{
	return TRACE_PLAT_LOCAL(trace_thread);
}

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_stack_top(void)
{
	return TRACE_PLAT_LOCAL(kernel_stack_top);
}

/* All code lies in the top 2 GiB: the low half says it all. */
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

static TRACE_ALWAYS_INLINE uintptr_t trace_plat_return_lost(void)
{
	return (uintptr_t)trace_plat_lost;
}

#endif
