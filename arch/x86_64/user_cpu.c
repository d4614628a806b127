/*
 * Registers of user mode in each CPU, and switching between programs: see <arch/user.h>. Without call
 * sites, because it runs before a CPU is online.
 */
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/user.h>
#include <kernel/base.h>
#include <trace/arch_read.h>

#include "user_priv.h"

#define FLAG_TF	  0x100ull
#define FLAG_IF	  0x200ull
#define FLAG_DF	  0x400ull
#define FLAG_IOPL 0x3000ull
#define FLAG_NT	  0x4000ull
#define FLAG_AC	  0x40000ull

#define XCR0_X87_SSE 3ull
#define XCR0_AVX     4ull

#define FPU_AT_FCW     0 /* of the area of FXSAVE and XSAVE, in bytes */
#define FPU_AT_MXCSR   24
#define FPU_FCW_INIT   0x37fu
#define FPU_MXCSR_INIT 0x1f80u

bool user_has_smap;
uint64_t user_xcr0;

static uint64_t user_cr4(void)
{
	const struct cpu_features *f = &cpu_features;
	uint64_t cr4 = CR4_OSFXSR | CR4_OSXMMEXCPT;

	if (f->smep)
		cr4 |= CR4_SMEP;
	if (f->smap)
		cr4 |= CR4_SMAP;
	if (f->umip)
		cr4 |= CR4_UMIP;
	if (user_xcr0)
		cr4 |= CR4_OSXSAVE;
	return cr4;
}

static void user_enable_fpu(void)
{
	write_cr0((read_cr0() | CR0_MP | CR0_NE) & ~(CR0_EM | CR0_TS));
	/* Programs look at OSXSAVE before they use AVX: so it is set only when AVX is switched, too. */
	if (cpu_features.xsave && cpu_features.avx)
		user_xcr0 = XCR0_X87_SSE | XCR0_AVX;
	user_has_smap = cpu_features.smap;
	write_cr4(read_cr4() | user_cr4());
	if (user_xcr0)
		__asm__ volatile("xsetbv" : : "c"(0), "a"((uint32_t)user_xcr0), "d"(0));
}

void user_cpu_init(void)
{
	user_enable_fpu();
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, (uint64_t)(USER_CS_EMPTY | 3) << 48 | (uint64_t)KERNEL_CS << 32);
	wrmsr(MSR_LSTAR, (uintptr_t)syscall_entry);
	wrmsr(MSR_SFMASK, FLAG_TF | FLAG_IF | FLAG_DF | FLAG_IOPL | FLAG_NT | FLAG_AC);
	wrmsr(MSR_SYSENTER_CS, 0); /* SYSENTER faults */
	wrmsr(MSR_USER_GS_BASE, 0);
}

static void fpu_save(uint8_t *area)
{
	if (user_xcr0)
		__asm__ volatile("xsave64 (%0)"
				 :
				 : "r"(area), "a"((uint32_t)user_xcr0), "d"(0)
				 : "memory");
	else
		__asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
}

/* The same to a program's memory: false where a page is not there. */
static bool fpu_save_checked(uint8_t *area)
{
	if (user_xcr0)
		__asm__ goto("1: xsave64 (%0)\n\t" TRACE_FIXUP("1b", "%l[fault]")
			     :
			     : "r"(area), "a"((uint32_t)user_xcr0), "d"(0)
			     : "memory"
			     : fault);
	else
		__asm__ goto("1: fxsave64 (%0)\n\t" TRACE_FIXUP("1b", "%l[fault]")
			     :
			     : "r"(area)
			     : "memory"
			     : fault);
	return true;
fault:
	return false;
}

