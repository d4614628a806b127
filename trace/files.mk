# Sources of trace/, never instrumented: its folders from the bottom to the top, see README.md.
# formatting, texts that grow
TRACE_SRCS += trace/text/fmt.c \
	trace/text/fmt_bin.c \
	trace/text/fmt_spec.c \
	trace/text/glob.c \
	trace/text/seq.c \
	trace/text/str.c
# types of functions
TRACE_SRCS += trace/types/btf.c \
	trace/types/btf_args.c \
	trace/types/btf_text.c \
	trace/types/btf_type.c
# the ring buffer
TRACE_SRCS += trace/ring/ring_buffer.c \
	trace/ring/ring_consume.c \
	trace/ring/ring_event.c \
	trace/ring/ring_glance.c \
	trace/ring/ring_iter.c \
	trace/ring/ring_read.c \
	trace/ring/ring_resize.c \
	trace/ring/ring_setup.c \
	trace/ring/ring_stats.c \
	trace/ring/ring_subbuf.c \
	trace/ring/ring_twin.c \
	trace/ring/ring_write.c
# sites, ops, filters, patching
TRACE_SRCS += trace/ops/ftrace_batch.c \
	trace/ops/ftrace_command.c \
	trace/ops/ftrace_dead.c \
	trace/ops/ftrace_direct.c \
	trace/ops/ftrace_edit.c \
	trace/ops/ftrace_filter.c \
	trace/ops/ftrace_grace.c \
	trace/ops/ftrace_hash.c \
	trace/ops/ftrace_iter.c \
	trace/ops/ftrace_match.c \
	trace/ops/ftrace_ops.c \
	trace/ops/ftrace_pokes.c \
	trace/ops/ftrace_probe.c \
	trace/ops/ftrace_probe_map.c \
	trace/ops/ftrace_record.c \
	trace/ops/ftrace_set.c \
	trace/ops/ftrace_tramp.c \
	trace/ops/ftrace_update.c \
	trace/ops/host_tracepoints.c \
	trace/ops/tracepoint.c
# hooked returns
TRACE_SRCS += trace/graph/fgraph.c \
	trace/graph/fgraph_stack.c
# probes at instructions
TRACE_SRCS += trace/kprobes/kprobe.c \
	trace/kprobes/kprobe_arm.c \
	trace/kprobes/kprobe_check.c \
	trace/kprobes/kprobe_gone.c \
	trace/kprobes/kprobe_hit.c \
	trace/kprobes/kprobe_jump.c \
	trace/kprobes/kprobe_list.c \
	trace/kprobes/kprobe_place.c \
	trace/kprobes/kprobe_sites.c \
	trace/kprobes/kprobe_table.c
# probes of functions
TRACE_SRCS += trace/kprobes/fprobe.c \
	trace/kprobes/kretprobe.c \
	trace/kprobes/kretprobe_hit.c \
	trace/kprobes/kretprobe_list.c \
	trace/kprobes/kretprobe_table.c \
	trace/kprobes/return_probe.c
# watchpoints
TRACE_SRCS += trace/kprobes/wprobe.c
# an instance: buffer, tracer, options, threads
TRACE_SRCS += trace/instance/array.c \
	trace/instance/clocks.c \
	trace/instance/cmdlines.c \
	trace/instance/cpumask.c \
	trace/instance/error_log.c \
	trace/instance/event.c \
	trace/instance/feature.c \
	trace/instance/instance.c \
	trace/instance/max.c \
	trace/instance/options.c \
	trace/instance/pid_filter.c \
	trace/instance/pids.c \
	trace/instance/printk.c \
	trace/instance/printk_event.c \
	trace/instance/snapshot.c \
	trace/instance/stacktrace.c \
	trace/instance/switch.c \
	trace/instance/tracer.c \
	trace/instance/tracer_function.c \
	trace/instance/warning.c \
	trace/instance/why.c
# events as text
TRACE_SRCS += trace/print/dump.c \
	trace/print/event_format.c \
	trace/print/iter.c \
	trace/print/output.c \
	trace/print/output_context.c \
	trace/print/output_events.c \
	trace/print/output_fields.c \
	trace/print/output_head.c \
	trace/print/output_stack.c \
	trace/print/output_values.c
