/*
 * User events on the fake machine, as a host and as a shell: the file that registers and writes them, what is wrong with definitions and
 * values, references, and the end of an event.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "events/dyn_event.h"
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/user_events.h>

#define DATA "user_events_data"

static int nr_changes;
static struct trace_user_event *changed_event;
static struct trace_handle *data;

static void changed(struct trace_user_event *event)
{
	nr_changes++;
	changed_event = event;
}

static const struct trace_user_events_host host = { .changed = changed };

static int begin(void **state)
{
	int err = tracefs_reset(state);

	nr_changes = 0;
	data = open_file(DATA, TRACE_FS_READ | TRACE_FS_WRITE);
	return err;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(trace_fs_close(data), 0);
	while (fake_run_later())
		;
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat("user_events_status"), "\nActive: 0\nBusy: 0\n");
	return 0;
}

/* Register it, for an enabler that goes at once. */
static int reg(const char *definition, uint32_t flags)
{
	struct trace_user_event *event;
	int index = trace_user_events_register(data, definition, flags, &event);

	if (index >= 0)
		trace_user_event_put(event);
	return index;
}

static int64_t emit(int32_t index, const void *values, size_t bytes)
{
	char buf[8192];
	uint64_t pos = 0;

	memcpy(buf, &index, sizeof(index));
	memcpy(buf + sizeof(index), values, bytes);
	return trace_fs_write(data, buf, sizeof(index) + bytes, &pos);
}

static void on(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "events/%s/enable", name);
	assert_int_equal(echo("1", path), 0);
}

static void indexes(void **state)
{
	struct trace_handle *other;
	char name[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "event%d u32 a", i);
		assert_int_equal(reg(name, 0), i);
	}
	assert_int_equal(reg("event7 u32 a", 0), 7);
	assert_int_equal(reg("event7 u32 a;u16 b", 0), -EADDRINUSE);
	assert_int_equal(reg("event7", 0), -EADDRINUSE);
	on("user_events/event30");
	assert_int_equal(emit(30, "abcd", 4), 8);
	assert_int_equal(emit(40, "abcd", 4), -ENOENT);
	assert_int_equal(emit(29, "abcd", 4), -EBADF);
	assert_int_equal(emit(30, "abc", 3), -EINVAL);
	assert_int_equal(emit(-1, "abcd", 4), -EINVAL);
	assert_non_null(strstr(only_event("event30:"), "event30: a=0x64636261 (1684234849)\n"));
	other = open_file("trace_marker", TRACE_FS_WRITE);
	assert_int_equal(trace_user_events_register(other, "a", 0, NULL), -ENOTTY);
	assert_int_equal(trace_fs_close(other), 0);
}

/* Fields as they are listed, the print fmt and the text of an event of the bytes 1, 2, 3 and so on. */
static void fields(void **state)
{
	static const struct {
		const char *fields, *listed, *print_fmt, *text;
	} all[] = {
		{ "s8 a", NULL, "\"a=%d\", REC->a", "a=(1)" },
		{ "unsigned  char a ;", "unsigned char a", "\"a=%u\", REC->a", "a=(1)" },
		{ "short a;u8 b", "short a; u8 b", "\"a=%d b=%u\", REC->a, REC->b",
		  "a=0x201 (513) b=(3)" },
		{ "unsigned int a", NULL, "\"a=%u\", REC->a", "a=0x4030201 (67305985)" },
		{ "u64 a", NULL, "\"a=%llu\", REC->a", "a=0x807060504030201 (578437695752307201)" },
		{ "char[3] a", NULL, "\"a=%s\", REC->a", "a=\001\002\003" },
		{ "struct my_struct a 5", NULL, "\"a=%llu\", REC->a", "a={0x1,0x2,0x3,0x4,0x5}" },
		{ "unsigned char[2] a", NULL, "\"a=%s\", REC->a", "a=\001\002" },
	};
	uint8_t bytes[16];
	char text[200];

	(void)state;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i + 1;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(text, sizeof(text), "u:field%zu %s", i, all[i].fields);
		assert_int_equal(put_line(text, "dynamic_events", TRACE_FS_TRUNC), 0);
		snprintf(text, sizeof(text), "u:field%zu %s\n", i,
			 all[i].listed ? all[i].listed : all[i].fields);
		assert_string_equal(cat("dynamic_events"), text);
		snprintf(text, sizeof(text), "events/user_events/field%zu/format", i);
		assert_non_null(strstr(cat(text), all[i].print_fmt));
		snprintf(text, sizeof(text), "user_events/field%zu", i);
		on(text);
		assert_int_equal(emit(reg(strchr(text, '/') + 1, 0), "", 0), -EINVAL);
		snprintf(text, sizeof(text), "field%zu %s", i, all[i].fields);
		assert_int_equal(emit(reg(text, 0), bytes, 8), 12);
		assert_non_null(strstr(cat("trace"), all[i].text));
		assert_int_equal(echo("0", "events/enable"), 0);
		assert_int_equal(trace_fs_close(data), 0);
		data = open_file(DATA, TRACE_FS_READ | TRACE_FS_WRITE);
	}
}

