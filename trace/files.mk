# Sources of trace/, never instrumented. One line per area of the folder.
TRACE_SRCS += trace/fmt.c trace/fmt_bin.c trace/fmt_spec.c trace/str.c
