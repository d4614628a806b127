# Core: memory, locks, threads, time, console, start.
KERNEL_SRCS += \
	kernel/completion.c \
	kernel/console.c \
	kernel/console_input.c \
	kernel/console_panic.c \
	kernel/dmesg.c \
	kernel/grace.c \
	kernel/heap.c \
	kernel/lock_order.c \
	kernel/main.c \
	kernel/mm.c \
	kernel/mm_fail.c \
	kernel/mutex.c \
	kernel/number.c \
	kernel/page.c \
	kernel/panic.c \
	kernel/params.c \
	kernel/preempt.c \
	kernel/printk.c \
	kernel/sched.c \
	kernel/sched_balance.c \
	kernel/sched_queue.c \
	kernel/slab.c \
	kernel/softirq.c \
	kernel/spinlock.c \
	kernel/stack.c \
	kernel/thread.c \
	kernel/thread_list.c \
	kernel/timer.c \
	kernel/vmap.c \
	kernel/vmap_pages.c \
	kernel/waitq.c \
	kernel/wake.c \
	kernel/work.c
# Without call sites: used by probes.
KERNEL_NOTRACE_SRCS += kernel/string.c kernel/time.c

# Files.
KERNEL_SRCS += $(wildcard kernel/vfs*.c)
# Shell and commands.
KERNEL_SRCS += $(wildcard kernel/sh_*.c kernel/line_*.c kernel/command*.c kernel/cmd_*.c kernel/work_*.c kernel/regex*.c)
# Symbols, benchmarks, the tracer's host.
KERNEL_NOTRACE_SRCS += kernel/trace_host.c kernel/symbols.c kernel/no_tables.c kernel/bench_loops.c
KERNEL_SRCS += kernel/whynot.c kernel/near_names.c kernel/bench.c kernel/bench_target.c
# Tests that run inside, by the command `ktest`.
KERNEL_SRCS += kernel/ktest.c $(addprefix tests/kernel/ktest_,arch.c data.c lock.c mm.c nmi.c printk.c smp.c thread.c timer.c trace.c unwind.c)
# Patching under load.
KERNEL_SRCS += kernel/torture.c kernel/torture_damage.c kernel/torture_targets.c kernel/torture_workers.c
