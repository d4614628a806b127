/*
 * Local APIC. See <arch/apic.h>.
 */
#include "apic_regs.h"
#include "ioapic.h"
#include "irq_stats.h"
#include "refuse.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/paging.h>
#include <arch/trap.h>

#define APIC_BYTES 0x1000

struct apic_access apic_access;

static void spurious_interrupt(struct trap_frame *regs)
{
	(void)regs; /* a spurious interrupt takes no EOI */
	irq_stats_count(SMP_IRQ_SPURIOUS);
}

static void error_interrupt(struct trap_frame *regs)
{
	uint32_t status;

	(void)regs;
	apic_write(APIC_ESR, 0);
	status = apic_read(APIC_ESR);
	apic_eoi();
	kernel_warning("APIC: error 0x%x on CPU %u\n", status, cpu_local_read(id));
}

bool apic_is_x2apic(void)
{
	return apic_access.is_x2apic;
}

uint32_t apic_read_id(void)
{
	uint32_t id = apic_read(APIC_ID);

	return apic_access.is_x2apic ? id : id >> 24;
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

/*
 * The xAPIC takes a command in two registers, of which writing the second one sends it. An
 * interrupt that sent something in between would change the first, so interrupts are off. An NMI
 * may send in between; it puts the first register back.
 */
static void send_xapic(uint32_t apic_id, uint32_t command)
{
	uint64_t flags = arch_irq_save();
	uint32_t high;

	while (apic_read(APIC_ICR) & APIC_ICR_BUSY)
		arch_cpu_relax();
	high = apic_read(APIC_ICR_HIGH);
	apic_write(APIC_ICR_HIGH, apic_id << 24);
	apic_write(APIC_ICR, command);
	apic_write(APIC_ICR_HIGH, high);
	arch_irq_restore(flags);
}

static void send(uint32_t apic_id, uint32_t command)
{
	if (!apic_access.is_x2apic) {
		send_xapic(apic_id, command);
		return;
	}
	/*
	 * Writing this MSR does not wait for earlier stores, which the other CPU shall see (Intel
	 * SDM volume 3, "MSR Access in x2APIC Mode").
	 */
	__asm__ volatile("mfence; lfence" : : : "memory");
	wrmsr(MSR_X2APIC + (APIC_ICR >> 4), (uint64_t)apic_id << 32 | command);
}

void apic_send_ipi(uint32_t apic_id, uint8_t vector)
{
	send(apic_id, APIC_ICR_ASSERT | vector);
}

void apic_send_ipi_others(uint8_t vector)
{
	send(0, APIC_ICR_ALL_OTHERS | APIC_ICR_ASSERT | vector);
}

void apic_send_nmi(uint32_t apic_id)
{
	send(apic_id, APIC_ICR_ASSERT | APIC_DELIVER_NMI);
}

void apic_send_init(uint32_t apic_id)
{
	send(apic_id, APIC_ICR_ASSERT | APIC_DELIVER_INIT);
}

void apic_send_startup(uint32_t apic_id, uint8_t page)
{
	send(apic_id, APIC_ICR_ASSERT | APIC_DELIVER_STARTUP | page);
}

void apic_timer_start(uint32_t count)
{
	apic_write(APIC_TIMER_INITIAL, count);
}

uint32_t apic_timer_count(void)
{
	return apic_read(APIC_TIMER_CURRENT);
}

void apic_timer_setup_oneshot(void)
{
	apic_write(APIC_TIMER_DIVIDE, APIC_DIVIDE_BY_16);
	apic_write(APIC_LVT_TIMER, APIC_VECTOR_TIMER);
	apic_write(APIC_TIMER_INITIAL, 0);
}

void apic_timer_setup_deadline(void)
{
	apic_write(APIC_LVT_TIMER, APIC_LVT_TSC_DEADLINE | APIC_VECTOR_TIMER);
	/*
	 * The mode must be set before the first deadline (Intel SDM volume 3, "TSC-Deadline
	 * Mode").
	 */
	__asm__ volatile("mfence" : : : "memory");
	wrmsr(MSR_TSC_DEADLINE, 0);
}

/*
 * A local APIC that is off is turned on as xAPIC first: only from there it goes into x2APIC mode.
 */
static void enable(void)
{
	uint64_t base = rdmsr(MSR_APIC_BASE);

	if (!(base & APIC_BASE_ENABLE))
		wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
	if (apic_access.is_x2apic && !(base & APIC_BASE_X2APIC))
		wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE | APIC_BASE_X2APIC);
}

void apic_init_cpu(void)
{
	uint32_t max_lvt;

	enable();
	max_lvt = apic_read(APIC_VERSION) >> 16 & 0xff;
	apic_write(APIC_TPR, 0);
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT0, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT1, APIC_LVT_MASKED);
	if (apic_access.nmi_pin)
		apic_write(apic_access.nmi_pin, APIC_DELIVER_NMI);
	if (max_lvt >= 4)
		apic_write(APIC_LVT_PERF, APIC_LVT_MASKED);
	if (max_lvt >= 5)
		apic_write(APIC_LVT_THERMAL, APIC_LVT_MASKED);
	apic_write(APIC_ESR, 0);
	apic_write(APIC_LVT_ERROR, APIC_VECTOR_ERROR);
	apic_write(APIC_SVR, APIC_SVR_ENABLE | APIC_VECTOR_SPURIOUS);
}

/* Map the registers of the xAPIC, at the address that the MADT names, or else the CPU. */
static int map_registers(void)
{
	uint64_t phys = acpi_info()->lapic_phys;

	if (apic_access.is_x2apic)
		return 0;
	if (!phys)
		phys = rdmsr(MSR_APIC_BASE) & APIC_BASE_ADDR;
	apic_access.regs = arch_map_device(phys, APIC_BYTES);
	return apic_access.regs ? 0 : -ENOMEM;
}

void apic_init(bool allow_x2apic)
{
	bool is_on;

	if (!cpu_features.apic)
		arch_refuse("this CPU has no local APIC");
	is_on = cpu_features.x2apic && rdmsr(MSR_APIC_BASE) & APIC_BASE_X2APIC;
	apic_access.is_x2apic = is_on || (cpu_features.x2apic && allow_x2apic);
	if (acpi_info()->has_lapic_nmi)
		apic_access.nmi_pin = acpi_info()->lapic_nmi_lint ? APIC_LVT_LINT1 : APIC_LVT_LINT0;
	if (map_registers() != 0)
		arch_refuse("no room to map the registers of the local APIC");
	if (acpi_info()->has_8259)
		pic_disable();
	apic_init_cpu();
	if (ioapic_init() != 0)
		arch_refuse("its firmware names no IO APIC (is ACPI off?)");
	arch_irq_register(APIC_VECTOR_SPURIOUS, spurious_interrupt);
	arch_irq_register(APIC_VECTOR_ERROR, error_interrupt);
	pr_info("APIC: %s, boot CPU has id %u\n", apic_access.is_x2apic ? "x2APIC" : "xAPIC",
		apic_read_id());
}