# trace events
TRACE_SRCS += trace/events/dyn_event.c \
	trace/events/dyn_event_complete.c \
	trace/events/dyn_event_explain.c \
	trace/events/event_call.c \
	trace/events/event_file.c \
	trace/events/event_pids.c \
	trace/events/event_printk.c \
	trace/events/event_filter.c \
	trace/events/event_inject.c \
	trace/events/event_marker.c \
	trace/events/event_rejects.c \
	trace/events/event_scratch.c \
	trace/events/event_set.c \
	trace/events/event_text.c \
	trace/events/event_use.c \
	trace/events/event_watch.c \
	trace/events/event_why.c \
	trace/events/event_write.c \
	trace/events/event_write_text.c \
	trace/events/filter_build.c \
	trace/events/filter_cpus.c \
	trace/events/filter_match.c \
	trace/events/filter_number.c \
	trace/events/filter_parse.c \
	trace/events/filter_pred.c \
	trace/events/filter_text.c \
	trace/events/filter_value.c \
	trace/events/func_name.c \
	trace/events/synth_event.c \
	trace/events/synth_parse.c \
	trace/events/synth_text.c \
	trace/events/synth_write.c \
	trace/events/trigger.c \
	trace/events/trigger_boot.c \
	trace/events/trigger_commands.c \
	trace/events/trigger_filter.c \
	trace/events/trigger_parse.c
# histograms
TRACE_SRCS += trace/hist/hist_action.c \
	trace/hist/hist_bars.c \
	trace/hist/hist_columns.c \
	trace/hist/hist_debug.c \
	trace/hist/hist_draw.c \
	trace/hist/hist_expr.c \
	trace/hist/hist_field.c \
	trace/hist/hist_folded.c \
	trace/hist/hist_handler.c \
	trace/hist/hist_heat.c \
	trace/hist/hist_label.c \
	trace/hist/hist_map.c \
	trace/hist/hist_param.c \
	trace/hist/hist_parse.c \
	trace/hist/hist_picture.c \
	trace/hist/hist_plain.c \
	trace/hist/hist_program.c \
	trace/hist/hist_record.c \
	trace/hist/hist_run.c \
	trace/hist/hist_save.c \
	trace/hist/hist_show.c \
	trace/hist/hist_snapshot.c \
	trace/hist/hist_sort.c \
	trace/hist/hist_spec.c \
	trace/hist/hist_trace.c \
	trace/hist/hist_trigger.c \
	trace/hist/hist_vars.c \
	trace/hist/hist_view.c \
	trace/hist/hist_why.c \
	trace/hist/hist_words.c
# events that users put somewhere
TRACE_SRCS += trace/probes/fetch_cast.c \
	trace/probes/fetch_complete.c \
	trace/probes/fetch_field.c \
	trace/probes/fetch_name.c \
	trace/probes/fetch_parse.c \
	trace/probes/fetch_run.c \
	trace/probes/fetch_symbol.c \
	trace/probes/fetch_type.c \
	trace/probes/fetch_value.c \
	trace/probes/probe_args.c \
	trace/probes/probe_complete.c \
	trace/probes/probe_define.c \
	trace/probes/probe_eprobe.c \
	trace/probes/probe_explain.c \
	trace/probes/probe_hit.c \
	trace/probes/probe_kinds.c \
	trace/probes/probe_kprobe.c \
	trace/probes/probe_line.c \
	trace/probes/probe_names.c \
	trace/probes/probe_place.c \
	trace/probes/probe_return.c \
	trace/probes/probe_switch.c \
	trace/probes/probe_text.c \
	trace/probes/probe_tracepoint.c \
	trace/probes/probe_watch.c \
	trace/probes/probe_why.c
# automata over events
TRACE_SRCS += trace/monitors/monitor_events.c \
	trace/monitors/monitor_list.c \
	trace/monitors/monitor_memory.c \
	trace/monitors/monitor_parse.c \
	trace/monitors/monitor_react.c \
	trace/monitors/monitor_run.c \
	trace/monitors/monitor_show.c \
	trace/monitors/monitor_symbol.c \
	trace/monitors/monitor_threads.c
# replacing functions
TRACE_SRCS += trace/livepatch/livepatch.c \
	trace/livepatch/livepatch_names.c \
	trace/livepatch/livepatch_site.c \
	trace/livepatch/livepatch_stack.c
