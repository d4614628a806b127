/*
 * tracefs [NAME]: calls libtracefs, as programs do, on the directory of `fathom shell`: one kind of its functions; without a
 * name the names are printed. Prints each expectation that does not hold, and then ends with 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <kbuffer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tracefs_test.h"

#define NR_MARKERS 500

struct tep_handle *tep;
struct tracefs_instance *box;
static bool has_failed;

bool expect(bool holds, const char *what, const char *file, int line)
{
	if (!holds) {
		printf("%s:%d: %s (%s)\n", file, line, what, strerror(errno));
		has_failed = true;
	}
	return holds;
}

static bool is_text(char *text, const char *wanted)
{
	bool is_same = text && strcmp(text, wanted) == 0;

	if (!is_same)
		printf("'%s', not '%s'\n", text ? text : "", wanted);
	free(text);
	return is_same;
}

bool has_text(struct tracefs_instance *instance, const char *file, const char *wanted)
{
	char *text = tracefs_instance_file_read(instance, file, NULL);
	bool is_there = text && strstr(text, wanted);

	if (!is_there)
		printf("%s: '%s' is not in '%s'\n", file, wanted, text ? text : "");
	free(text);
	return is_there;
}

static void test_files(void)
{
	char *file = tracefs_get_tracing_file("no such file");
	struct stat status;
	long long number;

	EXPECT(strcmp(tracefs_tracing_dir(), "/sys/kernel/tracing") == 0);
	EXPECT(stat(file, &status) && errno == ENOENT);
	tracefs_put_tracing_file(file);
	EXPECT(tracefs_file_exists(NULL, "trace") && !tracefs_dir_exists(NULL, "trace"));
	EXPECT(tracefs_dir_exists(box, "per_cpu") && !tracefs_file_exists(box, "per_cpu"));
	EXPECT(tracefs_instance_file_read_number(box, "tracing_on", &number) == 0 && number == 1);
	EXPECT(tracefs_instance_file_read_number(box, "available_tracers", &number));
	EXPECT(tracefs_instance_file_write(box, "buffer_size_kb", "nonsense") < 0);
}

static int find_name(const char *name, void *wanted)
{
	return strcmp(name, wanted) == 0;
}

static void test_instances(void)
{
	struct tracefs_instance *other = tracefs_instance_create("other");
	struct tracefs_instance *again = tracefs_instance_create("other");

	EXPECT(other && tracefs_instance_is_new(other) && again && !tracefs_instance_is_new(again));
	EXPECT(tracefs_instance_exists("other") && tracefs_instances_walk(find_name, "other") == 1);
	EXPECT(tracefs_instance_set_buffer_size(other, 64, 1) == 0);
	EXPECT(tracefs_instance_get_buffer_size(other, 1) == 64);
	EXPECT(tracefs_instance_set_affinity(other, "1") >= 0);
	EXPECT(is_text(tracefs_instance_get_affinity(other), "1"));
	EXPECT(is_text(tracefs_get_clock(other), "local"));
	EXPECT(tracefs_instance_file_write(other, "trace_clock", "mono") > 0);
	EXPECT(is_text(tracefs_get_clock(other), "mono"));
	EXPECT(tracefs_instance_destroy(other) == 0 && tracefs_instance_destroy(other));
	EXPECT(!tracefs_instance_exists("other") &&
	       tracefs_instances_walk(find_name, "other") == 0);
}

static void test_tracers(void)
{
	char **tracers = tracefs_tracers(NULL);

	EXPECT(tracers && tracefs_tracer_available(NULL, "function_graph"));
	EXPECT(!tracefs_tracer_available(NULL, "function_grap"));
	for (char **tracer = tracers; tracer && *tracer; tracer++)
		EXPECT(has_text(NULL, "available_tracers", *tracer));
	EXPECT(tracefs_tracer_set(box, TRACEFS_TRACER_FUNCTION_GRAPH) == 0);
	EXPECT(has_text(box, "current_tracer", "function_graph\n"));
	EXPECT(tracefs_tracer_set(box, TRACEFS_TRACER_CUSTOM, "none") &&
	       tracefs_tracer_clear(box) == 0);
	EXPECT(has_text(box, "current_tracer", "nop\n"));
	tracefs_list_free(tracers);
}

static void test_on_off(void)
{
	int fd = tracefs_trace_on_get_fd(box);

	EXPECT(fd >= 0 && tracefs_trace_is_on(box) == 1);
	EXPECT(tracefs_trace_off(box) == 0 && tracefs_trace_is_on(box) == 0);
	EXPECT(tracefs_trace_on_fd(fd) == 0 && tracefs_trace_is_on(box) == 1);
	EXPECT(tracefs_trace_off_fd(fd) == 0 && tracefs_trace_is_on(box) == 0);
	EXPECT(tracefs_trace_on(box) == 0 && tracefs_trace_is_on(box) == 1);
	close(fd);
}

static void test_option(struct tracefs_instance *instance, enum tracefs_option_id id)
{
	char file[64];
	bool is_on = tracefs_option_is_enabled(instance, id);

	snprintf(file, sizeof file, "options/%s", tracefs_option_name(id));
	EXPECT(has_text(instance, file, is_on ? "1\n" : "0\n"));
	EXPECT((is_on ? tracefs_option_disable : tracefs_option_enable)(instance, id) == 0);
	EXPECT(tracefs_option_is_enabled(instance, id) == !is_on);
	EXPECT(has_text(instance, file, is_on ? "0\n" : "1\n"));
	EXPECT((is_on ? tracefs_option_enable : tracefs_option_disable)(instance, id) == 0);
	EXPECT(tracefs_option_is_enabled(instance, id) == is_on);
}

static void test_options(void)
{
	int nr = 0;

	for (int id = 1; id < TRACEFS_OPTION_MAX; id++) {
		if (tracefs_option_is_supported(NULL, id)) {
			test_option(NULL, id);
			nr++;
		} else {
			printf("no option: %s\n",
			       tracefs_option_name(id)); /* compared by the caller */
		}
		if (tracefs_option_is_supported(box, id))
			test_option(box, id);
	}
	EXPECT(nr > 25 && tracefs_option_enable(box, TRACEFS_OPTION_INVALID) == -1);
}

