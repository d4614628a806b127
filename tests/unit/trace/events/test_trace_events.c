/*
 * Trace events that are defined as for Linux: what is recorded, the text, `format`, and the files
 * that switch them.
 */
#include "unit.h"
#include "allocations.h"
#include "page_end.h"
#include "events/event_file.h"
#include "events/event_scratch.h"
#include "tracefs.h"
#include <trace/event.h>
#include "host/yard.h"
#include "host/quay_events.h"
#include "host/quay_samples.h"

#define ENABLE(event) "events/yard/" event "/enable"

/* The text of the only line of the trace, from the name of its event on. */
static const char *only_line(void)
{
	const char *body = cat_body("trace"), *text = strstr(body, ": ");

	assert_non_null(text);
	assert_ptr_equal(strchr(body, '\n'), body + strlen(body) - 1);
	return text + 2;
}

static void on(const char *path)
{
	assert_int_equal(echo("1", path), 0);
}

static int all_off(void **state)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

static void numbers(void **state)
{
	(void)state;
	trace_yard_numbers(1, 2, 3, 4, true);
	assert_string_equal(cat_body("trace"), "");
	assert_non_null(strstr(cat("events/yard/yard_numbers/format"), "\tfield:bool flag;\t"));
	on(ENABLE("yard_numbers"));
	trace_yard_numbers(200, -2, -70000, 0x123456789abcdefull, true);
	assert_string_equal(only_line(), "yard_numbers: tiny=200 small=-2 number=-70000 "
					 "large=123456789abcdef flag=1\n");
	assert_int_equal(echo("0", ENABLE("yard_numbers")), 0);
	trace_yard_numbers(1, 2, 3, 4, true);
	assert_non_null(only_line());
}

static void kinds(void **state)
{
	const struct yard_box box = { "boxroom", 12, 0xfff };
	char want[256];

	(void)state;
	on(ENABLE("yard_kinds"));
	trace_yard_kinds(&box, YARD_GRAVEL, 5 | 16);
	snprintf(want, sizeof(want),
		 "yard_kinds: where=%016lx kind=gravel flags=OPEN|FULL|0x10 label=boxroom "
		 "sizes={0xc,0xfff,0xc} hex=62 6f 78/626f78 whole\n",
		 (unsigned long)&box);
	assert_string_equal(only_line(), want);
}

static void unknown_symbol(void **state)
{
	const struct yard_box box = { "box", 1, 2 };

	(void)state;
	on(ENABLE("yard_kinds"));
	trace_yard_kinds(&box, (enum yard_kind)4, 0);
	assert_non_null(strstr(only_line(), " kind=0x4 flags= label=box "));
}

static const unsigned long mask = 0x8100000001ul;

static void texts(void **state)
{
	const u32 list[] = { 1, 0xffffffff };

	(void)state;
	on(ENABLE("yard_texts"));
	trace_yard_texts("hello", list, 2, &mask);
	assert_string_equal(only_line(),
			    "yard_texts: name=hello odd=7 list={0x1,0xffffffff} cut=he "
			    "mask=00000081,00000001 last=hello bytes=ab ab len=6\n");
}

static void text_that_is_missing(void **state)
{
	static const u32 list[1];

	(void)state;
	on(ENABLE("yard_texts"));
	trace_yard_texts(NULL, list, 0, &mask);
	assert_string_equal(only_line(), "yard_texts: name=(null) odd=7 list={} cut=(n "
					 "mask=00000081,00000001 last=(null) bytes= len=7\n");
}

