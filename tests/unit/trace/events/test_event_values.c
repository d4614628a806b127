/*
 * The option `fields`: the values of an event as they lie in it, in Linux's forms.
 */
#include "unit.h"
#include "tracefs.h"
#include "event_help.h"
#include "events/synth_event.h"
#include "events/synth_private.h"
#include "print/output.h"
#include "text/str.h"
#include <trace/trace_seq.h>
#include "instance/array.h"
#include "host/yard.h"
#include "host/said_events.h"

static int setup(void **state)
{
	int err = tracefs_setup(state);

	if (!err)
		err = register_trace_event(&door);
	return err ? err : register_trace_event(&all);
}

static int reset(void **state)
{
	int err = tracefs_reset(state);

	assert_int_equal(echo("1", "options/fields"), 0);
	assert_int_equal(echo("1", "events/yard/enable"), 0);
	return err;
}

static int check(void **state)
{
	assert_int_equal(echo("0", "options/fields"), 0);
	assert_int_equal(echo("0", "events/yard/enable"), 0);
	return tracefs_check(state);
}

static void numbers(void **state)
{
	(void)state;
	trace_yard_numbers(255, -2, -3, 0xfedcba9876543210, true);
	assert_string_equal(only_event("yard_numbers:"),
			    "yard_numbers: tiny=(255) small=0xfffe (65534) number=0xfffffffd (-3) "
			    "large=0xfedcba9876543210 (-81985529216486896) flag=(1)\n");
	assert_int_equal(echo("", "trace"), 0);
	trace_yard_numbers('A', 7, 8, fake_func(KFREE) + 2, false);
	assert_non_null(strstr(only_event("yard_numbers:"), " tiny='A'(65) small=0x7 (7) "));
	assert_non_null(strstr(only_event("yard_numbers:"), " large=kfree+0x2/0x"));
}

static void texts_and_arrays(void **state)
{
	static const u32 list[] = { 1, 0x203 };
	static const unsigned long mask = 5;
	const struct yard_box box = { "eight ch", 3, 4 };

	(void)state;
	trace_yard_texts("sand", list, 2, &mask);
	assert_string_equal(only_event("yard_texts:"),
			    "yard_texts: name=sand odd=(7) list=01,00,00,00,03,02,00,00 cut=sa "
			    "mask=05,00,00,00,00,00,00,00 last=sand bytes=ab,ab\n");
	assert_int_equal(echo("", "trace"), 0);
	trace_yard_kinds(&box, YARD_GRAVEL, 6);
	assert_non_null(strstr(only_event("yard_kinds:"),
			       " kind=0x5 (5) flags=0x6 (6) box=<INVALID-SIZE>"
			       " label=eight ch sizes={0x3,0x4,0xc}\n"));
}

static void say(int before, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(int before, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	trace_said_text(before, fmt, &args);
	va_end(args);
}

/* Texts that are made while the event is written, from the same arguments twice. */
static void texts_of_formats(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/fields"), 0);
	assert_int_equal(echo("1", "events/said/enable"), 0);
	say(7, "%s of %d", "sand", 50);
	assert_string_equal(only_event("said_text:"),
			    "said_text: 7: sand of 50, sand of 50, 11 bytes, 11 bytes\n");
	assert_int_equal(echo("", "trace"), 0);
	say(8, "%s", "");
	assert_string_equal(only_event("said_text:"), "said_text: 8: , , 1 bytes, 1 bytes\n");
	assert_int_equal(echo("0", "events/said/enable"), 0);
}

/* The room that an event's text asks for may be all that there is. */
static void room(void **state)
{
	char buf[8] = "abcdefg";
	struct trace_seq seq;

	(void)state;
	trace_seq_init(&seq, buf, sizeof(buf));
	trace_seq_puts(&seq, "xyz");
	assert_string_equal(trace_print_room_seq(&seq, 6), "");
	trace_seq_init(&seq, buf, sizeof(buf));
	trace_seq_puts(&seq, "xyz");
	assert_ptr_equal(trace_print_room_seq(&seq, 5), buf + 3);
	assert_int_equal(seq.len, 8);
}

/* Types of events that are no TRACE_EVENT(). */
static void other_types(void **state)
{
	char want[200];

	(void)state;
	fake_bad_page = (const void *)0x1000; /* where its pointer points to */
	write_all(NULL, 2);
	snprintf(want, sizeof(want),
		 "all: who=kfree+0x2/0x10 name=eight ch small=(255) letter='x'(120) "
		 "list={0x1,0xffff,0x0} large=0xffffffffffffffff (-1)");
	assert_memory_equal(only_event("all:"), want, strlen(want));
	assert_non_null(
		strstr(only_event("all:"),
		       " pointer=(0x1234) callers={yield+0x0/0x10,0x10} rest={0x5,0x10}\n"));
	assert_int_equal(echo("", "trace"), 0);
	fake_bad_page = NULL;
	trace_printk("words %d\n", 3);
	assert_non_null(strstr(only_event("bprint:"), " args_bytes=0x4 (4) fmt=(0x"));
	assert_non_null(strstr(only_event("bprint:"), ":words %d.) buf={0x3,0x0,0x0,0x0}\n"));
}

/* In trace_pipe, too; and each instance has its own option. */
static void instances(void **state)
{
	struct trace_node *dir = node_of("instances");
	struct trace_handle *handle;
	char text[512];
	uint64_t pos = 0;
	int64_t len;

	(void)state;
	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_int_equal(echo("1", "instances/one/events/yard/yard_watch/enable"), 0);
	assert_int_equal(echo("0", "instances/one/options/fields"), 0); /* it came with 1 */
	trace_yard_watch(9);
	assert_non_null(strstr(cat("instances/one/trace"), "yard_watch: who=9\n"));
	assert_int_equal(echo("1", "instances/one/options/fields"), 0);
	assert_non_null(strstr(cat("instances/one/trace"), "yard_watch: who=0x9 (9)\n"));
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	handle = open_file("trace_pipe", TRACE_FS_READ);
	len = trace_fs_read(handle, text, sizeof(text) - 1, &pos);
	assert_true(len > 0);
	text[len] = '\0';
	assert_non_null(strstr(text, "yard_watch: who=0x9 (9)\n"));
	assert_int_equal(trace_fs_close(handle), 0);
}

/* Several instances share the head of an event, but not of a long one, nor of one at a great preempt depth. */
static void long_and_deep_events_of_instances(void **state)
{
	static const u32 list[20] = { 0 };
	static const unsigned long mask = 5;
	static const char *const paths[] = { "trace", "instances/one/trace" };

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("1", "instances/one/events/yard/enable"), 0);
	fake_this->preempt_count += 20;
	trace_yard_watch(77);
	trace_yard_watch(78); /* the first one that a ring has takes another way */
	fake_this->preempt_count -= 20;
	trace_yard_watch(79);
	trace_yard_texts("at the end of a long one", list, 20, &mask);
	for (int i = 0; i < 2; i++) {
		const char *text = cat_body(paths[i]);

		assert_non_null(strstr(text, " last=at the end of a long one bytes="));
		assert_non_null(strstr(strstr(text, " ...f. ") + 1, " ...f. "));
		assert_non_null(strstr(text, ": yard_watch: who=0x4d (77)\n"));
		assert_non_null(strstr(text, ": yard_watch: who=0x4e (78)\n"));
	}
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
}

