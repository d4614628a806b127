# Beyond the kernel the test kernel, fathom-test, has all of this folder. Without call sites: the loops of `bench`, calls by NMI.
TEST_NOTRACE_SRCS := \
	tests/kernel/load/bench_event_loops.c \
	tests/kernel/load/bench_loops.c \
	tests/kernel/nmi_call.c
TEST_SRCS := $(filter-out $(TEST_NOTRACE_SRCS),$(sort $(wildcard tests/kernel/*.c tests/kernel/load/*.c)))
TEST_ASM := $(sort $(wildcard tests/kernel/*.asm))
# Its definitions of events are read by their path.
CFLAGS_tests/kernel/ktest_events.c := -Itests/unit -Itests/unit/host
CFLAGS_tests/kernel/load/bench_event_loops.c := -I.
CFLAGS_tests/kernel/load/torture_targets.c := -I.
# Parts of a batch are no public thing.
CFLAGS_tests/kernel/load/torture_kprobes.c := -iquote trace
