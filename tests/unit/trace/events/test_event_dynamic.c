/*
 * Trace events that come and go at run time, and their directories.
 */
#include "unit.h"
#include "tracefs.h"
#include "events/event_dir.h"
#include "events/event_scratch.h"
#include "fs/fs_file.h"
#include "fs/fs_tree.h"
#include <trace/event.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

static int show_extra(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_puts(seq, "more\n");
	return 0;
}

/* A file of each event beside those of histograms. */
static const struct trace_file extra_file = { .name = "extra", .mode = 0444, .show = show_extra };
static const struct trace_file *const extra_files[] = { &extra_file, NULL };
static struct trace_event_dir_files extra = { .event_files = extra_files };

/* One without a tracepoint, in a system of its own. */
static struct trace_event_call attic;

static struct trace_node *held[16];
static size_t nr_held;

/* Walk to the node as a shell that changes its directory does, and hold it and all on the way. */
static struct trace_node *hold(const char *path)
{
	struct trace_node *node = trace_fs_root();

	while (node && *path) {
		size_t len = strcspn(path, "/");

		node = trace_fs_lookup(node, path, len);
		if (node)
			held[nr_held++] = node;
		path += len + (path[len] == '/');
	}
	return node;
}

static void let_go(void)
{
	while (nr_held)
		trace_fs_put(held[--nr_held]);
}

static bool is_there(const char *path)
{
	size_t before = nr_held;
	bool is = hold(path);

	while (nr_held > before)
		trace_fs_put(held[--nr_held]);
	return is;
}

static bool has_child(struct trace_node *dir, const char *name)
{
	struct trace_node *node = trace_fs_lookup(dir, name, strlen(name));

	if (node)
		trace_fs_put(node);
	return node;
}

/* Names of the children, each with a blank behind it. */
static const char *list(struct trace_node *dir)
{
	static char text[4096];
	char name[64];
	size_t len = 0;

	for (size_t i = 0; trace_fs_entry(dir, i, name, sizeof(name)) == 0; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s ", name);
	text[len] = '\0';
	return text;
}

/* The directory looked at last is kept: let it be one of an instance, with which it goes. */
static void forget_directories(void)
{
	struct trace_node *instances = hold("instances");

	assert_int_equal(trace_fs_mkdir(instances, "short"), 0);
	assert_true(is_there("instances/short/events/shelf"));
	assert_true(is_there("instances/short/events/shelf/enable"));
	assert_int_equal(trace_fs_rmdir(instances, "short"), 0);
	let_go();
}

static int reset(void **state)
{
	(void)state;
	attic = event_shelf_full;
	attic.event.type = 0;
	attic.event.system = "attic";
	attic.event.name = "attic_full";
	attic.tp = NULL;
	attic.files = NULL;
	forget_directories();
	memory_out = fake_alloc_out;
	return 0;
}

static int check(void **state)
{
	(void)state;
	let_go();
	(void)trace_remove_event_call(&attic);
	assert_int_equal(attic.event.type, 0);
	forget_directories();
	assert_int_equal(fake_alloc_out, memory_out);
	return 0;
}

static void comes_and_goes(void **state)
{
	(void)state;
	assert_false(is_there("events/attic"));
	assert_int_equal(trace_add_event_call(&attic), 0);
	assert_int_equal(trace_add_event_call(&attic), -EEXIST);
	assert_true(is_there("events/attic/enable"));
	assert_true(is_there("events/attic/attic_full/format"));
	assert_int_equal(trace_remove_event_call(&attic), 0);
	assert_int_equal(trace_remove_event_call(&attic), -ENOENT);
	assert_false(is_there("events/attic"));
	assert_true(is_there("events/shelf/shelf_full/format"));
}

/* A reader who stays in the directory sees events that come, and none that have gone. */
static void in_directories_that_are_held(void **state)
{
	struct trace_node *events = hold("events"), *shelf = hold("events/shelf");
	struct trace_node *empty = hold("events/shelf/shelf_empty");

	(void)state;
	attic.event.system = "shelf";
	assert_string_equal(list(shelf), "enable filter shelf_empty shelf_full shelf_label ");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(trace_add_event_call(&attic), 0);
		assert_true(has_child(shelf, "attic_full"));
		assert_string_equal(list(shelf),
				    "attic_full enable filter shelf_empty shelf_full shelf_label ");
		assert_int_equal(trace_remove_event_call(&attic), 0);
		assert_false(has_child(shelf, "attic_full"));
		assert_string_equal(list(shelf),
				    "enable filter shelf_empty shelf_full shelf_label ");
	}
	/* Who was there is the same as before. */
	assert_ptr_equal(hold("events/shelf/shelf_empty"), empty);
	assert_true(has_child(empty, "enable"));
	attic.event.system = "attic";
	assert_int_equal(trace_add_event_call(&attic), 0);
	assert_true(has_child(events, "attic"));
	assert_ptr_equal(hold("events/shelf"), shelf);
}

