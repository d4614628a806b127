# C with call sites.
ARCH_SRCS := \
	arch/x86_64/boot_info.c \
	arch/x86_64/features.c \
	arch/x86_64/memory.c \
	arch/x86_64/paging_check.c \
	arch/x86_64/refuse.c \
	arch/x86_64/thread_init.c \
	arch/x86_64/trap_report.c

# C without call sites: it is reached from a probe or from the int3 handler, or runs before the GS base is set.
ARCH_NOTRACE_SRCS := \
	arch/x86_64/alias.c \
	arch/x86_64/fixup.c \
	arch/x86_64/paging.c \
	arch/x86_64/paging_init.c \
	arch/x86_64/percpu.c \
	arch/x86_64/static_branch.c \
	arch/x86_64/start.c \
	arch/x86_64/trap.c \
	arch/x86_64/unwind.c \
	arch/x86_64/unwind_code.c \
	arch/x86_64/unwind_probe.c

ARCH_ASM := \
	arch/x86_64/tracepoint_call.asm \
	arch/x86_64/nmi_entry.asm \
	arch/x86_64/switch.asm \
	arch/x86_64/trap_entry.asm

# Devices, clocks, other CPUs.
ARCH_SRCS += \
	arch/x86_64/acpi.c \
	arch/x86_64/acpi_madt.c \
	arch/x86_64/acpi_parse.c \
	arch/x86_64/ioapic.c \
	arch/x86_64/pci.c \
	arch/x86_64/power.c \
	arch/x86_64/ref_clock.c \
	arch/x86_64/rtc.c \
	arch/x86_64/smp.c \
	arch/x86_64/smp_call.c \
	arch/x86_64/timer.c \
	arch/x86_64/uart_irq.c
# Not traced: run before a CPU is online, in NMIs, or while text is patched.
ARCH_NOTRACE_SRCS += \
	arch/x86_64/apic.c \
	arch/x86_64/smp_ap.c \
	arch/x86_64/smp_nmi.c \
	arch/x86_64/smp_sync.c \
	arch/x86_64/tsc.c \
	arch/x86_64/tsc_sync.c \
	arch/x86_64/uart.c
