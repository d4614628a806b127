# Sources that each x86-64 host needs besides those of ../../files.mk, never instrumented: this folder, but for the files named here.
# How code is changed while other CPUs run it. In: TRACE_ARCH_PATCH, int3 or stop; see include/trace/arch_host.h.
TRACE_ARCH_PATCH ?= int3
arch_int3    := text_poke% probe.c probe_insn.c probe_int3.c probe_jump.c probe_slot.c probe_detour_code.asm watch.c
arch_stop    := text_stop.c probe_stop.c
# Functions that a host need not write when only ftrace changes its code.
arch_default := default% stacks.c
# Functions that a kernel need not write: its entry for #BP, and where trampolines lie.
arch_kernel  := int3_entry% exec_room.asm
# Sources that only a host in user mode has in its library; the second line is in place of probe_detour_code.asm.
arch_process := memory.c
arch_process_int3 := probe_user.c probe_detour_user.asm
# Sources that only probes need, of all of these.
arch_probes  := decode% default_probes.c probe% registers.c uprobe% walk.c watch.c

arch_of	  = $(addprefix trace/arch/x86_64/,$1)
arch_all := $(filter-out %/trace_offsets.c,$(sort $(wildcard $(call arch_of,*.c *.asm))))
arch_own := $(filter $(call arch_of,$(arch_$(TRACE_ARCH_PATCH))),$(arch_all)) $(filter-out $(call arch_of,$(arch_int3) \
	$(arch_stop) $(arch_default) $(arch_kernel) $(arch_process) $(arch_process_int3)),$(arch_all))
TRACE_ARCH_SRCS := $(filter %.c,$(arch_own))
TRACE_ARCH_ASM	:= $(filter %.asm,$(arch_own))
# All that goes into a library for a kernel, and for a process; those of them that the small profiles leave out.
TRACE_ARCH_kernel  := $(arch_own) $(filter $(call arch_of,$(arch_default) $(arch_kernel)),$(arch_all))
TRACE_ARCH_process := $(filter-out %/probe_detour_code.asm,$(arch_own)) \
	$(filter $(call arch_of,$(arch_default) $(arch_process) $(arch_process_$(TRACE_ARCH_PATCH))),$(arch_all))
TRACE_ARCH_LACKS_ops	:= $(call arch_of,$(arch_probes) graph_return.asm)
TRACE_ARCH_LACKS_graph	:= $(call arch_of,$(arch_probes))
TRACE_ARCH_LACKS_ring	:= $(filter-out $(call arch_of,$(arch_process)),$(arch_all))
TRACE_ARCH_LACKS_events := $(TRACE_ARCH_LACKS_ring)

# Offsets of C structs for its assembly. In: TRACE_OFFSETS, the file to make, trace_offsets.inc in some folder that nasm
# looks into; TRACE_OFFSETS_CC, the compiler with its flags.
$(TRACE_OFFSETS): $(addprefix trace/arch/x86_64/,gen-offsets trace_offsets.c include/trace/arch_regs.h) trace/include/trace/compiler.h
	@mkdir -p $(@D)
	@$(TRACE_OFFSETS_CC) -S -o $(@:.inc=.s) trace/arch/x86_64/trace_offsets.c
	@trace/arch/x86_64/gen-offsets < $(@:.inc=.s) > $@
