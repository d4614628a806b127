/*
 * The list of an event's triggers, compiled as in the kernel: the event occurs before every single
 * instruction of setting or removing one. Those that stay are called, each once.
 *
 * links: trace/events/trigger.c trace/text/str.c
 */
#include "unit.h"
#include <string.h>
#include "fast.h"
#include "events/event_file.h"
#include "events/event_filter.h"
#include "events/filter.h"
#include "events/trigger_private.h"
#include "events/trigger_run.h"

#define MAX_INSNS 2048u
#define NR_OLD	  2u

static struct trace_event_file file;
static struct trace_trigger *made;
static uint32_t nr_called[NR_OLD + 1];

/* ---- The functions that it is linked against ---- */

int trace_trigger_blame(struct trace_trigger_args *args, const char *at, const char *why, int err)
{
	(void)args;
	(void)at;
	(void)why;
	return err;
}

int trace_trigger_set_condition(struct trace_trigger *trigger, struct trace_trigger_args *args,
				const struct expr_word *condition)
{
	(void)trigger;
	(void)args;
	(void)condition;
	return 0;
}

void trace_trigger_clear_condition(struct trace_trigger *trigger)
{
	(void)trigger;
}

bool trace_expr_match(const struct expr_program *filter, const void *entry, uint32_t len)
{
	(void)filter;
	(void)entry;
	(void)len;
	return true;
}

int trace_event_soft_get(struct trace_event_file *of)
{
	(void)of;
	return 0;
}

void trace_event_soft_put(struct trace_event_file *of)
{
	(void)of;
}

void trace_event_filter_set_test(struct trace_event_file *of)
{
	(void)of;
}

void tracepoint_synchronize_unregister(void)
{
}

/* ---- Triggers ---- */

static void act(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	(void)hit;
	nr_called[(uintptr_t)trigger->private]++;
}

static const struct trace_trigger_command commands[] = {
	{ .name = "first", .func = act },
	{ .name = "last", .func = act, .flags = TRACE_TRIGGER_LISTED_LAST },
};

static const struct trace_trigger_command *command;

static void set(uint32_t number)
{
	const struct trace_trigger_wish wish = { .count = TRACE_COUNT_UNLIMITED,
						 .private = (void *)(uintptr_t)number };
	struct trace_trigger_args args = { .file = &file };

	assert_int_equal(trace_trigger_set(command, &args, &wish), 0);
}

static void find_made(void)
{
	made = file.triggers;
	while (made->private != (void *)(uintptr_t)NR_OLD)
		made = made->next;
}

static TRACE_NOINLINE void set_new(void *arg)
{
	(void)arg;
	set(NR_OLD);
}

static TRACE_NOINLINE void remove_new(void *arg)
{
	(void)arg;
	trace_trigger_remove(made);
}

static void occur(void)
{
	struct trace_trigger_visit visit;

	memset(nr_called, 0, sizeof(nr_called));
	trace_triggers_call(trace_visit_begin(&visit, &file, NULL, 0, 0));
	for (uint32_t i = 0; i < NR_OLD; i++)
		assert_int_equal(nr_called[i], 1);
	assert_in_range(nr_called[NR_OLD], 0, 1);
}

static void at_each(void (*change)(void *arg), void (*prepare)(void), void (*undo)(void))
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	prepare();
	fast_trace(change, NULL, insns, MAX_INSNS, &nr);
	undo();
	assert_in_range(nr, 20, MAX_INSNS - 1);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = occur };

		prepare();
		nr_came += fast_run_at(change, NULL, &point, 1);
		occur();
		undo();
	}
	assert_in_range(nr_came, nr * 9 / 10, nr);
}

static void nothing(void)
{
}

static void set_and_find(void)
{
	set(NR_OLD);
	find_made();
}

static void find_and_remove(void)
{
	find_made();
	trace_trigger_remove(made);
}

static void of_one_kind(const struct trace_trigger_command *kind)
{
	command = kind;
	for (uint32_t i = 0; i < NR_OLD; i++)
		set(i);
	at_each(set_new, nothing, find_and_remove);
	at_each(remove_new, set_and_find, nothing);
	while (file.triggers)
		trace_trigger_remove(file.triggers);
	assert_int_equal(fast_alloc_out, 0);
}

static void listed_first(void **state)
{
	(void)state;
	of_one_kind(&commands[0]);
}

static void listed_last(void **state)
{
	(void)state;
	of_one_kind(&commands[1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(listed_first),
		cmocka_unit_test(listed_last),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