/* Damaged events: what says to lie outside does not, and pointers to nothing are not followed. */
static void damage(void **state)
{
	struct trace_event_buffer fbuffer;
	uint32_t *entry;

	(void)state;
	entry = trace_event_buffer_reserve(&fbuffer, NULL, &event_yard_texts.event, 48);
	assert_non_null(entry);
	memset(entry + 2, 0xff, 40);
	trace_event_buffer_commit(&fbuffer, entry);
	assert_non_null(
		strstr(only_event("yard_texts:"), "name=<OVERFLOW> odd=(255) list=<OVERFLOW>"));
}

static struct synth_event *synthetic(const char *line, const char *name)
{
	struct synth_event *event;

	assert_int_equal(echo(line, "synthetic_events"), 0);
	trace_plat_lock(&trace_config_lock);
	event = trace_synth_event_get(name);
	trace_plat_unlock(&trace_config_lock);
	assert_non_null(event);
	return event;
}

/* The line of an event of which the first `len` bytes are left; no byte behind them is read. */
static const char *line_of_damaged(struct synth_event *event, const uint8_t *entry, uint32_t len)
{
	static char line[200];
	uint8_t *copy = malloc(len ? len : 1);
	const struct trace_iter iter = { .type = &event->call.event,
					 .event = { .data = memcpy(copy, entry, len),
						    .len = len } };
	struct trace_seq seq;

	trace_seq_init(&seq, line, sizeof(line) - 1);
	trace_synth_print(&iter, &seq);
	line[seq.len] = '\0';
	free(copy);
	return line;
}

/* Events that end in the middle of a field, and texts that lie beyond the end. */
static void damaged_synthetic(void **state)
{
	struct synth_event *event = synthetic("x u64 a; u32 b; char[] text; char[4] fixed", "x");
	const uint32_t a = event->fields[0].offset, b = event->fields[1].offset;
	const uint32_t text = event->fields[2].offset, fixed = event->fields[3].offset;
	uint8_t entry[64] = { 0 };
	uint32_t place = (fixed + 4) | 3u << 16;

	(void)state;
	entry[a] = 7;
	entry[b] = 8;
	memcpy(&entry[text], &place, sizeof(place));
	memcpy(&entry[fixed], "four", 4);
	memcpy(&entry[fixed + 4], "abc", 3);
	assert_string_equal(line_of_damaged(event, entry, fixed + 7),
			    "x: a=7 b=8 text=abc fixed=four\n");
	assert_string_equal(line_of_damaged(event, entry, fixed + 6),
			    "x: a=7 b=8 text=ab fixed=four\n");
	assert_string_equal(line_of_damaged(event, entry, fixed + 3), "x: a=7 b=8 text= fixed=\n");
	assert_string_equal(line_of_damaged(event, entry, text + 3), "x: a=7 b=8 text= fixed=\n");
	assert_string_equal(line_of_damaged(event, entry, b + 3), "x: a=7 b=0 text= fixed=\n");
	assert_string_equal(line_of_damaged(event, entry, a + 7), "x: a=0 b=0 text= fixed=\n");
	assert_string_equal(line_of_damaged(event, entry, 0), "x: a=0 b=0 text= fixed=\n");
	trace_plat_lock(&trace_config_lock);
	trace_synth_event_put(event);
	trace_plat_unlock(&trace_config_lock);
	assert_int_equal(echo("", "synthetic_events"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, reset, check),
		cmocka_unit_test_setup_teardown(texts_and_arrays, reset, check),
		cmocka_unit_test_setup_teardown(texts_of_formats, reset, check),
		cmocka_unit_test_setup_teardown(room, reset, check),
		cmocka_unit_test_setup_teardown(other_types, reset, check),
		cmocka_unit_test_setup_teardown(instances, reset, check),
		cmocka_unit_test_setup_teardown(long_and_deep_events_of_instances, reset, check),
		cmocka_unit_test_setup_teardown(damage, reset, check),
		cmocka_unit_test_setup_teardown(damaged_synthetic, reset, check),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
