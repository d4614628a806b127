/*
 * Writing a synthetic event, compiled as in the kernel: an interrupt before every single instruction
 * writes one, too. Each of them is whole, and the depth is as before in the end.
 *
 * links: trace/events/synth_write.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include "fast.h"
#include <trace/thread.h>
#include "events/event_file.h"
#include "events/synth_event.h"

#define MAX_INSNS   2048u
#define NR_FIELDS   4u
#define ENTRY_BYTES 1024u

static struct trace_thread thread;
static struct trace_event_file files[2];
static uint8_t room[ENTRY_BYTES];
static uint32_t nr_written, nr_irqs;

/* ---- Events: their fields lie behind each other ---- */

static const struct synth_field number_fields[NR_FIELDS] = {
	{ .offset = 8, .size = 8, .kind = SYNTH_NUMBER },
	{ .offset = 16, .size = 1, .kind = SYNTH_NUMBER },
	{ .offset = 18, .size = 2, .kind = SYNTH_NUMBER },
	{ .offset = 20, .size = 4, .kind = SYNTH_NUMBER },
};
static const struct synth_field any_fields[NR_FIELDS] = {
	{ .offset = 8, .size = 8, .kind = SYNTH_NUMBER },
	{ .offset = 16, .size = 8, .kind = SYNTH_TEXT },
	{ .offset = 24, .size = 4, .kind = SYNTH_DYNAMIC_TEXT },
	{ .offset = 28, .size = 4, .kind = SYNTH_STACK },
};
static struct synth_event numbers = { .nr_fields = NR_FIELDS,
				      .fixed_bytes = 24,
				      .is_numbers = true,
				      .fields = number_fields },
			  texts = { .nr_fields = NR_FIELDS,
				    .fixed_bytes = 32,
				    .fields = any_fields };

static const char fixed[] = "fixed text", text[] = "a text of any length";
static char long_text[SYNTH_TEXT_MAX];
static const uint32_t stack[] = { 0x400010, 0x400020, 0 };
static const uint64_t number_values[NR_FIELDS] = { 0x1122334455667788, 0xffff03, 0xffff0405,
						   ~6ull };
static uint64_t any_values[NR_FIELDS];

/* ---- The functions that it is linked against ---- */

static void check_numbers(const uint8_t *entry, uint32_t bytes)
{
	uint64_t first;
	uint16_t third;
	uint32_t fourth;

	memcpy(&first, entry + 8, sizeof(first));
	memcpy(&third, entry + 18, sizeof(third));
	memcpy(&fourth, entry + 20, sizeof(fourth));
	assert_int_equal(bytes, 24);
	assert_true(first == number_values[0]);
	assert_int_equal(entry[16], 3);
	assert_int_equal(third, 0x405);
	assert_int_equal(fourth, ~6u);
}

static void check_texts(const uint8_t *entry, uint32_t bytes)
{
	const char *want = (const char *)(uintptr_t)any_values[2];
	uint32_t places[2];
	uint64_t ip;

	memcpy(places, entry + 24, sizeof(places));
	assert_memory_equal(entry + 16, "fixed t", 8);
	assert_int_equal(places[0] & 0xffff, 32);
	assert_int_equal(places[0] >> 16, strlen(want) + 1);
	assert_string_equal((const char *)entry + 32, want);
	assert_int_equal(places[1] >> 16, 16);
	assert_int_equal((places[1] & 0xffff) + 16, bytes);
	memcpy(&ip, entry + bytes - 8, sizeof(ip));
	assert_true(ip == 0x400020);
}

static void check(const struct trace_event_call *call, const void *entry, uint32_t bytes)
{
	if (call == &numbers.call)
		check_numbers(entry, bytes);
	else
		check_texts(entry, bytes);
	nr_written++;
}

void trace_event_write(struct trace_event_call *call, void *entry, uint32_t bytes,
		       const struct trace_sched_thread *other)
{
	assert_null(other);
	check(call, entry, bytes);
}

void trace_event_record_time(const struct trace_event_front *front, const void *entry,
			     uint64_t step, const struct trace_event_time *time)
{
	assert_true(time->now == 77);
	check(front->call, entry, (uint32_t)step - 4);
}

