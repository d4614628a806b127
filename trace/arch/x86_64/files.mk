# Sources that each x86-64 host needs besides those of ../../files.mk; never instrumented.
TRACE_ARCH_SRCS := \
	trace/arch/x86_64/breakpoint.c \
	trace/arch/x86_64/decode.c \
	trace/arch/x86_64/decode_0f.c \
	trace/arch/x86_64/decode_0f38.c \
	trace/arch/x86_64/decode_evex.c \
	trace/arch/x86_64/decode_evex_more.c \
	trace/arch/x86_64/decode_one_byte.c \
	trace/arch/x86_64/decode_vector.c \
	trace/arch/x86_64/decode_vex.c \
	trace/arch/x86_64/exec_alloc.c \
	trace/arch/x86_64/registers.c \
	trace/arch/x86_64/text_write.c \
	trace/arch/x86_64/trampoline.c \
	trace/arch/x86_64/walk.c
TRACE_ARCH_ASM := \
	trace/arch/x86_64/fentry.asm \
	trace/arch/x86_64/graph_return.asm \
	trace/arch/x86_64/trampoline_code.asm
# Functions that a host need not write when only ftrace changes its code.
TRACE_ARCH_DEFAULT_SRCS := $(addprefix trace/arch/x86_64/,default.c default_cpus.c default_probes.c stacks.c)
# Functions that a kernel need not write: its entry for #BP, and where trampolines lie.
TRACE_ARCH_KERNEL_SRCS := trace/arch/x86_64/int3_entry.c
TRACE_ARCH_KERNEL_ASM := $(addprefix trace/arch/x86_64/,exec_room.asm int3_entry.asm)
# How code is changed while other CPUs run it. In: TRACE_ARCH_PATCH, int3 or stop; see include/trace/arch_host.h.
TRACE_ARCH_PATCH ?= int3
trace_arch_int3 := trace/arch/x86_64/text_poke.c trace/arch/x86_64/text_poke_test.c \
	$(addprefix trace/arch/x86_64/,probe.c probe_insn.c probe_int3.c probe_jump.c probe_slot.c watch.c)
trace_arch_stop := trace/arch/x86_64/text_stop.c trace/arch/x86_64/probe_stop.c
TRACE_ARCH_SRCS += $(trace_arch_$(TRACE_ARCH_PATCH))
TRACE_ARCH_ASM += $(if $(filter int3,$(TRACE_ARCH_PATCH)),trace/arch/x86_64/text_poke_sites.asm trace/arch/x86_64/probe_detour_code.asm)

# Sources that only a host in user mode has in its library, and those in place of the others' assembly there.
TRACE_ARCH_PROCESS_SRCS := trace/arch/x86_64/memory.c $(if $(filter int3,$(TRACE_ARCH_PATCH)),trace/arch/x86_64/probe_user.c)
TRACE_ARCH_PROCESS_ASM := $(TRACE_ARCH_ASM:%/probe_detour_code.asm=%/probe_detour_user.asm)

# Sources that only probes need, of all of the above; a library without them leaves it out.
TRACE_ARCH_FOR_PROBES := $(addprefix trace/arch/x86_64/,decode%.c default_probes.c probe%.c probe_detour_code.asm probe_detour_user.asm registers.c walk.c watch.c)

# Offsets of C structs for its assembly. In: TRACE_OFFSETS, the file to make, trace_offsets.inc in some folder that nasm
# looks into; TRACE_OFFSETS_CC, the compiler with its flags.
$(TRACE_OFFSETS): $(addprefix trace/arch/x86_64/,gen-offsets trace_offsets.c include/trace/arch_regs.h) trace/include/trace/compiler.h
	@mkdir -p $(@D)
	@$(TRACE_OFFSETS_CC) -S -o $(@:.inc=.s) trace/arch/x86_64/trace_offsets.c
	@trace/arch/x86_64/gen-offsets < $(@:.inc=.s) > $@
