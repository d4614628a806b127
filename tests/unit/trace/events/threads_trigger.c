/*
 * Events on four CPUs while their triggers are set and removed on another: the thread sanitiser
 * watches, counts are exact, and nothing is left in the end.
 */
#include "unit.h"
#include <stdatomic.h>
#include "threads_help.h"
#include "events/event_file.h"
#include "events/trigger.h"
#include "text/str.h"
#include "host/yard.h"

#define NR_WRITERS 4u
#define NR_ROUNDS  unit_rounds(8)
#define NR_MADE	   unit_rounds(3)
#define NR_HITS	   unit_rounds(5000)
#define FULL	   "events/yard/yard_full/"
#define WATCH	   "events/yard/yard_watch/"

static _Atomic bool is_over;
static _Atomic uint64_t nr_acted;

static void *hit(void *arg)
{
	uint32_t cpu = cpu_begin(arg);

	while (!atomic_load(&is_over)) {
		trace_yard_full(2, 1);
		trace_yard_watch((int)cpu);
	}
	return NULL;
}

static void *hit_often(void *arg)
{
	(void)cpu_begin(arg);
	for (int i = 0; i < NR_HITS; i++)
		trace_yard_full(2, 1);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	return cpus_setup(NR_WRITERS, "32k"); /* instances are made often */
}

static void set_and_removed_while_events_occur(void **state)
{
	static const char *const sets[] = { "traceoff:3", "stacktrace", "snapshot:2",
					    "enable_event:yard:yard_watch" };
	static const char *const removals[] = { "!traceoff", "!stacktrace", "!snapshot",
						"!enable_event:yard:yard_watch" };

	(void)state;
	fake_bind(NR_WRITERS);
	assert_int_equal(echo("1", FULL "enable"), 0);
	cpus_start(NR_WRITERS, hit);
	for (int i = 0; i < NR_ROUNDS; i++) {
		assert_int_equal(echo(sets[i % 4], FULL "trigger"), 0);
		assert_int_equal(echo(sets[(i + 1) % 4], FULL "trigger"), 0);
		(void)cat(FULL "trigger");
		assert_int_equal(echo(removals[i % 4], FULL "trigger"), 0);
		assert_int_equal(echo(removals[(i + 1) % 4], FULL "trigger"), 0);
		assert_int_equal(echo("1", "tracing_on"), 0);
		assert_int_equal(echo("0", WATCH "enable"), 0);
	}
	/* An instance that goes takes its triggers along. */
	for (int i = 0; i < NR_MADE; i++) {
		assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
		assert_int_equal(echo("traceoff", "instances/two/" FULL "trigger"), 0);
		assert_int_equal(
			echo("enable_event:yard:yard_watch", "instances/two/" FULL "trigger"), 0);
		assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	}
	atomic_store(&is_over, true);
	cpus_join(NR_WRITERS);
	assert_int_equal(strncmp(cat(FULL "trigger"), "# Available", 11), 0);
	assert_string_equal(cat(WATCH "enable"), "0\n");
	assert_int_equal(echo("0", FULL "enable"), 0);
}

static void act(struct trace_trigger *trigger, const struct trace_trigger_hit *at)
{
	(void)at;
	if (trace_trigger_take(trigger))
		atomic_fetch_add(&nr_acted, 1);
}

/* Of four CPUs that count down together, each takes what no other takes. */
static void counts_are_exact(void **state)
{
	static const struct trace_trigger_command command = { .name = "count", .func = act };
	struct trace_trigger_wish wish = { .count = NR_HITS + 123 };
	struct trace_trigger_args args = { 0 };
	struct trace_event_file *file;

	(void)state;
	fake_bind(NR_WRITERS);
	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(trace_global_array(), &event_yard_full);
	args.file = file;
	assert_int_equal(trace_trigger_set(&command, &args, &wish), 0);
	trace_plat_unlock(&trace_config_lock);
	cpus_start(NR_WRITERS, hit_often);
	cpus_join(NR_WRITERS);
	assert_int_equal(nr_acted, NR_HITS + 123);
	assert_string_equal(cat(FULL "trigger"), "count:count=0\n");
	trace_plat_lock(&trace_config_lock);
	trace_trigger_remove(file->triggers);
	/* Without a count each of them counts. */
	nr_acted = 0;
	wish.count = TRACE_COUNT_UNLIMITED;
	assert_int_equal(trace_trigger_set(&command, &args, &wish), 0);
	trace_plat_unlock(&trace_config_lock);
	cpus_start(NR_WRITERS, hit_often);
	cpus_join(NR_WRITERS);
	assert_int_equal(nr_acted, NR_WRITERS * NR_HITS);
	trace_plat_lock(&trace_config_lock);
	trace_trigger_remove(file->triggers);
	trace_plat_unlock(&trace_config_lock);
}

/* Each time that recording goes off is one from the count, whoever has done it. */
static void switching_is_counted_once(void **state)
{
	uint64_t nr_off = 0;

	(void)state;
	fake_bind(NR_WRITERS);
	atomic_store(&is_over, false);
	assert_int_equal(echo("traceoff:100000", FULL "trigger"), 0);
	cpus_start(NR_WRITERS, hit);
	while (nr_off < 1000) {
		if (ring_buffer_record_is_set_on(trace_global_array()->buffer))
			continue;
		nr_off++;
		if (nr_off < 1000)
			(void)ring_buffer_record_on(trace_global_array()->buffer);
	}
	atomic_store(&is_over, true);
	cpus_join(NR_WRITERS);
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=99000\n");
	assert_int_equal(echo("!traceoff", FULL "trigger"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

/* The value behind a word of the last histogram that is shown. */
static uint64_t shown(const char *word)
{
	const char *at = strstr(cat(FULL "hist"), word);

	assert_non_null(at);
	return strtoull(at + strlen(word), NULL, 10);
}

/* All CPUs on the same key, each on its own, and with more keys than there is room for. */
static void histograms_are_exact(void **state)
{
	static const char *const hists[] = { "hist:keys=used:vals=used", "hist:keys=common_pid",
					     "hist:keys=common_cpu,used",
					     "hist:keys=common_timestamp:size=128",
					     "hist:keys=used:x=used" };
	char removal[64];

	(void)state;
	fake_bind(NR_WRITERS);
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++) {
		assert_int_equal(echo(hists[i], FULL "trigger"), 0);
		cpus_start(NR_WRITERS, hit_often);
		cpus_join(NR_WRITERS);
		assert_int_equal(shown("Hits: ") + shown("Dropped: "), NR_WRITERS * NR_HITS);
		if (i == 0)
			assert_int_equal(shown("  used: "), 2 * NR_WRITERS * NR_HITS);
		if (i == 3)
			assert_int_equal(shown("Entries: "), 128);
		else
			assert_int_equal(shown("Dropped: "), 0);
		snprintf(removal, sizeof(removal), "!%s", hists[i]);
		assert_int_equal(echo_append(removal, FULL "trigger"), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_and_removed_while_events_occur),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(switching_is_counted_once),
		cmocka_unit_test(histograms_are_exact),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
