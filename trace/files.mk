# Sources of trace/, never instrumented. One line per area of the folder.
TRACE_SRCS += trace/print/fmt.c trace/print/fmt_bin.c trace/print/fmt_spec.c trace/print/str.c
TRACE_SRCS += trace/func/ftrace_direct.c trace/func/ftrace_edit.c trace/func/ftrace_filter.c trace/func/ftrace_hash.c trace/func/ftrace_iter.c trace/func/ftrace_match.c
TRACE_SRCS += trace/func/ftrace_grace.c trace/func/ftrace_ops.c trace/func/ftrace_record.c trace/func/ftrace_set.c trace/func/ftrace_tramp.c trace/func/ftrace_update.c
TRACE_SRCS += trace/func/fgraph.c trace/func/fgraph_stack.c trace/func/graph_tracer.c trace/func/graph_settings.c trace/func/graph_event.c
TRACE_SRCS += trace/func/func_tracer.c
TRACE_SRCS += trace/func/profile.c trace/fs/fs_stat.c trace/func/profile_stat.c trace/func/profile_table.c
TRACE_SRCS += trace/func/ftrace_probe.c trace/func/ftrace_probe_map.c trace/func/ftrace_command.c trace/func/func_commands.c
TRACE_SRCS += trace/func/func_options.c trace/stacktrace.c trace/print/output_stack.c
TRACE_SRCS += trace/func/stack_tracer.c trace/fs/fs_stack.c
TRACE_SRCS += trace/array.c trace/boot.c trace/clocks.c trace/cmdlines.c trace/cpumask.c trace/dump.c trace/error_log.c trace/hooks.c
TRACE_SRCS += trace/instance.c trace/snapshot.c trace/fs/fs_snapshot.c
TRACE_SRCS += trace/fs/fs.c trace/fs/fs_buffer.c trace/fs/fs_config.c trace/fs/fs_functions.c trace/fs/fs_info.c trace/fs/fs_marker.c trace/fs/fs_options.c
TRACE_SRCS += trace/fs/fs_pipe.c trace/fs/fs_store.c trace/fs/fs_threads.c trace/fs/fs_trace.c trace/fs/fs_tree.c trace/print/iter.c trace/options.c trace/print/output.c
TRACE_SRCS += trace/print/output_context.c trace/print/output_events.c trace/print/output_head.c trace/pids.c trace/printk.c trace/readme.c trace/print/seq.c
TRACE_SRCS += trace/func/trace_functions.c trace/tracer.c
TRACE_SRCS += trace/func/trace_graph.c trace/fs/fs_graph.c trace/print/output_graph.c trace/print/output_graph_columns.c
TRACE_SRCS += trace/latency/critical.c trace/latency/latency.c trace/latency/latency_graph.c trace/latency/wakeup.c trace/print/output_ctx.c
TRACE_SRCS += trace/ring/ring_buffer.c trace/ring/ring_consume.c trace/ring/ring_event.c trace/ring/ring_iter.c trace/ring/ring_read.c trace/ring/ring_setup.c trace/ring/ring_stats.c trace/ring/ring_subbuf.c trace/ring/ring_twin.c trace/ring/ring_resize.c trace/ring/ring_write.c
TRACE_SRCS += trace/livepatch/livepatch.c trace/livepatch/livepatch_names.c trace/livepatch/livepatch_site.c trace/livepatch/livepatch_stack.c
# Reserve and commit, and the callbacks of the tracers, end in jumps to their slow halves: they need no frame.
CFLAGS_trace/ring/ring_buffer.c := -momit-leaf-frame-pointer
CFLAGS_trace/func/func_tracer.c := -momit-leaf-frame-pointer
CFLAGS_trace/func/graph_tracer.c := -momit-leaf-frame-pointer
