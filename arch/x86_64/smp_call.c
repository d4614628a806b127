/*
 * Calling functions on other CPUs, and the reschedule interrupt. See <arch/smp.h>.
 *
 * Each CPU has one request that it can send; its `left` has a bit for each CPU that has not run it
 * yet. Each CPU also has a word with the CPUs that have sent it a request:
 *
 *   sender 2:  requests[2] = {fn, arg, left = 0b1001}; incoming[0] |= 1 << 2; incoming[3] |= ...
 *   CPU 0:     takes incoming[0]; runs requests[2]; requests[2].left &= ~1
 *
 * A CPU goes offline while others may have seen it online, and are about to send it a request. So each
 * says when it sends: the CPU that has cleared its bit answers until it has seen none of them send.
 *
 * Locking: none. The sender (a thread with preemption off) changes its request only while `left`
 *          is 0.
 */
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include <kernel/upcall.h>
#include <stdatomic.h>
#include <trace/events/ipi.h>
#include <trace/events/irq_vectors.h>
#include <trace/platform.h>

/* For events: the return address of the function that uses this. */
#define SENDER_IP ((unsigned long)__builtin_return_address(0))

struct request {
	void (*fn)(void *arg);
	void *arg;
	_Atomic uint64_t left;
	_Atomic bool is_sending; /* its CPU has read the online mask, and still acts on it */
} __attribute__((aligned(64)));

struct incoming {
	_Atomic uint64_t senders;
} __attribute__((aligned(64)));

static struct request requests[MAX_CPUS];
static struct incoming incoming[MAX_CPUS];

static void smp_serve_calls(uint32_t cpu)
{
	uint64_t senders = atomic_exchange(&incoming[cpu].senders, 0);

	while (senders) {
		struct request *request = &requests[__builtin_ctzll(senders)];

		senders &= senders - 1;
		request->fn(request->arg);
		atomic_fetch_and_explicit(&request->left, ~CPU_BIT(cpu), memory_order_release);
	}
}

void smp_serve_last_calls(void)
{
	uint32_t cpu = cpu_local_read(id);

	for (uint32_t other = 0; other < smp_nr_cpus(); other++) {
		while (other != cpu && atomic_load(&requests[other].is_sending)) {
			smp_serve_calls(cpu);
			arch_cpu_relax();
		}
	}
	smp_serve_calls(cpu);
}

static IRQ_ENTRY void call_interrupt(struct trap_frame *regs)
{
	(void)regs;
	irq_stats_count(SMP_IRQ_CALL);
	apic_eoi();
	trace_call_function_entry(APIC_VECTOR_CALL);
	smp_serve_calls(cpu_local_read(id));
	trace_call_function_exit(APIC_VECTOR_CALL);
}

static IRQ_ENTRY void smp_reschedule_interrupt(struct trap_frame *regs)
{
	(void)regs;
	irq_stats_count(SMP_IRQ_RESCHEDULE);
	apic_eoi();
	trace_reschedule_entry(APIC_VECTOR_RESCHEDULE);
	upcall_reschedule();
	trace_reschedule_exit(APIC_VECTOR_RESCHEDULE);
}

static uint64_t call_left(uint64_t cpu)
{
	return atomic_load_explicit(&requests[cpu].left, memory_order_acquire);
}

/* Preemption is off. */
static void smp_send_request(void (*fn)(void *arg), void *arg, uint64_t targets)
{
	uint32_t cpu = cpu_local_read(id);
	struct request *request = &requests[cpu];
	uint64_t mask;

	smp_wait(call_left, cpu, "an earlier call");
	request->fn = fn;
	request->arg = arg;
	atomic_store_explicit(&request->left, targets, memory_order_release);
	for (mask = targets; mask; mask &= mask - 1)
		atomic_fetch_or(&incoming[__builtin_ctzll(mask)].senders, CPU_BIT(cpu));
	smp_send_mask(targets, APIC_VECTOR_CALL);
}

static void call_here(void (*fn)(void *arg), void *arg)
{
	uint64_t flags = arch_irq_save();

	fn(arg);
	arch_irq_restore(flags);
}

/* Not in interrupts: one could overwrite a request that the interrupted thread is filling in. */
static void smp_assert_may_wait(void)
{
	ASSERT(!arch_irqs_disabled());
	ASSERT(!(trace_plat_preempt_count() &
		 (TRACE_NMI_MASK | TRACE_HARDIRQ_MASK | TRACE_SOFTIRQ_SERVING)));
}

/*
 * Preemption is off between the two. The flag is set before the online mask is read: so a CPU that
 * clears its bit, and then finds no flag, gets no request any more.
 */
static void smp_begin_sending(void)
{
	trace_plat_preempt_disable();
	atomic_store(&requests[cpu_local_read(id)].is_sending, true);
}

static void smp_end_sending(void)
{
	atomic_store_explicit(&requests[cpu_local_read(id)].is_sending, false,
			      memory_order_release);
	trace_plat_preempt_enable();
}

/* Those of `mask` that are online, without this one, get the request. Preemption is off. */
static TRACE_ALWAYS_INLINE uint64_t smp_call_others(uint64_t mask, void (*fn)(void *arg), void *arg)
{
	uint64_t others = atomic_load(&smp_online) & mask & ~CPU_BIT(cpu_local_read(id));

	if (others) {
		smp_assert_may_wait();
		trace_ipi_send_cpumask(&others, SENDER_IP, (void *)fn);
		smp_send_request(fn, arg, others);
	}
	return others;
}

void on_each_cpu(void (*fn)(void *arg), void *arg, bool wait)
{
	uint64_t others;

	smp_begin_sending();
	others = smp_call_others(UINT64_MAX, fn, arg);
	call_here(fn, arg);
	if (others && wait)
		smp_wait(call_left, cpu_local_read(id), "call");
	smp_end_sending();
}

void smp_call_function_many(uint64_t mask, void (*fn)(void *arg), void *arg, bool wait)
{
	smp_begin_sending();
	if (smp_call_others(mask, fn, arg) && wait)
		smp_wait(call_left, cpu_local_read(id), "call");
	smp_end_sending();
}

int smp_call_function_single(uint32_t cpu, void (*fn)(void *arg), void *arg)
{
	int err = 0;

	smp_begin_sending();
	if (cpu == cpu_local_read(id)) {
		call_here(fn, arg);
	} else if (smp_cpu_online(cpu)) {
		smp_assert_may_wait();
		trace_ipi_send_cpu(cpu, SENDER_IP, (void *)fn);
		smp_send_request(fn, arg, CPU_BIT(cpu));
		smp_wait(call_left, cpu_local_read(id), "call");
	} else {
		err = -ENODEV;
	}
	smp_end_sending();
	return err;
}

void smp_send_reschedule(uint32_t cpu)
{
	if (!smp_cpu_online(cpu))
		return;
	trace_ipi_send_cpu(cpu, SENDER_IP, NULL);
	apic_send_ipi(cpu_local_of(cpu)->apic_id, APIC_VECTOR_RESCHEDULE);
}

void smp_call_init(void)
{
	arch_irq_register(APIC_VECTOR_CALL, call_interrupt);
	arch_irq_register(APIC_VECTOR_RESCHEDULE, smp_reschedule_interrupt);
}