/* Each format is parsed by libtraceevent, and each event is found by its number. */
static void test_events(void)
{
	int nr_failures = -1, nr = 0, id;
	struct tep_handle *all = tep_alloc();
	char **systems = tracefs_event_systems(NULL);

	EXPECT(tracefs_fill_local_events(NULL, all, &nr_failures) == 0 && nr_failures == 0);
	for (char **system = systems; system && *system; system++) {
		char **events = tracefs_system_events(NULL, *system);

		for (char **event = events; event && *event; event++, nr++) {
			char *text = tracefs_event_file_read(NULL, *system, *event, "id", NULL);
			struct tep_event *found;

			id = text ? atoi(text) : -1;
			found = strcmp(*system, "ftrace") ? tep_find_event(all, id) : NULL;
			EXPECT(!strcmp(*system, "ftrace") ||
			       (found && !strcmp(found->name, *event)));
			free(text);
		}
		tracefs_list_free(events);
	}
	EXPECT(nr > 60);
	tracefs_list_free(systems);
	tep_free(all);
}

static void test_enabling(void)
{
	EXPECT(tracefs_event_is_enabled(box, "sched", NULL) == TRACEFS_ALL_DISABLED);
	EXPECT(tracefs_event_enable(box, "sched", "sched_switch") == 0);
	EXPECT(tracefs_event_is_enabled(box, "sched", "sched_switch") == TRACEFS_ALL_ENABLED);
	EXPECT(tracefs_event_is_enabled(box, "sched", NULL) == TRACEFS_SOME_ENABLED);
	EXPECT(tracefs_event_is_enabled(NULL, "sched", "sched_switch") == TRACEFS_ALL_DISABLED);
	EXPECT(tracefs_event_enable(box, "sched", "no_such_event"));
	EXPECT(tracefs_event_enable(box, NULL, NULL) == 0);
	EXPECT(tracefs_event_is_enabled(box, "irq", NULL) == TRACEFS_ALL_ENABLED);
	EXPECT(tracefs_event_disable(box, NULL, NULL) == 0);
	EXPECT(tracefs_event_is_enabled(box, "irq", NULL) == TRACEFS_ALL_DISABLED);
}

