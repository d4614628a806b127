/*
 * See readme.h. A file that exists is described here; a change of a file changes its lines here.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "feature/feature.h"
#include "readme.h"
#include "text/str.h"

enum needs {
	ALWAYS,
	FILE,
	TRACER,
	COMMAND,
	FEATURE
};

/* A piece of the text, of less than 4 KiB, and what the build must have for it to be shown. */
struct piece {
	enum needs needs;
	const char *name;
	const char *text;
};

static const struct piece pieces[] = {
	{ ALWAYS, NULL,
	  "tracing mini-HOWTO:\n"
	  "\n"
	  "Files can be given to a group, where the host has this option:\n"
	  "# mount -t tracefs -o [remount,][gid=<gid>] nodev /sys/kernel/tracing\n"
	  "\n"
	  "# echo 0 > tracing_on : quick way to disable tracing\n"
	  "# echo 1 > tracing_on : quick way to re-enable tracing\n"
	  "\n" },
	{ FILE, "set_ftrace_filter",
	  "Who calls what, now:\n"
	  "# echo '*sched*' > set_ftrace_filter\n" },
	{ TRACER, "function", "# echo function > current_tracer\n" },
	{ ALWAYS, NULL,
	  "# cat trace\n"
	  "\n"
	  " Important files:\n"
	  "  trace\t\t\t- The trace as text. Reading does not consume.\n"
	  "\t\t\t  Opening it with truncation (> trace) empties the buffer.\n"
	  "  trace_pipe\t\t- The trace as text. Reading consumes, and waits for more.\n"
	  "\t\t\t  Ends when tracing is off and all was read.\n"
	  "  current_tracer\t- The tracer that runs.\n"
	  "  available_tracers\t- What can be written into current_tracer:\n" },
	{ TRACER, "function",
	  "\t\t\t  function  each call of a traced function, with its caller\n" },
	{ TRACER, "function_graph",
	  "\t\t\t  function_graph  each call with what it calls and how long it took\n" },
	{ TRACER, "irqsoff",
	  "\t\t\t  irqsoff, preemptoff, preemptirqsoff  the longest time that a CPU\n"
	  "\t\t\t            had interrupts off, preemption off, either\n" },
	{ TRACER, "wakeup",
	  "\t\t\t  wakeup, wakeup_rt  the longest time from a wakeup to the switch\n" },
	{ TRACER, "hwlat", "\t\t\t  hwlat     times that the machine took: see hwlat_detector/\n" },
	{ TRACER, "osnoise",
	  "\t\t\t  osnoise   noise: times in which a thread could not run: see osnoise/\n"
	  "\t\t\t  timerlat  how late a timer's interrupt and its thread come\n" },
	{ ALWAYS, NULL,
	  "\t\t\t  nop       no events but trace_printk() and markers\n"
	  "  tracing_on\t\t- 0 stops recording, 1 records. Tracers stay in place.\n"
	  "  trace_marker\t\t- Writes into the trace what is written into it.\n"
	  "  trace_marker_raw\t- The same for 4 bytes of id and binary data.\n"
	  "  printk_formats\t- Formats of trace_printk(), for tools that read trace_pipe_raw.\n"
	  "  timestamp_mode\t- How the buffer keeps times: always as the time since the last "
	  "event.\n"
	  "  trace_clock\t\t- The clock that times events. Changing it empties the buffer.\n"
	  "\t\t\t  local, global, counter, uptime, perf, mono, mono_raw, boot, " TRACE_CYCLES_CLOCK
	  "\n"
	  "  tracing_cpumask\t- The CPUs that record, in hex.\n"
	  "  buffer_size_kb\t- Size of the buffer of each CPU; X when they differ.\n"
	  "\t\t\t  It has its full size from the first use on.\n"
	  "  buffer_total_size_kb\t- The sum over all CPUs.\n"
	  "  buffer_subbuf_size_kb - Size of the pieces it consists of, 4 to 512: no event is "
	  "longer.\n"
	  "\t\t\t  A change empties the buffer and the snapshot.\n"
	  "  buffer_percent\t- How full a CPU's buffer wakes who polls trace_pipe_raw; 0: any "
	  "event.\n"
	  "  free_buffer\t\t- Closing it shrinks the buffer; with option disable_on_free "
	  "recording\n"
	  "\t\t\t  stops too.\n" },
	{ FILE, "snapshot",
	  "  snapshot\t\t- What was kept last. 0 frees it, 1 makes room and keeps what was\n"
	  "\t\t\t  recorded so far, 2 clears it. Recording goes on meanwhile.\n" },
	{ ALWAYS, NULL,
	  "  error_log\t\t- The last mistakes in what was written, and why. (> error_log) "
	  "clears.\n" },
	{ FILE, "set_ftrace_filter",
	  "\n"
	  " Functions:\n"
	  "  available_filter_functions\t- Functions that can be traced.\n"
	  "  available_filter_functions_addrs - The same with their addresses.\n"
	  "  enabled_functions\t- Functions that call something now, and what.\n"
	  "  touched_functions\t- Functions that have called something since boot.\n"
	  "  set_ftrace_filter\t- Names of the functions to trace; empty: all.\n"
	  "\t\t\t  accepts: func_full_name or glob-matching-pattern, that is, *func_end, \n"
	  "\t\t\t  func_begin*, *func_middle*, func?name, [a-c]name, !name (take it out),\n"
	  "\t\t\t  a number (its place in available_filter_functions), several words.\n"
	  "\t\t\t  > replaces, >> adds.\n" },
	{ COMMAND, "traceon",
	  "\t\t\t  And commands, FUNCTION:COMMAND[:COUNT], taken away by !FUNCTION:COMMAND\n"
	  "\t\t\t  (with :0 if it has a count): traceon" },
	{ COMMAND, "traceoff", ", traceoff" },
	{ COMMAND, "snapshot", ", snapshot" },
	{ COMMAND, "stacktrace", ", stacktrace" },
	{ COMMAND, "dump",
	  ",\n"
	  "\t\t\t  dump, cpudump" },
	{ COMMAND, "enable_event",
	  ",\n"
	  "\t\t\t  enable_event:<system>:<event>, disable_event:<system>:<event>" },
	{ COMMAND, "traceon", ".\n" },
	{ FILE, "set_ftrace_notrace",
	  "  set_ftrace_notrace\t- The same for functions never to trace; wins over the "
	  "filter.\n" },
	{ FILE, "set_graph_function",
	  "  set_graph_function\t- function_graph: only these functions and what they call.\n"
	  "\t\t\t  Written as set_ftrace_filter.\n" },
	{ FILE, "set_graph_notrace",
	  "  set_graph_notrace\t- function_graph: neither these nor what they call.\n" },
	{ FILE, "max_graph_depth",
	  "  max_graph_depth\t- function_graph: how many levels to trace; 0: all.\n" },
	{ FILE, "set_ftrace_pid", "  set_ftrace_pid\t- Trace only these threads.\n" },
	{ FILE, "set_ftrace_notrace_pid",
	  "  set_ftrace_notrace_pid - Do not trace these threads.\n" },
	{ FILE, "dyn_ftrace_total_info", "  dyn_ftrace_total_info\t- How many sites there are.\n" },
	{ FILE, "available_events",
	  "  available_events\t- The trace events, SYSTEM:EVENT.\n"
	  "  set_event\t\t- Those that are on. Written: SYSTEM:EVENT, EVENT, SYSTEM:*, with\n"
	  "\t\t\t  * and ?, and ! in front to switch off.\n"
	  "  show_event_filters\t- Events that have a filter, and that.\n"
	  "  show_event_triggers\t- Events that have triggers, and these.\n"
	  "  events/\t\t- A directory for each system:\n"
	  "      enable\t\t- Write 0/1 to enable/disable tracing of all events\n"
	  "      header_page, header_event  how raw pages are read\n"
	  "  events/<system>/\t- A directory for each event of the system:\n"
	  "      enable\t\t- Write 0/1 to enable/disable tracing of all <system> events\n"
	  "      filter\t\t- Written: the filter of all <system> events that have its fields\n"
	  "  events/<system>/<event>/\n"
	  "      enable\t\t- Write 0/1 to enable/disable tracing of <event>\n"
	  "      filter\t\t- Only events that pass are recorded: FIELD OPERATOR VALUE, && || ! ()\n"
	  "      format\t\t- The fields of <event>, and how it is printed\n"
	  "      id\t\t- The number of its type\n"
	  "      inject\t\t- Written: FIELD=NUMBER or FIELD=\"TEXT\" ..., records such an event\n"
	  "      trigger\t\t- What is to happen when <event> occurs:\n"
	  "\t\t\t  COMMAND[:COUNT][ if CONDITION]; ! in front takes it away.\n"
	  "\t\t\t  Read it for the commands that there are.\n"
	  "\t\t\t  events/ftrace/print/trigger is for what is written to trace_marker.\n" },
	{ FILE, "events/sched/sched_switch/hist",
	  "      hist\t\t- Histograms, which are set by writing to trigger:\n"
	  "\t\t\t  hist:keys=FIELD[,...][:vals=FIELD,...][:sort=FIELD[.descending],...]\n"
	  "\t\t\t  [:size=N][:name=NAME][:VAR=EXPR][:nohitcount][:pause|cont|clear]\n"
	  "\t\t\t  [ if CONDITION]. A field may have a modifier: .hex .sym .sym-offset\n"
	  "\t\t\t  .syscall .execname .log2 .buckets=N .usecs .percent .graph .string\n"
	  "\t\t\t  .stacktrace. Beside fields: common_pid, common_cpu, common_comm,\n"
	  "\t\t\t  common_timestamp. A key\n"
	  "\t\t\t  can be any field, or the special string 'common_stacktrace'.\n"
	  "\t\t\t  A variable is set by\n"
	  "\t\t\t  <var1>=<field|var_ref|numeric_literal>[,<var2>=...], with + - * / too.\n"
	  "\t\t\t  ! in front takes it away.\n"
	  "\t\t\t  [:<handler>.<action>] is what else to do when an event was counted.\n"
	  "\t\t\t  Handlers: onmax(var) if var, a $VAR, is greater than it ever was in\n"
	  "\t\t\t  the entry, onchange(var) if it is another one than before.\n"
	  "\t\t\t  Actions: save(field,...) has the entry keep fields of that event\n" },
	{ FEATURE, "hist_trace",
	  "\t\t\t  trace(<synthetic_event>,param list), or <synthetic_event>(param list),\n"
	  "\t\t\t  writes one; with onmatch(matching.event) always, and parameters may\n"
	  "\t\t\t  be fields and variables of that event with the same key\n" },
	{ FEATURE, "hist_snapshot",
	  "\t\t\t  snapshot() takes a snapshot; `hist` says for which event\n" },
	{ FILE, "events/sched/sched_switch/hist_picture",
	  "      hist_picture\t- The same drawn: bars, for two keys a map; hist_ascii: in plain "
	  "ASCII\n" },
	{ FILE, "events/sched/sched_switch/hist_folded",
	  "      hist_folded\t- The same as folded stacks, for tools that draw flame graphs\n" },
	{ FILE, "events/sched/sched_switch/hist_debug",
	  "      hist_debug\t- What its histograms consist of: fields, variables, references\n" },
	{ FILE, "dynamic_events",
	  "  dynamic_events\t- Trace events that users have defined. Written: a definition, or\n"
	  "\t\t\t  -:[SYSTEM/]NAME to take one away; > takes all away\n" },
	{ FILE, "synthetic_events",
	  "\t\t\t  s:[synthetic/]NAME TYPE FIELD[;TYPE FIELD]...  an event that others write\n"
	  "  synthetic_events\t- Only those of this kind: NAME TYPE FIELD[;TYPE FIELD]..., "
	  "!NAME\n"
	  "\t\t\t  echo 'woken u64 lat; char name[]' >> synthetic_events\n"
	  "\t\t\t  echo 'slow u64 lat; long[] stack' >> synthetic_events\n" },
	{ FILE, "kprobe_events",
	  "  kprobe_events\t\t- Create/append/remove/show the kernel dynamic events: those of the\n"
	  "\t\t\t  kinds p and r. An event may have several probes; they record the same\n"
	  "\t\t\t  p[:[<group>/][<event>]] <place> [<args>]\n"
	  "\t\t\t  r[maxactive][:[<group>/][<event>]] <place> [<args>]\n"
	  "\t\t\t  f[:[<group>/][<event>]] <func-name>[%return] [<args>]  by dynamic_events;\n"
	  "\t\t\t     %entry is the entry, too\n"
	  "\t\t\t  w[:[<group>/][<event>]] [rw|w]@<variable>[:<len>] [<args>]   the same\n"
	  "\t\t\t     place: [<module>:]<symbol>[+<offset>]|<file>:<line>|<memaddr>\n"
	  "\t\t\t     place (kretprobe): [<module>:]<symbol>[+<offset>]%return|<memaddr>\n"
	  "\t\t\t     module: there are none, so a place with one is refused\n"
	  "\t\t\t     variable: <symbol>[+|-<offset>]|<memaddr>\n"
	  "\t\t\t     args of w: $addr, $old and $value, too\n"
	  "\t\t\t  -:[<group>/][<event>]\n" },
	{ FILE, "kprobe_profile",
	  "  kprobe_profile\t- Their names, hits, and hits that were missed\n" },
	{ FILE, "uprobe_events",
	  "  uprobe_events\t\t- Probes at instructions of programs; dynamic_events has them, "
	  "too:\n"
	  "\t\t\t  p|r[:[<group>/][<event>]] <place> [<args>]\n"
	  "\t\t\t     place (uprobe): <path>:<offset>[%return][(ref_ctr_offset)]\n"
	  "\t\t\t     or <path>:<symbol>[+|-<offset>][%return][(ref_ctr_offset)]\n"
	  "\t\t\t     args: registers and memory of the program, @+<offset> of the file\n" },
	{ FILE, "uprobe_profile", "  uprobe_profile\t- Their files, names, hits\n" },
	{ FILE, "user_events_data",
	  "  user_events_data\t- Programs register and write events here; u:NAME FIELDS in\n"
	  "\t\t\t  dynamic_events defines one, too\n" },
	{ FILE, "user_events_status", "  user_events_status\t- Their names, and which are on\n" },
	{ FEATURE, "probe_events",
	  "\t\t\t  t[:[<group>/][<event>]] <tracepoint> [<args>]\n"
	  "\t\t\t  e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>]\n"
	  "\t\t\t     [if <filter>]\n"
	  "\t\t\t      args: <name>=fetcharg[:type]\n"
	  "\t\t\t  fetcharg: (%<register>|$<efield>), @<address>, @<symbol>[+|-<offset>],\n"
	  "\t\t\t            $stack<index>, $stack, $retval, $comm, $arg<N>, $current,\n"
	  "\t\t\t            +|-[u]<offset>(<fetcharg>), \\imm-value, \\\"imm-string\",\n"
	  "\t\t\t            this_cpu_read(<fetcharg>), this_cpu_ptr(<fetcharg>)\n" },
	{ FEATURE, "probe_names",
	  "\t\t\t            [(structname[,field])]<argname>[->field[->field|.field...]],\n"
	  "\t\t\t            (structname[,field])(fetcharg)->field[->field|.field...],\n"
	  "\t\t\t            $arg* for all arguments; fields also behind $retval and $current\n" },
	{ FEATURE, "probe_events",
	  "\t\t\t    kernel return probes support: $retval, $arg<N>, $comm\n"
	  "\t\t\t      type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, ustring,\n"
	  "\t\t\t            symbol, symstr, %pd/%pD, <type>\\[<array-size>\\],\n"
	  "\t\t\t            b<bit-width>@<bit-offset>/<container-size>\n"
	  "\t\t\t    efield: a field of the event it is attached to\n" },
	{ FILE, "monitors",
	  "  monitors\t\t- Automata over events; a violation is counted, and reacted to:\n"
	  "\t\t\t  m:NAME [per=global|cpu|thread|FIELD] [size=N] [react=REACTOR] [enable=1]\n"
	  "\t\t\t  STATE -EVENT-> STATE [-EVENT-> STATE ...][; STATE -EVENT-> STATE ...]\n"
	  "\t\t\t  EVENT: [LABEL=][SYSTEM:]EVENT[[FIELD]][{FILTER}]. -:NAME or !NAME removes.\n"
	  "  rv/\t\t\t- Those that there are: available_monitors, available_reactors,\n"
	  "\t\t\t  enabled_monitors, monitoring_on, reacting_on.\n"
	  "  rv/monitors/<monitor>/ - desc, enable, reactors; state: where it is now; hits: what\n"
	  "\t\t\t  was counted, and the last violation.\n" },
	{ FEATURE, "scripts",
	  "  scripts/\t\t- mkdir here makes a script in the words of bpftrace, rmdir removes it:\n"
	  "\t\t\t  write it to program, 1 to enable; output, maps and stats show what it\n"
	  "\t\t\t  prints, its tables as they are now, and what was left out.\n" },
	{ FEATURE, "sample",
	  "  profile/		- The profiler: frequency, cpus, pids, clock (timer, or nmi, which "
	  "sees\n"
	  "\t\t\t  code with interrupts off, too) of the event profile:sample; on is its\n"
	  "\t\t\t  switch; max_percent limits its time, stats counts samples and misses.\n" },
	{ FEATURE, "hwlat",
	  "  hwlat_detector/\t- hwlat reads the clock for width us of each window us, with\n"
	  "\t\t\t  interrupts off: mode none, round-robin over tracing_cpumask, per-cpu.\n"
	  "\t\t\t  Times longer than tracing_thresh (10 us, unless set) are recorded.\n" },
	{ FEATURE, "osnoise",
	  "  osnoise/\t\t- osnoise reads the clock for runtime_us of each period_us; timerlat has "
	  "a\n"
	  "\t\t\t  deadline each timerlat_period_us. A time, a sum not below stop_tracing_us,\n"
	  "\t\t\t  stop_tracing_total_us stops recording. cpus, print_stack, options.\n" },
	{ FEATURE, "syscalls",
	  "  syscall_user_buf_size\t- How many bytes of a path or buffer an event of a system call "
	  "holds.\n" },
	{ FILE, "set_event_pid",
	  "  set_event_pid\t\t- Record events of these threads only; switches and wakeups of\n"
	  "\t\t\t  others where one of these takes part, too. With option event-fork the\n"
	  "\t\t\t  threads that they make come along.\n"
	  "  set_event_notrace_pid\t- Do not record events of these threads.\n" },
	{ FILE, "function_profile_enabled",
	  "  function_profile_enabled - 1 counts calls and times of functions, from 0; filters as "
	  "above.\n" },
	{ FILE, "trace_stat/function0",
	  "  trace_stat/functionN\t- What CPU N has counted, the most time first.\n" },
	{ FILE, "stack_trace_filter",
	  "  stack_trace_filter\t- Functions at which the stack tracer looks.\n" },
	{ FILE, "stack_max_size",
	  "  stack_max_size\t- The deepest stack of a thread that it saw, in bytes. Only deeper "
	  "ones\n"
	  "\t\t\t  are recorded; write 0 to begin anew.\n" },
	{ FILE, "stack_trace",
	  "  stack_trace\t\t- Who stood on it; then the deepest interrupt, NMI and fault.\n"
	  "\t\t\t  echo 1 > /proc/sys/kernel/stack_tracer_enabled starts it.\n" },
	{ FILE, "text_poke_stats",
	  "  text_poke_stats\t- What live patching did: batches, sites, core syncs, int3 hits.\n" },
	{ ALWAYS, NULL,
	  "\n"
	  " Options and numbers:\n"
	  "  trace_options\t\t- All options; write NAME or noNAME. Or use options/NAME, 0 or 1.\n"
	  "\t\t\t  stacktrace        a stack behind each trace_printk()\n"
	  "\t\t\t  trace_printk_dest trace_printk() writes into this instance\n"
	  "\t\t\t  copy_trace_marker what goes to the top's trace_marker comes here, too\n" },
	{ FILE, "options/func_stack_trace",
	  "\t\t\t  func_stack_trace  function: a stack behind each event\n" },
	{ FILE, "options/func-args",
	  "\t\t\t  func-args         function: record arguments, by name\n" },
	{ FILE, "options/func-no-repeats",
	  "\t\t\t  func-no-repeats   function: count the same call instead of writing it\n" },
	{ ALWAYS, NULL,
	  "  saved_cmdlines\t- Threads and their names.\n"
	  "  saved_cmdlines_size\t- How many names of threads that ended are kept.\n"
	  "  saved_tgids\t\t- Threads and their processes, with the option record-tgid.\n"
	  "  tracing_thresh\t- Shortest latency that a latency tracer records, in us;\n" },
	{ TRACER, "function_graph",
	  "\t\t\t  function_graph records only functions that took as long.\n" },
	{ FILE, "tracing_max_latency",
	  "  tracing_max_latency\t- Longest latency that one has seen, in us.\n" },
	{ FILE, "why",
	  "  why\t\t\t- Why is the trace empty, short, late? Looks, and answers in sentences.\n" },
	{ ALWAYS, NULL,
	  "\n"
	  " instances/\t\t- mkdir here makes a trace of its own, with most of these files;\n"
	  "\t\t\t  rmdir removes it, unless one of its files is open.\n"
	  "\n"
	  " For each CPU, under per_cpu/cpuN:\n"
	  "  trace, trace_pipe, buffer_size_kb - As above, for one CPU.\n" },
	{ FILE, "per_cpu/cpu0/snapshot", "  snapshot, snapshot_raw - The same of the snapshot.\n" },
	{ ALWAYS, NULL,
	  "  trace_pipe_raw\t- The buffer's pages as they are; reading consumes and waits.\n"
	  "  stats\t\t\t- entries + overrun + read events = all that was ever recorded.\n" },
};