/* Words that describe what is behind the fields. */
static void texts(void **state)
{
	struct {
		uint16_t at, bytes;
		char text[8];
	} values = { 0, 4, "abc" };
	int rel = reg("rel __rel_loc char[] a", 0), loc = reg("loc __data_loc u32[] a", 0);

	(void)state;
	on("user_events/rel");
	on("user_events/loc");
	assert_int_equal(emit(rel, &values, sizeof(values)), 16);
	assert_non_null(strstr(cat("trace"), "rel: a=abc\n"));
	values.bytes = 3;
	assert_int_equal(emit(rel, &values, sizeof(values)), -EFAULT);
	values.bytes = 9;
	assert_int_equal(emit(rel, &values, sizeof(values)), -EFAULT);
	values.at = 12;
	values.bytes = 8;
	assert_int_equal(emit(loc, &values, sizeof(values)), 16);
	assert_non_null(strstr(cat("trace"), "loc: a={0x61,0x62,0x63,0x0,"));
	values.at = 13;
	assert_int_equal(emit(loc, &values, sizeof(values)), -EFAULT);
	values.at = 0xffff;
	assert_int_equal(emit(loc, &values, sizeof(values)), -EFAULT);
	assert_int_equal(emit(rel, (char[8000]){ 0 }, 8000), -E2BIG);
	assert_int_equal(emit(rel, (char[600]){ 0 }, 600), 604);
}

/* The host hears of each change, and the event stays as long as it is needed. */
static void references(void **state)
{
	struct trace_user_event *event;
	int index = trace_user_events_register(data, "held u8 a", 0, &event);

	(void)state;
	assert_int_equal(index, 0);
	assert_false(trace_user_event_is_on(event));
	on("user_events/held");
	assert_true(nr_changes == 1 && changed_event == event && trace_user_event_is_on(event));
	assert_string_equal(cat("user_events_status"),
			    "held # Used by ftrace\n\nActive: 1\nBusy: 1\n");
	assert_int_equal(trace_user_event_delete("held", true), -EBUSY);
	assert_int_equal(echo("-:held", "dynamic_events"), -EBUSY);
	assert_int_equal(trace_fs_close(data), 0);
	data = open_file(DATA, TRACE_FS_READ | TRACE_FS_WRITE);
	trace_user_event_put(event);
	while (fake_run_later())
		;
	assert_non_null(strstr(cat("user_events_status"), "held")); /* it is on */
	assert_int_equal(echo("0", "events/user_events/held/enable"), 0);
	assert_int_equal(nr_changes, 2);
	while (fake_run_later())
		;
	assert_string_equal(cat("user_events_status"), "\nActive: 0\nBusy: 0\n");
}

static void persistent(void **state)
{
	(void)state;
	assert_int_equal(reg("stays u8 a", TRACE_USER_EVENT_PERSIST), 0);
	assert_int_equal(trace_user_event_delete("stays", true), -EBUSY);
	assert_int_equal(trace_fs_close(data), 0);
	data = open_file(DATA, TRACE_FS_READ | TRACE_FS_WRITE);
	while (fake_run_later())
		;
	assert_string_equal(cat("user_events_status"), "stays\n\nActive: 1\nBusy: 0\n");
	assert_int_equal(trace_user_event_delete("stays", false), -EPERM);
	assert_int_equal(trace_user_event_delete("stays", true), 0);
	assert_int_equal(trace_user_event_delete("stays", true), -ENOENT);
	assert_int_equal(reg("stays", 4), -EINVAL);
}

/* Events of one name with different fields, each with a number. */
static void formats(void **state)
{
	const uint32_t flags = TRACE_USER_EVENT_MULTI_FORMAT;

	(void)state;
	assert_int_equal(reg("many u8 a", flags), 0);
	assert_int_equal(reg("many u8 a; u8 b", flags), 1);
	assert_int_equal(reg("many u8 a", flags), 0);
	assert_int_equal(reg("many u16 a", 0), 2);
	assert_string_equal(cat("user_events_status"),
			    "many.0\nmany.1\nmany\n\nActive: 3\nBusy: 0\n");
	assert_string_equal(cat("dynamic_events"),
			    "u:many u8 a\nu:many u8 a; u8 b\nu:many u16 a\n");
	on("user_events_multi/many.1");
	assert_int_equal(emit(1, "\1\2", 2), 6);
	assert_non_null(strstr(cat("trace"), "many.1: a=(1) b=(2)\n"));
}

static void no_memory(void **state)
{
	long nr;
	int index = 0;

	(void)state;
	for_each_allocation(nr, (index = reg("scarce u8 a", 0)) > 0 ? 0 : index)
		while (fake_run_later())
			;
	assert_in_range(nr, 1, 99);
	assert_int_equal(index, 0);
	on("user_events/scarce");
	for_each_allocation(nr, emit(0, (char[600]){ 0 }, 600) < 0 ? -ENOMEM : 0)
		assert_null(strstr(cat("trace"), "scarce: "));
	assert_int_equal(nr, 1);
	assert_non_null(strstr(cat("trace"), "scarce: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(indexes, begin, end),
		cmocka_unit_test_setup_teardown(fields, begin, end),
		cmocka_unit_test_setup_teardown(texts, begin, end),
		cmocka_unit_test_setup_teardown(references, begin, end),
		cmocka_unit_test_setup_teardown(persistent, begin, end),
		cmocka_unit_test_setup_teardown(formats, begin, end),
		cmocka_unit_test_setup_teardown(no_memory, begin, end),
	};

	fake_user_events = &host;
	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
