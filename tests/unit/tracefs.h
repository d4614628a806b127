/*
 * tracefs as a shell sees it, on the fake machine: cat, echo. To be included by one test file.
 */
#ifndef TRACEFS_H
#define TRACEFS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/trace.h>

#define HELPER __attribute__((unused)) static

/* Functions of the fake text, by index. */
enum {
	SCHEDULE,
	YIELD,
	DO_WORK,
	KFREE,
	NR_FUNCS
};
#define PARENT (fake_func(YIELD) + 4)

static size_t cat_chunk = 4096;

HELPER struct trace_node *node_of(const char *path)
{
	struct trace_node *node = trace_fs_root();

	while (node && *path) {
		size_t len = strcspn(path, "/");
		struct trace_node *child = trace_fs_lookup(node, path, len);

		trace_fs_put(node);
		if (child && child->is_dir)
			(void)trace_fs_next_child(child, NULL); /* what is in it stays */
		node = child;
		path += len + (path[len] == '/');
	}
	if (node)
		trace_fs_put(node); /* tests know when instances go */
	return node;
}

HELPER struct trace_handle *open_file(const char *path, unsigned int flags)
{
	struct trace_handle *handle;

	assert_non_null(node_of(path));
	assert_int_equal(trace_fs_open(node_of(path), flags, &handle), 0);
	return handle;
}

/* The whole file, read in pieces of cat_chunk; good until the next call. */
HELPER const char *cat(const char *path)
{
	static char text[1 << 20];
	struct trace_handle *handle = open_file(path, TRACE_FS_READ);
	uint64_t pos = 0;
	int64_t got;

	while ((got = trace_fs_read(handle, text + pos, cat_chunk, &pos)) > 0)
		assert_true(pos + cat_chunk < sizeof(text));
	assert_int_equal(got, 0);
	assert_int_equal(trace_fs_close(handle), 0);
	text[pos] = '\0';
	return text;
}

/* `trace` without its header. */
HELPER const char *cat_body(const char *path)
{
	const char *text = cat(path);

	while (*text == '#' && strncmp(text, "#####", 5) != 0)
		text = strchr(text, '\n') + 1;
	return text;
}

/* The text of the only event in `trace`, from `name` on. */
HELPER const char *only_event(const char *name)
{
	const char *text = strstr(cat_body("trace"), name);

	assert_non_null(text);
	assert_int_equal(strlen(strchr(text, '\n')), 1);
	return text;
}

/* As a shell writes: the rest again after a short write, an error ends it. 0 or -errno. */
HELPER int put(const void *bytes, size_t len, const char *path, unsigned int flags)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	int64_t done = 0;
	int err = trace_fs_open(node_of(path), TRACE_FS_WRITE | flags, &handle);

	if (err)
		return err;
	while (len && (done = trace_fs_write(handle, bytes, len, &pos)) > 0) {
		bytes = (const char *)bytes + done;
		len -= (size_t)done;
	}
	err = trace_fs_close(handle);
	return done < 0 ? (int)done : err;
}

HELPER int put_line(const char *text, const char *path, unsigned int flags)
{
	char line[5000];
	int len = snprintf(line, sizeof(line), "%s\n", text);

	return put(line, (size_t)len, path, flags);
}

/* echo TEXT > PATH, echo TEXT >> PATH */
HELPER int echo(const char *text, const char *path)
{
	return put_line(text, path, TRACE_FS_TRUNC);
}

HELPER int echo_append(const char *text, const char *path)
{
	return put_line(text, path, TRACE_FS_APPEND);
}

/* How many times `what` stands in the body of a file. */
HELPER size_t count_in(const char *path, const char *what)
{
	const char *at = cat_body(path);
	size_t nr = 0;

	while ((at = strstr(at, what))) {
		at += strlen(what);
		nr++;
	}
	return nr;
}

HELPER void tracing_is(bool on)
{
	assert_string_equal(cat("tracing_on"), on ? "1\n" : "0\n");
}