/* Format, text and raw bytes of each; the kernel's ktest_events.c holds the same there. */
static void samples(void **state)
{
	char path[100], id[20];
	uint8_t page[4096];

	(void)state;
	for (size_t i = 0; i < QUAY_NR; i++) {
		const struct quay_sample *sample = &quay_samples[i];
		struct trace_handle *handle;
		const uint8_t *event;
		const char *body;
		size_t len = 0;
		int64_t bytes;
		uint64_t pos = 0;

		snprintf(path, sizeof(path), "events/quay/%s/format", sample->name);
		body = strstr(cat(path), "\n\n");
		assert_non_null(body);
		assert_string_equal(body + 2, sample->format);
		snprintf(path, sizeof(path), "events/quay/%s/enable", sample->name);
		on(path);
		sample->fire();
		assert_int_equal(echo("0", path), 0);
		body = strstr(cat("trace"), sample->name);
		assert_non_null(body);
		assert_string_equal(body, sample->text);
		handle =
			open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ | TRACE_FS_NONBLOCK);
		bytes = trace_fs_read(handle, page, sizeof(page), &pos);
		assert_int_equal(bytes, sizeof(page));
		trace_fs_close(handle);
		event = quay_first_event(page, sizeof(page), &len);
		assert_true(quay_is_raw(sample, event, len));
		snprintf(path, sizeof(path), "events/quay/%s/id", sample->name);
		snprintf(id, sizeof(id), "%u\n", event[0] | event[1] << 8);
		assert_string_equal(cat(path), id);
		assert_int_equal(echo("", "trace"), 0);
	}
}

/* Where the last group is not whole there are only bytes, in that row; and there may be no row. */
static void dump(void **state)
{
	(void)state;
	on("events/quay/quay_dump/enable");
	trace_quay_dump(quay_bytes, 18);
	assert_non_null(strstr(cat_body("trace"), " in words:\n"
						  "41 42 43 01 02 03 04 05 06 07 7e 7f 20 71 22 80 "
						  "72 00\n\n"));
	assert_int_equal(echo("", "trace"), 0);
	trace_quay_dump(quay_bytes, 0);
	assert_non_null(strstr(cat_body("trace"), ": quay_dump: bytes:\n in words:\n\n"));
}

/* Each length around what fits on the probe's stack, and around what fits into the ring's fast path. */
static void texts_of_any_length(void **state)
{
	static const u32 list[1];
	char name[2100], want[64];

	(void)state;
	on(ENABLE("yard_texts"));
	for (size_t len = 0; len < 200; len++) {
		memset(name, 'x', len);
		name[len] = '\0';
		trace_yard_texts(name, list, 0, &mask);
		snprintf(want, sizeof(want), " len=%zu\n", len + 1);
		assert_non_null(strstr(only_line(), want));
		assert_non_null(strstr(only_line(), name));
		assert_int_equal(echo("", "trace"), 0);
	}
	/* Two copies of 2,000 characters do not fit into an event. */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	trace_yard_texts(name, list, 0, &mask);
	assert_string_equal(cat_body("trace"), "");
}

/*
 * An event with a condition that has no place to be built, since others are being built in all of
 * its CPU's: it is lost and counted, as if the ring had been full, where it would have been recorded.
 */
/* Of a thread that set_event_pid leaves out an instance loses nothing; another one does. */
static void no_room_for_who_is_left_out(void **state)
{
	static const u32 list[1];
	char name[300];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fake_thread_add(5, "left");
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	on("instances/one/" ENABLE("yard_texts"));
	on(ENABLE("yard_texts"));
	assert_int_equal(echo("4711", "set_event_pid"), 0);
	fake_cpus[0].pid = 5;
	fake_cpus[0].thread = *fake_thread_of(5);
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		assert_non_null(trace_event_scratch_get());
	trace_yard_texts(name, list, 0, &mask);
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "dropped events: 0\n"));
	assert_non_null(strstr(cat("instances/one/per_cpu/cpu0/stats"), "dropped events: 1\n"));
	memset(&fake_cpus[0].thread, 0, sizeof(fake_cpus[0].thread));
	fake_cpus[0].pid = 0;
	fake_thread_exit(5);
	assert_int_equal(echo("", "set_event_pid"), 0);
	trace_yard_texts(name, list, 0, &mask);
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "dropped events: 1\n"));
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		trace_event_scratch_put();
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("", "trace"), 0);
}

