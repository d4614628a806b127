/*
 * Types of events that are written outside of trace/, with public headers only: registered, written
 * into an instance, printed in each form, gone again while a reader prints.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include "tracefs.h"
#include "event_help.h"
#include <trace/trace_seq.h>

#define TRACE	"instances/one/trace"
#define OPTIONS "instances/one/trace_options"
#define COLUMNS "            init-1       [000] .....    12.345679: "

static struct trace_array *one;

static int make_instance(void **state)
{
	if (tracefs_reset(state))
		return -1;
	one = trace_array_get_by_name("one");
	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	return one ? 0 : -1;
}

static int drop_instance(void **state)
{
	fake_cpus[0].pid = 0;
	trace_array_put(one);
	assert_int_equal(trace_array_destroy(one), 0);
	return tracefs_check(state);
}

static void write_door(int32_t number, uint16_t visitors)
{
	struct trace_event_buffer fbuffer;
	struct door_entry *entry;

	entry = trace_event_buffer_reserve(&fbuffer, one, &door, sizeof(*entry));
	assert_non_null(entry);
	entry->door = number;
	entry->visitors = visitors;
	trace_event_buffer_commit(&fbuffer, entry);
}

static void body_is(const char *want)
{
	assert_string_equal(cat_body(TRACE), want);
}

static void described(void **state)
{
	(void)state;
	assert_int_equal(register_trace_event(&door), 0);
	assert_true(door.type >= TRACE_EVENT_FIRST_TYPE);
	write_door(-7, 65535);
	body_is(COLUMNS "door: door=-7 visitors=65535\n");
	assert_int_equal(echo("raw", OPTIONS), 0);
	body_is("1 0 12345678900 -7 65535\n");
	assert_int_equal(echo("hex", OPTIONS), 0);
	body_is("00000001 00000000 00000002dfdc1c34 fffffff9 ffff \n");
	assert_int_equal(echo("nohex", OPTIONS), 0);
	assert_int_equal(echo("nocontext-info", OPTIONS), 0);
	assert_int_equal(echo("bin", OPTIONS), 0);
	assert_memory_equal(cat_body(TRACE), "\xf9\xff\xff\xff\xff\xff", 7);
	assert_int_equal(echo("nobin", OPTIONS), 0);
	assert_int_equal(echo("noraw", OPTIONS), 0);
	body_is("door: door=-7 visitors=65535\n");
	assert_int_equal(unregister_trace_event(&door), 0);
}

static void each_kind(void **state)
{
	(void)state;
	assert_int_equal(register_trace_event(&all), 0);
	write_all(one, 2);
	body_is(COLUMNS "all: who=kfree name=eight ch small=-1 letter=x list={0x1,0xffff,0x0} "
			"large=18446744073709551615 negative=-9223372036854775808 pointer=1234 "
			"callers={yield,0x10} rest={0x5,0x10}\n");
	assert_int_equal(echo("nocontext-info", OPTIONS), 0);
	assert_int_equal(echo("sym-offset", OPTIONS), 0);
	assert_non_null(strstr(cat_body(TRACE), "who=kfree+0x2/0x10 "));
	assert_int_equal(echo("raw", OPTIONS), 0);
	body_is("ffffffff81000032 eight ch -1 x {0x1,0xffff,0x0} 18446744073709551615 "
		"-9223372036854775808 1234 {ffffffff81000010,10} {0x5,0x10}\n");
	assert_int_equal(echo("hex", OPTIONS), 0);
	body_is("ffffffff81000032 65 69 67 68 74 20 63 68 ff 78 0001 ffff 0000 ffffffffffffffff "
		"8000000000000000 0000000000001234 ffffffff81000010 0000000000000010 00000005 "
		"00000010 \n");
	assert_int_equal(unregister_trace_event(&all), 0);
}

/* An event may be shorter than its type says, when something else wrote it. */
static void cut_short(void **state)
{
	struct trace_event_buffer fbuffer;
	struct door_entry *entry;

	(void)state;
	assert_int_equal(register_trace_event(&door), 0);
	entry = trace_event_buffer_reserve(&fbuffer, one, &door, sizeof(struct trace_entry) + 4);
	entry->door = 3;
	trace_event_buffer_commit(&fbuffer, entry);
	entry = trace_event_buffer_reserve(&fbuffer, one, &door, sizeof(struct trace_entry));
	trace_event_buffer_commit(&fbuffer, entry);
	body_is(COLUMNS "door: door=3 visitors=0\n" COLUMNS "door: door=0 visitors=0\n");
	assert_int_equal(unregister_trace_event(&door), 0);
}

