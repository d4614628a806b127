/*
 * Registers of the local APIC, by their xAPIC offsets (Intel SDM volume 3, "Local APIC Register
 * Address Map"), and access to them on this machine.
 *
 * Context: any, NMI included; not traced.
 */
#ifndef APIC_REGS_H
#define APIC_REGS_H

#include <arch/cpu.h>
#include <stdbool.h>
#include <stdint.h>

#define APIC_ID		   0x20u
#define APIC_VERSION	   0x30u
#define APIC_TPR	   0x80u
#define APIC_EOI	   0xb0u
#define APIC_SVR	   0xf0u
#define APIC_ESR	   0x280u
#define APIC_ICR	   0x300u
#define APIC_ICR_HIGH	   0x310u
#define APIC_LVT_TIMER	   0x320u
#define APIC_LVT_THERMAL   0x330u
#define APIC_LVT_PERF	   0x340u
#define APIC_LVT_LINT0	   0x350u
#define APIC_LVT_LINT1	   0x360u
#define APIC_LVT_ERROR	   0x370u
#define APIC_TIMER_INITIAL 0x380u
#define APIC_TIMER_CURRENT 0x390u
#define APIC_TIMER_DIVIDE  0x3e0u

#define APIC_BASE_ENABLE 0x800ull
#define APIC_BASE_X2APIC 0x400ull
#define APIC_BASE_ADDR	 0x000ffffffffff000ull

#define APIC_SVR_ENABLE 0x100u

#define APIC_DELIVER_NMI     0x400u
#define APIC_DELIVER_INIT    0x500u
#define APIC_DELIVER_STARTUP 0x600u
#define APIC_ICR_BUSY	     0x1000u
#define APIC_ICR_ASSERT	     0x4000u
#define APIC_ICR_ALL_OTHERS  0xc0000u

#define APIC_LVT_MASKED	      0x10000u
#define APIC_LVT_TSC_DEADLINE 0x40000u

#define APIC_DIVIDE_BY_16 0x3u

/* The access to registers; constant after apic_init(). */
struct apic_access {
	volatile uint32_t *regs; /* of the xAPIC */
	bool is_x2apic;		 /* by MSRs instead: MSR_X2APIC + offset / 16 */
	uint32_t nmi_pin;	 /* LVT register of the CPU's NMI input; 0: none */
};
extern struct apic_access apic_access;

static TRACE_ALWAYS_INLINE uint32_t apic_read(uint32_t reg)
{
	if (apic_access.is_x2apic)
		return (uint32_t)rdmsr(MSR_X2APIC + (reg >> 4));
	return apic_access.regs[reg / 4];
}

static TRACE_ALWAYS_INLINE void apic_write(uint32_t reg, uint32_t value)
{
	if (apic_access.is_x2apic)
		wrmsr(MSR_X2APIC + (reg >> 4), value);
	else
		apic_access.regs[reg / 4] = value;
}

#endif
