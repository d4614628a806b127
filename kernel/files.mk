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
	kernel/sched/sched_urgent.c \
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
KERNEL_NOTRACE_SRCS += \
	kernel/events.c \
	kernel/string.c \
	kernel/time.c \
	kernel/sched/sched_tracepoints.c

# Files.
KERNEL_SRCS += \
	kernel/fs/vfs_console.c \
	kernel/fs/vfs_file.c \
	kernel/fs/vfs_kprobes.c \
	kernel/fs/vfs_livepatch.c \
	kernel/fs/vfs_mounts.c \
	kernel/fs/vfs_path.c \
	kernel/fs/vfs_pipe.c \
	kernel/fs/vfs_ram.c \
	kernel/fs/vfs_ram_data.c \
	kernel/fs/vfs_shell.c \
	kernel/fs/vfs_special.c \
	kernel/fs/vfs_sysctl.c \
	kernel/fs/vfs_trace.c
# The file tree for programs on another machine.
KERNEL_SRCS += \
	kernel/ninep/ninep_com.c \
	kernel/ninep/ninep_dir.c \
	kernel/ninep/ninep_fid.c \
	kernel/ninep/ninep_frame.c \
	kernel/ninep/ninep_msg.c \
	kernel/ninep/ninep_names.c \
	kernel/ninep/ninep_open.c \
	kernel/ninep/ninep_poll.c \
	kernel/ninep/ninep_server.c \
	kernel/ninep/ninep_virtio.c \
	kernel/ninep/ninep_wait.c \
	kernel/virtio/virtio_pci.c
# Shell and commands.
KERNEL_SRCS += \
	kernel/shell/cmd/cmd_chrt.c \
	kernel/shell/cmd/cmd_copy.c \
	kernel/shell/cmd/cmd_cpu.c \
	kernel/shell/cmd/cmd_cut.c \
	kernel/shell/cmd/cmd_date.c \
	kernel/shell/cmd/cmd_echo.c \
	kernel/shell/cmd/cmd_file.c \
	kernel/shell/cmd/cmd_filter.c \
	kernel/shell/cmd/cmd_find.c \
	kernel/shell/cmd/cmd_grep.c \
	kernel/shell/cmd/cmd_help.c \
	kernel/shell/cmd/cmd_less.c \
	kernel/shell/cmd/cmd_machine.c \
	kernel/shell/cmd/cmd_memory.c \
	kernel/shell/cmd/cmd_mount.c \
	kernel/shell/cmd/cmd_printf.c \
	kernel/shell/cmd/cmd_reader.c \
	kernel/shell/cmd/cmd_sort.c \
	kernel/shell/cmd/cmd_sysctl.c \
	kernel/shell/cmd/cmd_test.c \
	kernel/shell/cmd/cmd_thread.c \
	kernel/shell/cmd/cmd_time.c \
	kernel/shell/cmd/cmd_why.c \
	kernel/shell/cmd/command.c \
	kernel/shell/cmd/command_io.c \
	kernel/shell/cmd/date.c \
	kernel/shell/less/less_draw.c \
	kernel/shell/less/less_text.c \
	kernel/shell/line/line_edit.c \
	kernel/shell/line/line_history.c \
	kernel/shell/line/line_keys.c \
	kernel/shell/line/line_read.c \
	kernel/shell/line/line_tab.c \
	kernel/shell/regex/regex.c \
	kernel/shell/regex/regex_compile.c \
	kernel/shell/sh/sh_arena.c \
	kernel/shell/sh/sh_arith.c \
	kernel/shell/sh/sh_builtin.c \
	kernel/shell/sh/sh_builtin_job.c \
	kernel/shell/sh/sh_builtin_run.c \
	kernel/shell/sh/sh_complete.c \
	kernel/shell/sh/sh_exec.c \
	kernel/shell/sh/sh_expand.c \
	kernel/shell/sh/sh_glob.c \
	kernel/shell/sh/sh_job.c \
	kernel/shell/sh/sh_lex.c \
	kernel/shell/sh/sh_main.c \
	kernel/shell/sh/sh_match.c \
	kernel/shell/sh/sh_parse.c \
	kernel/shell/sh/sh_redir.c \
	kernel/shell/sh/sh_run.c \
	kernel/shell/sh/sh_simple.c \
	kernel/shell/sh/sh_var.c \
	kernel/shell/line/terminal.c \
	kernel/shell/cmd/tree.c
# Workloads.
KERNEL_SRCS += \
	kernel/load/work_hackbench.c \
	kernel/load/work_preemptirq.c \
	kernel/load/work_recurse.c \
	kernel/load/work_stress.c \
	kernel/load/work_stress_alloc.c \
	kernel/load/work_stress_ipi.c \
	kernel/load/work_stress_livepatch.c \
	kernel/load/work_stress_locks.c \
	kernel/load/work_stress_timers.c
# Live patches that ship with the kernel.
KERNEL_SRCS += kernel/load/livepatch_demo.c
# Symbols, the tracer's host, an example of its API.
KERNEL_NOTRACE_SRCS += \
	kernel/trace_host.c \
	kernel/trace_places.c \
	kernel/trace_probes.c \
	kernel/trace_defer.c \
	kernel/symbols.c \
	kernel/no_tables.c
KERNEL_SRCS += \
	kernel/lines.c \
	kernel/whynot.c \
	kernel/near_names.c \
	kernel/load/hook.c
