/*
 * Bytes as the text of a histogram; events are counted by what was accepted, and it is shown. Memory
 * may run out anywhere.
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/trace.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef long long s64;
static unsigned long harbour_stack[3] = { FAKE_TEXT + 20, FAKE_TEXT + 40 };

#define CREATE_TRACE_POINTS
#include "host/harbour_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct trace_node *find(const char *path)
{
	struct trace_node *node = trace_fs_root();

	while (node && *path) {
		size_t len = strcspn(path, "/");
		struct trace_node *child = trace_fs_lookup(node, path, len);

		trace_fs_put(node);
		if (child && child->is_dir)
			(void)trace_fs_next_child(child, NULL);
		node = child;
		path += len + (path[len] == '/');
	}
	return node;
}

static void set_up(void)
{
	static const char *const names[] = { "schedule", "yield", "do_work", "kfree" };

	fake_reset();
	fake_set_nr_cpus(2);
	fake_text_build(names, 4);
	fake_thread_add(1, "init");
	ftrace_init();
	if (trace_init())
		abort();
	fake_clock_step = 1000;
}

static void write_file(const char *path, const void *text, size_t len, unsigned int flags)
{
	struct trace_node *node = find(path);
	struct trace_handle *handle;
	uint64_t pos = 0;

	if (!node)
		return;
	if (!trace_fs_open(node, TRACE_FS_WRITE | flags, &handle)) {
		if (len)
			(void)trace_fs_write(handle, text, len, &pos);
		(void)trace_fs_close(handle);
	}
	trace_fs_put(node);
}

static void read_file(const char *path)
{
	struct trace_node *node = find(path);
	struct trace_handle *handle;
	static char text[4096];
	uint64_t pos = 0;

	if (!node)
		return;
	if (!trace_fs_open(node, TRACE_FS_READ, &handle)) {
		while (trace_fs_read(handle, text, sizeof(text), &pos) > 0)
			;
		(void)trace_fs_close(handle);
	}
	trace_fs_put(node);
}

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
	static const char first[] = "hist:keys=id:t0=time,who=name,st=common_stacktrace:size=128";
	static bool is_ready;
	char path[80];

	if (!is_ready)
		set_up();
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
	each("trigger", truncate_file);
	return 0;
}
