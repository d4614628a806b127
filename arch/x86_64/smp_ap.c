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
}
