/*
 * A tracer outside of trace/, made of public headers: what its members are told, what it may ask of
 * its instance, lines of its own. docs/adding.md has the usual one: trace/start/adding.c.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/event.h>
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include <trace/tracer.h>

#define ONE "instances/one/"

enum {
	LOUD = 1,
	SHUT = 2
};

/* Of each instance. */
struct gate {
	uint32_t nr_inits, nr_starts, nr_stops;
	uint64_t thresh_ns;
	char rest[1 << 16]; /* nothing else is that large */
};

struct gate_entry {
	struct trace_entry ent;
	uint32_t nr;
};

static const struct trace_event_field gate_fields[] = {
	TRACE_FIELD("nr", unsigned int, gate_entry, nr),
};

static struct trace_event gate_event = {
	.name = "gate",
	.system = "house",
	.fields = gate_fields,
	.nr_fields = 1,
};

static struct tracer gate;
static struct trace_array *one;
static struct trace_array *gate_global; /* the instance that has no name */

static struct gate *gate_of(struct trace_array *tr)
{
	return tracer_data(tr, &gate);
}

static void gate_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	struct trace_event_buffer fbuffer;
	struct gate_entry *entry;

	(void)ip;
	(void)parent_ip;
	(void)fregs;
	entry = trace_event_buffer_reserve(&fbuffer, ops->private, &gate_event, sizeof(*entry));
	assert_non_null(entry);
	entry->nr = gate_of(ops->private)->nr_inits;
	trace_event_buffer_commit(&fbuffer, entry);
}

static void never_called(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	fail();
}

/* A shut gate does not begin. */
static int gate_init(struct trace_array *tr)
{
	if (tracer_option_is_set(tr, &gate, SHUT))
		return -EPERM;
	gate_of(tr)->nr_inits++;
	if (tr != one)
		gate_global = tr;
	return tracer_register_function(tr, gate_call);
}

static void gate_start(struct trace_array *tr)
{
	gate_of(tr)->nr_starts++;
	assert_int_equal(tracer_register_function(tr, gate_call), 0);
}

static void gate_stop(struct trace_array *tr)
{
	gate_of(tr)->nr_stops++;
	tracer_unregister_function(tr);
}

static int gate_instance_option(struct trace_array *tr, uint32_t option, bool on)
{
	assert_int_equal(trace_option_is_set(tr, (enum trace_option)option), on);
	return option == TRACE_OPT_ANNOTATE ? -EINVAL : 0;
}

static int gate_settings_changed(struct trace_array *tr)
{
	gate_of(tr)->thresh_ns = tracing_thresh_ns();
	return 0;
}

static void gate_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "# gate %u\n", gate_of(trace_iter_array(iter))->nr_inits);
}

/* Its own events only, and only when loud. */
static bool gate_print_line(struct trace_iter *iter, struct trace_seq *seq)
{
	uint32_t len;
	const struct gate_entry *entry = trace_iter_event(iter, &len);

	if (entry->ent.type != gate_event.type ||
	    !tracer_option_is_set(trace_iter_array(iter), &gate, LOUD))
		return false;
	trace_seq_printf(seq, "CPU %u at %llu: gate %u\n", trace_iter_cpu(iter),
			 (unsigned long long)trace_iter_ts(iter), entry->nr);
	return true;
}

static const struct tracer_option gate_options[] = {
	{ .name = "loud", .bit = LOUD },
	{ .name = "shut", .bit = SHUT },
};

static struct tracer gate = {
	.name = "gate",
	.init = gate_init,
	.reset = tracer_unregister_function,
	.start = gate_start,
	.stop = gate_stop,
	.instance_option = gate_instance_option,
	.settings_changed = gate_settings_changed,
	.print_header = gate_print_header,
	.print_line = gate_print_line,
	.options = gate_options,
	.nr_options = 2,
	.instance_bytes = sizeof(struct gate),
};

static int setup(void **state)
{
	if (tracefs_setup(state) || register_trace_event(&gate_event))
		return -1;
	if (register_tracer(&gate))
		return -1;
	return echo("gate", "current_tracer"); /* what the global instance keeps stays */
}