static void test_filters(void)
{
	struct tep_event *event = tep_find_event_by_name(tep, "sched", "sched_switch");
	char *filter = NULL, *err = NULL;

	EXPECT(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "prev_pid",
					    TRACEFS_COMPARE_GT, "0") == 0);
	EXPECT(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_AND, NULL, 0, NULL) ==
	       0);
	EXPECT(tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "next_comm",
					    TRACEFS_COMPARE_RE, "\"sh*\"") == 0);
	EXPECT(tracefs_filter_string_verify(event, filter, &err) == 0);
	EXPECT(tracefs_event_filter_apply(box, event, filter) >= 0);
	EXPECT(has_text(box, "events/sched/sched_switch/filter", filter));
	EXPECT(tracefs_event_filter_clear(box, event) >= 0);
	EXPECT(has_text(box, "events/sched/sched_switch/filter", "none"));
	EXPECT(tracefs_event_filter_apply(box, event, "nobody == 3") < 0);
	EXPECT(tracefs_error_clear(box) == 0);
	err = tracefs_error_last(box);
	EXPECT(!err || !*err);
	free(filter);
}

static void test_functions(void)
{
	char **names = NULL;

	EXPECT(tracefs_filter_functions("^vfs_o.*n$", NULL, &names) == 0 && names);
	EXPECT(tracefs_list_size(names) == 1 && strcmp(names[0], "vfs_open") == 0);
	EXPECT(tracefs_function_filter(box, "vfs_open", NULL, TRACEFS_FL_RESET) == 0);
	EXPECT(tracefs_function_filter(box, "^vfs_stat$", NULL, 0) == 0);
	EXPECT(has_text(box, "set_ftrace_filter", "vfs_open\nvfs_stat\n") ||
	       has_text(box, "set_ftrace_filter", "vfs_stat\nvfs_open\n"));
	EXPECT(tracefs_function_filter(box, "no_such_function", NULL, TRACEFS_FL_RESET));
	EXPECT(tracefs_function_notrace(box, "schedule", NULL, TRACEFS_FL_RESET) == 0);
	EXPECT(has_text(box, "set_ftrace_notrace", "schedule\n"));
	tracefs_list_free(names);
}

struct count {
	struct tep_event *event;
	const char *text; /* that follows `offset` bytes of the event */
	int offset, nr, nr_cpus[2];
	uint64_t last; /* time */
	bool is_unordered;
};

static int count_record(struct tep_event *event, struct tep_record *record, int cpu, void *arg)
{
	struct count *count = arg;

	count->is_unordered |= record->ts < count->last || cpu != record->cpu;
	count->last = record->ts;
	if (count->event && event->id != count->event->id)
		return 0;
	if (count->text && strcmp((char *)record->data + count->offset, count->text))
		return 0;
	count->nr_cpus[cpu & 1]++;
	count->nr++;
	return 0;
}

int count_events(const char *name, const char *text)
{
	struct count count = { .event = tep_find_event_by_name(tep, NULL, name), .text = text };
	const char *field = text && count.event ? "buf" : NULL;

	if (!EXPECT(count.event))
		return -1;
	if (field)
		count.offset = tep_find_field(count.event, field)->offset;
	EXPECT(tracefs_iterate_raw_events(tep, box, NULL, 0, count_record, &count) == 0);
	EXPECT(!count.is_unordered);
	return count.nr;
}

static void test_markers(void)
{
	uint32_t data = 0xdeadbeef;

	EXPECT(tracefs_print_init(box) == 0 && tracefs_binary_init(box) == 0);
	for (int i = 0; i < NR_MARKERS; i++)
		EXPECT(tracefs_printf(box, "marker 0x%x\n", data) == 0);
	EXPECT(count_events("print", "marker 0xdeadbeef\n") == NR_MARKERS);
	for (int i = 0; i < NR_MARKERS; i++)
		EXPECT(tracefs_binary_write(box, &data, sizeof data) == 0);
	EXPECT(count_events("raw_data", NULL) == NR_MARKERS);
	tracefs_print_close(box);
	tracefs_binary_close(box);
}

/* Events are given to those who asked for them, while they come. */
static void *stop_soon(void *unused)
{
	(void)unused;
	sleep(1);
	tracefs_iterate_stop(box);
	return NULL;
}