static void no_room_to_build(void **state)
{
	static const u32 list[1];
	char name[300];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	on("instances/one/" ENABLE("yard_texts"));
	on(ENABLE("yard_texts"));
	assert_int_equal(echo("odd == 7", "events/yard/yard_texts/filter"), 0);
	trace_yard_texts("first", list, 0, &mask);
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		assert_non_null(trace_event_scratch_get());
	trace_yard_texts(name, list, 0, &mask);
	trace_yard_texts("short", list, 0, &mask);
	assert_int_equal(echo("0", "tracing_on"), 0);
	/* would not have been recorded anyway, but in one */
	trace_yard_texts(name, list, 0, &mask);
	assert_int_equal(echo("1", "tracing_on"), 0);
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++)
		trace_event_scratch_put();
	trace_yard_texts(name, list, 0, &mask);
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "dropped events: 1\n"));
	assert_non_null(strstr(cat("instances/one/per_cpu/cpu0/stats"), "dropped events: 2\n"));
	assert_int_equal(count_in("trace", "yard_texts: "), 3);
	assert_non_null(strstr(cat("trace"), " name=first "));
	assert_non_null(strstr(strstr(cat("trace"), "CPU:0 [LOST 1 EVENTS]\n"), " name=short "));
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "dropped events: 0\n"));
	assert_int_equal(echo("0", "events/yard/yard_texts/filter"), 0);
}

static void text_is_kept(const char *text)
{
	static const u32 list[] = { 5, 6 };
	char want[200];

	trace_yard_texts(text, list, 2, &mask);
	snprintf(want, sizeof(want),
		 "yard_texts: name=%s odd=7 list={0x5,0x6} cut=%.2s mask=00000081,00000001 last=%s "
		 "bytes=ab ab len=%zu\n",
		 text, text, text, strlen(text) + 1);
	assert_string_equal(only_line(), want);
	assert_int_equal(echo("", "trace"), 0);
}

/* A text is measured and copied at once: at any place, up to the end of a page, odd bytes in it. */
static void texts_anywhere(void **state)
{
	static const char text[] = "\x01\x7f a text of thirty-four \x80\xff bytes";
	char copy[64];

	(void)state;
	on(ENABLE("yard_texts"));
	for (size_t from = 0; from < sizeof(text); from++) {
		for (size_t at = 0; at < 8; at++) {
			memcpy(copy + at, text + from, sizeof(text) - from);
			text_is_kept(copy + at);
		}
		if (strlen(text + from) >= 2) /* `cut` is promised that many */
			text_is_kept(at_page_end(text + from, sizeof(text) - from));
	}
}

static void classes(void **state)
{
	(void)state;
	on("events/yard/enable");
	trace_yard_gate_open(1);
	assert_string_equal(only_line(), "yard_gate_open: gate=1\n");
	assert_int_equal(echo("", "trace"), 0);
	trace_yard_gate_close(2);
	assert_string_equal(only_line(), "yard_gate_close: gate=2 shut\n");
}

static void conditions(void **state)
{
	(void)state;
	on("events/yard/enable");
	trace_yard_gate_jam(2);
	trace_yard_full(1, 2);
	assert_string_equal(cat_body("trace"), "");
	trace_yard_gate_jam(3);
	assert_string_equal(only_line(), "yard_gate_jam: gate=3\n");
	assert_int_equal(echo("", "trace"), 0);
	trace_yard_full(2, 2);
	assert_string_equal(only_line(), "yard_full: used=2 at 1234.567890123\n");
}

/* The functions of TRACE_EVENT_FN() are called once, whatever number of instances want the event. */
static void functions_around(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	on(ENABLE("yard_watch"));
	assert_int_equal(yard_nr_watchers, 1);
	on("instances/two/" ENABLE("yard_watch"));
	assert_int_equal(yard_nr_watchers, 1);
	assert_int_equal(echo("0", ENABLE("yard_watch")), 0);
	assert_int_equal(yard_nr_watchers, 1);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	assert_int_equal(yard_nr_watchers, 0);
	yard_watch_result = -EBUSY;
	assert_int_equal(echo("1", ENABLE("yard_watch")), -EBUSY);
	assert_string_equal(cat(ENABLE("yard_watch")), "0\n");
	yard_watch_result = 0;
	trace_yard_watch(1);
	assert_string_equal(cat_body("trace"), "");
}

