/*
 * Tracepoints: who is called, in which order, with what; what is refused; that nothing changes when
 * memory is missing; that arrays are freed when no thread walks them any more.
 *
 * links: trace/ops/tracepoint.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "fake/fake.h"

DECLARE_TRACE(shelf_full, TP_PROTO(int shelf, const char *what), TP_ARGS(shelf, what));
DECLARE_TRACE(shelf_empty, TP_PROTO(int shelf), TP_ARGS(shelf));

DEFINE_TRACE(shelf_full, TP_PROTO(int shelf, const char *what), TP_ARGS(shelf, what));
DEFINE_TRACE_ATOMIC(shelf_empty, TP_PROTO(int shelf), TP_ARGS(shelf));

static char said[200];
static char a[] = "a", b[] = "b", c[] = "c", d[] = "d", e[] = "e", f[] = "f";
static int first, second;

static void say(const char *who, int shelf, const char *what)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s%s:%d:%s", len ? " " : "", who, shelf, what);
}

/* `data` is a name. */
static void by_name(void *data, int shelf, const char *what)
{
	say(data, shelf, what);
}

static void count(void *data, int shelf, const char *what)
{
	(void)shelf;
	(void)what;
	++*(int *)data;
}

static void says(const char *text)
{
	said[0] = '\0';
	trace_shelf_full(7, "jam");
	assert_string_equal(said, text);
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	first = second = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_false(trace_shelf_full_enabled());
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

static void nobody_listens(void **state)
{
	(void)state;
	assert_false(trace_shelf_full_enabled());
	says("");
	trace_shelf_full_call(7, "jam");
	assert_string_equal(said, "");
	assert_int_equal(unregister_trace_shelf_full(count, &first), -ENOENT);
	assert_int_equal(unregister_trace_shelf_full(NULL, NULL), -ENOENT);
	assert_int_equal(register_trace_shelf_full(NULL, NULL), -EINVAL);
	assert_int_equal(fake_nr_sync_preempt, 0);
}

static void urgent_first(void **state)
{
	(void)state;
	assert_int_equal(register_trace_shelf_full(by_name, b), 0);
	assert_int_equal(register_trace_prio_shelf_full(by_name, d, 9), 0);
	assert_int_equal(register_trace_prio_shelf_full(by_name, a, 11), 0);
	assert_int_equal(register_trace_shelf_full(by_name, c), 0);
	assert_int_equal(register_trace_prio_shelf_full(by_name, e, -1), 0);
	says("a:7:jam b:7:jam c:7:jam d:7:jam e:7:jam");
	assert_int_equal(unregister_trace_shelf_full(by_name, a), 0);
	assert_int_equal(unregister_trace_shelf_full(by_name, c), 0);
	assert_int_equal(unregister_trace_shelf_full(by_name, e), 0);
	says("b:7:jam d:7:jam");
	assert_int_equal(register_trace_shelf_full(by_name, f), 0); /* as urgent as b */
	says("b:7:jam f:7:jam d:7:jam");
	assert_int_equal(unregister_trace_shelf_full(by_name, b), 0);
	assert_int_equal(unregister_trace_shelf_full(by_name, d), 0);
	assert_true(trace_shelf_full_enabled());
	assert_int_equal(unregister_trace_shelf_full(by_name, f), 0);
	says("");
}

static void probe_and_data_count(void **state)
{
	(void)state;
	assert_int_equal(register_trace_shelf_full(count, &first), 0);
	assert_int_equal(register_trace_shelf_full(count, &first), -EEXIST);
	assert_int_equal(register_trace_prio_shelf_full(count, &first, 3), -EEXIST);
	assert_int_equal(register_trace_shelf_full(count, &second), 0);
	trace_shelf_full(1, "tea");
	assert_int_equal(unregister_trace_shelf_full(count, &first), 0);
	assert_int_equal(unregister_trace_shelf_full(count, &first), -ENOENT);
	assert_int_equal(unregister_trace_shelf_full(by_name, &second), -ENOENT);
	trace_shelf_full(1, "tea");
	assert_int_equal(first, 1);
	assert_int_equal(second, 2);
	assert_int_equal(register_trace_shelf_full(count, &first), 0); /* where it has been */
	trace_shelf_full(1, "tea");
	assert_int_equal(first, 2);
	assert_int_equal(unregister_trace_shelf_full(count, &second), 0);
	assert_int_equal(unregister_trace_shelf_full(count, &first), 0);
}

static void without_memory(void **state)
{
	(void)state;
	fake_alloc_budget = 0;
	assert_int_equal(register_trace_shelf_full(by_name, a), 0); /* the tracepoint has room */
	assert_int_equal(register_trace_prio_shelf_full(by_name, b, 20), -ENOMEM);
	says("a:7:jam");
	assert_int_equal(unregister_trace_shelf_full(by_name, b), -ENOENT);
	assert_int_equal(unregister_trace_shelf_full(by_name, a), 0); /* needs none */
	says("");
	fake_alloc_budget = -1;
}

/* The room in the tracepoint is still looked at by who has called just before. */
static void comes_back_meanwhile(void)
{
	fake_on_sync = NULL;
	fake_alloc_budget = 0;
	assert_int_equal(register_trace_shelf_full(by_name, b), -ENOMEM);
	assert_false(trace_shelf_full_enabled());
	fake_alloc_budget = -1;
	assert_int_equal(register_trace_shelf_full(by_name, b), 0);
	assert_int_equal(fake_alloc_out, 1);
}

static void room_is_not_reused_at_once(void **state)
{
	(void)state;
	assert_int_equal(register_trace_shelf_full(by_name, a), 0);
	assert_int_equal(fake_alloc_out, 0);
	fake_on_sync = comes_back_meanwhile;
	assert_int_equal(unregister_trace_shelf_full(by_name, a), 0);
	says("b:7:jam");
	assert_int_equal(unregister_trace_shelf_full(by_name, b), 0);
	assert_int_equal(fake_alloc_out, 0);
}

/* The array that goes is still walked. */
static void call_meanwhile(void)
{
	assert_int_equal(fake_alloc_out, 1);
	says("b:7:jam a:7:jam");
}

static void nobody_is_called(void)
{
	assert_int_equal(fake_alloc_out, 1);
	assert_false(trace_shelf_full_enabled());
	said[0] = '\0';
	trace_shelf_full_call(7, "jam"); /* who has asked before */
	assert_string_equal(said, "");
}

static void freed_after_grace(void **state)
{
	(void)state;
	assert_int_equal(register_trace_shelf_full(by_name, a), 0);
	assert_int_equal(fake_nr_sync_preempt, 0); /* nothing goes */
	fake_on_sync = call_meanwhile;
	assert_int_equal(register_trace_prio_shelf_full(by_name, b, 20), 0);
	assert_int_equal(fake_nr_sync_preempt, 1);
	fake_on_sync = nobody_is_called;
	assert_int_equal(unregister_trace_shelf_full(by_name, a), 0);
	assert_int_equal(fake_nr_sync_preempt, 1);
	assert_int_equal(unregister_trace_shelf_full(by_name, b), 0);
	assert_int_equal(fake_nr_sync_preempt, 2);
	fake_on_sync = NULL;
	tracepoint_synchronize_unregister();
	assert_int_equal(fake_nr_sync_preempt, 3);
}

/* A probe may not sleep, so probes do not come and go from there. */
static void from_within(void *data, int shelf, const char *what)
{
	(void)shelf;
	(void)what;
	assert_int_equal(trace_plat_preempt_count(), 1);
	assert_int_equal(register_trace_shelf_full(by_name, f), -EBUSY);
	assert_int_equal(unregister_trace_shelf_full(from_within, data), -EBUSY);
	++*(int *)data;
}

static void register_from_within(void **state)
{
	(void)state;
	assert_int_equal(register_trace_shelf_full(from_within, &first), 0);
	says("");
	assert_int_equal(first, 1);
	assert_int_equal(trace_plat_preempt_count(), 0);
	fake_this->irqs_off = true;
	assert_int_equal(unregister_trace_shelf_full(from_within, &first), -EBUSY);
	fake_this->irqs_off = false;
	assert_int_equal(unregister_trace_shelf_full(from_within, &first), 0);
}

static void note_preempt_count(void *data, int shelf)
{
	(void)shelf;
	*(uint32_t *)data = trace_plat_preempt_count();
}

/* Its callers see to it. */
static void atomic_one_counts_nothing(void **state)
{
	uint32_t seen = 100;

	(void)state;
	assert_int_equal(register_trace_shelf_empty(note_preempt_count, &seen), 0);
	trace_plat_preempt_disable();
	trace_shelf_empty(1);
	trace_plat_preempt_enable();
	assert_int_equal(seen, 1);
	assert_int_equal(unregister_trace_shelf_empty(note_preempt_count, &seen), 0);
}

static void note_name(struct tracepoint *tp, void *arg)
{
	strcat(arg, tp->name);
	strcat(arg, tp == &trace_shelf_full_tracepoint ? "! " : " ");
}

static void all_are_listed(void **state)
{
	char names[100] = "";

	(void)state;
	for_each_kernel_tracepoint(note_name, names);
	assert_non_null(strstr(names, "shelf_full! "));
	assert_non_null(strstr(names, "shelf_empty "));
	assert_int_equal(strlen(names), strlen("shelf_full! shelf_empty "));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(nobody_listens),
		TEST(urgent_first),
		TEST(probe_and_data_count),
		TEST(without_memory),
		TEST(room_is_not_reused_at_once),
		TEST(freed_after_grace),
		TEST(register_from_within),
		TEST(atomic_one_counts_nothing),
		TEST(all_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
