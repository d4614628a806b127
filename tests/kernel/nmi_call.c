/* Calls by NMI: see nmi_call.h. Without call sites, because tests count the calls in NMIs. */
#include <stdatomic.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/smp.h>
#include <arch/trap.h>
#include <arch/tsc.h>
#include <trace/platform.h>
#include "nmi_call.h"

#define CALL_NS 2000000000ull

#define NOBODY	UINT32_MAX
#define CLAIMED 0x80000000u

/*
 * One call at a time. `target` is the CPU that is asked. It claims the call, or the caller takes
 * the call back: by a compare-exchange, so that only one of them can. The caller waits for a call
 * that is claimed until `target` is NOBODY, because its function may use the caller's stack.
 */
static struct {
	_Atomic uint32_t busy;
	_Atomic uint32_t target; /* a CPU, that CPU | CLAIMED, or NOBODY */
	void (*fn)(const struct trap_frame *regs, void *arg);
	void *arg;
	/* the kernel's handler, for other NMIs; NULL before the first call */
	_Atomic trap_fn kernels;
} nmi_call = { .target = NOBODY };

static bool answer_call(uint32_t cpu, const struct trap_frame *regs)
{
	uint32_t expected = cpu;

	if (!atomic_compare_exchange_strong(&nmi_call.target, &expected, cpu | CLAIMED))
		return false;
	nmi_call.fn(regs, nmi_call.arg);
	atomic_store_explicit(&nmi_call.target, NOBODY, memory_order_release);
	return true;
}

static void answer_nmi(struct trap_frame *regs)
{
	trap_fn kernels = atomic_load(&nmi_call.kernels);

	if (!answer_call(cpu_local_read(id), regs) && kernels)
		kernels(regs);
}

static bool take_back_call(uint32_t cpu)
{
	uint32_t expected = cpu;

	return atomic_compare_exchange_strong(&nmi_call.target, &expected, NOBODY);
}

/* True when `cpu` ran the function. Once that has begun, this waits for its end without limit. */
static bool call_one(uint32_t cpu)
{
	uint64_t patience = tsc_cycles_of_ns(CALL_NS), start = rdtsc();

	atomic_store_explicit(&nmi_call.target, cpu, memory_order_release);
	apic_send_nmi(cpu_local_of(cpu)->apic_id);
	while (atomic_load_explicit(&nmi_call.target, memory_order_acquire) != NOBODY) {
		arch_cpu_relax();
		if (rdtsc() - start > patience && take_back_call(cpu))
			return false;
	}
	return true;
}

uint32_t nmi_call_others(void (*fn)(const struct trap_frame *regs, void *arg), void *arg)
{
	uint32_t nr = 0;
	uint64_t mask;

	trace_plat_preempt_disable();
	while (atomic_exchange_explicit(&nmi_call.busy, 1, memory_order_acquire))
		arch_cpu_relax();
	nmi_call.fn = fn;
	nmi_call.arg = arg;
	atomic_store(&nmi_call.kernels, arch_nmi_register(answer_nmi));
	mask = smp_online_mask() & ~(1ull << cpu_local_read(id));
	for (; mask; mask &= mask - 1)
		nr += call_one((uint32_t)__builtin_ctzll(mask));
	arch_nmi_register(atomic_load(&nmi_call.kernels));
	atomic_store_explicit(&nmi_call.busy, 0, memory_order_release);
	trace_plat_preempt_enable();
	return nr;
}