/* ---- A type that prints itself ---- */

static void say(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint32_t len;
	const struct door_entry *entry = trace_iter_event(iter, &len);

	assert_int_equal(len, sizeof(*entry));
	trace_seq_printf(seq, "%u come in at ", entry->visitors);
	trace_print_ip(iter, seq, trace_plat_ip_pack(fake_func(SCHEDULE)));
	trace_seq_puts(seq, " or ");
	trace_print_return(iter, seq, trace_plat_ip_pack(fake_func(KFREE)));
	trace_seq_putc(seq, '\n');
}

static void own_functions(void **state)
{
	static const struct trace_event_functions functions = { .trace = say,
								.raw = say,
								.message = say };
	struct trace_event own = door;

	(void)state;
	own.funcs = &functions;
	assert_int_equal(register_trace_event(&own), 0);
	door.type = own.type;
	write_door(1, 2);
	body_is(COLUMNS "2 come in at schedule or do_work\n");
	assert_int_equal(echo("raw", OPTIONS), 0);
	body_is("1 0 12345678900 2 come in at schedule or do_work\n");
	assert_int_equal(echo("printk-msg-only", OPTIONS), 0);
	body_is("2 come in at schedule or do_work\n");
	assert_int_equal(unregister_trace_event(&own), 0);
	door.type = 0;
}

/* Under function_graph such an event is a comment. */
static void in_a_graph(void **state)
{
	(void)state;
	assert_int_equal(echo("function_graph", "instances/one/current_tracer"), 0);
	assert_int_equal(register_trace_event(&door), 0);
	write_door(1, 2);
	body_is(" 0)               |  /* door: door=1 visitors=2 */\n");
	assert_int_equal(unregister_trace_event(&door), 0);
	assert_non_null(strstr(cat_body(TRACE), "Unknown type "));
	assert_int_equal(echo("nop", "instances/one/current_tracer"), 0);
}

/* The option stacktrace is for these events too. */
static void with_a_stack(void **state)
{
	(void)state;
	fake_stack[0] = trace_plat_ip_pack(fake_func(KFREE));
	fake_stack_nr = 1;
	assert_int_equal(register_trace_event(&door), 0);
	assert_int_equal(echo("stacktrace", OPTIONS), 0);
	write_door(1, 2);
	body_is(COLUMNS "door: door=1 visitors=2\n" COLUMNS "<stack trace>\n => kfree\n");
	fake_stack_nr = 0;
	assert_int_equal(unregister_trace_event(&door), 0);
}

/* ---- Registering ---- */

static int refused(const struct trace_event_field *field)
{
	struct trace_event event = {
		.name = "refused", .system = "house", .fields = field, .nr_fields = 1
	};

	return register_trace_event(&event);
}

static void refusals(void **state)
{
	struct trace_event event = { 0 };
	struct trace_event_field field = door_fields[0];
	uint64_t nr_waits;

	(void)state;
	assert_int_equal(register_trace_event(&event), -EINVAL);
	event.name = "door";
	assert_int_equal(register_trace_event(&event), -EINVAL);
	field.offset = 4; /* in the head */
	assert_int_equal(refused(&field), -EINVAL);
	field.offset = UINT32_MAX - 1;
	assert_int_equal(refused(&field), -EINVAL);
	field = door_fields[0];
	field.element_size = 3;
	assert_int_equal(refused(&field), -EINVAL);
	field.element_size = 0;
	assert_int_equal(refused(&field), -EINVAL);
	field = door_fields[0];
	field.is_address = true; /* packed ones have 32 bits */
	field.size = field.element_size = 8;
	assert_int_equal(refused(&field), -EINVAL);

	assert_int_equal(unregister_trace_event(&door), -ENOENT);
	assert_int_equal(register_trace_event(&door), 0);
	assert_int_equal(register_trace_event(&door), -EEXIST);
	event.system = "house";
	assert_int_equal(register_trace_event(&event), -EEXIST);
	event.type = 1; /* function */
	event.name = "other";
	assert_int_equal(register_trace_event(&event), -EEXIST);
	event.type = 60000;
	assert_int_equal(register_trace_event(&event), -EINVAL);
	event.type = door.type;
	assert_int_equal(unregister_trace_event(&event), -ENOENT);
	nr_waits = fake_nr_sync_preempt;
	assert_int_equal(unregister_trace_event(&door), 0);
	assert_int_equal(fake_nr_sync_preempt, nr_waits + 1); /* for who finds it just now */
	assert_int_equal(door.type, 0);
	event.name = "door";
	event.type = 0;
	assert_int_equal(register_trace_event(&event), 0);
	assert_int_equal(unregister_trace_event(&event), 0);
}

