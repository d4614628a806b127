# Without call sites: reached from a probe or from the int3 handler, run before the GS base is set, before a CPU is online,
# in NMIs, or while text is patched.
ARCH_NOTRACE_SRCS := \
	arch/x86_64/alias.c \
	arch/x86_64/apic.c \
	arch/x86_64/fixup.c \
	arch/x86_64/paging.c \
	arch/x86_64/paging_init.c \
	arch/x86_64/percpu.c \
	arch/x86_64/sample.c \
	arch/x86_64/smp_ap.c \
	arch/x86_64/smp_nmi.c \
	arch/x86_64/smp_sync.c \
	arch/x86_64/start.c \
	arch/x86_64/static_branch.c \
	arch/x86_64/trap.c \
	arch/x86_64/tsc.c \
	arch/x86_64/tsc_sync.c \
	arch/x86_64/uart.c \
	arch/x86_64/unwind.c \
	arch/x86_64/unwind_code.c \
	arch/x86_64/unwind_probe.c \
	arch/x86_64/user_cpu.c \
	arch/x86_64/user_trap.c
# All other sources have them; asm_offsets.c is no part of the kernel, the assembly takes its offsets from it.
ARCH_SRCS := $(filter-out %/asm_offsets.c $(ARCH_NOTRACE_SRCS),$(sort $(wildcard arch/x86_64/*.c)))
ARCH_ASM := $(sort $(wildcard arch/x86_64/*.asm))