/* Look into all directories: those that are filled at the first look keep their entries. */
HELPER void look_at_all(struct trace_node *dir)
{
	struct trace_node *node = NULL;

	while ((node = trace_fs_next_child(dir, node))) {
		if (node->is_dir)
			look_at_all(node);
	}
}

static long memory_out;

HELPER int tracefs_setup(void **state)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(2);
	fake_bind(0);
	fake_clock_step = 0;
	fake_text_build(names, NR_FUNCS);
	ftrace_init();
	return trace_init();
}

/* As after boot, but for the buffer, which has its full size. */
HELPER int tracefs_reset(void **state)
{
	(void)state;
	fake_bind(0);
	fake_cpus[0].pid = fake_cpus[1].pid = 0;
	fake_clock_step = 0;
	fake_clock = 12345678900;
	cat_chunk = 4096;
	/* Make the memory that an instance keeps after its first use. */
	assert_int_equal(echo("irqsoff", "current_tracer"), 0);
	assert_int_equal(echo("1", "function_profile_enabled"), 0);
	assert_int_equal(echo("0", "function_profile_enabled"), 0);
	assert_int_equal(echo("function_graph", "current_tracer"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	assert_int_equal(echo("local", "trace_clock"), 0);
	assert_int_equal(echo("", "trace"), 0);
	look_at_all(trace_fs_root());
	if (node_of("events")) {
		assert_int_equal(echo("1", "events/enable"), 0);
		assert_int_equal(echo("0", "events/enable"), 0);
		assert_int_equal(echo("!traceoff", "events/ftrace/print/trigger"), 0);
	}
	memory_out = fake_alloc_out;
	return 0;
}

/* Filters of events keep their texts, those that were refused, too. */
HELPER void clear_filters(void)
{
	struct trace_node *events = node_of("events"), *system = NULL;
	char path[64];

	while (events && (system = trace_fs_next_child(events, system))) {
		snprintf(path, sizeof(path), "events/%s/filter", system->name);
		if (system->is_dir && node_of(path))
			assert_int_equal(echo("0", path), 0);
	}
}

/* Nothing may be left of what a test did. */
HELPER int tracefs_check(void **state)
{
	(void)state;
	fake_bind(0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	assert_int_equal(echo("", "set_ftrace_notrace"), 0);
	assert_int_equal(fake_alloc_out, memory_out);
	return 0;
}

/* The same, where the thread `init` runs, and error_log is empty. */
HELPER int event_reset(void **state)
{
	int err = tracefs_reset(state);

	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	assert_int_equal(echo("", "error_log"), 0);
	return err;
}

/* A line that a file refuses, with the index of the character below which the caret stands. */
struct refused_line {
	const char *text;
	int err;
	const char *why;
	int caret;
};

/* Write the line, of which error_log then has the mistake; `file` is its name there, or NULL. */
HELPER void is_refused(const char *path, const char *file, const struct refused_line *line)
{
	char want[500];
	int at;

	assert_int_equal(echo("", "error_log"), 0);
	if (echo_append(line->text, path) != line->err)
		fail_msg("%s: %s\n%s", path, line->text, cat("error_log"));
	at = file ? snprintf(want, sizeof(want), "] %s: error: ", file) : 0;
	snprintf(want + at, sizeof(want) - (size_t)at, "%s\n  Command: %s\n%*s^\n", line->why,
		 line->text, 11 + line->caret, "");
	if (!strstr(cat("error_log"), want))
		fail_msg("wanted:\n%s\ngot:\n%s", want, cat("error_log"));
}

/* Function `index` is called on `cpu` by thread `pid`, a microsecond after what came before. */
HELPER void call(uint32_t cpu, int32_t pid, size_t index)
{
	fake_bind(cpu);
	fake_cpus[cpu].pid = pid;
	fake_clock += 1000;
	fake_call(index, PARENT);
	fake_bind(0);
}

#endif
