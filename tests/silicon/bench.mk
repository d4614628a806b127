# The benchmark in a process: `make -f tests/silicon/bench.mk` builds $(BUILD)/silicon/bench.
#
# What is under test has the kernel's flags but for the code model: a process has its text low. The linker leaves out
# what nobody calls, and what that would need of a host.

BUILD ?= build
CC    := gcc
NASM  ?= nasm
V     ?= 0
Q     := $(if $(filter 1,$(V)),,@)
OUT   := $(BUILD)/silicon

TRACE_OFFSETS := $(OUT)/trace_offsets.inc
include trace/files.mk trace/arch/x86_64/files.mk
.DEFAULT_GOAL := $(OUT)/bench

host   := $(addprefix tests/silicon/,bench.c balance.c process.c text.c)
objs   := $(patsubst %,$(OUT)/%.o,$(TRACE_SRCS) $(TRACE_ARCH_SRCS) $(host) $(TRACE_ARCH_ASM))

flags := -std=gnu11 -O2 -g -fno-pie -mno-red-zone -mcx16 -fno-omit-frame-pointer -fno-stack-protector -fcf-protection=none \
	 -fno-strict-aliasing -fno-common -fno-ipa-icf -fno-ipa-cp-clone -fno-partial-inlining -fno-ipa-sra \
	 -ffunction-sections -fdata-sections -Wall -Wextra -Werror
kernel_flags := $(flags) -ffreestanding -mgeneral-regs-only
plat  := -Itrace/arch/x86_64/include -Iarch/x86_64/include/plat -Iarch/x86_64/include -Itrace/include
inc   := -Itests/silicon/include $(plat) -Iarch/x86_64 -Ikernel/include

$(OUT)/bench: $(objs)
	$(Q)$(CC) -no-pie -Wl,--gc-sections -z noexecstack $^ -o $@

$(OUT)/trace/%.c.o: trace/%.c tests/silicon/bench.mk
	@mkdir -p $(@D)
	$(Q)$(CC) $(kernel_flags) $(CFLAGS_trace/$*.c) $(plat) -Itrace -MMD -MP -c $< -o $@

$(OUT)/trace/arch/%.c.o: trace/arch/%.c tests/silicon/bench.mk
	@mkdir -p $(@D)
	$(Q)$(CC) $(kernel_flags) -Itests/silicon/include $(plat) -MMD -MP -c $< -o $@

$(OUT)/tests/%.c.o: tests/%.c tests/silicon/bench.mk
	@mkdir -p $(@D)
	$(Q)$(CC) $(flags) $(inc) -Itrace -MMD -MP -c $< -o $@

$(OUT)/%.asm.o: %.asm $(TRACE_OFFSETS)
	@mkdir -p $(@D)
	$(Q)$(NASM) -f elf64 -w+all -Itrace/arch/x86_64/ -I$(OUT)/ -MD $(@:.o=.d) -MP -o $@ $<

TRACE_OFFSETS_CC = $(CC) $(kernel_flags) -Itrace/include -Itrace/arch/x86_64/include
$(TRACE_OFFSETS): tests/silicon/bench.mk

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
