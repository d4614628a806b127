/*
 * Numbering and starting the other CPUs. See <arch/smp.h>.
 */
#include "ap_start.h"
#include "irq_stats.h"
#include "smp_priv.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/memory.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/timer.h>
#include <arch/tsc.h>
#include <kernel/upcall.h>
#include <stdatomic.h>

#define INIT_TO_STARTUP_NS 10000ull
#define RESET_NS	   1000000ull /* an INIT has taken effect by then */
#define NUDGE_NS	   10000ull
#define FIRST_STARTUP_NS   10000000ull /* after this the startup message is sent again */
#define ANSWER_NS	   5000000000ull
#define ONLINE_NS	   30000000000ull
#define MAX_XAPIC_ID	   254

/* Fixed by smp_init(). */
static uint32_t nr_cpus = 1;
static uint32_t nr_to_start; /* the boot CPU included */
static uint32_t apic_ids[MAX_CPUS];

uint32_t smp_nr_cpus(void)
{
	return nr_cpus;
}

uint32_t smp_nr_online(void)
{
	uint64_t mask;
	uint32_t nr = 0;

	for (mask = atomic_load(&smp_online); mask; mask &= mask - 1)
		nr++;
	return nr;
}

const char *smp_irq_name(enum smp_irq_kind kind)
{
	static const char *const names[SMP_IRQ_NR_KINDS] = {
		[SMP_IRQ_TIMER] = "timer",   [SMP_IRQ_RESCHEDULE] = "reschedule",
		[SMP_IRQ_CALL] = "call",     [SMP_IRQ_SYNC] = "sync",
		[SMP_IRQ_NMI] = "NMI",	     [SMP_IRQ_UART] = "uart",
		[SMP_IRQ_DEVICE] = "device", [SMP_IRQ_SPURIOUS] = "spurious",
	};

	return names[kind];
}

uint64_t smp_irq_count(uint32_t cpu, enum smp_irq_kind kind)
{
	return cpu < MAX_CPUS ? irq_stats[cpu].counts[kind] : 0;
}

static bool smp_is_reachable(uint32_t apic_id)
{
	return apic_is_x2apic() || apic_id <= MAX_XAPIC_ID;
}

void smp_init(unsigned long max_cpus)
{
	const struct acpi_info *info = acpi_info();
	uint32_t i, left_out = 0;

	apic_ids[0] = apic_read_id();
	cpu_local_of(0)->apic_id = apic_ids[0];
	for (i = 0; i < info->nr_cpus; i++) {
		if (info->apic_ids[i] == apic_ids[0])
			continue;
		if (nr_cpus < MAX_CPUS && smp_is_reachable(info->apic_ids[i]))
			apic_ids[nr_cpus++] = info->apic_ids[i];
		else
			left_out++;
	}
	nr_to_start = max_cpus < nr_cpus ? (uint32_t)max_cpus : nr_cpus;
	smp_sync_init();
	smp_call_init();
	smp_nmi_init();
	pr_info("SMP: %u CPUs, %u left out\n", nr_cpus, left_out);
}

/* Get memory for a CPU that is to be started, and fill in its parameters. */
static int smp_prepare(uint32_t cpu)
{
	int err = cpu_prepare(cpu, apic_ids[cpu]);

	if (!err)
		err = upcall_ap_prepare(cpu, cpu_local_of(cpu));
	if (!err)
		tsc_prepare_cpu(cpu);
	return err;
}

/* Wait until the AP says that it is alive; false when `ns` pass before. */
static bool smp_wait_alive(uint64_t ns)
{
	uint64_t patience = tsc_cycles_of_ns(ns), start = rdtsc();

	while (atomic_load(&smp_ap_state) != AP_ALIVE) {
		if (rdtsc() - start > patience)
			return false;
		arch_cpu_relax();
	}
	return true;
}

static bool smp_wait_online(uint32_t cpu)
{
	uint64_t patience = tsc_cycles_of_ns(ONLINE_NS), start = rdtsc();

	while (!smp_cpu_online(cpu)) {
		if (rdtsc() - start > patience)
			return false;
		arch_cpu_relax();
	}
	return true;
}

/*
 * Send INIT and up to two startup messages (Intel SDM volume 3, "MP Initialization"). False when
 * the CPU did not answer.
 */