static void test_following(void)
{
	static struct count switches, functions; /* libtracefs 1.6 cannot stop to follow */
	pthread_t thread;

	switches.event = tep_find_event_by_name(tep, "sched", "sched_switch");
	functions.event = tep_find_event_by_name(tep, "ftrace", "function");
	EXPECT(tracefs_follow_event(tep, box, "sched", "sched_switch", count_record, &switches) ==
	       0);
	EXPECT(tracefs_follow_event(tep, box, "ftrace", "function", count_record, &functions) == 0);
	EXPECT(tracefs_event_enable(box, "sched", "sched_switch") == 0);
	EXPECT(tracefs_tracer_set(box, TRACEFS_TRACER_FUNCTION) == 0);
	pthread_create(&thread, NULL, stop_soon, NULL);
	EXPECT(tracefs_iterate_raw_events(tep, box, NULL, 0, NULL, NULL) == 0);
	pthread_join(thread, NULL);
	EXPECT(switches.nr > 0 && functions.nr > switches.nr);
	EXPECT(!switches.is_unordered && !functions.is_unordered);
	EXPECT(tracefs_tracer_clear(box) == 0);
}

static int events_in_page(void *page)
{
	struct kbuffer *buffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	unsigned long long when;
	int nr = 0;

	EXPECT(kbuffer_load_subbuffer(buffer, page) == 0 && kbuffer_missed_events(buffer) == 0);
	for (; kbuffer_read_event(buffer, &when); kbuffer_next_event(buffer, NULL))
		nr++;
	kbuffer_free(buffer);
	return nr;
}

/* Pages of one CPU, by reads and by a pipe, have as many events as its `stats` says. */
static void test_pages(bool is_piped)
{
	struct tracefs_cpu *cpu;
	char *stats;
	int wanted, nr = 0, fd = fileno(tmpfile()), bytes;
	char page[1 << 16];

	EXPECT(tracefs_event_enable(box, "sched", NULL) == 0 &&
	       tracefs_event_enable(box, "irq", NULL) == 0);
	sleep(1);
	EXPECT(tracefs_trace_off(box) == 0);
	stats = tracefs_instance_file_read(box, "per_cpu/cpu0/stats", NULL);
	wanted = stats ? atoi(strchr(stats, ':') + 1) : 0;
	cpu = tracefs_cpu_open(box, 0, true);
	EXPECT(cpu && tracefs_cpu_read_size(cpu) == getpagesize() && wanted > 0);
	while (is_piped &&
	       (tracefs_cpu_write(cpu, fd, true) > 0 || tracefs_cpu_flush_write(cpu, fd) > 0))
		;
	lseek(fd, 0, SEEK_SET);
	while ((bytes = is_piped ? (int)read(fd, page, (size_t)getpagesize())
				 : tracefs_cpu_read(cpu, page, true)) > 0 ||
	       (!is_piped && (bytes = tracefs_cpu_flush(cpu, page)) > 0))
		nr += events_in_page(page);
	if (!EXPECT(nr == wanted))
		printf("%d events, not %d\n", nr, wanted);
	tracefs_cpu_close(cpu);
	close(fd);
	free(stats);
}

static void test_pages_read(void)
{
	test_pages(false);
}

static void test_pages_piped(void)
{
	test_pages(true);
}

static void test_trace_pipe(void)
{
	FILE *file = tmpfile();
	char line[256] = "";

	EXPECT(tracefs_printf(box, "through the pipe") == 0);
	EXPECT(tracefs_trace_pipe_stream(fileno(file), box, O_NONBLOCK) > 0);
	rewind(file);
	EXPECT(fgets(line, sizeof line, file) && strstr(line, "through the pipe"));
	fclose(file);
	tracefs_print_close(box);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "files", test_files },
	{ "instances", test_instances },
	{ "tracers", test_tracers },
	{ "on_off", test_on_off },
	{ "options", test_options },
	{ "events", test_events },
	{ "enabling", test_enabling },
	{ "filters", test_filters },
	{ "functions", test_functions },
	{ "markers", test_markers },
	{ "following", test_following },
	{ "pages_read", test_pages_read },
	{ "pages_piped", test_pages_piped },
	{ "trace_pipe", test_trace_pipe },
	{ "probes", test_probes },
	{ "histograms", test_histograms },
	{ "queries", test_queries },
};

int main(int argc, char **argv)
{
	bool is_known = argc == 1;

	tep = argc > 1 ? tracefs_local_events(NULL) : NULL;
	box = argc > 1 ? tracefs_instance_create("box") : NULL;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		if (argc == 1) {
			puts(tests[i].name);
		} else if (strcmp(argv[1], tests[i].name) == 0) {
			is_known = EXPECT(tep && box);
			if (is_known)
				tests[i].run();
		}
	}
	if (box)
		EXPECT(tracefs_instance_destroy(box) == 0);
	return has_failed || !is_known;
}