/* Events that interrupts write meanwhile are short, and need no room. */
static const struct trace_event_call *reserved;

void *trace_event_reserve(const struct trace_event_front *front, uint32_t bytes,
			  struct trace_event_room *out_room)
{
	(void)out_room;
	reserved = front->call;
	memset(room, 0xff, sizeof(room));
	return bytes <= sizeof(room) ? room : NULL;
}

void trace_event_commit(struct trace_event_room *out_room, void *entry, uint32_t bytes)
{
	(void)out_room;
	check(reserved, entry, bytes);
}

/* ---- Interrupts ---- */

static TRACE_NOINLINE void write_event(void *arg)
{
	struct synth_event *event = arg;

	trace_synth_event_write(event, event == &numbers ? number_values : any_values);
}

/* As an action does it that has put the values where they belong; `arg` is the clock. */
static TRACE_NOINLINE void write_built(void *arg)
{
	const struct trace_event_time time = { (ring_clock_fn)(uintptr_t)arg, 77 };
	uint8_t entry[32];

	for (uint32_t i = 0; i < NR_FIELDS; i++)
		memcpy(entry + number_fields[i].offset, &number_values[i], 8);
	trace_synth_event_write_built(&numbers, entry, &time);
}

static uint64_t any_clock(void)
{
	return 0;
}

static struct synth_event *irq_event;

static void irq(void)
{
	nr_irqs++;
	write_event(irq_event);
}

static void at_each_of(void (*body)(void *arg), void *arg, struct synth_event *in_irq)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	irq_event = in_irq;
	fast_trace(body, arg, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 30, MAX_INSNS - 1);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = irq };

		nr_written = nr_irqs = 0;
		nr_came += fast_run_at(body, arg, &point, 1);
		assert_int_equal(nr_written, 1 + nr_irqs);
		assert_int_equal(thread.synth_depth, 0);
	}
	assert_in_range(nr_came, nr * 9 / 10, nr);
}

static void at_each(struct synth_event *event, struct synth_event *in_irq)
{
	at_each_of(write_event, event, in_irq);
}

static void of_built(void **state)
{
	(void)state;
	at_each_of(write_built, (void *)(uintptr_t)any_clock, &numbers);
	at_each_of(write_built, (void *)(uintptr_t)any_clock, &texts);
	at_each_of(write_built, NULL, &numbers);
}

static void of_numbers(void **state)
{
	(void)state;
	at_each(&numbers, &numbers);
	at_each(&numbers, &texts);
}

static void of_texts(void **state)
{
	(void)state;
	at_each(&texts, &numbers);
	at_each(&texts, &texts);
}

/* So long that it is built in the ring. */
static void of_long_texts(void **state)
{
	(void)state;
	memset(long_text, 'y', sizeof(long_text) - 1);
	any_values[2] = (uintptr_t)long_text;
	at_each(&texts, &numbers);
	any_values[2] = (uintptr_t)text;
}

/* At the greatest depth interrupts write nothing, and what they interrupted is written. */
static void at_the_greatest_depth(void **state)
{
	(void)state;
	thread.synth_depth = SYNTH_DEPTH_MAX;
	nr_written = 0;
	write_event(&numbers);
	write_built(NULL);
	write_built((void *)(uintptr_t)any_clock);
	assert_int_equal(nr_written, 0);
	assert_int_equal(thread.synth_depth, SYNTH_DEPTH_MAX);
	thread.synth_depth = 0;
}

/* It is on. */
static void start(struct trace_event_call *call, struct trace_event_file *file)
{
	file->front.flags = TRACE_EVENT_RECORDS;
	file->front.call = call;
	call->files = file;
	call->front = &file->front;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_numbers),
		cmocka_unit_test(of_built),
		cmocka_unit_test(of_texts),
		cmocka_unit_test(of_long_texts),
		cmocka_unit_test(at_the_greatest_depth),
	};

	fast_init();
	fast_cpu.trace_thread = &thread;
	start(&numbers.call, &files[0]);
	start(&texts.call, &files[1]);
	any_values[0] = 5;
	any_values[1] = (uintptr_t)fixed;
	any_values[2] = (uintptr_t)text;
	any_values[3] = (uintptr_t)stack;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
