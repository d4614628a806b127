/*
 * Bytes as lines of `monitors`; what was accepted is switched on, its events occur, and its files are
 * read. Memory may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "host/yard.h"
#include "monitors/monitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void happen(void)
{
	static const u32 list[2] = { 1, 2 };
	static const unsigned long mask[1] = { 5 };

	for (int i = 0; i < 4; i++) {
		fake_bind((uint32_t)i & 1);
		trace_yard_full(i, i & 2);
		trace_yard_texts("some words", list, i % 3, mask);
		trace_yard_watch(i);
		trace_yard_numbers((u8)i, (short)-i, i * 1000, (u64)i << 40, i & 1);
	}
	fake_bind(0);
}

static void read_monitors(void)
{
	struct trace_monitor *monitor = NULL;
	char path[80];

	read_file("monitors");
	read_file("rv/enabled_monitors");
	while ((monitor = trace_monitor_behind(monitor))) {
		snprintf(path, sizeof(path), "rv/monitors/%s/hits", monitor->name);
		read_file(path);
		snprintf(path, sizeof(path), "rv/monitors/%s/state", monitor->name);
		read_file(path);
	}
}

static void enable_all(void)
{
	struct trace_monitor *monitor = NULL;
	char path[80];

	while ((monitor = trace_monitor_behind(monitor))) {
		snprintf(path, sizeof(path), "rv/monitors/%s/enable", monitor->name);
		write_file(path, "1", 1, 0);
	}
}

/* Whatever was made goes. */
static void clean(void)
{
	write_file("rv/enabled_monitors", "", 0, TRACE_FS_TRUNC);
	write_file("events/enable", "0", 1, 0);
	write_file("tracing_on", "1", 1, 0);
	write_file("monitors", "", 0, TRACE_FS_TRUNC);
	for (struct trace_monitor *m = NULL; (m = trace_monitor_behind(m));) {
		if (!m->desc || m->is_enabled)
			abort();
	}
}

/* Lines end with a newline; before each a byte that says how much memory there is until it fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool is_ready;

	if (!is_ready)
		set_up();
	is_ready = true;
	while (len) {
		const uint8_t *end = memchr(data + 1, '\n', len - 1);
		size_t bytes = end ? (size_t)(end - data) - 1 : len - 1;

		fake_alloc_budget = data[0] < 160 ? -1 : data[0] - 160;
		write_file("monitors", data + 1, bytes, TRACE_FS_APPEND);
		enable_all();
		fake_alloc_budget = -1;
		happen();
		read_monitors();
		len -= bytes + 1 + (end ? 1 : 0);
		data += bytes + 1 + (end ? 1 : 0);
	}
	clean();
	return 0;
}
