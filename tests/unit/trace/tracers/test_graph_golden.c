/*
 * Samples of function_graph from a real Linux 6.1, taken apart into the events that they show, then
 * printed by us from these events: the text has to come out byte for byte.
 */
#include "unit.h"
#include "tracefs.h"
#include "graph_help.h"

#define SAMPLES	    "tests/golden/linux-6.1/"
#define MAX_NAMES   64
#define MAX_OPTIONS 4

static char names[MAX_NAMES][64];
static size_t nr_names;

/* State of the walk over a sample. */
static struct {
	char text[1 << 17];
	int32_t pid[2];
	uintptr_t open[2][64];
	uint64_t now;
	uint32_t cpu;
	bool has_time, has_proc, is_latency;
} sample;

static void read_sample(const char *name)
{
	char path[128], *begin;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), SAMPLES "%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	len = fread(sample.text, 1, sizeof(sample.text) - 1, file);
	assert_true(len > 100 && len < sizeof(sample.text) - 1);
	sample.text[len] = '\0';
	fclose(file);
	begin = strstr(sample.text, "# tracer: ");
	assert_non_null(begin);
	memmove(sample.text, begin, strlen(begin) + 1);
}

static uintptr_t func_of(const char *name, size_t len)
{
	for (size_t i = 0; i < nr_names; i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return fake_func(i);
	}
	fail_msg("no function %.*s", (int)len, name);
	return 0;
}

static void add_name(const char *name, size_t len)
{
	for (size_t i = 0; i < nr_names; i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return;
	}
	assert_true(nr_names < MAX_NAMES && len < sizeof(names[0]));
	memcpy(names[nr_names++], name, len);
}

/* Every function of the samples that are to be read becomes one of the fake text. */
static void collect_names(void)
{
	for (const char *at = sample.text; (at = strstr(at, "()")); at += 2) {
		const char *begin = at;

		while (begin[-1] != ' ' && begin[-1] != '\n')
			begin--;
		add_name(begin, (size_t)(at - begin));
	}
	for (const char *at = sample.text; (at = strstr(at, "} /* ")); at += 5)
		add_name(at + 5, strcspn(at + 5, " "));
}

/* ` 0)  comm-pid  => comm-pid ` */
static bool read_switch(const char *line)
{
	char before[32], after[32];
	unsigned int cpu;
	char *dash;

	if (sscanf(line, " %u) %31s => %31s", &cpu, before, after) != 3)
		return false;
	dash = strrchr(after, '-');
	sample.pid[cpu] = atoi(dash + 1);
	*dash = '\0';
	if (sample.pid[cpu])
		fake_thread_add(sample.pid[cpu], after);
	return true;
}

/* The thread that is on a CPU before its first switch. */
static void find_first_pids(void)
{
	sample.pid[0] = sample.pid[1] = 4711;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		for (const char *line = sample.text; line; line = strchr(line + 1, '\n')) {
			char before[32], after[32];
			unsigned int of;
			char *dash;

			if (sscanf(line, " %u) %31s => %31s", &of, before, after) != 3 || of != cpu)
				continue;
			dash = strrchr(before, '-');
			sample.pid[cpu] = atoi(dash + 1);
			*dash = '\0';
			if (sample.pid[cpu])
				fake_thread_add(sample.pid[cpu], before);
			break;
		}
	}
}

/* State columns, the other way round. */
static void read_state(const char *text)
{
	graph_flags = 0;
	if (text[0] == 'd' || text[0] == 'D')
		graph_flags |= TRACE_FLAG_IRQS_OFF;
	if (text[0] == 'b' || text[0] == 'D')
		graph_flags |= TRACE_FLAG_BH_OFF;
	if (text[1] == 'N' || text[1] == 'n')
		graph_flags |= TRACE_FLAG_NEED_RESCHED;
	if (text[1] == 'N' || text[1] == 'p')
		graph_flags |= TRACE_FLAG_PREEMPT_RESCHED;
	if (text[2] == 'h' || text[2] == 'H')
		graph_flags |= TRACE_FLAG_HARDIRQ;
	if (text[2] == 's' || text[2] == 'H')
		graph_flags |= TRACE_FLAG_SOFTIRQ;
	graph_preempt = text[3] == '.' ? 0 : (uint8_t)(text[3] - '0');
}

