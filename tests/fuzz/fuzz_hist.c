/*
 * Bytes as the text of a histogram; events are counted by what was accepted, and it is shown. Memory
 * may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "host/harbour.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const events[] = { "ship_leave", "cargo", "widths", "ship_arrive" };

static void each(const char *file, void (*fn)(const char *path))
{
	char path[80];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "events/harbour/%s/%s", events[i], file);
		fn(path);
	}
}

static void truncate_file(const char *path)
{
	write_file(path, "", 0, TRACE_FS_TRUNC);
}

static void happen(void)
{
	for (int i = -1; i < 4; i++) {
		trace_ship_arrive(i, (u64)i * 100, "Erika");
		trace_cargo(FAKE_TEXT + 16, (size_t)i * 1000, i, (u64)i);
		trace_widths(i, "eight letters and more");
		trace_ship_leave(i, (u64)i * 110, "Maria");
	}
}

/* First byte: which event, and memory until it fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char event[] =
		"stay int id; u64 time; char who[16]; char name[]; unsigned long[] stack";
	static const char first[] = "hist:keys=id:t0=time,who=name,st=common_stacktrace:size=128";
	static bool is_ready;
	char path[80];

	if (!is_ready) {
		set_up();
		harbour_stack[0] = FAKE_TEXT + 20;
		harbour_stack[1] = FAKE_TEXT + 40;
		write_file("synthetic_events", event, sizeof(event) - 1, TRACE_FS_APPEND);
		write_file("events/synthetic/stay/enable", "1", 1, 0);
	}
	is_ready = true;
	if (!len)
		return 0;
	write_file("events/harbour/ship_arrive/trigger", first, sizeof(first) - 1, TRACE_FS_APPEND);
	snprintf(path, sizeof(path), "events/harbour/%s/trigger", events[data[0] % 4]);
	fake_alloc_budget = data[0] / 4 < 32 ? -1 : data[0] / 4 - 32;
	write_file(path, data + 1, len - 1, TRACE_FS_APPEND);
	fake_alloc_budget = -1;
	happen();
	each("trigger", read_file);
	each("hist", read_file);
	each("hist_debug", read_file);
	each("trigger", truncate_file);
	return 0;
}
