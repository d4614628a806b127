/*
 * Types of events that come and go on one CPU while others print events of them and write more: the
 * thread sanitiser watches, and no reader sees a type that has gone.
 */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include "tracefs.h"
#include <trace/event.h>
#include <trace/trace_seq.h>

#define NR_ROUNDS unit_rounds(100)
#define NR_CPUS	  4u

/* Readers copy sub-buffers while they may be written: see threads_tracefs.c. */
const char *__tsan_default_suppressions(void); // NOLINT: the sanitiser's name
const char *__tsan_default_suppressions(void)
{
	return "race:copy_words\nrace:^trace_ring\nrace:^ring_buffer_\n"
	       "race:^trace_event_buffer_reserve$\nrace:^write_event$\n";
}

struct number_entry {
	struct trace_entry ent;
	int32_t number;
};

static const struct trace_event_field fields[] = {
	TRACE_FIELD("number", int, number_entry, number),
};

static _Atomic bool is_over;
static _Atomic int nr_inside; /* readers that print an event of it right now */
static _Atomic uint64_t nr_printed, nr_unknown;

static void write_event(const struct trace_event *event, int32_t number)
{
	struct trace_event_buffer fbuffer;
	struct number_entry *entry;

	entry = trace_event_buffer_reserve(&fbuffer, NULL, event, sizeof(*entry));
	if (!entry)
		return;
	entry->number = number;
	trace_event_buffer_commit(&fbuffer, entry);
}

static void print_slowly(const struct trace_iter *iter, struct trace_seq *seq)
{
	(void)iter;
	nr_inside++;
	sched_yield();
	trace_seq_puts(seq, "a number\n");
	nr_inside--;
}

static const struct trace_event_functions slow_functions = { .trace = print_slowly };

/* The type is overwritten as soon as it is gone, which is while a reader prints if that can be. */
static void *come_and_go(void *arg)
{
	fake_bind((uint32_t)(uintptr_t)arg);
	for (int round = 0; round < NR_ROUNDS || !nr_printed || !nr_unknown; round++) {
		struct trace_event *event = calloc(1, sizeof(*event));

		*event = (struct trace_event){
			.name = strdup("number"), .system = "test", .fields = fields, .nr_fields = 1
		};
		if (round % 2)
			event->funcs = &slow_functions;
		assert_int_equal(register_trace_event(event), 0);
		for (int i = 0; i < 20; i++)
			write_event(event, i);
		for (int i = 0; i < 1000 && round % 2 && !nr_inside; i++)
			sched_yield();
		assert_int_equal(unregister_trace_event(event), 0);
		assert_int_equal(nr_inside, 0);
		memset((char *)(uintptr_t)event->name, 'x', 6);
		free((void *)(uintptr_t)event->name);
		free(event);
	}
	is_over = true;
	return NULL;
}

static void *read_lines(void *arg)
{
	static _Thread_local char text[20000];
	struct trace_handle *handle;
	int64_t got;

	fake_bind((uint32_t)(uintptr_t)arg);
	while (!is_over) {
		uint64_t pos = 0;

		if (trace_fs_open(node_of("trace"), TRACE_FS_READ, &handle))
			continue;
		while ((got = trace_fs_read(handle, text, sizeof(text) - 1, &pos)) > 0) {
			text[got] = '\0';
			assert_null(strstr(text, "xxxxxx"));
			nr_printed +=
				strstr(text, ": number: number=") || strstr(text, "a number\n");
			nr_unknown += strstr(text, ": Unknown type ") != NULL;
		}
		trace_fs_close(handle);
	}
	return NULL;
}

static int setup(void **state)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS);
	fake_clock_step = 100;
	fake_text_build(names, NR_FUNCS);
	ftrace_init();
	trace_boot_param("trace_buf_size", "8k");
	return trace_init();
}

static void let_others_run(void)
{
	sched_yield();
}

static void all_at_once(void **state)
{
	void *(*const jobs[NR_CPUS])(void *) = { come_and_go, read_lines, read_lines, read_lines };
	pthread_t threads[NR_CPUS];

	(void)state;
	fake_on_pause = let_others_run;
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, jobs[i], (void *)i), 0);
	for (uintptr_t i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
	fake_bind(0);
	print_message("%lu readings of it, %lu of what was left of it\n", nr_printed, nr_unknown);
	assert_int_equal(fake_nr_bugs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_at_once) };

	return cmocka_run_group_tests(tests, setup, NULL);
}
