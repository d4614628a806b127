# Sources of trace/, never instrumented. One line per area of the folder.
TRACE_SRCS += trace/fmt.c trace/fmt_bin.c trace/fmt_spec.c trace/str.c
TRACE_SRCS += trace/ftrace_edit.c trace/ftrace_filter.c trace/ftrace_hash.c trace/ftrace_iter.c trace/ftrace_match.c
TRACE_SRCS += trace/ftrace_ops.c trace/ftrace_record.c trace/ftrace_update.c
TRACE_SRCS += trace/func_tracer.c
