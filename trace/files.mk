# Sources of trace/, never instrumented: all of its folders, but for log/, which stands for most of them in the profile `ring`,
# and default/, of which a profile names what its hosts may leave out.
TRACE_SRCS := $(sort $(filter-out trace/log/% trace/default/%,$(wildcard trace/*/*.c)))
# Reserve and commit, the callbacks of the tracers, and filters end in jumps to their slow halves: they need no frame.
CFLAGS_trace/events/event_write_text.c := -momit-leaf-frame-pointer
CFLAGS_trace/events/event_write.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_plain.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_run.c := -momit-leaf-frame-pointer
CFLAGS_trace/hist/hist_trace.c := -momit-leaf-frame-pointer
CFLAGS_trace/events/synth_write.c := -momit-leaf-frame-pointer
CFLAGS_trace/events/filter_match.c := -momit-leaf-frame-pointer
CFLAGS_trace/ring/ring_buffer.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/function_args.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/function_calls.c := -momit-leaf-frame-pointer
CFLAGS_trace/tracers/graph_calls.c := -momit-leaf-frame-pointer
# An entry or an exit of a probe does little but call the handler, whose frame leads to that of the trampoline or the hook.
CFLAGS_trace/kprobes/fprobe.c := -fomit-frame-pointer
CFLAGS_trace/kprobes/kretprobe_hit.c := -fomit-frame-pointer

# Features that a build can leave out: the sources that go with each, and who needs it and goes too. Such a build has its
# own start/features.list, in a directory that is looked in first.
TRACE_FEATURES := functions events event_commands event_pids hist synth hist_trace livepatch pids function_pids dump function graph latency commands snapshot hist_snapshot profile stack_tracer types why
trace_feature = $(filter $(addprefix trace/,$1),$(TRACE_SRCS))
# Call sites; of ops/ the tracepoints, patterns of names and the end of tracing are everybody's.
TRACE_FEATURE_functions := $(call trace_feature,$(filter-out ops/ftrace_dead.c ops/ftrace_match.c ops/host_tracepoints.c \
	ops/tracepoint.c,$(patsubst trace/%,%,$(filter trace/ops/%,$(TRACE_SRCS)))) instance/tracer_function.c fs/fs_functions% tracers/call_args.c)
TRACE_FEATURE_fgraph := $(call trace_feature,graph/%)
TRACE_FEATURES += fprobes wprobes
TRACE_FEATURE_wprobes := trace/kprobes/wprobe.c
TRACE_FEATURE_fprobes := $(addprefix trace/kprobes/,fprobe.c kretprobe.c kretprobe_hit.c kretprobe_list.c kretprobe_table.c return_probe.c)
TRACE_FEATURE_event_commands := $(call trace_feature,tracers/event_commands.c)
TRACE_FEATURE_function_pids := $(call trace_feature,fs/fs_function_pids.c)
TRACE_FEATURE_events := $(call trace_feature,events/%)
TRACE_FEATURE_event_pids := $(call trace_feature,events/event_pids%)
TRACE_FEATURE_hist := $(call trace_feature,hist/%)
TRACE_FEATURE_synth := $(call trace_feature,events/synth_%)
TRACE_FEATURES += monitors kprobes probe_events probe_names kprobe_events
TRACE_FEATURE_kprobe_events := $(call trace_feature,probes/probe_kprobe.c probes/probe_place.c probes/probe_return.c probes/probe_watch.c probes/probe_why.c probes/probe_files.c)
TRACE_FEATURE_kprobes := $(call trace_feature,kprobes/kprobe%)
TRACE_FEATURE_monitors := $(call trace_feature,monitors/%)
TRACE_FEATURE_probe_events := $(call trace_feature,probes/%)
TRACE_FEATURE_probe_names := $(call trace_feature,probes/fetch_complete.c probes/fetch_name.c)
TRACE_FEATURE_livepatch := $(call trace_feature,livepatch/%)
TRACE_FEATURE_pids := $(call trace_feature,instance/pid_filter.c fs/fs_pids.c)
TRACE_FEATURE_dump := $(call trace_feature,print/dump.c tracers/dump_commands.c)
TRACE_FEATURE_function := $(call trace_feature,tracers/function_args.c tracers/function_calls.c tracers/function_events.c \
	tracers/function_tracer.c tracers/function_variants.c)
TRACE_FEATURE_graph := $(call trace_feature,tracers/graph_% tracers/output_graph%)
TRACE_FEATURE_latency := $(call trace_feature,tracers/latency%)
TRACE_FEATURE_commands := $(call trace_feature,tracers/function_commands.c)
TRACE_FEATURE_snapshot := $(call trace_feature,instance/snapshot.c tracers/snapshot_command.c fs/fs_snapshot.c)
TRACE_FEATURE_hist_trace := $(call trace_feature,hist/hist_trace.c hist/hist_param.c)
TRACE_FEATURE_hist_snapshot := $(call trace_feature,hist/hist_snapshot.c)
TRACE_FEATURE_profile := $(call trace_feature,tracers/profile%)
TRACE_FEATURE_stack_tracer := $(call trace_feature,tracers/stack_tracer%)
TRACE_FEATURE_types := $(call trace_feature,types/% tracers/call_types.c)
TRACE_FEATURE_why := $(call trace_feature,why/%)
TRACE_NEEDS_functions := kprobes kprobe_events fprobes wprobes fgraph livepatch function_pids dump event_commands function graph latency commands snapshot \
	hist_snapshot probe_names profile stack_tracer types why
TRACE_NEEDS_events := event_commands event_pids hist hist_snapshot hist_trace synth
TRACE_NEEDS_hist := hist_snapshot hist_trace
TRACE_NEEDS_synth := hist_trace
TRACE_NEEDS_pids := event_pids function_pids
TRACE_NEEDS_function := latency
TRACE_NEEDS_graph := latency profile
TRACE_NEEDS_snapshot := latency hist_snapshot
TRACE_NEEDS_events += monitors probe_events probe_names kprobe_events
TRACE_NEEDS_probe_events := probe_names kprobe_events
TRACE_NEEDS_types := probe_names
TRACE_NEEDS_kprobes := kprobe_events
TRACE_NEEDS_fprobes := kprobe_events
TRACE_NEEDS_wprobes := kprobe_events
TRACE_NEEDS_hist += monitors
# The features that go with the features $1; what is left without them.
trace_goes = $(sort $1 $(foreach f,$1,$(TRACE_NEEDS_$f)))
trace_without = $(filter-out $(foreach f,$(call trace_goes,$1),$(TRACE_FEATURE_$f)),$(TRACE_SRCS))
# start/features.list without the features $1.
trace_empty :=
trace_space := $(trace_empty) $(trace_empty)
trace_list_without = grep -Ev '^TRACE_FEATURE\(($(subst $(trace_space),|,$(call trace_goes,$1)))\)' trace/start/features.list

# Profiles: what links alone, NAME by TRACE_SRCS_NAME, and beside it TRACE_DEFAULTS_NAME: functions that a host of the
# profile may leave out. The ring has the log instead of instances, so that it is no part of the others.
TRACE_PROFILES := ring ops graph probes events full
trace_in = $(filter $(patsubst %,trace/%/%,$1),$(TRACE_SRCS))
TRACE_SRCS_ring	 := $(filter-out trace/ring/ring_glance.c,$(call trace_in,text ring)) trace/instance/printk_event.c trace/log/log.c
TRACE_SRCS_ops	 := $(filter-out trace/ops/ftrace_batch.c,$(call trace_in,text ops))
TRACE_SRCS_graph := $(TRACE_SRCS_ops) $(call trace_in,graph)
TRACE_SRCS_probes := $(call trace_in,text ops graph kprobes)
# The features that `events` does without; TRACE_WITH has those of them that a build wants nevertheless.
TRACE_WITH ?=
TRACE_LACKS_events := $(filter-out $(TRACE_WITH),$(call trace_goes,functions) hist hist_trace synth monitors probe_events)
TRACE_SRCS_events := $(call trace_without,$(TRACE_LACKS_events))
TRACE_SRCS_full	 := $(TRACE_SRCS)
TRACE_DEFAULTS_ring  := $(addprefix trace/default/,clocks.c cpus.c grace.c heap.c locks.c messages.c names.c one_cpu.c pause.c symbols.c)
TRACE_DEFAULTS_ops   := $(TRACE_DEFAULTS_ring) $(addprefix trace/default/,later.c reasons.c symbol_next.c threads.c)
TRACE_DEFAULTS_graph := $(TRACE_DEFAULTS_ops)
TRACE_DEFAULTS_probes := $(TRACE_DEFAULTS_graph) $(addprefix trace/default/,probes.c read.c)
TRACE_DEFAULTS_events := $(TRACE_DEFAULTS_ring) \
	$(addprefix trace/default/,cpus_online.c log_event.c panic.c read.c sched.c stack_plain.c symbol_all.c threads.c \
	ticks.c wait.c)
TRACE_DEFAULTS_full  := $(TRACE_DEFAULTS_graph) \
	$(addprefix trace/default/,cpus_online.c irq_entry.c log_event.c panic.c places.c poke_stats.c probes.c read.c sched.c stack.c symbol_all.c ticks.c types.c wait.c)