# the tracers, profilers and commands
TRACE_SRCS += trace/tracers/call_args.c \
	trace/tracers/call_types.c \
	trace/tracers/dump_commands.c \
	trace/tracers/event_commands.c \
	trace/tracers/function_args.c \
	trace/tracers/function_calls.c \
	trace/tracers/function_commands.c \
	trace/tracers/function_events.c \
	trace/tracers/function_tracer.c \
	trace/tracers/function_variants.c \
	trace/tracers/graph_calls.c \
	trace/tracers/graph_events.c \
	trace/tracers/graph_record.c \
	trace/tracers/graph_settings.c \
	trace/tracers/graph_tracer.c \
	trace/tracers/graph_why.c \
	trace/tracers/latency.c \
	trace/tracers/latency_critical.c \
	trace/tracers/latency_events.c \
	trace/tracers/latency_graph.c \
	trace/tracers/latency_wakeup.c \
	trace/tracers/latency_why.c \
	trace/tracers/output_graph.c \
	trace/tracers/output_graph_columns.c \
	trace/tracers/profile.c \
	trace/tracers/profile_stat.c \
	trace/tracers/profile_table.c \
	trace/tracers/snapshot_command.c \
	trace/tracers/stack_tracer.c
# what `why` says
TRACE_SRCS += trace/why/why.c \
	trace/why/why_buffer.c \
	trace/why/why_functions.c \
	trace/why/why_read.c \
	trace/why/why_switch.c
# the files
TRACE_SRCS += trace/fs/fs.c \
	trace/fs/fs_buffer.c \
	trace/fs/fs_build.c \
	trace/fs/fs_command.c \
	trace/fs/fs_config.c \
	trace/fs/fs_event_dir.c \
	trace/fs/fs_event_dynamic.c \
	trace/fs/fs_event_hist.c \
	trace/fs/fs_event_pids.c \
	trace/fs/fs_event_inject.c \
	trace/fs/fs_event_show.c \
	trace/fs/fs_event_filter.c \
	trace/fs/fs_event_trigger.c \
	trace/fs/fs_events.c \
	trace/fs/fs_function_pids.c \
	trace/fs/fs_functions.c \
	trace/fs/fs_graph.c \
	trace/fs/fs_info.c \
	trace/fs/fs_kprobe_events.c \
	trace/fs/fs_latency.c \
	trace/fs/fs_marker.c \
	trace/fs/fs_monitors.c \
	trace/fs/fs_options.c \
	trace/fs/fs_pids.c \
	trace/fs/fs_pipe.c \
	trace/fs/fs_printk.c \
	trace/fs/fs_snapshot.c \
	trace/fs/fs_stack.c \
	trace/fs/fs_stat.c \
	trace/fs/fs_store.c \
	trace/fs/fs_synth.c \
	trace/fs/fs_threads.c \
	trace/fs/fs_trace.c \
	trace/fs/fs_attr.c \
	trace/fs/fs_tree.c \
	trace/fs/fs_why.c \
	trace/fs/readme.c
# boot, features
TRACE_SRCS += trace/start/boot.c \
	trace/start/feature_commands.c \
	trace/start/feature_dump.c \
	trace/start/feature_event_commands.c \
	trace/start/feature_event_pids.c \
	trace/start/feature_events.c \
	trace/start/feature_fgraph.c \
	trace/start/feature_files.c \
	trace/start/feature_function.c \
	trace/start/feature_function_pids.c \
	trace/start/feature_functions.c \
	trace/start/feature_graph.c \
	trace/start/feature_hist.c \
	trace/start/feature_hist_snapshot.c \
	trace/start/feature_hist_trace.c \
	trace/start/feature_kprobe_events.c \
	trace/start/feature_kprobes.c \
	trace/start/feature_latency.c \
	trace/start/feature_livepatch.c \
	trace/start/feature_monitors.c \
	trace/start/feature_pids.c \
	trace/start/feature_probe_events.c \
	trace/start/feature_probe_names.c \
	trace/start/feature_profile.c \
	trace/start/feature_snapshot.c \
	trace/start/feature_stack_tracer.c \
	trace/start/feature_synth.c \
	trace/start/feature_text.c \
	trace/start/feature_types.c \
	trace/start/feature_why.c \
	trace/start/features.c
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
trace_feature = trace/start/feature_$1.c $(filter $(addprefix trace/,$2),$(TRACE_SRCS))
# Call sites; of ops/ the tracepoints, patterns of names and the end of tracing are everybody's.
TRACE_FEATURE_functions := $(call trace_feature,functions,$(filter-out ops/ftrace_dead.c ops/ftrace_match.c ops/host_tracepoints.c \
	ops/tracepoint.c,$(patsubst trace/%,%,$(filter trace/ops/%,$(TRACE_SRCS)))) instance/tracer_function.c fs/fs_functions.c tracers/call_args.c)