static bool next_path(size_t index, char *out_path, size_t size)
{
	char name[32] = "";
	bool is = trace_fs_entry(hold("events/shelf"), index, name, sizeof(name)) == 0;

	let_go();
	snprintf(out_path, size, "events/shelf/%s", name);
	return is;
}

/* Walks to one entry after the other make the directories on the way once. */
static void walks_along_one_path(void **state)
{
	char path[64];

	(void)state;
	assert_true(is_there("events/shelf/shelf_full"));
	fake_alloc_budget = 0;
	for (size_t i = 0; next_path(i, path, sizeof(path)); i++)
		assert_true(is_there(path));
	assert_string_equal(path, "events/shelf/");
	fake_alloc_budget = -1;
}

/* The directory of a system stays for who is in it, when the last event has gone and comes again. */
static void empty_system(void **state)
{
	struct trace_node *system;

	(void)state;
	assert_int_equal(trace_add_event_call(&attic), 0);
	system = hold("events/attic");
	assert_int_equal(trace_remove_event_call(&attic), 0);
	for (int i = 0; i < 3; i++)
		assert_string_equal(list(system), "");
	assert_string_equal(system->name, "attic");
	assert_false(is_there("events/attic"));
	assert_int_equal(trace_add_event_call(&attic), 0);
	assert_string_equal(list(system), "attic_full enable filter ");
	assert_true(is_there("events/attic/attic_full"));
}

static void busy_while_somebody_is_in_it(void **state)
{
	struct trace_handle *handle;

	(void)state;
	assert_int_equal(trace_add_event_call(&attic), 0);
	hold("events/attic/attic_full");
	assert_int_equal(trace_remove_event_call(&attic), -EBUSY);
	assert_true(is_there("events/attic/attic_full/format"));
	assert_int_equal(
		trace_fs_open(hold("events/attic/attic_full/format"), TRACE_FS_READ, &handle), 0);
	let_go();
	assert_int_equal(trace_remove_event_call(&attic), -EBUSY);
	assert_int_equal(trace_fs_close(handle), 0);
	assert_int_equal(trace_remove_event_call(&attic), 0);
}

static int put_in(const char *path, const char *text)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t done;
	int err = trace_fs_open(hold(path), TRACE_FS_WRITE, &handle);

	let_go();
	if (err)
		return err;
	done = trace_fs_write(handle, text, strlen(text), &pos);
	trace_fs_close(handle);
	return done < 0 ? (int)done : 0;
}

static void busy_while_it_is_on(void **state)
{
	static const char enable[] = "instances/two/events/attic/attic_full/enable";

	(void)state;
	assert_int_equal(trace_fs_mkdir(hold("instances"), "two"), 0);
	assert_int_equal(trace_add_event_call(&attic), 0);
	assert_int_equal(put_in(enable, "1"), 0);
	assert_int_equal(trace_remove_event_call(&attic), -EBUSY);
	assert_int_equal(put_in(enable, "0"), 0);
	assert_int_equal(trace_remove_event_call(&attic), 0);
	/* Nothing of it is left in the instance. */
	assert_int_equal(put_in("instances/two/events/enable", "1"), 0);
	assert_int_equal(put_in("instances/two/events/enable", "0"), 0);
	assert_int_equal(trace_fs_rmdir(hold("instances"), "two"), 0);
}

/* An event with a tracepoint, too: its probe is gone, and comes again. */
static void with_a_tracepoint(void **state)
{
	static const char enable[] = "events/shelf/shelf_full/enable";

	(void)state;
	assert_int_equal(put_in(enable, "1"), 0);
	assert_int_equal(trace_remove_event_call(&event_shelf_full), -EBUSY);
	assert_true(trace_shelf_full_enabled());
	assert_int_equal(put_in(enable, "0"), 0);
	assert_int_equal(trace_remove_event_call(&event_shelf_full), 0);
	assert_false(trace_shelf_full_enabled());
	assert_false(is_there(enable));
	memory_out -= fake_alloc_out < memory_out ? memory_out - fake_alloc_out : 0;
	assert_int_equal(trace_add_event_call(&event_shelf_full), 0);
	assert_true(is_there(enable));
}

