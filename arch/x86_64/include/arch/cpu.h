/*
 * Single instructions of the CPU: interrupts on and off, waiting, serialising. The headers of its
 * registers, ports and features are included.
 *
 * Turning interrupts off and on calls the tracepoints irq_disable and irq_enable of
 * <trace/host_tracepoints.h> while they have probes; the _raw forms never do.
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
 * Turn interrupts off; returns the flags for arch_irq_restore(). The _from forms are for locks:
 * `parent` is the address that a trace shows as the caller, 0 for the function's own.
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
/*
 * With interrupts off: turn them on and sleep until one comes. They stay on. STI takes effect
 * behind the next instruction (Intel SDM volume 2, STI), so none comes before the HLT. Calls no
 * tracepoint.
 */
static TRACE_ALWAYS_INLINE void arch_idle_wait(void)
{
	__asm__ volatile("sti; hlt" : : : "memory");
}
/* Stop this CPU for good. It still serves NMIs. */
static TRACE_ALWAYS_INLINE void __attribute__((noreturn)) arch_halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

/*
 * Serialise: the CPU forgets all instructions that it has fetched, and fetches them again from
 * memory. By SERIALIZE if it has that, otherwise by an IRET to the next instruction (Intel SDM
 * volume 3, "Serializing Instructions").
 */
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
