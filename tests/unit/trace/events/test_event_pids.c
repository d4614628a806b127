/*
 * set_event_pid, set_event_notrace_pid, option event-fork.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/host_tracepoints.h>
#include <trace/thread.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define NR_THREADS 4

/* The memory of trace/ for threads 1 to NR_THREADS. */
static struct trace_thread *thread_of(int32_t pid)
{
	return fake_thread_of(pid);
}

/* The CPU runs this thread. Its word is looked at where fake_cpus has it. */
static void become(int32_t pid)
{
	fake_cpus[0].pid = pid;
	fake_cpus[0].thread = *thread_of(pid);
}

/* The events of the trace: for each the number behind `key`. */
static const char *numbers(const char *path, const char *key)
{
	static char text[128];
	const char *at = cat_body(path);
	size_t len = 0;

	text[0] = '\0';
	while ((at = strstr(at, key))) {
		at += strlen(key);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d ", atoi(at));
	}
	return text;
}

/* Each thread hits the tracepoint once. */
static const char *seen(const char *path)
{
	assert_int_equal(echo("", path), 0);
	for (int32_t pid = 1; pid <= NR_THREADS; pid++) {
		become(pid);
		trace_shelf_full(pid);
		trace_shelf_label(
			pid, "a label that is too long for the room that a short event has on the "
			     "stack of its probe, so that the event is written as long ones are");
	}
	return numbers(path, "shelf=");
}

static void is(const char *path, const char *text)
{
	assert_string_equal(cat(path), text);
}

static int reset(void **state)
{
	static const char *const names[] = { "one", "two", "three", "four" };
	int err;

	for (int32_t pid = 1; pid <= NR_THREADS; pid++)
		fake_thread_add(pid, names[pid - 1]);
	err = tracefs_reset(state);
	assert_int_equal(echo("1", "events/shelf/shelf_full/enable"), 0);
	assert_int_equal(echo("1", "events/shelf/shelf_label/enable"), 0);
	return err;
}

static int all_off(void **state)
{
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_int_equal(echo("", "set_event_notrace_pid"), 0);
	assert_int_equal(echo("0", "events/enable"), 0);
	for (int32_t pid = 1; pid <= NR_THREADS; pid++)
		assert_int_equal(thread_of(pid)->ignored_by, 0);
	become(1);
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

static void files(void **state)
{
	(void)state;
	is("set_event_pid", "");
	is("set_event_notrace_pid", "");
	assert_int_equal(echo("3 1 2", "set_event_pid"), 0);
	assert_int_equal(echo_append("2 7", "set_event_pid"), 0);
	is("set_event_pid", "1\n2\n3\n7\n");
	is("set_event_notrace_pid", "");
	is("set_ftrace_pid", "no pid\n");
	assert_int_equal(echo("5", "set_event_notrace_pid"), 0);
	is("set_event_notrace_pid", "5\n");
	assert_int_equal(echo_append("1 garbage 2", "set_event_notrace_pid"), -EINVAL);
	is("set_event_notrace_pid", "5\n");
	assert_int_equal(echo("-1", "set_event_pid"), -EINVAL);
	is("set_event_pid", "");
}

static void sets(void **state)
{
	(void)state;
	assert_string_equal(seen("trace"), "1 1 2 2 3 3 4 4 ");
	assert_int_equal(echo("2 4", "set_event_pid"), 0);
	assert_string_equal(seen("trace"), "2 2 4 4 ");
	assert_int_equal(echo("4", "set_event_notrace_pid"), 0);
	assert_string_equal(seen("trace"), "2 2 ");
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_string_equal(seen("trace"), "1 1 2 2 3 3 ");
	assert_int_equal(echo("", "set_event_notrace_pid"), 0);
	assert_string_equal(seen("trace"), "1 1 2 2 3 3 4 4 ");
}

/* An event that is first used while there is a set. */
static void event_that_comes_later(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "later"), 0);
	assert_int_equal(echo("3", "instances/later/set_event_pid"), 0);
	assert_int_equal(echo("1", "instances/later/events/shelf/shelf_full/enable"), 0);
	assert_string_equal(seen("instances/later/trace"), "3 ");
	assert_string_equal(seen("trace"), "1 1 2 2 3 3 4 4 ");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "later"), 0);
}

