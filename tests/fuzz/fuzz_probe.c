/*
 * Bytes as lines of kprobe_events or dynamic_events; what they define is switched on, hit, shown,
 * explained and removed; and lines are completed. Memory may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "events/dyn_event.h"
#include "../unit/trace/probes/probe_types.h"
#include <trace/trace_events.h>
#include <trace/host_tracepoints.h>
#include <trace/thread.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NR_FUNCS 4

static struct trace_thread threads[2];
static const char comms[2][16] = { "shell", "fifteen letters" };
static const struct trace_sched_thread from = {
	.thread = &threads[0], .comm = comms[0], .pid = 100001, .prio = 120, .state = 'S', .cpu = 1
};
static const struct trace_sched_thread to = {
	.thread = &threads[1], .comm = comms[1], .pid = 7, .prio = 49, .state = 'R', .cpu = 3
};

/* Registers as probes find them lead to bytes without an end of text, to pointers, nowhere. */
static struct ftrace_regs some_registers(void)
{
	static uintptr_t stack[16] = { 0, 1, (uintptr_t)stack, (uintptr_t) "text" };
	static char letters[5000];

	memset(letters, 'z', sizeof(letters));
	return (struct ftrace_regs){ .arg = { (uintptr_t) "some text", (uintptr_t)stack,
					      (uintptr_t)letters, 8, 0, ~0ul },
				     .parent = fake_func(1) + 4,
				     .slot = stack };
}

/* Each function is entered and left, and each of its instructions executed. */
static void happen(void)
{
	struct ftrace_regs regs = some_registers();
	enum fake_via via;

	for (size_t func = 0; func < NR_FUNCS; func++) {
		(void)fake_call_regs(func, &regs, &via);
		for (uintptr_t at = 5; at < 16; at++)
			(void)fake_step(fake_func(func) + at, &regs);
		(void)fake_enter(func, fake_func(1) + 4);
		(void)fake_leave(77);
	}
	trace_sched_switch(&from, &to);
	trace_sched_waking(&from, &to);
}

static void read_formats(void)
{
	struct dyn_event *dyn = NULL;
	char path[400];

	while ((dyn = trace_dyn_event_next(NULL, dyn))) {
		const struct trace_event *event = &dyn->call->event;

		snprintf(path, sizeof(path), "events/%s/%s/format", event->system, event->name);
		read_file(path);
	}
}

static void look_at_word(const struct trace_dyn_event_word *word, void *arg)
{
	const char *line = arg;

	if (word->from > strlen(line) ||
	    strncmp(word->text, line + word->from, strlen(line + word->from)))
		abort();
}

/* Each line of the text, as if its end were not written yet. */
static void complete_lines(const uint8_t *text, size_t len)
{
	char line[400];
	size_t at = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '\n' && text[i]) {
			line[at++] = (char)text[i];
			continue;
		}
		line[at] = '\0';
		at = 0;
		trace_dyn_event_complete(line, look_at_word, line);
	}
}

static void explain_all(void)
{
	struct dyn_event *dyn = NULL;
	char text[2000];
	struct trace_seq seq;

	while ((dyn = trace_dyn_event_next(NULL, dyn))) {
		trace_seq_init(&seq, text, sizeof(text));
		(void)trace_dyn_event_explain(dyn->call->event.name, &seq);
	}
}

/* First byte: which file, and memory until it fails, for the lines or for what is done with them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool is_ready;
	const char *path;
	long budget;

	if (!is_ready) {
		probe_types_make();
		set_up();
		probe_types_name();
		fake_run(1); /* a thread with a shadow stack */
		fake_reads_anywhere = true;
	}
	is_ready = true;
	if (!len)
		return 0;
	path = data[0] % 2 ? "dynamic_events" : "kprobe_events";
	budget = data[0] / 4 < 32 ? -1 : data[0] / 4 - 32;
	fake_alloc_budget = data[0] & 2 ? budget : -1;
	complete_lines(data + 1, len - 1 < 399 ? len - 1 : 399);
	write_file(path, data + 1, len - 1, TRACE_FS_APPEND);
	fake_alloc_budget = data[0] & 2 ? -1 : budget;
	write_file("events/enable", "1", 1, 0);
	fake_alloc_budget = -1;
	happen();
	read_formats();
	explain_all();
	read_file("trace");
	read_file("kprobe_profile");
	read_file("dynamic_events");
	read_file("error_log");
	write_file("events/enable", "0", 1, 0);
	write_file("trace", "", 0, TRACE_FS_TRUNC);
	write_file("dynamic_events", "", 0, TRACE_FS_TRUNC);
	if (trace_dyn_event_next(NULL, NULL) || fake_nr_probes)
		abort();
	return 0;
}