static bool has_file(const char *path)
{
	struct trace_node *node = trace_fs_find(path, trace_strlen(path));

	if (node)
		trace_fs_put(node);
	return node;
}

static bool has_feature(const char *name)
{
	const struct trace_feature *const *at = trace_features;

	while (*at && !trace_streq((*at)->name, name))
		at++;
	return *at && (!(*at)->is_there || (*at)->is_there());
}

static bool has_command(const char *name)
{
	const struct trace_feature *const *at = trace_features;

	while (*at && !((*at)->has_command && (*at)->has_command(name)))
		at++;
	return *at;
}

static bool is_of_use(const struct piece *piece)
{
	switch (piece->needs) {
	case FILE:
		return has_file(piece->name);
	case TRACER:
		return tracer_find(piece->name);
	case COMMAND:
		return has_command(piece->name);
	case FEATURE:
		return has_feature(piece->name);
	case ALWAYS:
	default:
		return true;
	}
}

bool trace_readme_next(size_t *index, struct trace_seq *seq)
{
	const struct piece *piece;

	while (*index < TRACE_ARRAY_SIZE(pieces)) {
		piece = &pieces[(*index)++];
		if (!is_of_use(piece))
			continue;
		trace_seq_puts(seq, piece->text);
		return true;
	}
	return false;
}