/* Remains of a type that has gone belong to no type, not even to the next one. */
static void gone(void **state)
{
	char want[200];
	uint16_t type;

	(void)state;
	assert_int_equal(register_trace_event(&door), 0);
	write_door(1, 2);
	type = door.type;
	assert_int_equal(unregister_trace_event(&door), 0);
	assert_int_equal(register_trace_event(&door), 0);
	assert_int_not_equal(door.type, type);
	snprintf(want, sizeof(want), COLUMNS "Unknown type %d\n", type);
	body_is(want);
	assert_int_equal(echo("raw", OPTIONS), 0);
	snprintf(want, sizeof(want), "1 0 12345678900 %d ?\n", type);
	body_is(want);
	assert_int_equal(unregister_trace_event(&door), 0);
}

/* As many as there are numbers. The newest piece of their table stays, and the list of all. */
static void all_numbers(void **state)
{
	enum {
		NR = TRACE_EVENT_MAX_TYPE + 1 - TRACE_EVENT_FIRST_TYPE
	};
	static struct trace_event events[NR];
	static char names[NR][8];
	char lines[200];
	size_t nr = 0;

	(void)state;
	fake_alloc_budget = 0;
	for (; nr < NR; nr++) {
		snprintf(names[nr], sizeof(names[nr]), "%zu", nr);
		events[nr] = door;
		events[nr].name = names[nr];
		if (register_trace_event(&events[nr]))
			break;
	}
	assert_true(nr < NR);
	assert_int_equal(register_trace_event(&events[nr]), -ENOMEM);
	fake_alloc_budget = -1;
	/* Looking for a name takes the longer the more there are: not all 65,504 of them. */
	for (size_t end = nr + 600; nr < end; nr++) {
		snprintf(names[nr], sizeof(names[nr]), "%zu", nr);
		events[nr] = door;
		events[nr].name = names[nr];
		assert_int_equal(register_trace_event(&events[nr]), 0);
	}
	assert_true(events[nr - 1].type > 600);
	door.type = events[nr - 1].type;
	write_door(1, 2);
	snprintf(lines, sizeof(lines), COLUMNS "%zu: door=1 visitors=2\n", nr - 1);
	body_is(lines);
	door.type = 0;
	while (nr--)
		assert_int_equal(unregister_trace_event(&events[nr]), 0);
	memory_out += 2;
}

/* Types that come and go get other numbers each time, up to the last and from the first on again. */
static void numbers_in_a_loop(void **state)
{
	struct trace_event stays = door, event = door;
	const long at_first = fake_alloc_out;
	long most = 0;
	uint16_t before = 0;
	int nr_wraps = 0;

	(void)state;
	event.name = "window";
	for (int i = 0; i < 70000; i++) {
		/* One that stays holds the piece with its number, and no other. */
		if (i == 1000)
			assert_int_equal(register_trace_event(&stays), 0);
		assert_int_equal(register_trace_event(&event), 0);
		assert_int_not_equal(event.type, before);
		assert_int_not_equal(event.type, stays.type);
		nr_wraps += event.type < before;
		before = event.type;
		most = fake_alloc_out > most ? fake_alloc_out : most;
		assert_int_equal(unregister_trace_event(&event), 0);
	}
	assert_int_equal(nr_wraps, 1);
	assert_int_equal(most, at_first + 1);
	door.type = stays.type;
	write_door(1, 2);
	body_is(COLUMNS "door: door=1 visitors=2\n");
	door.type = 0;
	assert_int_equal(unregister_trace_event(&stays), 0);
}

