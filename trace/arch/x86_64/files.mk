# What each x86-64 host needs besides the sources of ../../files.mk; never instrumented.
TRACE_ARCH_SRCS := \
	trace/arch/x86_64/exec_alloc.c \
	trace/arch/x86_64/text_poke.c \
	trace/arch/x86_64/text_poke_test.c \
	trace/arch/x86_64/trampoline.c
TRACE_ARCH_ASM := \
	trace/arch/x86_64/fentry.asm \
	trace/arch/x86_64/graph_return.asm \
	trace/arch/x86_64/text_poke_sites.asm \
	trace/arch/x86_64/trampoline_code.asm
