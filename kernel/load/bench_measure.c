/*
 * How the `bench` command counts, and what it asks of tracefs. See kernel/load/bench_private.h.
 */
#include <arch/cpu.h>
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include <trace/platform.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_CHUNK   1000u
#define BENCH_CHUNKS  50ul
#define BENCH_ROUNDS  (BENCH_CHUNK * BENCH_CHUNKS)
#define BENCH_TRACING "/sys/kernel/tracing"

void bench_print(struct command_env *env, const char *name, uint64_t value_milli, const char *unit)
{
	command_printf(env, "bench %s %lu.%03lu %s\n", name, (unsigned long)(value_milli / 1000),
		       (unsigned long)(value_milli % 1000), unit);
}

static uint64_t bench_cycles_of(void (*loop)(uint32_t n), uint32_t n)
{
	uint64_t flags = arch_irq_save();
	uint64_t start = trace_plat_cycles();

	loop(n);
	start = trace_plat_cycles() - start;
	arch_irq_restore(flags);
	return start;
}

/*
 * Cycles of BENCH_ROUNDS rounds of `loop`, after one chunk to warm up. Two chunks less one: what
 * entering and leaving the loop costs is not in it.
 */
static uint64_t bench_measure(void (*loop)(uint32_t n))
{
	int64_t total = 0;

	loop(BENCH_CHUNK);
	for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
		total += (int64_t)bench_cycles_of(loop, 2 * BENCH_CHUNK);
		total -= (int64_t)bench_cycles_of(loop, BENCH_CHUNK);
	}
	return total > 0 ? (uint64_t)total : 0;
}

uint64_t bench_per_round_milli(void (*loop)(uint32_t n))
{
	return bench_measure(loop) * 1000 / BENCH_ROUNDS;
}

uint64_t bench_measure_above(void (*loop)(uint32_t n), void (*base)(uint32_t n))
{
	uint64_t with = bench_measure(loop), without = bench_measure(base);

	return with > without ? (with - without) * 1000 / BENCH_ROUNDS : 0;
}

int bench_write_file(const char *name, const char *text)
{
	struct file *file;
	ssize_t written;
	int err = vfs_open(BENCH_TRACING, name, VFS_WRITE | VFS_TRUNCATE, &file);

	if (err)
		return err;
	written = text[0] ? file_write(file, text, strlen(text)) : 0;
	err = file_put(file);
	return written < 0 ? (int)written : err;
}

/* The number behind `label` in `text`; 0 when it is not there. */
static uint64_t bench_number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (at += strlen(label); *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

uint64_t bench_bytes_per_event_milli(void)
{
	char text[512];
	uint64_t entries, bytes;
	struct file *file;
	ssize_t len;

	if (vfs_open(BENCH_TRACING, "per_cpu/cpu0/stats", VFS_READ, &file))
		return 0;
	len = file_read(file, text, sizeof(text) - 1);
	file_put(file);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	entries = bench_number_after(text, "entries: ");
	bytes = bench_number_after(text, "bytes: ");
	return entries ? bytes * 1000 / entries : 0;
}
