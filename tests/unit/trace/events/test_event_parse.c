/*
 * The descriptions of event types, read by libtraceevent: it parses the `format` text of
 * each, and finds in raw pages what was written. Built where libtraceevent is installed.
 *
 * Its struct trace_seq is another one than that of trace/, which no header here declares; see
 * build.mk for the functions.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/host_tracepoints.h>
#include <trace/ring_buffer.h>
#include <trace/thread.h>
#include "trace/types/btf_help.h"
#include "event_help.h"
#include "instance/event_private.h"
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>

static struct tep_handle *tep;
static struct kbuffer *kbuf;
static const uint8_t *raw;	   /* the event that is looked at */
static struct tep_event *raw_type; /* its type, as libtraceevent knows it */
static struct trace_handle *pages;

static void learn(const struct trace_event *event)
{
	char text[4000];
	struct tep_format_field *field;
	struct tep_event *parsed;
	int len = trace_event_format(event, text, sizeof(text));
	size_t nr = 0;

	assert_true(len > 0);
	assert_int_equal(tep_parse_event(tep, text, (unsigned long)len, event->system), 0);
	parsed = tep_find_event(tep, event->type);
	assert_non_null(parsed);
	assert_int_equal(parsed->flags & TEP_EVENT_FL_FAILED, 0);
	assert_string_equal(parsed->name, event->name);
	assert_int_equal(parsed->format.nr_common, 4);
	assert_int_equal(parsed->format.nr_fields, event->nr_fields);
	for (field = parsed->format.fields; field; field = field->next, nr++) {
		const struct trace_event_field *want = &event->fields[nr];

		assert_string_equal(field->name, want->name);
		assert_int_equal(field->offset, want->offset);
		assert_int_equal(field->size, want->size);
		assert_int_equal(!!(field->flags & TEP_FIELD_IS_SIGNED), want->is_signed);
		assert_int_equal(!!(field->flags & TEP_FIELD_IS_ARRAY),
				 want->size != want->element_size);
	}
}

/* int schedule(int n, long int m) */
static void make_types(void)
{
	static struct btf_maker made;
	uint32_t int_id = make_int(&made, "int", 4, MAKE_SIGNED);
	uint32_t long_id = make_int(&made, "long int", 8, MAKE_SIGNED);
	uint32_t proto = make_proto(&made, int_id, 2);

	make_param(&made, "n", int_id);
	make_param(&made, "m", long_id);
	make_type(&made, BTF_FUNC, "schedule", 0, proto);
	fake_btf_bytes = btf_made(&made);
	fake_btf = made.data;
}

static int setup(void **state)
{
	uint16_t nr = 0;

	make_types();
	if (tracefs_setup(state))
		return -1;
	fake_thread_add(1, "init");
	tep = tep_alloc();
	kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	tep_set_long_size(tep, 8);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, TEP_LITTLE_ENDIAN);
	tep_register_function(tep, (char *)"schedule", fake_func(SCHEDULE), NULL);
	tep_register_function(tep, (char *)"yield", fake_func(YIELD), NULL);
	tep_register_function(tep, (char *)"do_work", fake_func(DO_WORK), NULL);
	tep_register_function(tep, (char *)"kfree", fake_func(KFREE), NULL);
	tep_register_function(tep, (char *)"end", fake_func(KFREE) + FAKE_FUNC_BYTES, NULL);
	assert_int_equal(register_trace_event(&door), 0);
	assert_int_equal(register_trace_event(&all), 0);
	for (uint16_t type = 0; type < 300; type++) {
		uint32_t bytes;
		const struct trace_event *event = trace_event_get(type, &bytes);

		if (event) {
			learn(event);
			nr++;
		}
		trace_event_put(event);
	}
	assert_int_equal(nr, 16 + 18 + 6 + 2 + 5); /* with three monitors, osnoise */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unregister_trace_event(&door);
	unregister_trace_event(&all);
	kbuffer_free(kbuf);
	tep_free(tep);
	return 0;
}

/* ---- Reading ---- */

/* Go to the next event of CPU 0, which is of type `name`. */
static void next_is(const char *name)
{
	static _Alignas(8) uint8_t page[RING_SUBBUF_BYTES];
	unsigned long long ts;
	uint64_t pos = 0;

	if (pages) {
		raw = kbuffer_next_event(kbuf, &ts);
	} else {
		pages = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ | TRACE_FS_NONBLOCK);
		assert_int_equal(trace_fs_read(pages, page, sizeof(page), &pos), sizeof(page));
		assert_int_equal(kbuffer_load_subbuffer(kbuf, page), 0);
		raw = kbuffer_read_event(kbuf, &ts);
	}
	assert_non_null(raw);
	raw_type = tep_find_event(tep, *(const uint16_t *)(const void *)raw);
	assert_non_null(raw_type);
	assert_string_equal(raw_type->name, name);
}

static void no_more(void)
{
	unsigned long long ts;

	assert_null(kbuffer_next_event(kbuf, &ts));
	assert_int_equal(trace_fs_close(pages), 0);
	pages = NULL;
}

