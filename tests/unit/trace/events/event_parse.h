/*
 * One event at a time, on the fake machine: what `trace` shows of it, and what libtraceevent, which
 * knows it by its `format` file only, makes of the raw event. A test includes unit.h and tracefs.h
 * first.
 *
 * libtraceevent has a struct trace_seq and functions of its own by names of trace/: its headers are
 * read with other names. See build.mk for the functions.
 */
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include <trace/ring_buffer.h>
#define trace_seq	     tool_seq
#define trace_seq_destroy    tool_seq_destroy
#define trace_seq_do_fprintf tool_seq_do_fprintf
#define trace_seq_do_printf  tool_seq_do_printf
#define trace_seq_init	     tool_seq_init
#define trace_seq_printf     tool_seq_printf
#define trace_seq_putc	     tool_seq_putc
#define trace_seq_puts	     tool_seq_puts
#define trace_seq_reset	     tool_seq_reset
#define trace_seq_terminate  tool_seq_terminate
#define trace_seq_vprintf    tool_seq_vprintf
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>
#undef trace_seq
#undef trace_seq_destroy
#undef trace_seq_do_fprintf
#undef trace_seq_do_printf
#undef trace_seq_init
#undef trace_seq_printf
#undef trace_seq_putc
#undef trace_seq_puts
#undef trace_seq_reset
#undef trace_seq_terminate
#undef trace_seq_vprintf

static struct tep_handle *event_tep;
static struct kbuffer *event_kbuf;
static char event_system[32];

HELPER int event_setup(void **state)
{
	if (tracefs_setup(state))
		return -1;
	event_kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	event_tep = tep_alloc();
	tep_set_long_size(event_tep, 8);
	tep_set_file_bigendian(event_tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(event_tep, TEP_LITTLE_ENDIAN);
	tep_register_function(event_tep, (char *)"schedule", fake_func(SCHEDULE), NULL);
	tep_register_function(event_tep, (char *)"yield", fake_func(YIELD), NULL);
	tep_register_function(event_tep, (char *)"do_work", fake_func(DO_WORK), NULL);
	tep_register_function(event_tep, (char *)"kfree", fake_func(KFREE), NULL);
	tep_register_function(event_tep, (char *)"end", fake_func(KFREE) + FAKE_FUNC_BYTES, NULL);
	return 0;
}

HELPER int event_teardown(void **state)
{
	(void)state;
	kbuffer_free(event_kbuf);
	tep_free(event_tep);
	return 0;
}

HELPER int event_all_off(void **state)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

/* Only the event SYSTEM/EVENT is on, and the trace is empty. libtraceevent reads its `format`. */
HELPER void event_on(const char *name)
{
	size_t system_len = strcspn(name, "/");
	const char *format;
	char path[100];

	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("", "trace"), 0);
	snprintf(path, sizeof(path), "events/%s/enable", name);
	assert_int_equal(echo("1", path), 0);
	snprintf(path, sizeof(path), "events/%s/format", name);
	format = cat(path);
	snprintf(event_system, sizeof(event_system), "%.*s", (int)system_len, name);
	assert_int_equal(tep_parse_event(event_tep, format, strlen(format), event_system), 0);
}

/* The text that libtraceevent makes of the only event in the buffer of CPU 0: `name: text`. */
HELPER const char *event_as_tool(void)
{
	static _Alignas(8) uint8_t page[RING_SUBBUF_BYTES];
	static char text[4096];
	struct tool_seq seq = { .buffer = malloc(sizeof(text)), .buffer_size = sizeof(text) };
	struct trace_handle *pages =
		open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	struct tep_record record;
	struct tep_event *type;
	unsigned long long ts;
	uint64_t pos = 0;

	assert_int_equal(trace_fs_read(pages, page, sizeof(page), &pos), sizeof(page));
	assert_int_equal(kbuffer_load_subbuffer(event_kbuf, page), 0);
	record = (struct tep_record){ .data = kbuffer_read_event(event_kbuf, &ts) };
	assert_non_null(record.data);
	record.size = kbuffer_event_size(event_kbuf);
	type = tep_find_event(event_tep, *(const uint16_t *)record.data);
	assert_non_null(type);
	assert_int_equal(type->flags & TEP_EVENT_FL_FAILED, 0);
	tep_print_event(event_tep, &seq, &record, "%s: %s", TEP_PRINT_NAME, TEP_PRINT_INFO);
	snprintf(text, sizeof(text), "%.*s", (int)seq.len, seq.buffer);
	free(seq.buffer);
	assert_null(kbuffer_next_event(event_kbuf, &ts));
	assert_int_equal(trace_fs_close(pages), 0);
	return text;
}

/*
 * A copy of the line as libtraceevent writes it: it does not know the sizes of functions, and
 * pointers have no leading zeros. A text that could not be read is one as any other there.
 */
HELPER const char *event_line_of_tool(const char *line)
{
	static const char hex[] = "0123456789abcdef";
	static char text[4096];
	char *to = text;

	while (*line) {
		size_t digits = strncmp(line, "/0x", 3) ? 0 : strspn(line + 3, hex);
		bool is_word = to == text || !strchr(hex, to[-1]);

		if (!strncmp(line, "=(fault)", 8)) {
			to += sprintf(to, "=\"(fault)\"");
			line += 8;
		} else if (digits) {
			line += 3 + digits;
		} else if (is_word && strspn(line, hex) == 16) {
			to += sprintf(to, "0x%llx", strtoull(line, NULL, 16));
			line += 16;
		} else {
			*to++ = *line++;
		}
	}
	*to = '\0';
	return text;
}

/* The only event of the trace is `want`, from its name on, in the file; for the tool it is `tool`. */
HELPER void event_is_for(const char *want, const char *tool)
{
	const char *body = cat_body("trace"), *text = strstr(body, ": ");
	char line[4096];

	assert_non_null(text);
	snprintf(line, sizeof(line), "%s\n", want);
	assert_string_equal(text + 2, line);
	assert_string_equal(event_as_tool(), tool);
}

HELPER void event_is(const char *want)
{
	event_is_for(want, event_line_of_tool(want));
}

#endif
