/*
 * The CPUs: their start, and the interrupts by which one CPU reaches all others and each switches
 * its threads.
 */
#include <stdatomic.h>
#include <trace/arch_int3.h>
#include <trace/platform.h>
#include "smp.h"

#define APIC	     0xfee00000ul
#define APIC_EOI     0x0b0
#define APIC_ENABLE  0x0f0
#define APIC_COMMAND 0x300
#define APIC_TIMER   0x320
#define APIC_COUNT   0x380
#define APIC_DIVIDE  0x3e0
#define BY_ONE	     0xbu
#define PERIODIC     0x00020000u
#define TICK	     200000u /* of the bus: 0.2 ms in QEMU */
#define TO_OTHERS    0x000c4000u
#define INIT	     0x00000500u
#define STARTUP	     0x00000600u
#define AP_START     0x8000u /* boot.asm */
#define CALL_VECTOR  0x40u
#define TIMER_VECTOR 0x41u
#define MSR_GS_BASE  0xc0000101u

#define INIT_NS 10000000u

struct smp_cpu smp_cpus[SMP_MAX_CPUS];
_Atomic uint32_t smp_nr_cpus;

static volatile uint32_t *apic(uint32_t reg)
{
	return (volatile uint32_t *)(APIC + reg);
}

/* ---- Interrupts: int3, the timer, and the one between CPUs ---- */

struct gate {
	uint16_t offset_low, selector;
	uint8_t ist, type;
	uint16_t offset_middle;
	uint32_t offset_high, zero;
};

static struct gate idt[TIMER_VECTOR + 1];

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
	idt[3] = gate_to(trace_int3_entry);
	idt[CALL_VECTOR] = gate_to(call_entry);
	idt[TIMER_VECTOR] = gate_to(timer_entry);
}

/* The switch of threads is outside of what counts as an interrupt: the next thread may not be in one. */
void on_timer(uintptr_t rip)
{
	trace_irq_enter();
	*apic(APIC_EOI) = 0;
	trace_irq_exit();
	thread_tick(rip);
}

void timer_start(void)
{
	*apic(APIC_DIVIDE) = BY_ONE;
	*apic(APIC_TIMER) = PERIODIC | TIMER_VECTOR;
	*apic(APIC_COUNT) = TICK;
}

/* ---- Calls: the first CPU has the others call a function, one at a time ---- */

static void (*called)(void *arg);
static void *called_arg;
static _Atomic uint32_t nr_called;

void on_call(void)
{
	trace_irq_enter();
	called(called_arg);
	*apic(APIC_EOI) = 0;
	trace_irq_exit();
	nr_called++;
}

void call_begin(void (*fn)(void *arg), void *arg)
{
	called = fn;
	called_arg = arg;
	nr_called = 0;
	*apic(APIC_COMMAND) = TO_OTHERS | CALL_VECTOR;
}

void call_end(void)
{
	while (nr_called < smp_nr_cpus - 1)
		__asm__ volatile("pause");
}

/* ---- Start ---- */

/*
 * Runs on the CPU that it is for. Traced functions must not be called before: they need the GS
 * base.
 */
void cpu_init(uint32_t id)
{
	uintptr_t base = (uintptr_t)&smp_cpus[id];
	struct __attribute__((packed)) {
		uint16_t limit;
		uintptr_t base;
	} pointer = { sizeof(idt) - 1, (uintptr_t)idt };

	threads_init(id);
	__asm__ volatile("wrmsr" : : "c"(MSR_GS_BASE), "a"((uint32_t)base), "d"(base >> 32));
	__asm__ volatile("lidt %0" : : "m"(pointer));
	*apic(APIC_ENABLE) = 0x1ff;
	smp_nr_cpus++;
	__asm__ volatile("sti");
}

void cpus_start(void)
{
	memcpy((void *)(uintptr_t)AP_START, ap_start, (size_t)(ap_start_end - ap_start));
	*apic(APIC_COMMAND) = TO_OTHERS | INIT;
	trace_plat_pause(INIT_NS, false);
	*apic(APIC_COMMAND) = TO_OTHERS | STARTUP | AP_START >> 12;
	while (smp_nr_cpus < machine_nr_cpus())
		__asm__ volatile("pause");
}
