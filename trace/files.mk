# Sources of trace/, never instrumented. One line per area of the folder.
TRACE_SRCS += trace/fmt.c trace/fmt_bin.c trace/fmt_spec.c trace/str.c
TRACE_SRCS += trace/ftrace_edit.c trace/ftrace_filter.c trace/ftrace_hash.c trace/ftrace_iter.c trace/ftrace_match.c
TRACE_SRCS += trace/ftrace_ops.c trace/ftrace_record.c trace/ftrace_update.c
TRACE_SRCS += trace/func_tracer.c
TRACE_SRCS += trace/array.c trace/boot.c trace/clocks.c trace/cmdlines.c trace/cpumask.c trace/dump.c trace/error_log.c
TRACE_SRCS += trace/fs.c trace/fs_buffer.c trace/fs_config.c trace/fs_functions.c trace/fs_info.c trace/fs_marker.c trace/fs_options.c
TRACE_SRCS += trace/fs_pipe.c trace/fs_threads.c trace/fs_trace.c trace/fs_tree.c trace/iter.c trace/options.c trace/output.c
TRACE_SRCS += trace/output_context.c trace/output_events.c trace/output_head.c trace/pids.c trace/printk.c trace/readme.c trace/seq.c
TRACE_SRCS += trace/trace_functions.c trace/tracer.c
TRACE_SRCS += trace/ring_buffer.c trace/ring_consume.c trace/ring_event.c trace/ring_iter.c trace/ring_read.c trace/ring_setup.c trace/ring_stats.c trace/ring_swap.c trace/ring_write.c
# Reserve and commit end in jumps to their slow halves: they need no frame.
CFLAGS_trace/ring_buffer.c := -momit-leaf-frame-pointer
