/*
 * The inline functions that <trace/platform.h> asks for, where the contracts are. Those that are
 * the same on every x86-64 host are in <trace/arch_inline.h>.
 *
 * Context:   probes. All data is the running CPU's, behind GS; nothing can fault, block or be
 *            traced.
 *
 * Locking:   none: one instruction, or preemption off.
 * Ownership: struct cpu_local belongs to its CPU.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <arch/cpu_local.h>
#include <trace/arch_inline.h>
#include <trace/arch_read.h>

/*
 * A field of this CPU, to be read with preemption off. It is not volatile, so the compiler may load
 * it once for several readers. That is enough: with preemption off only an interrupt can change
 * these fields, and it restores them. Turning preemption on and off are barriers.
 */
#define TRACE_PLAT_LOCAL(field) (((const struct cpu_local __seg_gs *)0)->field)

/* In kernel/: called when the preempt depth reached 0 with a reschedule wanted. Not traced. */
void trace_plat_preempt_schedule(void);

static TRACE_ALWAYS_INLINE uint32_t trace_plat_cpu_id(void)
{
	return TRACE_PLAT_LOCAL(id);
}

static TRACE_ALWAYS_INLINE uint64_t trace_plat_clock_ns(void)
{
	uint64_t cycles = trace_plat_cycles() - TRACE_PLAT_LOCAL(tsc_base);
	unsigned __int128 product = (unsigned __int128)cycles * TRACE_PLAT_LOCAL(tsc_mult);
	uint64_t ns = (uint64_t)(product >> 32);

	/*
	 * Tell gcc that this is one value of 64 bits. It would carry both halves of the product
	 * on, which costs 8 instructions.
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

#define TRACE_PLAT_HAS_PREEMPT_ENABLE_IRQS_OFF
static TRACE_ALWAYS_INLINE void trace_plat_preempt_enable_irqs_off(void)
{
	__asm__ volatile("decl %%gs:%c0"
			 :
			 : "i"(offsetof(struct cpu_local, preempt_count))
			 : "memory", "cc");
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

/*
 * One test of what lies around the border of the two words: bytes 1 to 3 of the preempt count, and
 * the first of the recursion word.
 */
#define TRACE_PLAT_HAS_FREE_THREAD
static TRACE_ALWAYS_INLINE bool trace_plat_is_free_thread(uint32_t kind)
{
	bool is_free;

	__asm__ volatile("testl %1, %%gs:%c2"
			 : "=@ccz"(is_free)
			 : "i"((TRACE_NMI_MASK | TRACE_HARDIRQ_MASK | TRACE_SOFTIRQ_SERVING) >> 8 |
			       1u << 24 << kind),
			   "i"(offsetof(struct cpu_local, preempt_count) + 1)
			 : "memory");
	return is_free;
}

#define TRACE_PLAT_HAS_READ_WORD
static TRACE_ALWAYS_INLINE bool trace_plat_read_word(uint64_t *to, const void *from)
{
	return trace_arch_read_word(to, from);
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

#endif