/* The text before the duration; returns where that begins, or NULL. */
static const char *read_front(const char *line)
{
	unsigned long sec, us;
	char comm[32];
	int used = 0;

	sample.now++;
	if (sample.has_time) {
		if (sscanf(line, "%lu.%lu | %n", &sec, &us, &used) != 2)
			return NULL;
		if (sample.now < (sec * 1000000 + us) * 1000)
			sample.now = (sec * 1000000 + us) * 1000;
		line += 16;
	}
	if (sscanf(line, " %u)%n", &sample.cpu, &used) != 1 || used != 3 || sample.cpu > 1)
		return NULL;
	line += 4;
	if (sample.has_proc) {
		sscanf(line, " %31s", comm);
		*strrchr(comm, '-') = '\0';
		for (const char *c = line; *c != '|'; c++) {
			if (*c == '-' && c[1] >= '0' && c[1] <= '9')
				sample.pid[sample.cpu] = atoi(c + 1);
		}
		if (sample.pid[sample.cpu])
			fake_thread_add(sample.pid[sample.cpu], comm);
		line += 17;
	}
	if (sample.is_latency) {
		read_state(line + 1);
		line += 9;
	}
	return line;
}

static uint64_t duration_of(const char *column)
{
	unsigned long us = 0;
	char fraction[4] = "000";
	int used = 0;

	if (sscanf(column + 2, "%lu%n", &us, &used) != 1)
		return 0;
	if (column[2 + used] == '.') {
		for (size_t i = 0; column[3 + used + i] >= '0' && column[3 + used + i] <= '9'; i++)
			fraction[i] = column[3 + used + i];
	}
	return us * 1000 + (uint64_t)atoi(fraction);
}

static void write_return(uint32_t depth, const char *text, uint64_t ns)
{
	uintptr_t func = sample.open[sample.cpu][depth];

	if (text[1] == ' ')
		func = func_of(text + 5, strcspn(text + 5, " "));
	sample.open[sample.cpu][depth] = 0;
	assert_true(func != 0);
	leave(sample.cpu, sample.pid[sample.cpu], func, depth, ns);
}

/* One line of the body; false where it is not about function_graph. */
static bool write_line(const char *line)
{
	const char *column = read_front(line), *text, *end;
	char copy[256];
	uint32_t depth;
	uintptr_t func;

	if (!column)
		return false;
	text = memchr(column, '|', 20);
	assert_non_null(text);
	text += 3;
	depth = (uint32_t)strspn(text, " ") / 2;
	text += strspn(text, " ");
	end = strchr(text, '\n');
	fake_clock = sample.now;
	if (text[0] == '}') {
		write_return(depth, text, duration_of(column));
		return true;
	}
	if (text[0] == '/') {
		snprintf(copy, sizeof(copy), "%.*s\n", (int)(end - text - 6), text + 3);
		comment(sample.cpu, sample.pid[sample.cpu], copy);
		return true;
	}
	func = func_of(text, strcspn(text, "("));
	enter(sample.cpu, sample.pid[sample.cpu], func, depth);
	if (end[-1] == ';') {
		fake_clock = ++sample.now;
		leave(sample.cpu, sample.pid[sample.cpu], func, depth, duration_of(column));
	} else {
		sample.open[sample.cpu][depth] = func;
	}
	return true;
}

/* The last line of a sample that was cut off may be part of a change of threads. */
static void trim(void)
{
	char *end = strstr(sample.text, "\n--- ");

	if (end)
		end[1] = '\0';
	end = strrchr(sample.text, '\n') + 1;
	*end = '\0';
	for (;;) {
		char *last = end - 1;

		while (last > sample.text && last[-1] != '\n')
			last--;
		if (*last != '\n' && strncmp(last, " ---", 4) != 0 && !strstr(last, " => "))
			return;
		*last = '\0';
		end = last;
	}
}

static void write_events(void)
{
	for (char *line = sample.text; *line; line = strchr(line, '\n') + 1) {
		if (*line == '#' || *line == '\n' || strncmp(line, " ---", 4) == 0 ||
		    strncmp(line, " (Over", 6) == 0 || read_switch(line))
			continue;
		if (!write_line(line)) {
			*line = '\0'; /* from here on it is not for us */
			return;
		}
	}
}

