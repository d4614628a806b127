/*
 * The text of the file `why`. Each case makes a state, in a life of its own, and reads the whole file;
 * while that is read no thread may wait for a lock.
 */
#include "unit.h"
#include "child.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "events/event_scratch.h"
#include "instance/array.h"
#include "ring/ring_private.h"
#include "text/str.h"
#include <trace/event.h>
#include "host/yard.h"

#define MS    1000000ull
#define WATCH "events/yard/yard_watch/"
#define TEXTS "events/yard/yard_texts/"
#define NOTHING                                                                                    \
	"Nothing is on: current_tracer is nop, and no event is enabled; echo function > "          \
	"current_tracer, or echo 1 > events/sched/enable.\n"
#define ONLY_PRINTK                                                                                \
	"Nothing is on but trace_printk() and markers: current_tracer is nop, and no event is "    \
	"enabled.\n"

#define ONLY_FULL                                                                                  \
	"No event that is on has occurred: yard_full.\n"                                           \
	"Nothing is wrong: event yard_full is on, but no event came in the last second; 0 events " \
	"are there.\n"

static const unsigned long one_bit = 1;

static void set(const char *text, const char *path)
{
	EXPECT(echo(text, path) == 0);
}

static void pass_ms(uint64_t ms)
{
	fake_clock += ms * MS;
}

/* `nr` events, a millisecond from one to the next. */
static void watch(int nr)
{
	for (int i = 0; i < nr; i++) {
		trace_yard_watch(i);
		pass_ms(1);
	}
}

/* ---- Off ---- */

static void off_by_user(void)
{
	set("0", "tracing_on");
	pass_ms(3250);
}

static void off_by_free_buffer(void)
{
	set("1", "options/disable_on_free");
	set("", "free_buffer");
}

static void off_by_trigger(void)
{
	set("traceoff", WATCH "trigger");
	trace_yard_watch(1);
	pass_ms(15);
}

static void off_by_command(void)
{
	set("do_work:traceoff", "set_ftrace_filter");
	call(0, 1, DO_WORK);
	pass_ms(61000);
}

static void off_by_code(void)
{
	uintptr_t here = (uintptr_t)off_by_code;

	fake_symbol_add(here, 256, "my_driver");
	tracing_off();
	__asm__ volatile(""); /* not the last call, which would be a jump */
}

static void off_by_warning(void)
{
	uintptr_t here = (uintptr_t)off_by_warning;

	fake_symbol_add(here, 256, "my_driver");
	EXPECT(trace_set_off_on_warning(1) == 0);
	trace_host_warned(here + 1);
}

static void off_by_snapshot(void)
{
	set("do_work:snapshot", "set_ftrace_filter");
	set("0", "snapshot");
	call(0, 1, DO_WORK);
}

static void off_by_monitor(void)
{
	set("m:gate react=traceoff enable=1 open -yard_watch-> shut -yard_full-> open", "monitors");
	trace_yard_full(7, 7);
	trace_yard_watch(1);
	trace_yard_watch(2);
	pass_ms(40);
}

static void off_by_dump(void)
{
	trace_dump(0);
	pass_ms(1500);
}

static void off_and_nobody_knows(void)
{
	ring_buffer_record_off(trace_global.buffer);
}

static void dead(void)
{
	uint8_t *site = fake_text_at(fake_func(DO_WORK));

	set("do_work", "set_ftrace_filter");
	site[2] ^= 0xff;
	EXPECT(echo("function", "current_tracer") == -ENODEV);
	pass_ms(2000);
}

static void killed(void)
{
	ftrace_kill();
	pass_ms(1000);
}

/* Something has written over an event, and a reader has come to it. */
static void damaged(void)
{
	struct ring_buffer *buffer = trace_global.buffer;
	struct ring_event event;
	char *payload;

	set("1", WATCH "enable");
	watch(5);
	payload = ring_buffer_lock_reserve(buffer, 12);
	ring_buffer_unlock_commit(buffer, payload);
	watch(5);
	memset(payload - 4, 0xff, 4);
	while (ring_buffer_consume(buffer, 0, &event))
		continue;
	pass_ms(2000);
}

/* A function is left that is not the innermost one, as longjmp() would. */
static void graph_dead(void)
{
	uintptr_t *slot;

	set("function_graph", "current_tracer");
	fake_enter(SCHEDULE, fake_func(YIELD) + 1);
	fake_enter(DO_WORK, fake_func(YIELD) + 2);
	slot = fake_enter(KFREE, fake_func(YIELD) + 3);
	fake_this->stack_used -= 2;
	*slot = 1234;
	EXPECT(fake_leave(0) == fake_func(YIELD) + 1);
	pass_ms(61000);
}

/* ---- Nothing on ---- */

static void nothing(void)
{
}

static void only_printk(void)
{
	trace_printk("%d", 1);
}

static void patching_off(void)
{
	set("function", "current_tracer");
	EXPECT(ftrace_set_enabled(false) == 0);
	pass_ms(61000);
}

static void all_are_exceptions(void)
{
	set("*", "set_ftrace_notrace");
	set("function", "current_tracer");
	pass_ms(61000);
}

