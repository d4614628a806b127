/*
 * The inline half of <trace/platform.h> on the build host: every thread of a test is a CPU.
 *
 * Context: any. See fake.h for what a test can set.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H

#include <stdatomic.h>
#include <trace/thread.h>
#include "trace_plat_regs.h"

#define FAKE_STACK_WORDS 512u

struct fake_cpu {
	uint32_t id;
	_Atomic uint32_t preempt_count;
	_Atomic uint64_t nr_quiescent; /* times preemption came back on */
	uint32_t recursion;
	struct trace_thread thread;	   /* of the running thread, if it has no pid */
	struct trace_thread *current;	   /* fake_run(); NULL: `thread` */
	uintptr_t stack[FAKE_STACK_WORDS]; /* return addresses; grows down */
	uint32_t stack_used;
	struct ftrace_regs returned; /* by the function that returns */
	uint64_t last_returned;	     /* what became of it */
	uintptr_t stack_top;	     /* of the running thread */
	int32_t pid;
	bool irqs_off;
	bool need_resched;
	bool is_offline;
};

/* The CPU of the running thread; CPU 0 until fake_bind(). */
extern _Thread_local struct fake_cpu *fake_this;

uint64_t fake_clock_read(void);
void fake_check_preempt_enable(uint32_t count);
extern void (*fake_on_preempt)(void);

static inline uint32_t trace_plat_cpu_id(void)
{
	return fake_this->id;
}

static inline uint64_t trace_plat_clock_ns(void)
{
	return fake_clock_read();
}

static inline uint64_t trace_plat_cycles(void)
{
	return fake_clock_read() * 3;
}

static inline void trace_plat_preempt_disable(void)
{
	atomic_fetch_add(&fake_this->preempt_count, 1);
	if (fake_on_preempt)
		fake_on_preempt();
}

static inline void trace_plat_preempt_enable(void)
{
	uint32_t count = atomic_fetch_sub(&fake_this->preempt_count, 1);

	fake_check_preempt_enable(count);
	if (count == 1)
		atomic_fetch_add(&fake_this->nr_quiescent, 1);
}

static inline uint32_t trace_plat_preempt_count(void)
{
	return atomic_load(&fake_this->preempt_count);
}

static inline bool trace_plat_need_resched(void)
{
	return fake_this->need_resched;
}

static inline bool trace_plat_irqs_disabled(void)
{
	return fake_this->irqs_off;
}

static inline uint64_t trace_plat_irq_save(void)
{
	uint64_t flags = fake_this->irqs_off;

	fake_this->irqs_off = true;
	return flags;
}

static inline void trace_plat_irq_restore(uint64_t flags)
{
	fake_this->irqs_off = flags != 0;
}

static inline bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
					   uint64_t old_hi, uint64_t new_lo, uint64_t new_hi)
{
	bool done;

	__asm__ volatile("cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*pair), "+a"(*old_lo), "+d"(old_hi)
			 : "b"(new_lo), "c"(new_hi)
			 : "memory");
	return done;
}

static inline void trace_plat_local_add(uint64_t *value, uint64_t delta)
{
	__atomic_fetch_add(value, delta, __ATOMIC_RELAXED);
}

static inline void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo, uint64_t hi)
{
	uint64_t before = __atomic_fetch_add(&value->lo, lo, __ATOMIC_RELAXED);

	__atomic_fetch_add(&value->hi, hi + (before + lo < lo), __ATOMIC_RELAXED);
}

static inline uint32_t trace_plat_recursion_word(void)
{
	return fake_this->recursion;
}

static inline bool trace_plat_recursion_set(uint32_t bit)
{
	bool was_set = fake_this->recursion >> bit & 1;

	fake_this->recursion |= 1u << bit;
	return !was_set;
}

static inline void trace_plat_recursion_clear(uint32_t bit)
{
	fake_this->recursion &= ~(1u << bit);
}

static inline uint32_t trace_plat_preempt_word(void)
{
	return atomic_load(&fake_this->preempt_count) | (fake_this->need_resched ? 0 : 0x80000000u);
}

static inline uint64_t trace_plat_context_word(void)
{
	return (uint64_t)fake_this->recursion << 32 | trace_plat_preempt_word();
}

static inline int32_t trace_plat_current_pid(void)
{
	return fake_this->pid;
}

static inline struct trace_thread *trace_plat_current(void)
{
	return fake_this->current ? fake_this->current : &fake_this->thread;
}

static inline uintptr_t trace_plat_stack_top(void)
{
	return fake_this->stack_top;
}

static inline uint32_t trace_plat_ip_pack(uintptr_t ip)
{
	return (uint32_t)ip;
}

static inline uintptr_t trace_plat_ip_unpack(uint32_t packed)
{
	return (uintptr_t)(intptr_t)(int32_t)packed;
}

static inline uintptr_t trace_plat_return_hook(void)
{
	return FAKE_RETURN_HOOK;
}

static inline uintptr_t trace_plat_return_value(const uintptr_t *slot)
{
	(void)slot;
	return fake_this->returned.value;
}

static inline struct ftrace_regs *trace_plat_return_regs(uintptr_t *slot)
{
	(void)slot;
	return &fake_this->returned;
}

static inline uintptr_t trace_plat_return_lost(void)
{
	return FAKE_RETURN_LOST;
}

#endif