static void format_has_fields(void **state)
{
	const char *text = cat("events/yard/yard_texts/format");

	(void)state;
	assert_non_null(
		strstr(text, "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:"));
	assert_non_null(strstr(text, "\tfield:u8 odd;\toffset:12;\tsize:1;\tsigned:0;\n"));
	assert_non_null(
		strstr(text, "\tfield:__data_loc u32[] list;\toffset:16;\tsize:4;\tsigned:0;\n"));
	assert_non_null(strstr(text, "\tfield:__data_loc unsigned long[] mask;\toffset:24;"));
	assert_non_null(strstr(text, "\tfield:__rel_loc char[] last;\toffset:28;\tsize:4;"));
	assert_non_null(strstr(text, "__get_str(name), REC->odd"));
}

static void format_has_values_of_enumerators(void **state)
{
	const char *text = cat("events/yard/yard_kinds/format");

	(void)state;
	assert_non_null(strstr(text, "{ 3, \"sand\" }, { 5, \"gravel\" }"));
	assert_non_null(strstr(text, "REC->sizes[2] == 12 ? \"whole\""));
	assert_non_null(strstr(text, "\tfield:enum yard_kind kind;"));
	assert_non_null(strstr(text, "\tfield:char label[8];"));
	assert_non_null(strstr(text, "\tfield:u16 sizes[3];"));
}

static void set_event(void **state)
{
	(void)state;
	assert_int_equal(echo("yard:yard_gate_open", "set_event"), 0);
	assert_string_equal(cat("set_event"), "yard:yard_gate_open\n");
	assert_int_equal(echo_append("yard_full *:yard_watch", "set_event"), 0);
	assert_string_equal(cat("set_event"),
			    "yard:yard_full\nyard:yard_gate_open\nyard:yard_watch\n");
	assert_string_equal(cat("events/yard/enable"), "X\n");
	assert_int_equal(echo_append("!yard:yard_gate_open", "set_event"), 0);
	assert_string_equal(cat("set_event"), "yard:yard_full\nyard:yard_watch\n");
	assert_int_equal(echo_append("yard:yard_gate_*", "set_event"), 0);
	assert_string_equal(cat(ENABLE("yard_gate_jam")), "1\n");
	assert_int_equal(echo_append("nosuch", "set_event"), -EINVAL);
	assert_int_equal(echo_append("nosuch:yard_full", "set_event"), -EINVAL);
	assert_string_equal(cat(ENABLE("yard_full")), "1\n");
	assert_int_equal(echo("yard:*", "set_event"), 0);
	assert_string_equal(cat("events/yard/enable"), "1\n");
	assert_int_equal(echo("", "set_event"), 0);
	assert_string_equal(cat("set_event"), "");
	assert_string_equal(cat("events/enable"), "0\n");
}

static void wrong_values(void **state)
{
	(void)state;
	assert_int_equal(echo("2", ENABLE("yard_full")), -EINVAL);
	assert_int_equal(echo("x", ENABLE("yard_full")), -EINVAL);
	assert_int_equal(echo("0x1", ENABLE("yard_full")), -EINVAL);
	assert_int_equal(echo(" 1", ENABLE("yard_full")), -EINVAL);
	assert_int_equal(echo("1garbage", "events/yard/enable"), -EINVAL);
	assert_int_equal(echo("", "events/enable"), -EINVAL);
	assert_string_equal(cat(ENABLE("yard_full")), "0\n");
}

static void instances_have_events_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	on("instances/two/" ENABLE("yard_full"));
	assert_string_equal(cat(ENABLE("yard_full")), "0\n");
	trace_yard_full(2, 1);
	assert_string_equal(cat_body("trace"), "");
	assert_non_null(strstr(cat_body("instances/two/trace"), "yard_full: used=2"));
	on(ENABLE("yard_full"));
	trace_yard_full(3, 1);
	assert_non_null(strstr(only_line(), "used=3"));
	assert_non_null(strstr(cat_body("instances/two/trace"), "used=3"));
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	trace_yard_full(4, 1);
	assert_non_null(strstr(cat_body("trace"), "used=4"));
}

static void tracing_is_off(void **state)
{
	(void)state;
	on(ENABLE("yard_full"));
	assert_int_equal(echo("0", "tracing_on"), 0);
	trace_yard_full(2, 1);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("1", "tracing_on"), 0);
}

/* ---- filter ---- */

#define FILTER(event) "events/yard/" event "/filter"