static void filter_is_covered(void)
{
	set("do_work kfree", "set_ftrace_filter");
	set("do_work kfree", "set_ftrace_notrace");
	set("function", "current_tracer");
	pass_ms(61000);
}

static void filter_was_not_called(void)
{
	set("do_work kfree", "set_ftrace_filter");
	set("function", "current_tracer");
	call(0, 1, SCHEDULE);
	pass_ms(61000);
}

static void no_thread_of_functions(void)
{
	set("77", "set_ftrace_pid");
	set("function", "current_tracer");
	call(0, 1, SCHEDULE);
	pass_ms(61000);
}

static void no_thread_of_events(void)
{
	set("77", "set_event_pid");
	set("1", WATCH "enable");
	watch(1);
}

static void one_thread_of_events(void)
{
	set("2", "set_event_pid");
	set("1", WATCH "enable");
	watch(1);
}

static void cpu_left_out(void)
{
	set("1", WATCH "enable");
	set("1", "tracing_cpumask");
	watch(1);
}

/* ---- The buffer ---- */

static void overwritten(void)
{
	set("1", WATCH "enable");
	set("8", "buffer_size_kb");
	watch(1000);
}

/* Hardly any is left, yet it is not 100 % that are lost. */
static void overwritten_all_but_few(void)
{
	set("1", WATCH "enable");
	set("8", "buffer_size_kb");
	watch(100000);
}

/* The CPU that has lost nothing has room enough, and its size is not looked at. */
static void overwritten_on_one(void)
{
	set("1", WATCH "enable");
	set("8", "per_cpu/cpu0/buffer_size_kb");
	set("64", "per_cpu/cpu1/buffer_size_kb");
	watch(1000);
	fake_bind(1);
	watch(1);
	fake_bind(0);
}

static void dropped(void)
{
	set("1", WATCH "enable");
	set("8", "buffer_size_kb");
	set("0", "options/overwrite");
	watch(1000);
}

static void dropped_before(void)
{
	dropped();
	set("1", "options/overwrite");
}

/* One event is open while others come that the whole buffer has no room for. */
static void dropped_in_interrupts(void)
{
	struct ring_buffer *buffer = trace_global.buffer;
	void *outer;

	set("8", "buffer_size_kb");
	set("1", WATCH "enable");
	pass_ms(61000);
	outer = ring_buffer_lock_reserve(buffer, 16);
	watch(600);
	ring_buffer_discard_commit(buffer, outer, 16);
}

/* Long events while all places of the CPU are taken in which they could be built. */
static void no_room_to_build(void)
{
	static const u32 list[1];
	char name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	set("odd == 7", TEXTS "filter");
	set("1", TEXTS "enable");
	set("traceoff if odd == 3", TEXTS "trigger");
	pass_ms(61000);
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		EXPECT(trace_event_scratch_get());
	for (int i = 0; i < 3; i++)
		trace_yard_texts(name, list, 0, &one_bit);
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		trace_event_scratch_put();
	trace_yard_texts(name, list, 0, &one_bit);
}

/* Triggers alone have nothing recorded. */
static void triggers_without_room(void)
{
	set("x", "trace_marker");
	set("traceoff if buf == \"stop\"", "events/ftrace/print/trigger");
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		EXPECT(trace_event_scratch_get());
	set("stop", "trace_marker");
}

/* As while its size is changed. */
static void one_without_buffer(void)
{
	set("1", WATCH "enable");
	pass_ms(61000);
	watch(1);
	atomic_store(&trace_global.buffer->cpu[1]->is_moving, true);
}

/* Nothing is lost when a buffer is emptied that has nothing. */
static void clock_at_boot(void)
{
	EXPECT(trace_boot_param("trace_clock", "uptime"));
	EXPECT(trace_boot_param("trace_event", "yard_watch"));
	trace_boot_start();
	watch(1);
}

static void emptied_by_clock(void)
{
	set("1", WATCH "enable");
	watch(3);
	set("global", "trace_clock");
	pass_ms(500);
	watch(1);
}

static void emptied_by_user(void)
{
	set("1", WATCH "enable");
	watch(3);
	set("", "trace");
}

static void emptied_long_ago(void)
{
	emptied_by_user();
	pass_ms(61000);
	watch(1);
}

static void emptied_by_size(void)
{
	set("1", WATCH "enable");
	watch(3);
	set("8", "buffer_subbuf_size_kb");
	watch(2);
}

/* ---- Readers, options, clocks ---- */

static void pipe_is_open(void)
{
	struct trace_handle *handle;
	char buf[4096];
	uint64_t pos = 0;

	set("1", WATCH "enable");
	watch(2);
	fake_run(2);
	handle = open_file("trace_pipe", TRACE_FS_READ);
	fake_run(1);
	EXPECT(trace_fs_read(handle, buf, sizeof(buf), &pos) > 0);
	watch(1);
}

static void was_read(void)
{
	pipe_is_open();
	trace_global.cpus[0].is_piped = trace_global.cpus[1].is_piped = false;
}

