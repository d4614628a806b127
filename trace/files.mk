# Sources of trace/, never instrumented: all of its folders, but for log/, which stands for most of them in the profile `ring`,
# and default/, which is for hosts that leave something out.
TRACE_SRCS := $(sort $(filter-out trace/log/% trace/default/%,$(wildcard trace/*/*.c)))
# Reserve and commit, the callbacks of the tracers, and filters end in jumps to their slow halves: they need no frame.
CFLAGS_trace/events/event_write_text.c := -momit-leaf-frame-pointer
CFLAGS_trace/events/event_write.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_plain.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_run.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_trace.c := -momit-leaf-frame-pointer
CFLAGS_trace/events/synth_write.c := -momit-leaf-frame-pointer
CFLAGS_trace/expr/expr_run.c := -momit-leaf-frame-pointer
CFLAGS_trace/ring/ring_buffer.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/function_args.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/function_calls.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/graph_calls.c := -momit-leaf-frame-pointer
CFLAGS_trace/syscalls/syscall_write.c := -momit-leaf-frame-pointer
# An entry or an exit of a probe does little but call the handler, whose frame leads to that of the trampoline or the hook.
CFLAGS_trace/kprobes/fprobe.c := -fomit-frame-pointer
CFLAGS_trace/kprobes/kretprobe_hit.c := -fomit-frame-pointer

# Two tables say which of them a profile has, and which go with a feature that is left out; sources.awk reads them.
#   $(call trace_table,NAME)   NAME:SOURCE and NAME.defaults:SOURCE of that profile; without a NAME of all
#   $(call trace_list,NAME)    a command that prints start/features.list as the profile has it
#   $(call named,NAME,TABLE)   what stands behind NAME in TABLE
# TRACE_WITH: features that each profile has.
TRACE_TABLES := trace/sources.awk trace/start/features.list trace/profiles.list
TRACE_WITH ?=
trace_awk = awk -v of='$1' -v with='$(TRACE_WITH)' -v mode='$2' -f $(TRACE_TABLES)
trace_table = $(shell $(call trace_awk,$1) $(TRACE_SRCS) $(wildcard trace/log/*.c trace/default/*.c))$(if \
	$(filter-out 0,$(.SHELLSTATUS)),$(error see trace/profiles.list and trace/start/features.list))
trace_list = $(call trace_awk,$1,list)
named = $(patsubst $1:%,%,$(filter $1:%,$2))
