/*
 * `bench`: the memory that an instance takes beside its buffer: when it is made, when a reader has
 * looked into all of its directories, and when all events are on in it.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fs.h>
#include <trace/ring_buffer.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_INSTANCE	"instances/bench"
#define BENCH_SETTLE_NS 150000000u /* longer than who gives back waits in between */

static void bench_add_cache(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			    void *arg)
{
	(void)name;
	(void)pages;
	*(uint64_t *)arg += bytes * live;
}

/* All that is allocated: objects of slab caches, and pages that hold no such objects. */
static uint64_t bench_used_bytes(void)
{
	struct mm_stats stats;
	uint64_t bytes;

	mm_stats_get(&stats);
	bytes = (stats.used_pages - stats.slab_pages - stats.page_table_pages) * PAGE_SIZE;
	mm_each_cache(bench_add_cache, &bytes);
	return bytes;
}

uint64_t bench_settled_bytes(void)
{
	uint64_t last, bytes = bench_used_bytes();

	do {
		last = bytes;
		thread_sleep_ns(BENCH_SETTLE_NS);
		bytes = bench_used_bytes();
	} while (bytes != last);
	return bytes;
}

/* Bytes of a buffer like that of a new instance. */
static uint64_t bench_buffer_bytes(void)
{
	uint64_t bytes = bench_read_number(BENCH_INSTANCE "/buffer_size_kb") << 10;
	uint64_t before = bench_used_bytes();
	struct ring_buffer *buffer = ring_buffer_alloc(bytes, RING_BUFFER_OVERWRITE);

	if (!buffer)
		return 0;
	bytes = bench_used_bytes() - before;
	ring_buffer_free(buffer);
	return bytes;
}

/* As `find` does: look into each directory below `dir`. */
static void bench_look(struct trace_node *dir)
{
	char name[64];
	size_t index = 0;

	while (!trace_fs_entry(dir, index++, name, sizeof(name))) {
		struct trace_node *node = trace_fs_lookup(dir, name, strlen(name));

		if (!node)
			continue;
		if (node->is_dir)
			bench_look(node);
		trace_fs_put(node);
	}
}

static void bench_look_at_instance(void)
{
	struct trace_node *dir = trace_fs_lookup(trace_fs_root(), "instances", 9), *bench;

	bench = trace_fs_lookup(dir, "bench", 5);
	bench_look(bench);
	trace_fs_put(bench);
	trace_fs_put(dir);
}

/* There is an instance since `before` bytes were used. */
static int bench_instance_since(struct command_env *env, const char *name, uint64_t before)
{
	uint64_t buffer = bench_buffer_bytes();
	int err = buffer ? 0 : -ENOMEM;

	if (!err && !strcmp(name, "instance_bytes_on"))
		err = bench_write_file(BENCH_INSTANCE "/events/enable", "1");
	if (!strcmp(name, "instance_bytes_seen"))
		bench_look_at_instance();
	if (!err)
		bench_print(env, name, (bench_used_bytes() - before - buffer) * 1000, "bytes");
	return err;
}

static int bench_instance_bytes(struct command_env *env, const char *name)
{
	uint64_t before;
	int err = bench_make_instance(BENCH_INSTANCE);

	if (err)
		return err;
	/* Allocations of the first one of all, such as room for names of threads, stay. */
	err = bench_write_file(BENCH_INSTANCE "/events/enable", "1");
	bench_remove_instance(BENCH_INSTANCE);
	if (err)
		return err;
	before = bench_settled_bytes();
	err = bench_make_instance(BENCH_INSTANCE);
	if (err)
		return err;
	err = bench_instance_since(env, name, before);
	bench_remove_instance(BENCH_INSTANCE);
	return err ? err : bench_check(env, name, bench_settled_bytes(), before);
}

const struct bench bench_memory_rows[] = {
	{ "instance_bytes", bench_instance_bytes },
	{ "instance_bytes_seen", bench_instance_bytes },
	{ "instance_bytes_on", bench_instance_bytes },
	{},
};
