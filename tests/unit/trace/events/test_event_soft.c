/*
 * Events whose probe is registered while they are off: soft users of events/event_file.h.
 */
#include "unit.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "events/event_watch.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ENABLE "events/shelf/shelf_full/enable"

static struct trace_event_file *file_of(struct trace_event_call *call)
{
	struct trace_event_file *file;

	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(&trace_global, call);
	trace_plat_unlock(&trace_config_lock);
	assert_non_null(file);
	return file;
}

static int soft_get(struct trace_event_file *file)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_event_soft_get(file);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static void soft_put(struct trace_event_file *file)
{
	trace_plat_lock(&trace_config_lock);
	trace_event_soft_put(file);
	trace_plat_unlock(&trace_config_lock);
}

/* The values of the events in `trace`, such as "3,4,". */
static const char *recorded(void)
{
	static char text[64];
	const char *at = cat_body("trace");
	size_t len = 0;

	text[0] = '\0';
	while ((at = strstr(at, "shelf="))) {
		at += strlen("shelf=");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d,", atoi(at));
	}
	return text;
}

static int all_off(void **state)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_string_equal(cat("events/enable"), "0\n");
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

static void soft_user_of_an_event_that_is_off(void **state)
{
	struct trace_event_file *file = file_of(&event_shelf_full);

	(void)state;
	assert_int_equal(soft_get(file), 0);
	assert_true(trace_shelf_full_enabled());
	assert_string_equal(cat(ENABLE), "0*\n");
	assert_string_equal(cat("events/shelf/enable"), "X\n");
	assert_string_equal(cat("set_event"), "shelf:shelf_full\n");
	trace_shelf_full(1);
	trace_event_flag(file, TRACE_EVENT_RECORDS, true);
	assert_string_equal(cat(ENABLE), "1*\n");
	trace_shelf_full(2);
	trace_event_flag(file, TRACE_EVENT_RECORDS, false);
	assert_string_equal(cat(ENABLE), "0*\n");
	trace_shelf_full(3);
	assert_string_equal(recorded(), "2,");
	soft_put(file);
	assert_string_equal(cat(ENABLE), "0\n");
	assert_string_equal(cat("set_event"), "");
	assert_false(trace_shelf_full_enabled());
}

/* The user's own switch neither takes the probe away from soft users nor waits for them. */
static void user_switches_meanwhile(void **state)
{
	struct trace_event_file *file = file_of(&event_shelf_full);

	(void)state;
	assert_int_equal(soft_get(file), 0);
	assert_int_equal(soft_get(file), 0);
	assert_int_equal(echo("1", ENABLE), 0);
	assert_string_equal(cat(ENABLE), "1*\n");
	trace_shelf_full(1);
	assert_int_equal(echo("0", ENABLE), 0);
	assert_string_equal(cat(ENABLE), "0*\n");
	trace_shelf_full(2);
	assert_true(trace_shelf_full_enabled());
	soft_put(file);
	assert_string_equal(cat(ENABLE), "0*\n");
	assert_int_equal(echo("1", ENABLE), 0);
	soft_put(file);
	assert_string_equal(cat(ENABLE), "1\n");
	trace_shelf_full(3);
	assert_string_equal(recorded(), "1,3,");
}

/* An event that a soft user has switched on stays on when the user goes; one that it has switched off stays off. */
static void states_outlive_soft_users(void **state)
{
	struct trace_event_file *file = file_of(&event_shelf_full);

	(void)state;
	assert_int_equal(soft_get(file), 0);
	trace_event_flag(file, TRACE_EVENT_RECORDS, true);
	soft_put(file);
	assert_string_equal(cat(ENABLE), "1\n");
	assert_int_equal(soft_get(file), 0);
	trace_event_flag(file, TRACE_EVENT_RECORDS, false);
	soft_put(file);
	assert_string_equal(cat(ENABLE), "0\n");
	assert_false(trace_shelf_full_enabled());
}

static void other_probe(void *data, int shelf)
{
	(void)data;
	(void)shelf;
}

/* There is a probe already: only the first one takes no memory. */
static void no_memory_for_a_soft_user(void **state)
{
	struct trace_event_file *file = file_of(&event_shelf_full);
	long failed = 0;

	(void)state;
	assert_int_equal(register_trace_shelf_full(other_probe, NULL), 0);
	for (; failed < 50; failed++) {
		fake_alloc_budget = failed;
		if (soft_get(file) == 0)
			break;
		fake_alloc_budget = -1;
		assert_string_equal(cat(ENABLE), "0\n");
	}
	fake_alloc_budget = -1;
	assert_in_range(failed, 1, 49);
	soft_put(file);
	assert_int_equal(unregister_trace_shelf_full(other_probe, NULL), 0);
}

static void soft_users_end_with_their_instance(void **state)
{
	struct trace_event_file *file;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(trace_array_next(&trace_global), &event_shelf_full);
	trace_plat_unlock(&trace_config_lock);
	assert_int_equal(soft_get(file), 0);
	assert_string_equal(cat("instances/two/" ENABLE), "0*\n");
	assert_string_equal(cat(ENABLE), "0\n");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	assert_false(trace_shelf_full_enabled());
}

static char watched[64]; /* as recorded() */

static void note(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	const struct trace_event_raw_shelf *entry = hit->entry;
	size_t len = strlen(watched);

	(void)watch;
	snprintf(watched + len, sizeof(watched) - len, "%d,", entry->shelf);
}

static void watch_events(struct trace_event_file *file, struct trace_event_watch *watch, bool on)
{
	trace_plat_lock(&trace_config_lock);
	if (on)
		assert_int_equal(trace_event_watch_add(file, watch), 0);
	else
		trace_event_watch_remove(file, watch);
	trace_plat_unlock(&trace_config_lock);
}

/* The filter of an event decides on what is recorded alone, whether it or the watch was there first. */
static void watches_see_what_a_filter_rejects(void **state)
{
	struct trace_event_file *file = file_of(&event_shelf_full);
	struct trace_event_watch watch = { .func = note };

	(void)state;
	assert_int_equal(echo("1", ENABLE), 0);
	for (int watch_is_first = 0; watch_is_first < 2; watch_is_first++) {
		watched[0] = '\0';
		assert_int_equal(echo("", "trace"), 0);
		if (watch_is_first)
			watch_events(file, &watch, true);
		assert_int_equal(echo("shelf == 2", "events/shelf/shelf_full/filter"), 0);
		if (!watch_is_first)
			watch_events(file, &watch, true);
		assert_ptr_equal(file->front.test, &trace_event_any);
		trace_shelf_full(1);
		trace_shelf_full(2);
		assert_string_equal(watched, "1,2,");
		watch_events(file, &watch, false);
		assert_ptr_not_equal(file->front.test, &trace_event_any); /* rejected early again */
		trace_shelf_full(3);
		assert_string_equal(watched, "1,2,");
		assert_string_equal(recorded(), "2,");
		assert_int_equal(echo("0", "events/shelf/shelf_full/filter"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(soft_user_of_an_event_that_is_off, event_reset,
						all_off),
		cmocka_unit_test_setup_teardown(user_switches_meanwhile, event_reset, all_off),
		cmocka_unit_test_setup_teardown(states_outlive_soft_users, event_reset, all_off),
		cmocka_unit_test_setup_teardown(no_memory_for_a_soft_user, event_reset, all_off),
		cmocka_unit_test_setup_teardown(soft_users_end_with_their_instance, event_reset,
						all_off),
		cmocka_unit_test_setup_teardown(watches_see_what_a_filter_rejects, event_reset,
						all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