static void filters(void **state)
{
	(void)state;
	assert_string_equal(cat(FILTER("yard_full")), "none\n");
	assert_int_equal(echo("used > 5 && used != 7", FILTER("yard_full")), 0);
	assert_string_equal(cat(FILTER("yard_full")), "used > 5 && used != 7\n");
	on(ENABLE("yard_full"));
	trace_yard_full(5, 1);
	trace_yard_full(7, 1);
	assert_string_equal(cat_body("trace"), "");
	trace_yard_full(6, 1);
	assert_non_null(strstr(only_line(), "used=6"));
	assert_int_equal(echo("0", FILTER("yard_full")), 0);
	assert_string_equal(cat(FILTER("yard_full")), "none\n");
	assert_int_equal(echo("", "trace"), 0);
	trace_yard_full(5, 1);
	assert_non_null(strstr(only_line(), "used=5"));
}

/* Fields of the head, and texts, of an event on the probe's stack and of a long one. */
static void filters_of_all_fields(void **state)
{
	static const u32 list[1];
	char name[700];

	(void)state;
	on(ENABLE("yard_texts"));
	assert_int_equal(echo("common_pid == 2 && name ~ \"x*\"", FILTER("yard_texts")), 0);
	for (size_t len = 3; len < sizeof(name); len = len * 3) {
		memset(name, 'x', len);
		name[len] = '\0';
		fake_cpus[0].pid = 1;
		trace_yard_texts(name, list, 0, &mask);
		assert_string_equal(cat_body("trace"), "");
		fake_cpus[0].pid = 2;
		trace_yard_texts("y", list, 0, &mask);
		assert_string_equal(cat_body("trace"), "");
		trace_yard_texts(name, list, 0, &mask);
		assert_non_null(strstr(only_line(), name));
		assert_int_equal(echo("", "trace"), 0);
	}
	assert_int_equal(echo("0", FILTER("yard_texts")), 0);
}

static void wrong_filters(void **state)
{
	(void)state;
	assert_int_equal(echo("used > 5", FILTER("yard_full")), 0);
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("nosuch == 1", FILTER("yard_full")), -EINVAL);
	assert_string_equal(cat(FILTER("yard_full")), "nosuch == 1\n"
						      "       ^\n"
						      "parse_error: Field not found\n\n"
						      "# still in force:\n"
						      "used > 5\n");
	assert_non_null(strstr(cat("error_log"),
			       "event filter parse error: error: Field not found\n"
			       "  Command: nosuch == 1\n"
			       "                  ^\n"));
	on(ENABLE("yard_full"));
	trace_yard_full(5, 1);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("used > 6", FILTER("yard_full")), 0);
	assert_string_equal(cat(FILTER("yard_full")), "used > 6\n");
	assert_int_equal(echo("0", FILTER("yard_full")), 0);
	assert_int_equal(echo("", "error_log"), 0);
}

static void filter_of_a_system(void **state)
{
	(void)state;
	assert_non_null(strstr(cat("events/yard/filter"), "### global filter ###\n"));
	assert_int_equal(echo("gate == 3", "events/yard/filter"), 0);
	assert_string_equal(cat(FILTER("yard_gate_open")), "gate == 3\n");
	assert_string_equal(cat(FILTER("yard_gate_jam")), "gate == 3\n");
	assert_non_null(strstr(cat(FILTER("yard_full")),
			       "gate == 3\n^\nparse_error: Couldn't find or set field"));
	on("events/yard/enable");
	trace_yard_gate_open(2);
	assert_string_equal(cat_body("trace"), "");
	trace_yard_full(2, 1); /* its filter was left alone: it has none */
	assert_non_null(strstr(only_line(), "used=2"));
	assert_int_equal(echo("0", "events/yard/filter"), 0);
	assert_string_equal(cat(FILTER("yard_full")), "none\n");
	assert_int_equal(echo("", "error_log"), 0);
}