static void paused(void)
{
	set("1", WATCH "enable");
	set("1", "options/pause-on-trace");
	(void)open_file("trace", TRACE_FS_READ);
	watch(1);
}

static void markers_off(void)
{
	set("1", WATCH "enable");
	set("0", "options/markers");
	set("1", "options/printk-msg-only");
	watch(1);
}

static void much_is_hidden(void)
{
	static const char *const shown[] = { "context-info", "irq-info", "trace_printk",
					     "record-cmd" };
	static const char *const hiding[] = { "raw", "hex", "bin" };
	char path[40];

	set("1", WATCH "enable");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(shown); i++) {
		snprintf(path, sizeof(path), "options/%s", shown[i]);
		set("0", path);
	}
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(hiding); i++) {
		snprintf(path, sizeof(path), "options/%s", hiding[i]);
		set("1", path);
	}
	watch(1);
}

static void reader_waits(void)
{
	struct trace_handle *handle = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ);

	set("1", WATCH "enable");
	watch(3);
	EXPECT(!trace_fs_poll(handle));
	pass_ms(20);
}

static void reader_has_waited(void)
{
	reader_waits();
	pass_ms(1000);
}

static void no_time(void)
{
	set("counter", "trace_clock");
	set("1", WATCH "enable");
	pass_ms(61000);
	watch(1);
}

/* ---- Events ---- */

static void filter_passes_none(void)
{
	set("1", WATCH "enable");
	set("who >= 5000", WATCH "filter");
	watch(3);
}

/* Asked once, it counts. */
static void filter_counts(void)
{
	filter_passes_none();
	(void)cat("why");
	watch(1204);
	fake_bind(1);
	watch(1);
	fake_bind(0);
}

/* Of a long program the beginning is shown. */
#define LONG "who>9999&&who>9998&&who>9997&&who>9996&&who>9995&&who>9994"
static void filter_is_long(void)
{
	filter_passes_none();
	set(LONG, WATCH "filter");
	(void)cat("why");
	watch(1);
}

/* While it counted, events went that may have passed. */
static void filter_counts_overrun(void)
{
	filter_passes_none();
	(void)cat("why");
	set("8", "buffer_size_kb");
	set("1", "events/yard/yard_full/enable");
	watch(5);
	for (int i = 0; i < 1000; i++)
		trace_yard_full(1, 1);
}

/* Some are named, the others counted. */
static void many_filters(void)
{
	set("1", "events/yard/enable");
	set("common_pid >= 7", "events/yard/filter");
	watch(1);
	(void)cat("why");
	watch(1);
}

static void filter_is_replaced(void)
{
	filter_counts();
	set("who == 7 && who != 8", WATCH "filter");
	watch(10);
}

static void filter_passes_some(void)
{
	filter_counts();
	trace_yard_watch(5000);
	pass_ms(1);
}

/* A trigger that comes and goes does not end the count. */
static void filter_counts_with_trigger(void)
{
	filter_passes_none();
	set("stacktrace if who == 99", WATCH "trigger");
	watch(7); /* which it counts, but it has not been asked yet */
	(void)cat("why");
	watch(5);
	set("!stacktrace", WATCH "trigger");
	watch(5);
}

/* Events from before the filter was set do not count as passed. */
static void filter_was_set_late(void)
{
	set("1", WATCH "enable");
	set("1", "events/yard/yard_full/enable");
	watch(1);
	trace_yard_full(3, 2);
	set("who >= 5000", WATCH "filter");
	watch(3);
}

static void filter_counts_late(void)
{
	filter_was_set_late();
	(void)cat("why");
	watch(5);
}

/* With a clock that counts events it is unknown what was there before the filter. */
static void filter_was_set_sometime(void)
{
	set("counter", "trace_clock");
	filter_was_set_late();
}

static void filter_after_overrun(void)
{
	set("1", WATCH "enable");
	set("8", "buffer_size_kb");
	watch(1);
	set("who >= 5000", WATCH "filter");
	trace_yard_watch(5000);
	set("1", "events/yard/yard_full/enable");
	for (int i = 0; i < 1000; i++)
		trace_yard_full(7, 7);
}

static void waits_for_trigger(void)
{
	set("1", "events/yard/yard_full/enable");
	set("enable_event:yard:yard_watch", "events/yard/yard_full/trigger");
	watch(1);
}

static void waits_for_condition(void)
{
	waits_for_trigger();
	set("!enable_event:yard:yard_watch", "events/yard/yard_full/trigger");
	EXPECT(echo_append("enable_event:yard:yard_watch:1 if used == 7",
			   "events/yard/yard_full/trigger") == 0);
}

static void waits_for_command(void)
{
	set("1", "events/yard/yard_full/enable");
	set("do_work:enable_event:yard:yard_watch", "set_ftrace_filter");
}

/* The trigger has acted once, the command still would. */
static void waits_for_second(void)
{
	set("1", "events/yard/yard_full/enable");
	set("enable_event:yard:yard_watch:1", "events/yard/yard_full/trigger");
	set("do_work:enable_event:yard:yard_watch", "set_ftrace_filter");
	trace_yard_full(7, 7);
	set("0", WATCH "enable");
}

