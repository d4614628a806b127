/*
 * The reader of `torture`: a thread that opens and reads files of tracefs, one after the other, as
 * long as a round goes on, while others change what they show. See torture.h.
 */
#include <arch/smp.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/errno.h>
#include "torture.h"

#define PART_BYTES 1024u
#define PAUSES	   3u /* as long as a read: grace periods wait for reads, changes for these */

/* None of them waits for something, and none takes events away. */
static const char *const files[] = {
	"trace",
	"snapshot",
	"per_cpu/cpu0/trace",
	"per_cpu/cpu0/stats",
	"instances/torture_function/trace",
	"instances/torture_function/snapshot",
	"instances/torture_function/per_cpu/cpu0/stats",
	"instances/torture_graph/trace",
	"instances/torture_graph/snapshot",
	"instances/torture_pid/trace",
	"instances/torture_nop/trace",
	"instances/torture_nop/set_ftrace_filter",
	"instances/torture_guest/trace",
	"instances/torture_guest/trace_options",
	"instances/torture_guest/set_ftrace_filter",
	"trace_stat/function0",
	"enabled_functions",
	"set_ftrace_filter",
	"set_graph_function",
	"set_ftrace_pid",
	"trace_options",
	"error_log",
	"stack_trace",
	"stack_max_size",
	"saved_cmdlines",
	"tracing_max_latency",
	"buffer_total_size_kb",
	"text_poke_stats",
	"/sys/kernel/livepatch/torture/transition",
};

static struct {
	struct thread *thread;
	struct semaphore go;
	struct completion is_resting;
	_Atomic bool rest;
	_Atomic bool stop;
	uint64_t seed;
	int err; /* the first one; the reader's own until it rests */
	const char *err_path;
	char text[PART_BYTES];
} reader;

/* A file that comes and goes may be gone, and an exclusive one may be in use. */
static void torture_reader_read_one(const char *path)
{
	int err = torture_read(path, reader.text, sizeof(reader.text));

	if (!err || err == -ENOENT || err == -EBUSY || err == -ENODEV || reader.err)
		return;
	reader.err = err;
	reader.err_path = path;
}

static int reader_main(void *arg)
{
	(void)arg;
	for (;;) {
		semaphore_down(&reader.go);
		if (atomic_load(&reader.stop))
			return 0;
		while (!atomic_load(&reader.rest)) {
			uint64_t start_ns = ktime_get_ns();

			torture_reader_read_one(
				files[torture_random(&reader.seed, ARRAY_SIZE(files))]);
			thread_sleep_ns(PAUSES * (ktime_get_ns() - start_ns));
		}
		complete(&reader.is_resting);
	}
}

int torture_start_reader(void)
{
	atomic_store(&reader.stop, false);
	reader.seed = 99;
	reader.err = 0;
	reader.thread = thread_create("torture_reader", reader_main, NULL, 0);
	return reader.thread ? 0 : -ENOMEM;
}

void torture_stop_reader(void)
{
	if (!reader.thread)
		return;
	atomic_store(&reader.stop, true);
	semaphore_up(&reader.go);
	thread_join_wait(reader.thread);
	reader.thread = NULL;
}

void torture_release_reader(void)
{
	if (!reader.thread)
		return;
	atomic_store(&reader.rest, false);
	semaphore_up(&reader.go);
}

void torture_rest_reader(void)
{
	if (!reader.thread)
		return;
	atomic_store(&reader.rest, true);
	wait_for_completion(&reader.is_resting);
}

int torture_reader_error(const char **out_path)
{
	*out_path = reader.err_path;
	return reader.err;
}
