# make -f tests/decode/build.mk: $(BUILD)/decode/compare, the decoder of instructions against Zydis.
BUILD ?= build
include tools/directory.mk

decode_srcs := $(wildcard tests/decode/*.c trace/arch/x86_64/decode*.c)
decode_flags := -std=gnu11 -O2 -g -D_GNU_SOURCE -Wall -Wextra -Werror -Wconversion -Wno-sign-conversion \
	-Itrace/include -Itrace/arch/x86_64/include

$(BUILD)/decode/compare: $(decode_srcs) $(wildcard tests/decode/*.h trace/arch/x86_64/decode*.h) \
		trace/arch/x86_64/include/trace/arch_decode.h tests/decode/build.mk
	@mkdir -p $(@D)
	@$(CC) $(decode_flags) $(decode_srcs) -lZydis -o $@