static void field_is(const char *name, unsigned long long want)
{
	struct tep_format_field *field = tep_find_any_field(raw_type, name);
	unsigned long long got;

	assert_non_null(field);
	assert_int_equal(tep_read_number_field(field, raw, &got), 0);
	if (got != want)
		fail_msg("%s: %llx, not %llx", name, got, want);
}

static void ip_is(const char *name, uintptr_t want)
{
	field_is(name, trace_plat_ip_pack(want));
}

/* As libtraceevent prints it by print fmt. */
static const char *print_fmt_text(void)
{
	static char text[4096];
	struct tep_record record = { .data = (void *)(uintptr_t)raw,
				     .size = kbuffer_event_size(kbuf) };
	struct trace_seq seq = { .buffer = malloc(sizeof(text)), .buffer_size = sizeof(text) };

	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	memcpy(text, seq.buffer, seq.len);
	text[seq.len] = '\0';
	free(seq.buffer);
	return text;
}

static void says(const char *want)
{
	assert_string_equal(print_fmt_text(), want);
}

/* ---- Events of the tracers ---- */

static void functions(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	call(0, 42, SCHEDULE);
	assert_int_equal(echo("func-no-repeats", "trace_options"), 0);
	for (int i = 0; i < 4; i++)
		call(0, 42, KFREE);
	call(0, 42, DO_WORK);
	next_is("function");
	field_is("common_pid", 42);
	field_is("common_type", 1);
	field_is("common_flags", 0);
	ip_is("ip", fake_func(SCHEDULE));
	ip_is("parent_ip", PARENT);
	says(" schedule <-- yield");
	next_is("function");
	says(" kfree <-- yield");
	next_is("func_repeats");
	ip_is("ip", fake_func(KFREE));
	ip_is("parent_ip", PARENT);
	field_is("count_and_last", 3ull << 48 | (fake_clock - 1000));
	says(" kfree <-yield\t(repeats:3)");
	next_is("function");
	no_more();
	assert_int_equal(echo("nofunc-no-repeats", "trace_options"), 0);
	memory_out++; /* where repeats are counted */
}

static void arguments(void **state)
{
	const uint64_t args[FAKE_NR_ARGS] = { 5, 0xfedcba9876543210 };

	(void)state;
	assert_int_equal(echo("1", "options/func-args"), 0);
	assert_int_equal(echo("1", "options/funcgraph-args"), 0);
	memory_out++; /* what functions take */
	assert_int_equal(echo("function", "current_tracer"), 0);
	fake_args = args;
	call(0, 42, SCHEDULE);
	next_is("func_args");
	ip_is("ip", fake_func(SCHEDULE));
	ip_is("parent_ip", PARENT);
	says(" schedule(5 18364758544493064720) <-- yield");
	no_more();
	fake_run(1);
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	fake_enter(SCHEDULE, PARENT);
	fake_leave(0);
	fake_args = NULL;
	next_is("funcgraph_args_entry");
	ip_is("func", fake_func(SCHEDULE));
	ip_is("retaddr", PARENT);
	field_is("depth", 0);
	says("--> schedule(5 18364758544493064720) (0) <- yield");
	next_is("funcgraph_exit");
	no_more();
	assert_int_equal(echo("0", "options/func-args"), 0);
	assert_int_equal(echo("0", "options/funcgraph-args"), 0);
	fake_run(-1);
}

static void call_and_return(uint64_t ns, uint64_t retval)
{
	fake_enter(DO_WORK, PARENT);
	fake_clock += ns;
	fake_leave(retval);
}

static void graph(void **state)
{
	(void)state;
	fake_run(1);
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	call_and_return(300, 0);
	assert_int_equal(echo("funcgraph-retval", "trace_options"), 0);
	assert_int_equal(echo("funcgraph-retaddr", "trace_options"), 0);
	call_and_return(0x123456789, 0xfedcba9876543210);
	next_is("funcgraph_entry");
	ip_is("func", fake_func(DO_WORK));
	field_is("depth", 0);
	says("--> do_work (0)");
	next_is("funcgraph_exit");
	ip_is("func", fake_func(DO_WORK));
	field_is("depth", 0);
	field_is("overrun", 0);
	field_is("duration", 300);
	says("<-- do_work (0) (300 ns) over: 0");
	next_is("fgraph_retaddr_entry");
	ip_is("func", fake_func(DO_WORK));
	ip_is("retaddr", PARENT);
	says("--> do_work (0) <- yield");
	next_is("funcgraph_exit_retval");
	ip_is("func", fake_func(DO_WORK));
	field_is("duration", 0x123456789);
	field_is("retval", 0xfedcba9876543210);
	says("<-- do_work (0) (4886718345 ns) over: 0 ret: fedcba9876543210");
	no_more();
	assert_int_equal(echo("nofuncgraph-retval", "trace_options"), 0);
	assert_int_equal(echo("nofuncgraph-retaddr", "trace_options"), 0);
	fake_run(-1);
}

