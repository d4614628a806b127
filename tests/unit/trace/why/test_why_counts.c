/* Counts of events behind the file `why`: with a clock that counts events, and of types with high numbers. */
#include "unit.h"
#include "child.h"
#include "tracefs.h"
#include "instance/why.h"
#include <trace/event.h>
#include "host/yard.h"

#define WATCH "events/yard/yard_watch/"
#define NO_TIME                                                                                    \
	"Times are no times: trace_clock is counter, which does not count nanoseconds; echo "      \
	"local > trace_clock.\n"

static void set(const char *text, const char *path)
{
	EXPECT(echo(text, path) == 0);
}

static void begin(void)
{
	EXPECT(tracefs_setup(NULL) == 0);
	fake_thread_add(1, "sh");
	fake_thread_add(2, "worker");
	fake_run(1);
}

static void why_is(const char *wanted)
{
	const char *text = cat("why");

	if (strcmp(text, wanted) != 0) {
		fprintf(stderr, "why says:\n%sand not:\n%s", text, wanted);
		_exit(1);
	}
}

/* None is of the last second, however many there are. */
static void last_second(void)
{
	begin();
	set("counter", "trace_clock");
	set("1", WATCH "enable");
	trace_yard_watch(0);
	set("2", "set_event_pid");
	why_is("Events of 1 of 2 threads are recorded (worker-2): set_event_pid and "
	       "set_event_notrace_pid leave no more.\n" NO_TIME);
}

/* An event that is twenty counts old is not younger than a filter that was set now. */
static void age(void)
{
	begin();
	set("counter", "trace_clock");
	set("1", WATCH "enable");
	set("1", "events/yard/yard_full/enable");
	trace_yard_watch(1);
	for (int i = 0; i < 20; i++)
		trace_yard_full(3, 2);
	set("who >= 5000", WATCH "filter");
	why_is(NO_TIME);
}

/* A type with the first number of which no events are counted. */
static void high_number(void)
{
	static struct trace_event before = { .name = "before", .system = "yard" };
	uint16_t type = 0;

	begin();
	for (uint32_t i = 0; i < TRACE_WHY_TYPES && type != TRACE_WHY_TYPES - 1; i++) {
		before.type = 0;
		EXPECT(register_trace_event(&before) == 0);
		type = before.type;
		EXPECT(unregister_trace_event(&before) == 0);
	}
	EXPECT(type == TRACE_WHY_TYPES - 1);
	set("late int nr", "synthetic_events");
	set("1", "events/synthetic/late/enable");
	why_is("No event that is on has occurred: late.\n"
	       "Nothing is wrong: event late is on, but no event came in the last second; 0 events "
	       "are there.\n");
	/* With one in the buffer it is not known whether others have passed a filter. */
	set("nr=1", "events/synthetic/late/inject");
	set("1", WATCH "enable");
	set("who >= 5000", WATCH "filter");
	EXPECT(strstr(cat("why"), "Nothing has passed the filter of yard_watch that is still in "
				  "the buffer: who >= 5000; "));
}

static void one(void **state)
{
	in_child((void (*)(void))(uintptr_t)*state);
}

#define TEST(fn)                                                                                   \
	{                                                                                          \
#fn, one, NULL, NULL, (void *)(uintptr_t)fn                                        \
	}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(last_second), TEST(age), TEST(high_number) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