static void command_has_acted(void)
{
	set("do_work:enable_event:yard:yard_watch:1", "set_ftrace_filter");
	call(0, 1, DO_WORK);
	set("0", WATCH "enable");
	set("1", "events/yard/yard_full/enable");
}

static void command_is_gone(void)
{
	set("1", "events/yard/yard_full/enable");
	set("do_work:enable_event:yard:yard_watch", "set_ftrace_filter");
	set("yield:disable_event:yard:yard_watch", "set_ftrace_filter");
	set("!do_work:enable_event:yard:yard_watch", "set_ftrace_filter");
}

static void only_switched_off(void)
{
	set("1", "events/yard/yard_full/enable");
	set("do_work:disable_event:yard:yard_watch", "set_ftrace_filter");
}

static void only_monitored(void)
{
	set("1", "events/yard/yard_full/enable");
	set("m:gate enable=1 open -yard_watch-> shut", "monitors");
}

static void one_does_not_occur(void)
{
	set("1", "events/yard/yard_full/enable");
	set("1", WATCH "enable");
	watch(1);
}

/* ---- Tracers ---- */

static void graph_waits(void)
{
	set("do_work", "set_graph_function");
	set("kfree yield", "set_graph_notrace");
	set("function_graph", "current_tracer");
	pass_ms(61000);
}

static void graph_is_cut(void)
{
	set("100", "tracing_thresh");
	set("2", "max_graph_depth");
	set("0", "options/funcgraph-irqs");
	set("function_graph", "current_tracer");
	pass_ms(61000);
}

static void latency_has_maximum(void)
{
	set("irqsoff", "current_tracer");
	set("900000", "tracing_max_latency");
	pass_ms(61000);
}

static void latency_is_new(void)
{
	set("0", "options/function-trace");
	set("irqsoff", "current_tracer");
	pass_ms(61000);
}

/* One thing is said, and the other. */
static void latency_has_thresh_without_calls(void)
{
	set("0", "options/function-trace");
	set("1000", "tracing_thresh");
	set("irqsoff", "current_tracer");
	pass_ms(61000);
}

static void latency_has_thresh(void)
{
	set("1000", "tracing_thresh");
	set("irqsoff", "current_tracer");
	pass_ms(61000);
}

static void snapshot_was_taken(void)
{
	set("1", "snapshot");
	set("1", WATCH "enable");
	pass_ms(2100);
	watch(1);
}

static void snapshot_by_hist(void)
{
	set("hist:keys=who:w=who:onmax($w).snapshot()", WATCH "trigger");
	set("1", WATCH "enable");
	trace_yard_watch(7);
	pass_ms(61000);
	trace_yard_watch(3);
}

/* ---- Histograms ---- */

static void hist_alone(void)
{
	set("hist:keys=who", WATCH "trigger");
	watch(1);
}

static void hist_and_marker(void)
{
	hist_alone();
	set("there", "trace_marker");
}

static void hist_is_paused(void)
{
	set("hist:keys=who:pause", WATCH "trigger");
	set("1", WATCH "enable");
	watch(1);
}

static void hist_is_full(void)
{
	set("hist:keys=who:size=128", WATCH "trigger");
	set("1", WATCH "enable");
	watch(130);
}

static void hist_has_nothing(void)
{
	set("hist:keys=who if who > 5000", WATCH "trigger");
	set("1", WATCH "enable");
	watch(1);
}

static void hist_without_event(void)
{
	set("hist:keys=who", WATCH "trigger");
	set("1", WATCH "enable");
}

/* ---- Nothing wrong ---- */

static void fine(void)
{
	set("1", WATCH "enable");
	set("1024", "buffer_size_kb");
	watch(2000);
}

/* The CPU whose buffer is full first, whichever it is. */
static void fine_on_two(void)
{
	set("1", WATCH "enable");
	set("1024", "buffer_size_kb");
	watch(2);
	fake_bind(1);
	watch(2000);
	fake_bind(0);
	watch(2);
}

static void fine_with_tracer(void)
{
	set("function", "current_tracer");
	set("1", WATCH "enable");
	pass_ms(61000);
	watch(1);
	pass_ms(1000);
}

/* Programs of the filters `who >= 5000` and `common_pid >= 7`. */
#define ONE_TEST_OF_WHO                                                                            \
	"   0 TEST offset 4 mask ffffffff00000000 lo 138800000000 span 7fffec7700000000, true: "   \
	"passes, false: fails\n"
#define ONE_OF_MANY(nr, lo, span, next)                                                            \
	"   " nr " TEST offset 4 mask ffffffff00000000 lo " lo "00000000 span 7fff" span           \
	"00000000, true: " next ", false: fails\n"
#define OF_PID(nr, event)                                                                          \
	"The filter of " event " has let 0 of " nr " pass in 1 ms: common_pid >= 7; echo 0 > "     \
	"events/yard/" event "/filter.\n   0 TEST offset 0 mask ffffffff00000000 lo 700000000 "    \
	"span 7ffffff800000000, true: passes, false: fails\n"

