/*
 * How the `bench` command counts, and what it asks of tracefs. See kernel/load/bench_private.h.
 */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "bench.h"
#include "bench_private.h"

#define BENCH_TRACING	 "/sys/kernel/tracing"
#define BENCH_READ_BYTES 65536u /* as Linux was measured */

void bench_print(struct command_env *env, const char *name, uint64_t value_milli, const char *unit)
{
	command_printf(env, "bench %s %lu.%03lu %s\n", name, (unsigned long)(value_milli / 1000),
		       (unsigned long)(value_milli % 1000), unit);
}

int bench_check(struct command_env *env, const char *name, uint64_t found, uint64_t wanted)
{
	if (found == wanted)
		return 0;
	command_error(env, "%s: %llu events where there should be %llu", name,
		      (unsigned long long)found, (unsigned long long)wanted);
	return -ERANGE;
}

/* Inline, as its caller is: func_stack counts what lies above the target, ten frames or so. */
static TRACE_ALWAYS_INLINE uint64_t bench_cycles_of(void (*loop)(uint32_t n), uint32_t n)
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
static TRACE_ALWAYS_INLINE uint64_t bench_measure(void (*loop)(uint32_t n))
{
	int64_t total = 0;

	loop(BENCH_CHUNK);
	for (uint32_t i = 0; i < BENCH_CHUNKS; i++) {
		total += (int64_t)bench_cycles_of(loop, 2 * BENCH_CHUNK);
		total -= (int64_t)bench_cycles_of(loop, BENCH_CHUNK);
	}
	return total > 0 ? (uint64_t)total : 0;
}

uint64_t bench_calls(void)
{
	return BENCH_CHUNK + 3 * BENCH_ROUNDS;
}

uint64_t bench_rounds(void)
{
	return bench_calls();
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

static int bench_write_opened(const char *name, const char *text, uint32_t flags)
{
	struct file *file;
	ssize_t written;
	int err = vfs_open(BENCH_TRACING, name, flags, &file);

	if (err)
		return err;
	written = text[0] ? file_write(file, text, strlen(text)) : 0;
	err = fput(file);
	return written < 0 ? (int)written : err;
}

int bench_write_file(const char *name, const char *text)
{
	return bench_write_opened(name, text, VFS_WRITE | VFS_TRUNCATE);
}

int bench_append_file(const char *name, const char *text)
{
	return bench_write_opened(name, text, VFS_WRITE);
}

int bench_make_instance(const char *name)
{
	return vfs_mkdir(BENCH_TRACING, name);
}

void bench_remove_instance(const char *name)
{
	vfs_rmdir(BENCH_TRACING, name);
}

/* The number behind `label` and blanks in `text`; 0 when it is not there. */
static uint64_t bench_number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (at += strlen(label); *at == ' '; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* The beginning of a file; "" when it cannot be read. */
static void bench_read_file(const char *name, char *text, size_t size)
{
	size_t used = 0;
	struct file *file;
	ssize_t len;

	if (!vfs_open(BENCH_TRACING, name, VFS_READ, &file)) {
		while (used < size - 1 && (len = file_read(file, text + used, size - 1 - used)) > 0)
			used += (size_t)len;
		fput(file);
	}
	text[used] = '\0';
}

uint64_t bench_read_number(const char *name)
{
	char text[64];

	bench_read_file(name, text, sizeof(text));
	return bench_number_after(text, "");
}

uint64_t bench_cost_of_reading(const char *name)
{
	char *block = trace_plat_alloc(BENCH_READ_BYTES);
	uint64_t cycles = 0;
	struct file *file;

	if (!block)
		return 0;
	if (!vfs_open(BENCH_TRACING, name, VFS_READ, &file)) {
		cycles = trace_plat_cycles();
		while (file_read(file, block, BENCH_READ_BYTES) > 0)
			;
		cycles = trace_plat_cycles() - cycles;
		fput(file);
	}
	trace_plat_free(block, BENCH_READ_BYTES);
	return cycles;
}

uint64_t bench_count_lines(const char *name)
{
	char text[512];
	struct file *file;
	uint64_t nr = 0;
	ssize_t len;

	if (vfs_open(BENCH_TRACING, name, VFS_READ, &file))
		return 0;
	while ((len = file_read(file, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < len; i++)
			nr += text[i] == '\n';
	}
	fput(file);
	return nr;
}

void bench_count(const char *dir, struct bench_counts *out_counts)
{
	char name[64], text[512];

	*out_counts = (struct bench_counts){ 0 };
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		trace_snprintf(name, sizeof(name), "%sper_cpu/cpu%u/stats", dir, cpu);
		bench_read_file(name, text, sizeof(text));
		out_counts->entries += bench_number_after(text, "entries: ");
		out_counts->overrun += bench_number_after(text, "overrun: ");
		out_counts->dropped += bench_number_after(text, "dropped events: ");
		out_counts->bytes += bench_number_after(text, "bytes: ");
	}
}

uint64_t bench_count_hits(const char *name)
{
	char text[512];
	size_t kept = 0;
	struct file *file;
	ssize_t len;

	if (vfs_open(BENCH_TRACING, name, VFS_READ, &file))
		return 0;
	/* The last 256 bytes of what is read remain. */
	while ((len = file_read(file, text + kept, sizeof(text) - 1 - kept)) > 0) {
		kept += (size_t)len;
		if (kept > 256) {
			memmove(text, text + kept - 256, 256);
			kept = 256;
		}
	}
	fput(file);
	text[kept] = '\0';
	return bench_number_after(text, "Hits: ") + bench_number_after(text, "Dropped: ");
}

uint64_t bench_profile_hits(void)
{
	char name[64], text[512];
	uint64_t hits = 0;

	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		trace_snprintf(name, sizeof(name), "trace_stat/function%u", cpu);
		bench_read_file(name, text, sizeof(text));
		hits += bench_number_after(text, BENCH_TARGET " ");
	}
	return hits;
}
