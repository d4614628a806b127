/*
 * Bytes as lines of `trigger`, of several events in turn; the events occur with what was accepted,
 * and it is shown. Memory may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz_events.h"
#include "host/yard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const events[] = { "yard_full", "yard_texts", "yard_watch", "yard_numbers" };

static void path_of(size_t i, char *path, size_t size)
{
	snprintf(path, size, "events/yard/%s/trigger", events[i % 4]);
}

static void happen(void)
{
	static const u32 list[2] = { 1, 2 };
	static const unsigned long mask[1] = { 5 };

	for (int i = 0; i < 3; i++) {
		trace_yard_full(i, 0);
		trace_yard_texts("some words", list, i % 3, mask);
		trace_yard_watch(i);
		trace_yard_numbers((u8)i, (short)-i, i * 1000, (u64)i << 40, i & 1);
	}
}

/* Whatever was set goes, and no event has a probe registered any more. */
static void clean(void)
{
	static const char *const kinds[] = { "!traceoff", "!snapshot", "!stacktrace" };
	char path[80], text[80];

	for (size_t i = 0; i < 4; i++) {
		path_of(i, path, sizeof(path));
		for (size_t k = 0; k < 3; k++)
			write_file(path, kinds[k], strlen(kinds[k]), TRACE_FS_APPEND);
		for (size_t k = 0; k < 8; k++) {
			int len = snprintf(text, sizeof(text), "!enable_%s:yard:%s",
					   k < 4 ? "event" : "hist", events[k % 4]);

			write_file(path, text, (size_t)len, TRACE_FS_APPEND);
		}
		write_file(path, "", 0, TRACE_FS_TRUNC);
	}
	write_file("tracing_on", "1", 1, 0);
	write_file("events/enable", "0", 1, 0);
}

/* Lines end with a newline; before each a byte that says which event, and memory until it fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static bool is_ready;
	char path[80];

	if (!is_ready)
		set_up();
	is_ready = true;
	while (len) {
		const uint8_t *end = memchr(data + 1, '\n', len - 1);
		size_t bytes = end ? (size_t)(end - data) - 1 : len - 1;

		path_of(data[0], path, sizeof(path));
		fake_alloc_budget = data[0] / 4 < 40 ? -1 : data[0] / 4 - 40;
		write_file(path, data + 1, bytes, TRACE_FS_APPEND);
		fake_alloc_budget = -1;
		happen();
		read_file(path);
		len -= bytes + 1 + (end ? 1 : 0);
		data += bytes + 1 + (end ? 1 : 0);
	}
	clean();
	return 0;
}
