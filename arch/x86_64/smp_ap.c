/*
 * An AP's way from boot/ap_start.asm to kernel/. This file has no call sites, because text may be
 * changed before the AP is online. <arch/smp.h> says how it comes online.
 */
#include "smp_priv.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/timer.h>
#include <arch/tsc.h>
#include <kernel/upcall.h>
#include <stdatomic.h>
#include <trace/arch_watch.h>

_Atomic uint32_t smp_ap_state;

/*
 * The other way: this CPU leaves the online mask, and with the lock dropped text may change without
 * it. Interrupts are on while it waits for the lock, because its holder may wait for this CPU.
 */
static void smp_ap_go_offline(uint32_t cpu)
{
	arch_irq_disable_raw();
	while (!smp_hotplug_trylock()) {
		arch_irq_enable_raw();
		while (smp_hotplug_is_held())
			arch_cpu_relax();
		arch_irq_disable_raw();
	}
	atomic_fetch_or(&smp_leaving, CPU_BIT(cpu));
	atomic_fetch_and(&smp_online, ~CPU_BIT(cpu));
	smp_serve_last_calls();
	smp_hotplug_unlock();
	/* The last: from here on the CPU may be reset and started again. */
	atomic_fetch_and(&smp_leaving, ~CPU_BIT(cpu));
}

static void go_online(uint32_t cpu)
{
	smp_hotplug_lock_raw();
	atomic_fetch_or(&smp_online, CPU_BIT(cpu));
	smp_sync_self();
	trace_watch_cpu_online();
	smp_hotplug_unlock();
}

/*
 * The part in which text may be changed without this CPU taking part. tools/probe-roots names this
 * function, so that a check finds call sites in all that it calls.
 */
static TRACE_NOINLINE void smp_ap_come_online(uint32_t cpu)
{
	uint32_t expected = AP_STARTING;

	cpu_load(cpu);
	apic_init_cpu();
	if (!atomic_compare_exchange_strong(&smp_ap_state, &expected, AP_ALIVE))
		arch_halt_forever(); /* too late: the boot CPU has given up on it */
	tsc_sync_ap(cpu);
	go_online(cpu);
}

void smp_ap_entry(uint64_t cpu)
{
	smp_ap_come_online((uint32_t)cpu);
	/* From here on traced functions may be called. */
	arch_timer_init_cpu();
	upcall_ap_main((uint32_t)cpu);
	smp_ap_go_offline((uint32_t)cpu);
	arch_halt_forever();
}