static void switches(void **state)
{
	struct trace_thread threads[2] = { 0 };
	struct trace_sched_thread prev = {
		.thread = &threads[0], .comm = "prev", .pid = 100001, .prio = 120, .state = 'S'
	};
	struct trace_sched_thread next = {
		.thread = &threads[1], .comm = "next", .pid = 100002, .prio = 49, .state = 'R'
	};

	(void)state;
	assert_int_equal(echo("wakeup_rt", "current_tracer"), 0);
	assert_int_equal(echo("1000000", "tracing_max_latency"), 0); /* nothing is kept aside */
	fake_run(1);
	fake_this->irqs_off = true;
	trace_sched_wakeup(&prev, &next);
	trace_sched_switch(&prev, &next);
	fake_this->irqs_off = false;
	next_is("wakeup");
	field_is("common_flags", 1);
	field_is("common_pid", 1);
	field_is("prev_pid", 100001);
	field_is("prev_prio", 120);
	field_is("prev_state", 'S');
	field_is("next_cpu", 0);
	field_is("next_pid", 100002);
	field_is("next_prio", 49);
	field_is("next_state", 'R');
	says("100001:120:S  ==+ 100002:49:R [000]");
	next_is("function");
	next_is("function");
	next_is("context_switch");
	says("100001:120:S  ==> 100002:49:R [000]");
	no_more();
	fake_run(-1);
}

/* ---- Events of code and of users ---- */

static void texts(void **state)
{
	static const char fmt[] = "%d\n", literal[] = "literal\n";
	const uint64_t callers[] = { fake_func(KFREE) + 1, fake_func(YIELD) + 1 };

	(void)state;
	fake_stack[0] = trace_plat_ip_pack(callers[0]);
	fake_stack[1] = trace_plat_ip_pack(callers[1]);
	fake_stack_nr = 2;
	assert_int_equal(echo("marked", "trace_marker"), 0);
	trace_bprintk(fake_func(KFREE), fmt, 77);
	trace_bputs(fake_func(YIELD), literal);
	assert_int_equal(put("\x34\x12\0\0abcd", 8, "trace_marker_raw", 0), 0);
	trace_dump_stack(0);
	tep_register_print_string(tep, literal, (unsigned long long)(uintptr_t)literal);
	next_is("print");
	assert_non_null(strstr(print_fmt_text(), ": marked"));
	next_is("bprint");
	ip_is("ip", fake_func(KFREE));
	field_is("fmt", (uintptr_t)fmt);
	field_is("args_bytes", 4);
	assert_int_equal(raw[tep_find_field(raw_type, "buf")->offset], 77);
	next_is("bputs");
	ip_is("ip", fake_func(YIELD));
	field_is("str", (uintptr_t)literal);
	says("yield: literal\n");
	next_is("raw_data");
	field_is("id", 0x1234);
	assert_memory_equal(raw + tep_find_field(raw_type, "buf")->offset, "abcd", 4);
	next_is("kernel_stack");
	assert_memory_equal(raw + tep_find_field(raw_type, "caller")->offset, callers,
			    sizeof(callers));
	no_more();
	fake_stack_nr = 0;
}

/* The line in `trace`, and what a tool makes of the same event. */
static void same_up_to(const char *line, const char *end)
{
	assert_memory_equal(print_fmt_text(), line, (size_t)(strstr(line, end) - line));
}

static void from_outside(void **state)
{
	struct trace_event_buffer fbuffer;
	struct door_entry *entry;
	const char *lines, *second;

	(void)state;
	entry = trace_event_buffer_reserve(&fbuffer, NULL, &door, sizeof(*entry));
	entry->door = -7;
	entry->visitors = 65535;
	trace_event_buffer_commit(&fbuffer, entry);
	write_all(NULL, 2);
	assert_int_equal(echo("nocontext-info", "trace_options"), 0);
	lines = cat_body("trace"); /* good until the next cat() */
	assert_int_equal(echo("context-info", "trace_options"), 0);
	second = strchr(lines, '\n') + 1;
	next_is("door");
	field_is("door", (uint32_t)-7);
	field_is("visitors", 65535);
	says("door=-7 visitors=65535");
	same_up_to(lines + strlen("door: "), "\n");
	next_is("all");
	field_is("negative", 1ull << 63);
	field_is("small", 0xff);
	field_is("letter", 'x');
	/* Tools show a single character as a number, and arrays in their own way. */
	same_up_to(second + strlen("all: "), " letter=");
	assert_non_null(strstr(print_fmt_text(), " letter=120 list=1 65535 0 large="));
	assert_memory_equal(strstr(print_fmt_text(), " large="), strstr(second, " large="),
			    (size_t)(strstr(second, " callers=") - strstr(second, " large=")));
	no_more();
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions), TEST(arguments), TEST(graph),
		TEST(switches),	 TEST(texts),	  TEST(from_outside),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