static void no_memory(void **state)
{
	struct trace_node *shelf = hold("events/shelf");

	(void)state;
	attic.event.system = "shelf";
	assert_int_equal(trace_add_event_call(&attic), 0);
	fake_alloc_budget = 0;
	assert_false(has_child(shelf, "attic_full"));
	fake_alloc_budget = -1;
	assert_true(has_child(shelf, "attic_full"));
	assert_true(has_child(shelf, "shelf_full"));
}

static size_t nr_chunks(void)
{
	size_t nr = 0;

	for (struct node_chunk *at = trace_fs_root()->tree->chunks; at; at = at->next)
		nr++;
	return nr;
}

/* While a shell stands in events/ what has gone takes no memory, however often it comes back. */
static void memory_of_those_that_have_gone(void **state)
{
	struct trace_node *dir = hold("events"), *node;
	size_t most = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(trace_add_event_call(&attic), 0);
		node = trace_fs_lookup(dir, "attic", 5);
		assert_non_null(node);
		trace_fs_put(node);
		assert_int_equal(trace_remove_event_call(&attic), 0);
		assert_null(trace_fs_lookup(dir, "attic", 5));
		if (i == 3)
			most = nr_chunks();
	}
	assert_in_range(nr_chunks(), 1, most);
	forget_directories();
	memory_out = fake_alloc_out; /* the table of types has grown */
}

static long out_at_wait;
static uint32_t nr_waits;

static void note_memory(void)
{
	if (!nr_waits++)
		out_at_wait = fake_alloc_out;
}

/* Probes that have begun may still be in the event: nothing of it is freed before they have ended. */
static void freed_behind_a_wait(void **state)
{
	long out;

	(void)state;
	for (int i = 0; i < 2; i++) { /* the first one makes what stays */
		assert_int_equal(
			echo_append("t:my/point shelf_full shelf=$arg1:s32", "dynamic_events"), 0);
		assert_int_equal(echo("1", "events/my/point/enable"), 0);
		trace_shelf_full(1);
		assert_int_equal(echo("0", "events/my/point/enable"), 0);
		out = fake_alloc_out;
		nr_waits = 0;
		fake_on_sync = note_memory;
		assert_int_equal(echo_append("-:my/point", "dynamic_events"), 0);
		fake_on_sync = NULL;
		assert_true(fake_alloc_out < out);
	}
	assert_int_not_equal(nr_waits, 0);
	assert_int_equal(out_at_wait, out + 2); /* the open file, and the text that was written */
	assert_int_equal(echo("", "trace"), 0);
}

/* Memory that the first user of any event takes, and the part that stays. */
static int setup(void **state)
{
	int err;

	trace_event_dir_register(&extra);
	err = tracefs_setup(state);
	assert_true(trace_event_scratch_make());
	return err;
}

/* Types of events in events/ftrace have those files alone that are for types. */
static void files_of_two_features(void **state)
{
	(void)state;
	assert_true(is_there("events/shelf/shelf_full/extra"));
	assert_true(is_there("events/shelf/shelf_full/hist"));
	assert_true(is_there("events/ftrace/function/hist"));
	assert_false(is_there("events/ftrace/function/extra"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comes_and_goes, reset, check),
		cmocka_unit_test_setup_teardown(in_directories_that_are_held, reset, check),
		cmocka_unit_test_setup_teardown(walks_along_one_path, reset, check),
		cmocka_unit_test_setup_teardown(empty_system, reset, check),
		cmocka_unit_test_setup_teardown(busy_while_somebody_is_in_it, reset, check),
		cmocka_unit_test_setup_teardown(busy_while_it_is_on, reset, check),
		cmocka_unit_test_setup_teardown(with_a_tracepoint, reset, check),
		cmocka_unit_test_setup_teardown(memory_of_those_that_have_gone, reset, check),
		cmocka_unit_test_setup_teardown(no_memory, reset, check),
		cmocka_unit_test_setup_teardown(files_of_two_features, reset, check),
		cmocka_unit_test_setup_teardown(freed_behind_a_wait, reset, NULL),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