TRACE_FEATURE_fgraph := $(call trace_feature,fgraph,graph/%)
TRACE_FEATURES += fprobes wprobes
TRACE_FEATURE_wprobes := trace/kprobes/wprobe.c
TRACE_FEATURE_fprobes := $(addprefix trace/kprobes/,fprobe.c kretprobe.c kretprobe_hit.c kretprobe_list.c kretprobe_table.c return_probe.c)
TRACE_FEATURE_event_commands := $(call trace_feature,event_commands,tracers/event_commands.c)
TRACE_FEATURE_function_pids := $(call trace_feature,function_pids,fs/fs_function_pids.c)
TRACE_FEATURE_events := $(call trace_feature,events,events/% fs/fs_event%)
TRACE_FEATURE_event_pids := $(call trace_feature,event_pids,events/event_pids.c fs/fs_event_pids.c)
TRACE_FEATURE_hist := $(call trace_feature,hist,hist/% fs/fs_event_hist.c)
TRACE_FEATURE_synth := $(call trace_feature,synth,events/synth_% fs/fs_synth.c)
TRACE_FEATURES += monitors kprobes probe_events probe_names kprobe_events
TRACE_FEATURE_kprobe_events := $(call trace_feature,kprobe_events,probes/probe_kprobe.c probes/probe_place.c probes/probe_return.c probes/probe_watch.c probes/probe_why.c fs/fs_kprobe_events.c)
TRACE_FEATURE_kprobes := $(call trace_feature,kprobes,kprobes/kprobe%)
TRACE_FEATURE_monitors := $(call trace_feature,monitors,monitors/% fs/fs_monitors.c)
TRACE_FEATURE_probe_events := $(call trace_feature,probe_events,probes/%)
TRACE_FEATURE_probe_names := $(call trace_feature,probe_names,probes/fetch_complete.c probes/fetch_name.c)
TRACE_FEATURE_livepatch := $(call trace_feature,livepatch,livepatch/%)
TRACE_FEATURE_pids := $(call trace_feature,pids,instance/pid_filter.c fs/fs_pids.c)
TRACE_FEATURE_dump := $(call trace_feature,dump,print/dump.c tracers/dump_commands.c)
TRACE_FEATURE_function := $(call trace_feature,function,tracers/function_args.c tracers/function_calls.c tracers/function_events.c \
	tracers/function_tracer.c tracers/function_variants.c)
TRACE_FEATURE_graph := $(call trace_feature,graph,tracers/graph_% tracers/output_graph% fs/fs_graph.c)
TRACE_FEATURE_latency := $(call trace_feature,latency,tracers/latency% fs/fs_latency.c)
TRACE_FEATURE_commands := $(call trace_feature,commands,tracers/function_commands.c)
TRACE_FEATURE_snapshot := $(call trace_feature,snapshot,instance/snapshot.c tracers/snapshot_command.c fs/fs_snapshot.c)
TRACE_FEATURE_hist_trace := $(call trace_feature,hist_trace,hist/hist_trace.c hist/hist_param.c)
TRACE_FEATURE_hist_snapshot := $(call trace_feature,hist_snapshot,hist/hist_snapshot.c)
TRACE_FEATURE_profile := $(call trace_feature,profile,tracers/profile% fs/fs_stat.c)
TRACE_FEATURE_stack_tracer := $(call trace_feature,stack_tracer,tracers/stack_tracer.c fs/fs_stack.c)
TRACE_FEATURE_types := $(call trace_feature,types,types/% tracers/call_types.c)
TRACE_FEATURE_why := $(call trace_feature,why,why/% fs/fs_why.c)
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
