/* The CPUs: how they start, and the interrupt by which one CPU reaches all others. */
#include <stdatomic.h>
#include <trace/platform.h>
#include "smp.h"

#define APIC	     0xfee00000ul
#define APIC_EOI     0x0b0
#define APIC_ENABLE  0x0f0
#define APIC_COMMAND 0x300
#define TO_OTHERS    0x000c4000u
#define INIT	     0x00000500u
#define STARTUP	     0x00000600u
#define AP_START     0x8000u /* boot.asm */
#define VECTOR	     0x40u
#define MSR_GS_BASE  0xc0000101u

#define INIT_NS 10000000u

struct smp_cpu smp_cpus[MAX_CPUS];
_Atomic uint32_t smp_nr_cpus;

static volatile uint32_t *apic(uint32_t reg)
{
	return (volatile uint32_t *)(APIC + reg);
}

/* ---- Interrupts: int3, and the one between CPUs ---- */

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, zero;
};

static struct gate idt[VECTOR + 1];

static struct gate gate_to(void (*entry)(void))
{
	uintptr_t addr = (uintptr_t)entry;

	return (struct gate){ .offset_low = (uint16_t)addr,
			      .offset_middle = (uint16_t)(addr >> 16),
			      .selector = 8,
			      .type = 0x8e /* an interrupt gate */ };
}

void interrupts_init(void)
{
	idt[3] = gate_to(breakpoint);
	idt[VECTOR] = gate_to(interrupt);
}

void on_interrupt(void)
{
	*apic(APIC_EOI) = 0;
	patch_interrupted();
}

void interrupt_others(void)
{
	*apic(APIC_COMMAND) = TO_OTHERS | VECTOR;
}

/* ---- Start ---- */

/*
 * Runs on the CPU that it is for. Traced functions must not be called before: they need the GS
 * base.
 */
void cpu_init(uint32_t id)
{
	struct smp_cpu *cpu = &smp_cpus[id];
	uintptr_t base = (uintptr_t)cpu;
	struct __attribute__((packed)) {
		uint16_t limit;
		uintptr_t base;
	} pointer = { sizeof(idt) - 1, (uintptr_t)idt };

	cpu->self = cpu;
	cpu->id = id;
	__asm__ volatile("wrmsr" : : "c"(MSR_GS_BASE), "a"((uint32_t)base), "d"(base >> 32));
	__asm__ volatile("lidt %0" : : "m"(pointer));
	*apic(APIC_ENABLE) = 0x1ff;
	smp_nr_cpus++;
	__asm__ volatile("sti");
}

void cpus_start(void)
{
	uint32_t nr = machine_nr_cpus();

	memcpy((void *)(uintptr_t)AP_START, ap_start, (size_t)(ap_start_end - ap_start));
	*apic(APIC_COMMAND) = TO_OTHERS | INIT;
	trace_plat_pause(INIT_NS, false);
	*apic(APIC_COMMAND) = TO_OTHERS | STARTUP | AP_START >> 12;
	while (smp_nr_cpus < (nr < MAX_CPUS ? nr : MAX_CPUS))
		__asm__ volatile("pause");
}
