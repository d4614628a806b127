# Core: memory, locks, threads, time, console, start.
KERNEL_SRCS += \
	kernel/sched/completion.c \
	kernel/console.c \
	kernel/console_input.c \
	kernel/console_panic.c \
	kernel/dmesg.c \
	kernel/sched/grace.c \
	kernel/heap.c \
	kernel/sched/lock_order.c \
	kernel/main.c \
	kernel/mm/mm.c \
	kernel/mm/mm_fail.c \
	kernel/sched/mutex.c \
	kernel/number.c \
	kernel/mm/page.c \
	kernel/panic.c \
	kernel/params.c \
	kernel/sched/preempt.c \
	kernel/printk.c \
	kernel/sched/sched.c \
	kernel/sched/sched_balance.c \
	kernel/sched/sched_queue.c \
	kernel/sched/sched_rt.c \
	kernel/sched/sched_rt_limit.c \
	kernel/mm/slab.c \
	kernel/sched/softirq.c \
	kernel/sched/spinlock.c \
	kernel/mm/stack.c \
	kernel/sched/thread.c \
	kernel/sched/thread_list.c \
	kernel/sched/thread_stacks.c \
	kernel/sched/timer.c \
	kernel/mm/vmap.c \
	kernel/mm/vmap_pages.c \
	kernel/sched/waitq.c \
	kernel/sched/wake.c \
	kernel/sched/work.c
# Without call sites: used by probes.
KERNEL_NOTRACE_SRCS += kernel/string.c kernel/time.c kernel/sched/sched_tracepoints.c

# Files.
KERNEL_SRCS += $(wildcard kernel/fs/*.c)
# Shell and commands.
KERNEL_SRCS += $(filter-out kernel/shell/no_tables.c,$(wildcard kernel/shell/*.c)) $(wildcard kernel/load/work_*.c)
# Live patches that ship with the kernel.
KERNEL_SRCS += kernel/load/livepatch_demo.c
# Symbols, benchmarks, the tracer's host.
KERNEL_NOTRACE_SRCS += kernel/trace_host.c kernel/trace_defer.c kernel/symbols.c kernel/shell/no_tables.c kernel/load/bench_loops.c
KERNEL_SRCS += kernel/whynot.c kernel/near_names.c $(addprefix kernel/load/bench,.c _measure.c _patch.c _sites.c _target.c _tracers.c) kernel/load/hook.c
# Tests that run inside, by the command `ktest`.
KERNEL_SRCS += kernel/ktest.c $(addprefix tests/kernel/ktest_,arch.c data.c fgraph.c grace.c hooks.c hooks_context.c hooks_load.c hooks_span.c lock.c mm.c nmi.c printk.c rt.c smp.c thread.c timer.c trace.c unwind.c)
# Patching under load.
KERNEL_SRCS += kernel/load/torture.c kernel/load/torture_damage.c kernel/load/torture_file.c kernel/load/torture_graph.c kernel/load/torture_hooks.c \
	kernel/load/torture_ops.c kernel/load/torture_patch.c kernel/load/torture_profile.c kernel/load/torture_reader.c kernel/load/torture_system.c kernel/load/torture_traces.c \
	kernel/load/torture_targets.c kernel/load/torture_workers.c