static const struct {
	const char *name;
	void (*make)(void);
	const char *says;
} cases[] = {
	{ "off_by_user", off_by_user,
	  "Tracing has been off for 3.2 s: thread sh-1 wrote 0 to tracing_on; echo 1 > "
	  "tracing_on.\n" NOTHING },
	{ "off_by_free_buffer", off_by_free_buffer,
	  "Tracing has been off for 0 ns: thread sh-1 closed free_buffer, and option "
	  "disable_on_free is set; echo 1 > tracing_on.\n" NOTHING },
	{ "off_by_trigger", off_by_trigger,
	  "Tracing has been off for 15 ms: the trigger traceoff of yard_watch was hit in thread "
	  "sh-1; echo 1 > tracing_on.\n" NOTHING },
	{ "off_by_command", off_by_command,
	  "Tracing has been off for 1 min: do_work was called, which has the command traceoff, in "
	  "thread sh-1; echo 1 > tracing_on.\n" NOTHING },
	{ "off_by_code", off_by_code,
	  "Tracing has been off for 0 ns: my_driver called tracing_off() in thread sh-1; echo 1 > "
	  "tracing_on.\n" NOTHING },
	{ "off_by_warning", off_by_warning,
	  "Tracing has been off for 0 ns: my_driver warned in thread sh-1, and traceoff_on_warning "
	  "is set; echo 1 > tracing_on.\n" ONLY_PRINTK },
	{ "off_by_monitor", off_by_monitor,
	  "Tracing has been off for 40 ms: the monitor gate, which has the reactor traceoff, was "
	  "violated in thread sh-1; echo 1 > tracing_on.\n" NOTHING },
	{ "off_by_snapshot", off_by_snapshot,
	  "Tracing has been off for 0 ns: a snapshot was to be taken in thread sh-1, and there was "
	  "no room for it (echo 1 > snapshot); echo 1 > tracing_on.\n" ONLY_PRINTK },
	{ "off_by_dump", off_by_dump,
	  "Tracing has been off for 1.5 s: the trace was dumped to the console in thread "
	  "sh-1; echo 1 > tracing_on.\n" NOTHING },
	{ "off_and_nobody_knows", off_and_nobody_knows,
	  "Tracing is off; echo 1 > tracing_on.\n" NOTHING },
	{ "dead", dead,
	  "Tracing has stopped for good 2 s ago, because text at a call site is not what was "
	  "written there; what was recorded until then can be read, dmesg says more, and only a "
	  "reboot helps.\n" },
	{ "killed", killed,
	  "Tracing has stopped for good 1 s ago, because the kernel has called ftrace_kill(); what "
	  "was recorded until then can be read, dmesg says more, and only a reboot helps.\n" },
	{ "damaged", damaged,
	  "The buffer of CPU 0 holds events that cannot be decoded: something has overwritten "
	  "its memory.\n"
	  "No event that is on is in the buffer: yard_watch.\n"
	  "11 of 11 events are not in `trace` any more: they were read from trace_pipe or "
	  "trace_pipe_raw.\n" },
	{ "graph_dead", graph_dead,
	  "function_graph has stopped for good: a shadow stack was not as it left it; dmesg says "
	  "more.\n" },
	{ "nothing", nothing, NOTHING },
	{ "only_printk", only_printk, ONLY_PRINTK },
	{ "patching_off", patching_off,
	  "No function calls function: /proc/sys/kernel/ftrace_enabled is 0; echo 1 > "
	  "/proc/sys/kernel/ftrace_enabled.\n" },
	{ "all_are_exceptions", all_are_exceptions,
	  "function sees no function: set_ftrace_notrace names all 4 there are; echo > "
	  "set_ftrace_notrace.\n" },
	{ "filter_is_covered", filter_is_covered,
	  "function sees no function: all 2 of set_ftrace_filter are in set_ftrace_notrace, too; "
	  "echo > set_ftrace_notrace.\n" },
	{ "filter_was_not_called", filter_was_not_called,
	  "Of the 2 functions of set_ftrace_filter (do_work, ...) none has been called yet; echo > "
	  "set_ftrace_filter for all.\n" },
	{ "no_thread_of_functions", no_thread_of_functions,
	  "Calls of no thread are recorded: set_ftrace_pid and set_ftrace_notrace_pid leave none "
	  "of the 2 that live; echo > set_ftrace_pid.\n" },
	{ "no_thread_of_events", no_thread_of_events,
	  "Events of no thread are recorded: set_event_pid and set_event_notrace_pid leave none of "
	  "the 2 that live; echo > set_event_pid.\n" },
	{ "one_thread_of_events", one_thread_of_events,
	  "Events of 1 of 2 threads are recorded (worker-2): set_event_pid and "
	  "set_event_notrace_pid leave no more.\n" },
	{ "cpu_left_out", cpu_left_out,
	  "tracing_cpumask leaves out 1 of 2 CPUs: 1; echo 3 > tracing_cpumask.\n" },
	{ "overwritten", overwritten,
	  "51 % of the events are lost: 510 of 1,000 were overwritten before anybody read them, "
	  "because the buffer has 8 KB per CPU and reaches back only 490 ms; echo 32 > "
	  "buffer_size_kb would have held them all.\n" },
	{ "overwritten_all_but_few", overwritten_all_but_few,
	  "99 % of the events are lost: 99,705 of 100,000 were overwritten before anybody read "
	  "them, because the buffer has 8 KB per CPU and reaches back only 295 ms; echo 4096 > "
	  "buffer_size_kb would have held them all.\n" },
	{ "overwritten_on_one", overwritten_on_one,
	  "51 % of the events are lost: 510 of 1,001 were overwritten before anybody read them, "
	  "because the buffer has 8 KB per CPU and reaches back only 491 ms; echo 32 > "
	  "buffer_size_kb would have held them all.\n" },
	{ "dropped", dropped,
	  "49 % of the events are lost: 490 of 1,000, the newest, were dropped, because the "
	  "buffer of 8 KB per CPU is full and option overwrite is not set; read trace_pipe, echo > "
	  "trace, echo 1 > options/overwrite, or echo 16 > buffer_size_kb.\n" },
	{ "dropped_before", dropped_before,
	  "490 events were dropped while the buffer was being resized, or because a CPU has no "
	  "buffer yet, or before option overwrite was set.\n" },
	{ "dropped_in_interrupts", dropped_in_interrupts,
	  "92 events were dropped in interrupts: they filled the whole buffer while an event was "
	  "being written; echo 16 > buffer_size_kb.\n" },
	{ "no_room_to_build", no_room_to_build,
	  "3 long events were dropped before it was known whether they pass: too many others of "
	  "the "
	  "same CPU were being written, one inside another.\n"
	  "Triggers and histograms have not seen 3 long events: too many others of the same CPU "
	  "were "
	  "being written, one inside another.\n" },
	{ "triggers_without_room", triggers_without_room,
	  ONLY_PRINTK "Triggers and histograms have not seen 1 long event: too many others of "
		      "the same CPU were being written, one inside another.\n" },
	{ "one_without_buffer", one_without_buffer,
	  "The buffer of CPU 1 is being changed at this moment, or there was no memory for it.\n" },
	{ "clock_at_boot", clock_at_boot,
	  "Times are no times: trace_clock is uptime, which does not count nanoseconds; echo "
	  "local > trace_clock.\n" },
	{ "emptied_by_clock", emptied_by_clock,
	  "The trace is no older than 501 ms: a new trace_clock has emptied the buffer then; 1 "
	  "event has come since.\n"
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "emptied_by_user", emptied_by_user,
	  "No event that is on has occurred: yard_watch.\n"
	  "The trace is no older than 0 ns: `> trace` has emptied the buffer then; 0 events have "
	  "come since.\n"
	  "Nothing is wrong: event yard_watch is on, but no event came in the last second; 0 "
	  "events are there.\n" },
	{ "emptied_long_ago", emptied_long_ago,
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "emptied_by_size", emptied_by_size,
	  "The trace is no older than 2 ms: a new buffer_subbuf_size_kb has emptied the buffer "
	  "then; 2 events have come since.\n"
	  "Nothing is wrong: event yard_watch is on, 2 events came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 12.5 h.\n" },
	{ "pipe_is_open", pipe_is_open,
	  "Somebody else reads: thread worker-2 has trace_pipe open and takes events away (2 until "
	  "now).\n" },
	{ "was_read", was_read,
	  "2 of 3 events are not in `trace` any more: they were read from trace_pipe or "
	  "trace_pipe_raw.\n" },
	{ "paused", paused,
	  "Recording pauses on 2 of 2 CPUs while somebody has `trace` open: option pause-on-trace "
	  "is set; close it, or echo 0 > options/pause-on-trace.\n" },
	{ "markers_off", markers_off,
	  "Writing to trace_marker fails: option markers is not set; echo 1 > options/markers.\n"
	  "Lines of trace_printk() are the text alone: option printk-msg-only is set; echo 0 > "
	  "options/printk-msg-only.\n" },
	{ "much_is_hidden", much_is_hidden,
	  "Lines have no thread, CPU and time: option context-info is not set; echo 1 > "
	  "options/context-info.\n"
	  "Lines do not say what context they come from: option irq-info is not set; echo 1 > "
	  "options/irq-info.\n"
	  "trace_printk() writes nothing: option trace_printk is not set; echo 1 > "
	  "options/trace_printk.\n"
	  "Threads that have ended have no names: option record-cmd is not set; echo 1 > "
	  "options/record-cmd.\n"
	  "Events are numbers: option raw is set; echo 0 > options/raw.\n"
	  "Events are in hex: option hex is set; echo 0 > options/hex.\n"
	  "Events are bytes: option bin is set; echo 0 > options/bin.\n" },
	{ "reader_waits", reader_waits,
	  "A reader of CPU 0 waits until its buffer is filled to 50 %; 3 events are there; echo 0 "
	  "> buffer_percent.\n" },
	{ "reader_has_waited", reader_has_waited,
	  "Nothing is wrong: event yard_watch is on, but no event came in the last second; 3 "
	  "events are there.\n" },
	{ "no_time", no_time,
	  "Times are no times: trace_clock is counter, which does not count nanoseconds; echo "
	  "local > trace_clock.\n" },
	{ "filter_passes_none", filter_passes_none,
	  "Nothing has passed the filter of yard_watch since it was set 3 ms ago: who >= 5000; "
	  "what it turns away is counted from now on, so ask again.\n" },
	{ "filter_counts", filter_counts,
	  "The filter of yard_watch has let 0 of 1,205 events pass in 1.2 s: who >= 5000; echo 0 > "
	  "events/yard/yard_watch/filter.\n" ONE_TEST_OF_WHO },
	{ "filter_is_long", filter_is_long,
	  "The filter of yard_watch has let 0 of 1 event pass in 1 ms: " LONG
	  "; echo 0 > events/yard/yard_watch/filter.\n" ONE_OF_MANY("0", "2710", "d8ef", "1")
		  ONE_OF_MANY("1", "270f", "d8f0", "2") ONE_OF_MANY("2", "270e", "d8f1", "3")
			  ONE_OF_MANY("3", "270d", "d8f2", "4") "     2 more instructions\n" },
	{ "filter_counts_overrun", filter_counts_overrun,
	  "The filter of yard_watch has turned away 5 events in 5 ms, and the buffer has 0: who >= "
	  "5000.\n"
	  "51 % of the events are lost: 510 of 1,000 were overwritten before anybody read them, "
	  "because the buffer has 8 KB per CPU and reaches back only 0 ns; echo 32 > "
	  "buffer_size_kb would have held them all.\n" },
	{ "many_filters", many_filters,
	  OF_PID("1 event", "yard_watch") OF_PID("0 events", "yard_texts")
		  OF_PID("0 events", "yard_numbers") OF_PID("0 events", "yard_kinds")
			  OF_PID("0 events", "yard_gate_open") "3 more events have filters: cat "
							       "show_event_filters.\n" },
	{ "filter_is_replaced", filter_is_replaced,
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "filter_passes_some", filter_passes_some,
	  "The filter of yard_watch has turned away 1,205 events in 1.2 s, and the buffer has 1: "
	  "who >= 5000.\n"
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "filter_counts_with_trigger", filter_counts_with_trigger,
	  "The filter of yard_watch has let 0 of 10 events pass in 10 ms: who >= 5000; echo 0 > "
	  "events/yard/yard_watch/filter.\n" ONE_TEST_OF_WHO },
	{ "filter_was_set_late", filter_was_set_late,
	  "Nothing has passed the filter of yard_watch since it was set 3 ms ago: who >= 5000; "
	  "what it turns away is counted from now on, so ask again.\n" },
	{ "filter_counts_late", filter_counts_late,
	  "The filter of yard_watch has let 0 of 5 events pass in 5 ms: who >= 5000; echo 0 > "
	  "events/yard/yard_watch/filter.\n" ONE_TEST_OF_WHO },
	{ "filter_was_set_sometime", filter_was_set_sometime,
	  "Times are no times: trace_clock is counter, which does not count nanoseconds; echo "
	  "local > trace_clock.\n" },
	{ "filter_after_overrun", filter_after_overrun,
	  "Nothing has passed the filter of yard_watch that is still in the buffer: who >= 5000; "
	  "what it turns away is counted from now on, so ask again.\n"
	  "51 % of the events are lost: 510 of 1,002 were overwritten before anybody read them, "
	  "because the buffer has 8 KB per CPU and reaches back only 0 ns; echo 32 > "
	  "buffer_size_kb would have held them all.\n" },
	{ "waits_for_trigger", waits_for_trigger,
	  "yard_watch is off until yard_full occurs, which has the trigger enable_event.\n"
	  "No event that is on has occurred: yard_full.\n" },
	{ "waits_for_condition", waits_for_condition,
	  "yard_watch is off until yard_full occurs, which has the trigger enable_event with a "
	  "condition.\n"
	  "No event that is on has occurred: yard_full.\n" },
	{ "waits_for_command", waits_for_command,
	  "yard_watch is off until a function is called that has the command enable_event: cat "
	  "set_ftrace_filter.\n"
	  "No event that is on has occurred: yard_full.\n" },
	{ "waits_for_second", waits_for_second,
	  "yard_watch is off until a function is called that has the command enable_event: cat "
	  "set_ftrace_filter.\n" },
	{ "command_has_acted", command_has_acted,
	  "yard_watch is off: the command enable_event of a function has acted as often as it was "
	  "to; echo 1 > events/yard/yard_watch/enable.\n"
	  "No event that is on has occurred: yard_full.\n" },
	{ "command_is_gone", command_is_gone, ONLY_FULL },
	{ "only_switched_off", only_switched_off, ONLY_FULL },
	{ "only_monitored", only_monitored, ONLY_FULL },
	{ "one_does_not_occur", one_does_not_occur,
	  "1 of the 2 events that are on has not occurred: yard_full.\n"
	  "Nothing is wrong: events yard_watch, yard_full are on, 1 event came in the last second, "
	  "and at that rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "graph_waits", graph_waits,
	  "function_graph waits: the one function of set_graph_function has not been called; echo "
	  "> set_graph_function for all.\n"
	  "function_graph leaves out what the 2 functions of set_graph_notrace call.\n" },
	{ "graph_is_cut", graph_is_cut,
	  "function_graph records only functions that took 100 us or more: echo 0 > tracing_thresh "
	  "for all.\n"
	  "function_graph records only the outermost 2 levels of calls: echo 0 > max_graph_depth "
	  "for all.\n"
	  "function_graph records nothing in interrupts: echo 1 > options/funcgraph-irqs.\n"
	  "Nothing is wrong: tracer function_graph is on, but no event came in the last second; 0 "
	  "events are there.\n" },
	{ "latency_has_maximum", latency_has_maximum,
	  "irqsoff keeps only a new maximum: tracing_max_latency is 900 ms, and nothing longer has "
	  "come since; echo 0 > tracing_max_latency.\n" },
	{ "latency_is_new", latency_is_new,
	  "irqsoff has not seen a time yet that it could keep.\n"
	  "irqsoff records no calls: option function-trace is not set; echo 1 > "
	  "options/function-trace.\n" },
	{ "latency_has_thresh_without_calls", latency_has_thresh_without_calls,
	  "irqsoff keeps only times of 1 ms or more: echo 0 > tracing_thresh for each new "
	  "maximum.\n"
	  "irqsoff records no calls: option function-trace is not set; echo 1 > "
	  "options/function-trace.\n" },
	{ "latency_has_thresh", latency_has_thresh,
	  "irqsoff keeps only times of 1 ms or more: echo 0 > tracing_thresh for each new "
	  "maximum.\n" },
	{ "snapshot_was_taken", snapshot_was_taken,
	  "What was recorded until 2.1 s ago is in `snapshot`: one was taken then.\n"
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at that "
	  "rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "snapshot_by_hist", snapshot_by_hist,
	  "What was recorded until 1 min ago is in `snapshot`: one was taken then.\n"
	  "Nothing is wrong: event yard_watch is on, 1 event came in the last second, and at "
	  "that rate the buffer of 1,408 KB per CPU holds 25 h.\n" },
	{ "hist_alone", hist_alone,
	  "The trace is empty because only histograms are on (1), which write nothing into the "
	  "trace: read events/SYSTEM/EVENT/hist.\n" },
	{ "hist_and_marker", hist_and_marker,
	  "Only histograms are on (1), which write nothing into the trace: read "
	  "events/SYSTEM/EVENT/hist.\n" },
	{ "hist_is_paused", hist_is_paused,
	  "The histogram of yard_watch is paused; write its line with :cont to "
	  "events/yard/yard_watch/trigger.\n" },
	{ "hist_is_full", hist_is_full,
	  "The histogram of yard_watch has left out 2 events, because all its 128 entries are "
	  "taken; set it anew with a larger :size=.\n" },
	{ "hist_without_event", hist_without_event,
	  "No event that is on has occurred: yard_watch.\n"
	  "The histogram of yard_watch is empty: the event has not occurred.\n" },
	{ "hist_has_nothing", hist_has_nothing,
	  "The histogram of yard_watch is empty: no event has met its condition, who > 5000.\n" },
	{ "fine", fine,
	  "Nothing is wrong: event yard_watch is on, 999 events came in the last second, and at "
	  "that rate the buffer of 1,024 KB per CPU holds 1 min.\n" },
	{ "fine_on_two", fine_on_two,
	  "Nothing is wrong: event yard_watch is on, 999 events came in the last second, and at "
	  "that rate the buffer of 1,024 KB per CPU holds 1 min.\n" },
	{ "fine_with_tracer", fine_with_tracer,
	  "Nothing is wrong: tracer function and event yard_watch are on, but no event came in the "
	  "last second; 1 event is there.\n" },
};