/* Instances filter for themselves, and what they keep goes with them. */
static void filters_of_instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	on("instances/two/" ENABLE("yard_full"));
	on(ENABLE("yard_full"));
	assert_int_equal(echo("used == 2", "instances/two/" FILTER("yard_full")), 0);
	assert_true(echo("nosuch", "instances/two/" FILTER("yard_full")) < 0);
	trace_yard_full(1, 1);
	assert_non_null(strstr(only_line(), "used=1"));
	assert_string_equal(cat_body("instances/two/trace"), "");
	trace_yard_full(2, 1);
	assert_non_null(strstr(cat_body("instances/two/trace"), "used=2"));
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

/* An instance that has never used the events has nothing to clear, and needs no memory for it. */
static void clearing_needs_no_memory(void **state)
{
	long before;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	node_of("instances/two/events/yard/filter");
	before = fake_alloc_out;
	assert_int_equal(echo("0", "instances/two/events/yard/filter"), 0);
	assert_int_equal(fake_alloc_out, before);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
}

/* Each allocation fails once: the filter is the old one. */
/* The filter that a probe would find while one takes the place of another one: at each wait for probes. */
static struct {
	const struct trace_event_file *file;
	uint32_t nr;
	const struct expr_program *filters[4];
	uint32_t flags[4];
} seen;

static void look_at_filter(void)
{
	if (seen.nr < 4) {
		seen.filters[seen.nr] = seen.file->filter;
		seen.flags[seen.nr++] = seen.file->front.flags;
	}
}

static void replace_filter(const char *text)
{
	seen.nr = 0;
	fake_on_sync = look_at_filter;
	assert_int_equal(echo(text, FILTER("yard_full")), 0);
	fake_on_sync = NULL;
}

/*
 * The head is filled in before a filter comes that looks at it, and no filter is freed before those
 * have left who may have found it.
 */
static void filters_wait_for_probes(void **state)
{
	const struct expr_program *old;

	(void)state;
	on(ENABLE("yard_full"));
	assert_int_equal(echo("used == 1", FILTER("yard_full")), 0);
	seen.file = trace_event_file_find(trace_global_array(), &event_yard_full);
	old = seen.file->filter;
	replace_filter("common_pid == 5");
	assert_int_equal(seen.nr, 2);
	assert_ptr_equal(seen.filters[0], old);
	assert_true(seen.flags[0] & TRACE_EVENT_HEAD);
	assert_ptr_equal(seen.filters[1], seen.file->filter);
	replace_filter("used == 2");
	assert_int_equal(seen.nr, 1);
	assert_ptr_equal(seen.filters[0], seen.file->filter);
	assert_true(seen.flags[0] & TRACE_EVENT_HEAD);
	old = seen.file->filter;
	replace_filter("0");
	assert_int_equal(seen.nr, 1);
	assert_ptr_equal(seen.filters[0], old);
	assert_false(seen.flags[0] & (TRACE_EVENT_HEAD | TRACE_EVENT_FILTERS));
}

/* Several events are switched at once, and there is no memory for that: none says that it is on. */
static void switching_without_memory(void **state)
{
	const struct trace_event_file *at;
	long budget = 0;
	int err;

	(void)state;
	on("events/yard/enable");
	assert_int_equal(echo("0", "events/yard/enable"), 0);
	do {
		fake_alloc_budget = budget++;
		err = echo("1", "events/yard/enable");
		fake_alloc_budget = -1;
		at = trace_events_of(trace_global_array())->files;
		for (; at; at = at->next_of_array)
			assert_int_equal(trace_event_is_on(at), at->is_registered);
		assert_int_equal(echo("0", "events/yard/enable"), 0);
	} while (err == -ENOMEM);
	assert_int_equal(err, 0);
	assert_true(budget > 2);
}

static void filters_without_memory(void **state)
{
	long nr;

	(void)state;
	assert_int_equal(echo("used == 1", FILTER("yard_full")), 0);
	for_each_allocation(nr, put("used == 2", 9, FILTER("yard_full"), 0))
		assert_string_equal(cat(FILTER("yard_full")), "used == 1\n");
	assert_string_equal(cat(FILTER("yard_full")), "used == 2\n");
	assert_true(nr > 2);
	assert_int_equal(echo("0", FILTER("yard_full")), 0);
}

