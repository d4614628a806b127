# What the test kernel, fathom-test, has beyond the kernel. Without call sites: the loops of `bench`, calls by NMI.
TEST_NOTRACE_SRCS += \
	tests/kernel/nmi_call.c \
	tests/kernel/load/bench_event_loops.c \
	tests/kernel/load/bench_loops.c
# Its definitions of events are read by their path.
CFLAGS_tests/kernel/ktest_events.c := -Itests/unit -Itests/unit/host
CFLAGS_tests/kernel/load/bench_event_loops.c := -I.
CFLAGS_tests/kernel/load/torture_targets.c := -I.
# Parts of a batch are no public thing.
CFLAGS_tests/kernel/load/torture_kprobes.c := -iquote trace
# Instructions that tests of probes run.
TEST_ASM += tests/kernel/kprobe_forms.asm
# Its commands: `failalloc`; `fault`; `ktest` and its tests.
TEST_SRCS += \
	tests/kernel/test_commands.c \
	tests/kernel/failalloc.c \
	tests/kernel/fault.c \
	tests/kernel/ktest.c \
	tests/kernel/ktest_arch.c \
	tests/kernel/ktest_breakpoint.c \
	tests/kernel/ktest_data.c \
	tests/kernel/ktest_events.c \
	tests/kernel/ktest_fgraph.c \
	tests/kernel/ktest_fprobe.c \
	tests/kernel/ktest_grace.c \
	tests/kernel/ktest_hooks.c \
	tests/kernel/ktest_hooks_context.c \
	tests/kernel/ktest_hooks_load.c \
	tests/kernel/ktest_hooks_span.c \
	tests/kernel/ktest_kprobe.c \
	tests/kernel/ktest_kprobe_forms.c \
	tests/kernel/ktest_kprobe_load.c \
	tests/kernel/ktest_lock.c \
	tests/kernel/ktest_mm.c \
	tests/kernel/ktest_nmi.c \
	tests/kernel/ktest_printk.c \
	tests/kernel/ktest_rt.c \
	tests/kernel/ktest_smp.c \
	tests/kernel/ktest_stack.c \
	tests/kernel/ktest_thread.c \
	tests/kernel/ktest_timer.c \
	tests/kernel/ktest_trace.c \
	tests/kernel/ktest_unwind.c \
	tests/kernel/ktest_unwind_chain.c \
	tests/kernel/ktest_wprobe.c
# The command `bench`.
TEST_SRCS += \
	tests/kernel/load/bench.c \
	tests/kernel/load/bench_events.c \
	tests/kernel/load/bench_hists.c \
	tests/kernel/load/bench_memory.c \
	tests/kernel/load/bench_measure.c \
	tests/kernel/load/bench_patch.c \
	tests/kernel/load/bench_kprobe_events.c \
	tests/kernel/load/bench_probes.c \
	tests/kernel/load/bench_sites.c \
	tests/kernel/load/bench_target.c \
	tests/kernel/load/bench_tracers.c
# Patching under load: the command `torture`.
TEST_SRCS += \
	tests/kernel/load/torture.c \
	tests/kernel/load/torture_damage.c \
	tests/kernel/load/torture_events.c \
	tests/kernel/load/torture_file.c \
	tests/kernel/load/torture_graph.c \
	tests/kernel/load/torture_hooks.c \
	tests/kernel/load/torture_kprobes.c \
	tests/kernel/load/torture_ops.c \
	tests/kernel/load/torture_patch.c \
	tests/kernel/load/torture_profile.c \
	tests/kernel/load/torture_reader.c \
	tests/kernel/load/torture_system.c \
	tests/kernel/load/torture_targets.c \
	tests/kernel/load/torture_traces.c \
	tests/kernel/load/torture_workers.c