static bool smp_wake(uint32_t apic_id, uint8_t page)
{
	uint32_t expected = AP_STARTING;

	atomic_store(&smp_ap_state, AP_STARTING);
	apic_send_init(apic_id);
	tsc_delay_ns(INIT_TO_STARTUP_NS);
	/*
	 * Under QEMU's -icount, time jumps to the next timer event as a CPU starts. Keep that
	 * near.
	 */
	arch_timer_nudge(NUDGE_NS);
	apic_send_startup(apic_id, page);
	if (smp_wait_alive(FIRST_STARTUP_NS))
		return true;
	apic_send_startup(apic_id, page);
	if (smp_wait_alive(ANSWER_NS))
		return true;
	if (!atomic_compare_exchange_strong(&smp_ap_state, &expected, AP_LEFT_OUT))
		return true;	 /* it came alive at the last moment */
	apic_send_init(apic_id); /* stop it, wherever it may be */
	return false;
}

/*
 * Reset a CPU that hangs in its start, so that it does not get in the way of the next one. It may
 * be coming online at this very moment.
 */
static void smp_stop_late(uint32_t cpu)
{
	apic_send_init(apic_ids[cpu]);
	tsc_delay_ns(RESET_NS);
	smp_forget(cpu);
}

static bool smp_start_one(uint32_t cpu, uint8_t page, struct ap_params *params)
{
	const struct cpu_local *local = cpu_local_of(cpu);
	bool is_alive;

	if (smp_prepare(cpu) != 0) {
		pr_err("SMP: no memory for CPU %u\n", cpu);
		return false;
	}
	tsc_sync_prepare();
	params->apic_id = apic_ids[cpu];
	params->stack_top = local->kernel_stack_top;
	params->cpu = cpu;
	atomic_store((_Atomic uint32_t *)&params->is_armed, 1);
	is_alive = smp_wake(apic_ids[cpu], page);
	atomic_store((_Atomic uint32_t *)&params->is_armed, 0);
	if (!is_alive) {
		pr_err("SMP: CPU %u (APIC id %u) does not answer, left out\n", cpu, apic_ids[cpu]);
		return false;
	}
	if (!tsc_sync_boot_cpu(cpu) || !smp_wait_online(cpu)) {
		pr_err("SMP: CPU %u (APIC id %u) hangs in its start\n", cpu, apic_ids[cpu]);
		if (!smp_cpu_online(cpu))
			smp_stop_late(cpu);
		return false;
	}
	if (tsc_skew_ns(cpu) != 0)
		pr_info("TSC: CPU %u is off by %lld ns, corrected\n", cpu,
			(long long)tsc_skew_ns(cpu));
	return true;
}

/* Make the page that CPUs start from. Its number, for the startup message; 0: there is none. */
static uint8_t smp_open_page(struct ap_params **out_params)
{
	uint64_t phys = memory_low_page();
	uint8_t *code = arch_phys_to_virt(phys);

	if (!phys) {
		pr_err("SMP: no page below 640 KiB to start CPUs from\n");
		return 0;
	}
	for (size_t i = 0; i < ap_start_bytes; i++)
		code[i] = ap_start[i];
	*out_params = (struct ap_params *)(code + AP_PARAMS_OFFSET);
	**out_params = (struct ap_params){ .root = (uint32_t)arch_ap_root_open(phys),
					   .kernel_root = paging_kernel_root() };
	return (uint8_t)(phys >> 12);
}

uint32_t smp_start_all(void)
{
	struct ap_params *params;
	uint8_t page = nr_to_start > 1 ? smp_open_page(&params) : 0;

	if (!page)
		return 1;
	for (uint32_t cpu = 1; cpu < nr_to_start; cpu++)
		smp_start_one(cpu, page, params);
	arch_ap_root_close();
	pr_info("SMP: %u of %u CPUs online\n", smp_nr_online(), nr_cpus);
	return smp_nr_online();
}

int smp_start_cpu(uint32_t cpu)
{
	struct ap_params *params;
	uint8_t page = smp_open_page(&params);
	bool is_online = page && smp_start_one(cpu, page, params);

	if (page)
		arch_ap_root_close();
	return is_online ? 0 : -EIO;
}