static void check(const char *file, const char *const *options, size_t at_least)
{
	const char *got, *want;
	size_t nr = 0;

	memset(&sample, 0, sizeof(sample));
	read_sample(file);
	for (size_t i = 0; options[i]; i++) {
		sample.has_time |= strcmp(options[i], "funcgraph-abstime") == 0;
		sample.has_proc |= strcmp(options[i], "funcgraph-proc") == 0;
		sample.is_latency |= strcmp(options[i], "latency-format") == 0;
	}
	sample.now = 1000;
	fake_clock = 0;
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	for (size_t i = 0; options[i]; i++)
		assert_int_equal(echo_append(options[i], "trace_options"), 0);
	trim();
	find_first_pids();
	write_events();
	got = sample.is_latency ? cat_body("trace") : cat("trace");
	want = sample.text;
	while (sample.is_latency && *want == '#')
		want = strchr(want, '\n') + 1;
	for (const char *c = want; *c; c++)
		nr += *c == '\n';
	if (nr < at_least)
		fail_msg("%s: only %zu lines compared", file, nr);
	/* A sample may have been cut between a return and its second line. */
	if (strncmp(got, want, strlen(want)) == 0 &&
	    strcmp(got + strlen(want), " (Overruns: 0)\n") == 0)
		return;
	if (strcmp(got, want) != 0) {
		while (*got == *want) {
			got++;
			want++;
		}
		fail_msg("%s:\n got: %.200s\nwant: %.200s", file, got, want);
	}
}

/* Leave options as they were. */
static void check_with(const char *file, const char *const *options, size_t at_least)
{
	char word[64];

	check(file, options, at_least);
	for (size_t i = 0; options[i]; i++) {
		snprintf(word, sizeof(word), "%s%s", strncmp(options[i], "no", 2) ? "no" : "",
			 strncmp(options[i], "no", 2) ? options[i] : options[i] + 2);
		assert_int_equal(echo_append(word, "trace_options"), 0);
	}
	graph_flags = graph_preempt = 0;
	assert_int_equal(echo("nop", "current_tracer"), 0);
}

static const struct {
	const char *file;
	const char *options[MAX_OPTIONS + 1];
	size_t lines; /* at least */
} samples[] = {
	{ "graph", { NULL }, 150 },
	{ "graph-outer", { NULL }, 25 },
	{ "graph-depth-1", { NULL }, 6 },
	{ "graph-depth-3", { NULL }, 20 },
	{ "graph-function", { NULL }, 10 },
	{ "graph-thresh", { NULL }, 30 },
	{ "graph-marks", { NULL }, 12 },
	{ "graph-never-returns", { NULL }, 10 },
	{ "graph-unfinished", { NULL }, 30 },
	{ "graph-deep", { NULL }, 120 },
	{ "graph-interrupts", { NULL }, 45 },
	{ "graph-notrace", { NULL }, 20 },
	{ "graph-comments", { NULL }, 40 },
	{ "graph-lost", { NULL }, 20 },
	{ "graph-overrun", { "funcgraph-overrun" }, 80 },
	{ "graph-proc", { "funcgraph-proc" }, 80 },
	{ "graph-tail", { "funcgraph-tail" }, 80 },
	{ "graph-unfinished-tail", { "funcgraph-tail" }, 25 },
	{ "graph-abstime", { "funcgraph-abstime" }, 80 },
	{ "graph-no-overhead", { "nofuncgraph-overhead" }, 80 },
	{ "graph-comments-proc-abstime", { "funcgraph-proc", "funcgraph-abstime" }, 30 },
	{ "graph-thresh-overhead", { "funcgraph-proc", "funcgraph-abstime" }, 10 },
	{ "graph-abstime-proc-tail-overrun",
	  { "funcgraph-abstime", "funcgraph-proc", "funcgraph-tail", "funcgraph-overrun" },
	  80 },
	{ "graph-latency-format", { "latency-format" }, 60 },
	{ "graph-comments-latency-format", { "latency-format" }, 20 },
	{ "graph-latency-format-abstime-proc",
	  { "latency-format", "funcgraph-abstime", "funcgraph-proc" },
	  60 },
	{ "graph-verbose", { "verbose" }, 60 },
	{ "graph-raw", { "raw" }, 30 },
	{ "graph-hex", { "hex" }, 30 },
	{ "graph-sym-offset", { "sym-offset" }, 30 },
	{ "graph-sym-addr", { "sym-addr" }, 30 },
	{ "graph-no-irq-info", { "noirq-info" }, 50 },
	{ "graph-no-annotate", { "noannotate" }, 50 },
};

static void all_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_with(samples[i].file, samples[i].options, samples[i].lines);
}

static int setup(void **state)
{
	const char *pointers[MAX_NAMES];

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		read_sample(samples[i].file);
		collect_names();
	}
	for (size_t i = 0; i < nr_names; i++)
		pointers[i] = names[i];
	fake_reset();
	fake_set_nr_cpus(2);
	fake_bind(0);
	fake_clock_step = 0;
	fake_text_build(pointers, nr_names);
	ftrace_init();
	return trace_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_samples) };

	return cmocka_run_group_tests(tests, setup, NULL);
}