/* Functions and events have sets, and bits, of their own. */
static void functions_are_not_concerned(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "set_ftrace_pid"), 0);
	assert_int_equal(echo("2", "set_event_pid"), 0);
	assert_string_equal(seen("trace"), "2 2 ");
	assert_int_equal(thread_of(1)->ignored_by & thread_of(2)->ignored_by, 0);
	assert_int_not_equal(thread_of(1)->ignored_by, 0);
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
	assert_string_equal(seen("trace"), "2 2 ");
	assert_int_equal(echo("1", "set_ftrace_pid"), 0);
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_string_equal(seen("trace"), "1 1 2 2 3 3 4 4 ");
	assert_int_equal(echo("", "set_ftrace_pid"), 0);
}

static void forks(void **state)
{
	struct trace_thread child = { 0 };

	(void)state;
	assert_int_equal(echo("2", "set_event_pid"), 0);
	trace_thread_created(2, 77, &child);
	assert_int_not_equal(child.ignored_by, 0);
	assert_int_equal(echo("1", "options/function-fork"), 0);
	trace_thread_created(2, 77, &child);
	assert_int_not_equal(child.ignored_by, 0);
	assert_int_equal(echo("0", "options/function-fork"), 0);
	assert_int_equal(echo("1", "options/event-fork"), 0);
	child.ignored_by = 0;
	trace_thread_created(2, 78, &child);
	assert_int_equal(child.ignored_by, 0);
	is("set_event_pid", "2\n78\n");
	trace_thread_created(3, 79, &child);
	assert_int_not_equal(child.ignored_by, 0);
	is("set_event_pid", "2\n78\n");
	trace_thread_exited(2, "two");
	is("set_event_pid", "78\n");
	trace_thread_exited(78, "child");
	is("set_event_pid", "78\n");
	assert_int_equal(echo("0", "options/event-fork"), 0);
}

/* A switch, and a wakeup, belong to both threads. */
static void either_thread_of_a_switch(void **state)
{
	static const char switches[] = "events/sched/sched_switch/enable";
	struct trace_sched_thread threads[NR_THREADS];

	(void)state;
	for (int32_t pid = 1; pid <= NR_THREADS; pid++)
		threads[pid - 1] = (struct trace_sched_thread){ .thread = thread_of(pid),
								.comm = "comm\0-----------",
								.pid = pid,
								.state = 'S' };
	assert_int_equal(echo("2", "set_event_pid"), 0);
	assert_int_equal(echo("1", switches), 0);
	assert_int_equal(echo("", "trace"), 0);
	for (size_t i = 0; i < NR_THREADS; i++) {
		become((int32_t)i + 1);
		trace_sched_switch(&threads[i], &threads[(i + 1) % NR_THREADS]);
	}
	assert_string_equal(numbers("trace", "prev_pid="), "1 2 ");
	assert_int_equal(echo("0", switches), 0);
}

static void instance_that_goes_gives_its_bit_back(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "brief"), 0);
	assert_int_equal(echo("1", "instances/brief/options/event-fork"), 0);
	assert_int_equal(echo("3", "instances/brief/set_event_notrace_pid"), 0);
	assert_int_not_equal(thread_of(3)->ignored_by, 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "brief"), 0);
	assert_int_equal(thread_of(3)->ignored_by, 0);
}

/* Made up by a thread that does not count: as if it had happened there. */
static void injected(void **state)
{
	(void)state;
	assert_int_equal(echo("2", "set_event_pid"), 0);
	become(1);
	assert_int_equal(echo("shelf=1", "events/shelf/shelf_full/inject"), 0);
	become(2);
	assert_int_equal(echo("shelf=2", "events/shelf/shelf_full/inject"), 0);
	assert_string_equal(numbers("trace", "shelf="), "2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files, reset, all_off),
		cmocka_unit_test_setup_teardown(sets, reset, all_off),
		cmocka_unit_test_setup_teardown(event_that_comes_later, reset, all_off),
		cmocka_unit_test_setup_teardown(functions_are_not_concerned, reset, all_off),
		cmocka_unit_test_setup_teardown(forks, reset, all_off),
		cmocka_unit_test_setup_teardown(either_thread_of_a_switch, reset, all_off),
		cmocka_unit_test_setup_teardown(instance_that_goes_gives_its_bit_back, reset,
						all_off),
		cmocka_unit_test_setup_teardown(injected, reset, all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
