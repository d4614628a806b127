/*
 * Single instructions of the CPU, and what CPUID says about it.
 *
 * Context: any; all inline, none is traced.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>

#define RFLAGS_IF 0x200ull
#define RFLAGS_TF 0x100ull

#define CR0_WP	 (1ull << 16)
#define CR4_PAE	 (1ull << 5)
#define CR4_PGE	 (1ull << 7)
#define EFER_LME (1ull << 8)
#define EFER_NXE (1ull << 11)

#define MSR_APIC_BASE	 0x1bu
#define MSR_TSC_DEADLINE 0x6e0u
#define MSR_X2APIC	 0x800u
#define MSR_PAT		 0x277u
#define MSR_EFER	 0xc0000080u
#define MSR_FS_BASE	 0xc0000100u
#define MSR_GS_BASE	 0xc0000101u

/* What this kernel uses; found once on the boot CPU, constant afterwards. */
struct cpu_features {
	char vendor[13];
	char brand[49];
	uint32_t max_leaf;
	uint32_t max_ext_leaf;
	bool apic;
	bool x2apic;
	bool tsc_deadline;
	bool invariant_tsc;
	bool rdtscp;
	bool serialize;
	bool hypervisor;
	bool cx16;
	bool pages_1g;
	bool arat; /* APIC timer runs in all sleep states */
};
extern struct cpu_features cpu_features;
/* Fill cpu_features. Boot CPU. */
void cpu_features_init(void);

static TRACE_ALWAYS_INLINE void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE void outw(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE void outl(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}
static TRACE_ALWAYS_INLINE uint16_t inw(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}
static TRACE_ALWAYS_INLINE uint32_t inl(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

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
/* Not before every earlier load is done. */
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

static TRACE_ALWAYS_INLINE uint64_t arch_irq_flags(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	return flags;
}
static TRACE_ALWAYS_INLINE bool arch_irqs_disabled(void)
{
	return !(arch_irq_flags() & RFLAGS_IF);
}
static TRACE_ALWAYS_INLINE void arch_irq_disable(void)
{
	__asm__ volatile("cli" : : : "memory");
}
static TRACE_ALWAYS_INLINE void arch_irq_enable(void)
{
	__asm__ volatile("sti" : : : "memory");
}
/* Interrupts off; returns what arch_irq_restore() needs. */
static TRACE_ALWAYS_INLINE uint64_t arch_irq_save(void)
{
	uint64_t flags = arch_irq_flags();

	arch_irq_disable();
	return flags;
}
static TRACE_ALWAYS_INLINE void arch_irq_restore(uint64_t flags)
{
	if (flags & RFLAGS_IF)
		arch_irq_enable();
}

static TRACE_ALWAYS_INLINE void arch_cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}
/* Sleep until an interrupt; on again afterwards. No interrupt is lost in between. */
static TRACE_ALWAYS_INLINE void arch_idle_wait(void)
{
	__asm__ volatile("sti; hlt" : : : "memory");
}
/* End of this CPU. NMIs are still served. */
static TRACE_ALWAYS_INLINE void __attribute__((noreturn)) arch_halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

/* Everything fetched before is forgotten: SERIALIZE, or an IRET to the next instruction. */
static TRACE_ALWAYS_INLINE void arch_sync_core(void)
{
	uint64_t scratch;

	if (cpu_features.serialize) {
		__asm__ volatile(".byte 0x0f, 0x01, 0xe8" : : : "memory");
		return;
	}
	__asm__ volatile("mov %%ss, %k0\n\t"
			 "pushq %q0\n\t"
			 "pushq %%rsp\n\t"
			 "addq $8, (%%rsp)\n\t"
			 "pushfq\n\t"
			 "mov %%cs, %k0\n\t"
			 "pushq %q0\n\t"
			 "leaq 1f(%%rip), %q0\n\t"
			 "pushq %q0\n\t"
			 "iretq\n"
			 "1:"
			 : "=&r"(scratch)
			 :
			 : "memory", "cc");
}

/* Frame pointer of the function this is expanded in. */
static TRACE_ALWAYS_INLINE uintptr_t arch_frame_pointer(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

#endif
