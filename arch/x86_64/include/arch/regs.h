/*
 * Control registers, model-specific registers, CPUID, the time-stamp counter.
 *
 * Context: any; all inline, none is traced.
 */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#include <stdint.h>
#include <trace/compiler.h>

#define CR0_MP	       (1ull << 1)
#define CR0_EM	       (1ull << 2)
#define CR0_TS	       (1ull << 3)
#define CR0_NE	       (1ull << 5)
#define CR0_WP	       (1ull << 16)
#define CR4_PAE	       (1ull << 5)
#define CR4_PGE	       (1ull << 7)
#define CR4_OSFXSR     (1ull << 9)
#define CR4_OSXMMEXCPT (1ull << 10)
#define CR4_UMIP       (1ull << 11)
#define CR4_OSXSAVE    (1ull << 18)
#define CR4_SMEP       (1ull << 20)
#define CR4_SMAP       (1ull << 21)
#define EFER_SCE       (1ull << 0)
#define EFER_LME       (1ull << 8)
#define EFER_NXE       (1ull << 11)

#define MSR_APIC_BASE	 0x1bu
#define MSR_SYSENTER_CS	 0x174u
#define MSR_TSC_DEADLINE 0x6e0u
#define MSR_X2APIC	 0x800u
#define MSR_EFER	 0xc0000080u
#define MSR_STAR	 0xc0000081u /* selectors of SYSCALL and SYSRET */
#define MSR_LSTAR	 0xc0000082u /* where SYSCALL goes */
#define MSR_SFMASK	 0xc0000084u /* flags that SYSCALL clears */
#define MSR_FS_BASE	 0xc0000100u
#define MSR_GS_BASE	 0xc0000101u
#define MSR_USER_GS_BASE 0xc0000102u /* the other base of SWAPGS: in the kernel, the program's */

static TRACE_ALWAYS_INLINE uint64_t rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (uint64_t)hi << 32 | lo;
}
static TRACE_ALWAYS_INLINE void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr"
			 :
			 : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
			 : "memory");
}

static TRACE_ALWAYS_INLINE uint64_t rdtsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}
/* Read after all earlier loads: without LFENCE a CPU may read it ahead (SDM volume 2, RDTSC). */
static TRACE_ALWAYS_INLINE uint64_t rdtsc_ordered(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

struct cpuid_result {
	uint32_t eax, ebx, ecx, edx;
};
static TRACE_ALWAYS_INLINE struct cpuid_result cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid_result r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(subleaf));
	return r;
}

#define ARCH_CR_ACCESSORS(reg)                                                                     \
	static TRACE_ALWAYS_INLINE uint64_t read_##reg(void)                                       \
	{                                                                                          \
		uint64_t value;                                                                    \
		__asm__ volatile("mov %%" #reg ", %0" : "=r"(value) : : "memory");                 \
		return value;                                                                      \
	}                                                                                          \
	static TRACE_ALWAYS_INLINE void write_##reg(uint64_t value)                                \
	{                                                                                          \
		__asm__ volatile("mov %0, %%" #reg : : "r"(value) : "memory");                     \
	}
ARCH_CR_ACCESSORS(cr0)
ARCH_CR_ACCESSORS(cr2)
ARCH_CR_ACCESSORS(cr3)
ARCH_CR_ACCESSORS(cr4)

#endif