static void refuse_lock(void)
{
	EXPECT(!"a lock is taken");
}

/* As cat(), but the reading itself may take no lock. */
static const char *why(const char *path)
{
	static char text[1 << 14];
	struct trace_handle *handle = open_file(path, TRACE_FS_READ);
	uint64_t pos = 0;
	int64_t got;

	fake_on_lock = refuse_lock;
	got = trace_fs_read(handle, text, sizeof(text) - 1, &pos);
	fake_on_lock = NULL;
	EXPECT(got >= 0);
	text[got] = '\0';
	EXPECT(trace_fs_close(handle) == 0);
	return text;
}

static size_t current;

static void run_case(void)
{
	const char *text;

	EXPECT(tracefs_setup(NULL) == 0);
	fake_thread_add(1, "sh");
	fake_thread_add(2, "worker");
	fake_run(1);
	cases[current].make();
	text = why("why");
	if (strcmp(text, cases[current].says) != 0) {
		fprintf(stderr, "%s says:\n%sand not:\n%s", cases[current].name, text,
			cases[current].says);
		_exit(1);
	}
}

static void one_case(void **state)
{
	current = (size_t)(uintptr_t)*state;
	in_child(run_case);
}

int main(void)
{
	static struct CMUnitTest tests[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, one_case, NULL, NULL,
						(void *)(uintptr_t)i };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
