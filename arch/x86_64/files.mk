# C with call sites.
ARCH_SRCS := \
	arch/x86_64/features.c \
	arch/x86_64/memory.c \
	arch/x86_64/multiboot.c \
	arch/x86_64/paging_check.c \
	arch/x86_64/refuse.c \
	arch/x86_64/thread_init.c \
	arch/x86_64/trap_report.c

# C without: reachable from a probe, from the int3 handler, or before the GS base is set.
ARCH_NOTRACE_SRCS := \
	arch/x86_64/alias.c \
	arch/x86_64/exec_alloc.c \
	arch/x86_64/fixup.c \
	arch/x86_64/paging.c \
	arch/x86_64/paging_init.c \
	arch/x86_64/percpu.c \
	arch/x86_64/start.c \
	arch/x86_64/trap.c \
	arch/x86_64/unwind.c

ARCH_ASM := \
	arch/x86_64/fentry.asm \
	arch/x86_64/nmi_entry.asm \
	arch/x86_64/switch.asm \
	arch/x86_64/trap_entry.asm
