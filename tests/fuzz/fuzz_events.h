/*
 * Shared by the targets about events: the fake machine with trace/ started, and its files by path.
 */
#ifndef FUZZ_EVENTS_H
#define FUZZ_EVENTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/trace.h>

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

#endif