/* Such an event is a head alone; a filter has it built elsewhere. */
static void without_fields(void **state)
{
	static const char line[] = "quay_bell: rings\n";

	(void)state;
	on("events/quay/quay_bell/enable");
	trace_quay_bell(1);
	assert_string_equal(only_line(), line);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("common_pid == 1", "events/quay/quay_bell/filter"), 0);
	trace_quay_bell(1);
	assert_string_equal(only_line(), line);
	assert_int_equal(echo("0", "events/quay/quay_bell/filter"), 0);
}

/* The clock `counter` leaves out no number, in interrupts neither. */
static void counted(void **state)
{
	const uint32_t in_irq = TRACE_HARDIRQ_MASK & -TRACE_HARDIRQ_MASK;
	unsigned long long first, second;
	const char *line;

	(void)state;
	on("events/quay/quay_bell/enable");
	assert_int_equal(echo("counter", "trace_clock"), 0);
	trace_quay_bell(1); /* the first one of a sub-buffer may be counted twice */
	fake_cpus[0].preempt_count += in_irq;
	trace_quay_bell(2);
	trace_quay_bell(3);
	fake_cpus[0].preempt_count -= in_irq;
	line = strstr(cat_body("trace"), "..h..");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "..h.. %llu:", &first), 1);
	line = strstr(line + 1, "..h..");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "..h.. %llu:", &second), 1);
	assert_int_equal(second, first + 1);
	assert_int_equal(echo("local", "trace_clock"), 0);
}

static void directories(void **state)
{
	(void)state;
	assert_non_null(strstr(cat("available_events"), "yard:yard_full\nyard:yard_gate_close\n"));
	assert_non_null(
		strstr(cat("events/header_page"), "field: char data;\toffset:16;\tsize:4080;"));
	assert_non_null(strstr(cat("events/header_event"), "type_len    :    5 bits"));
	assert_non_null(strstr(cat("events/ftrace/print/format"), "name: print\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, event_reset, all_off),
		cmocka_unit_test_setup_teardown(kinds, event_reset, all_off),
		cmocka_unit_test_setup_teardown(unknown_symbol, event_reset, all_off),
		cmocka_unit_test_setup_teardown(texts, event_reset, all_off),
		cmocka_unit_test_setup_teardown(text_that_is_missing, event_reset, all_off),
		cmocka_unit_test_setup_teardown(texts_of_any_length, event_reset, all_off),
		cmocka_unit_test_setup_teardown(texts_anywhere, event_reset, all_off),
		cmocka_unit_test_setup_teardown(classes, event_reset, all_off),
		cmocka_unit_test_setup_teardown(conditions, event_reset, all_off),
		cmocka_unit_test_setup_teardown(functions_around, event_reset, all_off),
		cmocka_unit_test_setup_teardown(samples, event_reset, all_off),
		cmocka_unit_test_setup_teardown(dump, event_reset, all_off),
		cmocka_unit_test_setup_teardown(no_room_to_build, event_reset, all_off),
		cmocka_unit_test_setup_teardown(no_room_for_who_is_left_out, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filters_wait_for_probes, event_reset, all_off),
		cmocka_unit_test_setup_teardown(switching_without_memory, event_reset, all_off),
		cmocka_unit_test_setup_teardown(format_has_fields, event_reset, all_off),
		cmocka_unit_test_setup_teardown(format_has_values_of_enumerators, event_reset,
						all_off),
		cmocka_unit_test_setup_teardown(set_event, event_reset, all_off),
		cmocka_unit_test_setup_teardown(wrong_values, event_reset, all_off),
		cmocka_unit_test_setup_teardown(instances_have_events_of_their_own, event_reset,
						all_off),
		cmocka_unit_test_setup_teardown(tracing_is_off, event_reset, all_off),
		cmocka_unit_test_setup_teardown(directories, event_reset, all_off),
		cmocka_unit_test_setup_teardown(without_fields, event_reset, all_off),
		cmocka_unit_test_setup_teardown(counted, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filters, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filters_of_all_fields, event_reset, all_off),
		cmocka_unit_test_setup_teardown(wrong_filters, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filter_of_a_system, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filters_of_instances, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filters_without_memory, event_reset, all_off),
		cmocka_unit_test_setup_teardown(clearing_needs_no_memory, event_reset, all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
