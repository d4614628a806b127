/*
 * Bytes as lines of synthetic_events or dynamic_events; what they define is switched on, written,
 * shown and removed. Memory may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "events/synth_event.h"
#include "instance/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint32_t stack[] = { 0x81000010, 0x81000024, 0 };

/* One value for each kind of field; texts are as long as the number says. */
static void write_one(struct synth_event *event, uint32_t nr)
{
	static char text[300];
	uint64_t values[SYNTH_FIELDS_MAX];

	memset(text, 'y', sizeof(text) - 1);
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		uint8_t kind = event->fields[i].kind;

		values[i] = kind == SYNTH_NUMBER ? 0 - (uint64_t)i : (uintptr_t)&text[nr];
		if (kind == SYNTH_STACK)
			values[i] = (uintptr_t)stack;
	}
	trace_plat_preempt_disable();
	trace_synth_event_write(event, values);
	trace_plat_preempt_enable();
}

static void happen(void)
{
	struct dyn_event *dyn = NULL;
	struct synth_event *event;
	char path[400];

	write_file("events/synthetic/enable", "1", 1, 0);
	trace_plat_lock(&trace_config_lock);
	while ((dyn = trace_dyn_event_next(trace_synth_event_kinds, dyn))) {
		event = trace_synth_event_get(dyn->call->event.name);
		for (uint32_t nr = 0; nr < 300; nr += 99)
			write_one(event, nr);
		trace_synth_event_put(event);
	}
	trace_plat_unlock(&trace_config_lock);
	dyn = trace_dyn_event_next(trace_synth_event_kinds, NULL);
	if (dyn) {
		snprintf(path, sizeof(path), "events/synthetic/%s/format", dyn->call->event.name);
		read_file(path);
	}
	read_file("trace");
	write_file("events/enable", "0", 1, 0);
}

/* First byte: which file, and memory until it fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool is_ready;
	const char *path;

	if (!is_ready)
		set_up();
	is_ready = true;
	if (!len)
		return 0;
	path = data[0] % 2 ? "dynamic_events" : "synthetic_events";
	fake_alloc_budget = data[0] / 2 < 96 ? -1 : data[0] / 2 - 96;
	write_file(path, data + 1, len - 1, TRACE_FS_APPEND);
	fake_alloc_budget = -1;
	happen();
	read_file("synthetic_events");
	read_file("dynamic_events");
	write_file("trace", "", 0, TRACE_FS_TRUNC);
	write_file("dynamic_events", "", 0, TRACE_FS_TRUNC);
	if (trace_dyn_event_next(NULL, NULL))
		abort();
	return 0;
}