/* ---- Unregistered while a reader prints ---- */

static pthread_t remover;
static _Atomic bool was_removed;

static void let_others_run(void)
{
	sched_yield();
}

static void *remove_door(void *arg)
{
	fake_bind(1);
	assert_int_equal(unregister_trace_event(arg), 0);
	was_removed = true;
	return NULL;
}

static struct trace_event removed;

static void slow_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t pauses = fake_nr_pauses;

	(void)iter;
	pthread_create(&remover, NULL, remove_door, &removed);
	while (fake_nr_pauses < pauses + 3 && !was_removed)
		sched_yield();
	trace_seq_puts(seq, was_removed ? "too early\n" : "still there\n");
}

static void waits_for_printers(void **state)
{
	static const struct trace_event_functions functions = { .trace = slow_text };

	(void)state;
	fake_on_pause = let_others_run;
	removed = door;
	removed.funcs = &functions;
	assert_int_equal(register_trace_event(&removed), 0);
	door.type = removed.type;
	write_door(1, 2);
	write_door(3, 4);
	assert_int_equal(echo("nocontext-info", OPTIONS), 0);
	assert_non_null(strstr(cat_body(TRACE), "still there\nUnknown type "));
	pthread_join(remover, NULL);
	assert_true(was_removed);
	fake_on_pause = NULL;
	door.type = 0;
}

/* ---- The text of a format file ---- */

static void format_text(void **state)
{
	char text[2000];
	int len;

	(void)state;
	door.type = 1234;
	len = trace_event_format(&door, text, sizeof(text));
	assert_string_equal(
		text, "name: door\nID: 1234\nformat:\n"
		      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		      "\n"
		      "\tfield:int door;\toffset:8;\tsize:4;\tsigned:1;\n"
		      "\tfield:unsigned short visitors;\toffset:12;\tsize:2;\tsigned:0;\n"
		      "\n"
		      "print fmt: \"door=%d visitors=%u\", REC->door, REC->visitors\n");
	assert_int_equal(len, strlen(text));
	memset(text, 'x', sizeof(text));
	assert_int_equal(trace_event_format(&door, text, (size_t)len + 1), len);
	assert_int_equal(text[len + 1], 'x');
	assert_int_equal(trace_event_format(&door, text, (size_t)len), -ENOSPC);
	assert_int_equal(trace_event_format(&door, text, 1), -ENOSPC);
	assert_int_equal(trace_event_format(&door, text, 0), -ENOSPC);
	door.print_fmt = "\"%d\", REC->door";
	trace_event_format(&door, text, sizeof(text));
	assert_non_null(strstr(text, "\nprint fmt: \"%d\", REC->door\n"));
	door.print_fmt = NULL;
	trace_event_format(&all, text, sizeof(text));
	assert_non_null(strstr(text, "\tfield:char name[8];\toffset:12;\tsize:8;\tsigned:1;\n"));
	assert_non_null(strstr(text, "\tfield:unsigned short list[3];\toffset:22;\tsize:6;\t"));
	assert_non_null(strstr(text, "\tfield:unsigned int rest[];\toffset:60;\tsize:0;\t"));
	assert_non_null(strstr(text, "print fmt: \"who=%ps name=%s small=%hhd letter=%hhd list=%s "
				     "large=%llu negative=%lld pointer=%lx callers=%s\", "
				     "(void *)(((REC->who + 0x80000000ul) & 0xfffffffful) - "
				     "0x80000000ul), REC->name, "));
	assert_non_null(strstr(text, ", __print_array(REC->list, 3, 2), "));
	door.type = 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_instance, drop_instance)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(described),	  TEST(each_kind),
		TEST(cut_short),	  TEST(own_functions),
		TEST(in_a_graph),	  TEST(with_a_stack),
		TEST(refusals),		  TEST(gone),
		TEST(waits_for_printers), TEST(all_numbers),
		TEST(numbers_in_a_loop),  TEST(format_text),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