static void fpu_restore(const uint8_t *area)
{
	if (user_xcr0)
		__asm__ volatile("xrstor64 (%0)"
				 :
				 : "r"(area), "a"((uint32_t)user_xcr0), "d"(0)
				 : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

/* The same with what a program has written: false where the processor refuses it, or a page is not there. */
static bool fpu_restore_checked(const uint8_t *area)
{
	if (user_xcr0)
		__asm__ goto("1: xrstor64 (%0)\n\t" TRACE_FIXUP("1b", "%l[fault]")
			     :
			     : "r"(area), "a"((uint32_t)user_xcr0), "d"(0)
			     : "memory"
			     : fault);
	else
		__asm__ goto("1: fxrstor64 (%0)\n\t" TRACE_FIXUP("1b", "%l[fault]")
			     :
			     : "r"(area)
			     : "memory"
			     : fault);
	return true;
fault:
	return false;
}

static void fpu_init_area(uint8_t *area)
{
	for (size_t i = 0; i < USER_FPU_BYTES; i++)
		area[i] = 0;
	*(uint16_t *)(void *)(area + FPU_AT_FCW) = FPU_FCW_INIT;
	*(uint32_t *)(void *)(area + FPU_AT_MXCSR) = FPU_MXCSR_INIT;
}

void arch_user_init(struct arch_user *user)
{
	fpu_init_area(user->fpu);
	user->fs_base = 0;
	user->gs_base = 0;
}

size_t arch_user_fpu_bytes(void)
{
	return user_fpu_bytes();
}

uint64_t arch_user_fpu_features(void)
{
	return user_xcr0;
}

/* The kernel may touch programs' memory from here on. Interrupts off. */
static void user_open(void)
{
	if (user_has_smap)
		__asm__ volatile("stac" : : : "memory");
}

static void user_close(void)
{
	if (user_has_smap)
		__asm__ volatile("clac" : : : "memory");
}

void arch_user_fpu_store(struct arch_user *current)
{
	uint64_t irqs = arch_irq_save();

	fpu_save(current->fpu);
	arch_irq_restore(irqs);
}

bool arch_user_fpu_store_to(uint8_t *area)
{
	uint64_t irqs;
	bool is_there;

	if (!access_ok((uintptr_t)area, user_fpu_bytes()))
		return false;
	irqs = arch_irq_save();
	user_open();
	is_there = fpu_save_checked(area);
	user_close();
	arch_irq_restore(irqs);
	return is_there;
}

void arch_user_fpu_reset(struct arch_user *current)
{
	uint64_t irqs = arch_irq_save();

	fpu_init_area(current->fpu);
	fpu_restore(current->fpu);
	arch_irq_restore(irqs);
}

bool arch_user_fpu_load(struct arch_user *current, const uint8_t *area)
{
	uint64_t irqs = arch_irq_save();
	bool is_good;

	fpu_save(current->fpu);
	user_open();
	is_good = fpu_restore_checked(area);
	user_close();
	if (!is_good)
		fpu_restore(current->fpu);
	arch_irq_restore(irqs);
	return is_good;
}

void arch_user_copy(struct arch_user *to, struct arch_user *current)
{
	uint64_t root = to->root;

	arch_user_fpu_store(current);
	*to = *current;
	to->root = root;
}

static void user_load(const struct arch_user *user)
{
	write_cr3(user->root);
	wrmsr(MSR_FS_BASE, user->fs_base);
	wrmsr(MSR_USER_GS_BASE, user->gs_base);
	fpu_restore(user->fpu);
}

void arch_user_set_root(struct arch_user *current, uint64_t root)
{
	uint64_t irqs = arch_irq_save();

	current->root = root == UINT64_MAX ? paging_kernel_root() : root;
	write_cr3(current->root);
	arch_irq_restore(irqs);
}

void arch_user_restart(struct arch_user *current, uint64_t root)
{
	uint64_t irqs = arch_irq_save();

	arch_user_init(current);
	current->root = root;
	user_load(current);
	arch_irq_restore(irqs);
}

void arch_user_switch(struct arch_user *prev, struct arch_user *next, uintptr_t top)
{
	if (prev) {
		fpu_save(prev->fpu);
		user_close(); /* an interrupt in a copy routine leaves AC as it was there: the next thread is not to have it */
	}
	if (next) {
		cpu_set_kernel_stack(top);
		user_load(next);
	} else {
		write_cr3(paging_kernel_root());
	}
}

void arch_user_set_fs_base(struct arch_user *current, uint64_t base)
{
	uint64_t irqs = arch_irq_save();

	current->fs_base = base;
	wrmsr(MSR_FS_BASE, base);
	arch_irq_restore(irqs);
}

void arch_user_set_gs_base(struct arch_user *current, uint64_t base)
{
	uint64_t irqs = arch_irq_save();

	current->gs_base = base;
	wrmsr(MSR_USER_GS_BASE, base);
	arch_irq_restore(irqs);
}

void arch_user_frame_init(struct trap_frame *regs, uintptr_t ip, uintptr_t sp)
{
	*regs = (struct trap_frame){
		.vector = TRAP_SYSCALL,
		.error = UINT64_MAX,
		.rip = ip,
		.cs = USER_CS,
		.rflags = FLAG_IF,
		.rsp = sp,
		.ss = USER_DS,
	};
}

uint64_t arch_user_hwcap(void)
{
	return cpuid(1, 0).edx;
}