static int start(void **state)
{
	if (tracefs_reset(state))
		return -1;
	one = trace_array_get_by_name("one");
	fake_thread_add(1, "init");
	return one ? 0 : -1;
}

static int end(void **state)
{
	trace_array_put(one);
	assert_int_equal(trace_array_destroy(one), 0);
	return tracefs_check(state);
}

static void starts_and_stops(void **state)
{
	(void)state;
	assert_null(gate_of(one));
	assert_int_equal(echo("gate", ONE "current_tracer"), 0);
	assert_int_equal(echo("0", ONE "tracing_on"), 0);
	assert_int_equal(echo("1", ONE "tracing_on"), 0);
	assert_int_equal(gate_of(one)->nr_stops, 1);
	assert_int_equal(gate_of(one)->nr_starts, 1);
	call(0, 1, KFREE);
	assert_int_equal(ring_buffer_entries(trace_array_buffer(one)), 1);
	assert_int_equal(echo("nop", ONE "current_tracer"), 0);
	assert_int_equal(gate_of(one)->nr_inits, 1);
	assert_int_equal(echo("shut", ONE "options/shut"), -EINVAL);
	assert_int_equal(echo("1", ONE "options/shut"), 0);
	assert_int_equal(echo("gate", ONE "current_tracer"), -EPERM);
	assert_string_equal(cat(ONE "current_tracer"), "nop\n");
	call(0, 1, KFREE);
	assert_int_equal(ring_buffer_entries(trace_array_buffer(one)), 0);
}

/* A second function is refused, and does not take the place of the first. */
static void one_function_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(echo("gate", "current_tracer"), 0);
	assert_int_equal(tracer_register_function(gate_global, never_called), -EBUSY);
	assert_ptr_equal(ftrace_global_ops.func, gate_call);
	assert_ptr_equal(ftrace_global_ops.private, gate_global);
}

static void is_told_of_settings(void **state)
{
	(void)state;
	assert_int_equal(echo("gate", ONE "current_tracer"), 0);
	assert_int_equal(echo("noannotate", ONE "trace_options"), -EINVAL);
	assert_true(trace_option_is_set(one, TRACE_OPT_ANNOTATE));
	assert_int_equal(echo("sym-offset", ONE "trace_options"), 0);
	assert_int_equal(echo("5", "tracing_thresh"), 0);
	assert_int_equal(gate_of(one)->thresh_ns, 5000);
	assert_int_equal(echo("0", "tracing_thresh"), 0);
}

static void lines_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(echo("gate", ONE "current_tracer"), 0);
	assert_int_equal(echo("loud", ONE "trace_options"), 0);
	call(1, 1, KFREE);
	assert_int_equal(echo("hello", ONE "trace_marker"), 0);
	assert_int_equal(ring_buffer_entries(trace_array_buffer(one)), 2);
	assert_non_null(strstr(cat(ONE "trace"), "\n# gate 1\n"));
	assert_non_null(strstr(cat(ONE "trace"), "\nCPU 1 at 12345679900: gate 1\n"));
	assert_non_null(strstr(cat(ONE "trace"), ": hello\n"));
	assert_int_equal(echo("noloud", ONE "trace_options"), 0);
	assert_non_null(strstr(cat(ONE "trace"), ": gate: nr=1\n"));
}

/* Without memory for what it keeps, it does not begin; later it does. */
static void no_memory(void **state)
{
	(void)state;
	fake_alloc_max_bytes = 1 << 16;
	assert_int_equal(echo("gate", ONE "current_tracer"), -ENOMEM);
	fake_alloc_max_bytes = 0;
	assert_null(gate_of(one));
	assert_string_equal(cat(ONE "current_tracer"), "nop\n");
	assert_int_equal(echo("gate", ONE "current_tracer"), 0);
	assert_int_equal(gate_of(one)->nr_inits, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(starts_and_stops),	   TEST(one_function_at_a_time),
		TEST(is_told_of_settings), TEST(lines_of_its_own),
		TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
