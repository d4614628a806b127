/*
 * Single instructions of the CPU: interrupts on and off, waiting, serialising. Its registers, ports
 * and features come with it.
 *
 * Interrupts going off and on are told to <trace/host_tracepoints.h> while somebody wants to know;
 * the _raw forms tell nobody.
 *
 * Context: any; all inline, none is traced.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stdint.h>
#include <arch/features.h>
#include <arch/port.h>
#include <arch/regs.h>
#include <arch/tracepoints.h>
#include <trace/compiler.h>

#define RFLAGS_IF 0x200ull
#define RFLAGS_TF 0x100ull

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
static TRACE_ALWAYS_INLINE void arch_irq_disable_raw(void)
{
	__asm__ volatile("cli" : : : "memory");
}
static TRACE_ALWAYS_INLINE void arch_irq_enable_raw(void)
{
	__asm__ volatile("sti" : : : "memory");
}
static TRACE_ALWAYS_INLINE void arch_irq_disable(void)
{
	arch_irq_disable_raw();
	if (TRACEPOINT_WANTED(irq_disable))
		TRACEPOINT_CALL(irq_disable, 0ul);
}
static TRACE_ALWAYS_INLINE void arch_irq_enable(void)
{
	if (TRACEPOINT_WANTED(irq_enable))
		TRACEPOINT_CALL(irq_enable, 0ul);
	arch_irq_enable_raw();
}
/*
 * Interrupts off; returns what arch_irq_restore() needs. The _from forms are for locks: `parent`
 * is whom to name as the one who did it.
 */
static TRACE_ALWAYS_INLINE uint64_t arch_irq_save_from(uintptr_t parent)
{
	uint64_t flags = arch_irq_flags();

	arch_irq_disable_raw();
	if (TRACEPOINT_WANTED(irq_disable) && (flags & RFLAGS_IF))
		TRACEPOINT_CALL(irq_disable, parent);
	return flags;
}
static TRACE_ALWAYS_INLINE uint64_t arch_irq_save(void)
{
	return arch_irq_save_from(0);
}
static TRACE_ALWAYS_INLINE void arch_irq_restore_from(uint64_t flags, uintptr_t parent)
{
	if (!(flags & RFLAGS_IF))
		return;
	if (TRACEPOINT_WANTED(irq_enable))
		TRACEPOINT_CALL(irq_enable, parent);
	arch_irq_enable_raw();
}
static TRACE_ALWAYS_INLINE void arch_irq_restore(uint64_t flags)
{
	arch_irq_restore_from(flags, 0);
}

static TRACE_ALWAYS_INLINE void arch_cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}
/* Sleep until an interrupt; on again afterwards. No interrupt is lost in between. Tells nobody. */
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
