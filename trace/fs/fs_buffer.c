/*
 * The files of tracefs about the ring buffer: sizes, statistics; and the two sets of files, of an
 * instance and of a CPU, that events are read from. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "text/str.h"

#define NUMBER_MAX	 64u
#define KB_SHIFT	 10u
#define SIZE_LIMIT_BYTES (1ull << 46)
#define SUBBUF_MAX_KB	 (RING_SUBBUF_BYTES >> KB_SHIFT << RING_SUBBUF_MAX_ORDER)

/*
 * The size that is shown before the buffer has its full size: two sub-buffers without heads, in KB.
 */
static uint64_t unexpanded_kb(const struct trace_array *tr)
{
	return 2ull * (ring_buffer_subbuf_size(tr->buffer) - sizeof(struct ring_page)) >> KB_SHIFT;
}

static uint64_t cpu_kb(const struct trace_array *tr, uint32_t cpu)
{
	return tr->is_expanded ? ring_buffer_size(tr->buffer, cpu) >> KB_SHIFT : unexpanded_kb(tr);
}

static bool sizes_differ(const struct trace_array *tr)
{
	for (uint32_t cpu = 1; cpu < trace_plat_nr_cpus(); cpu++) {
		if (cpu_kb(tr, cpu) != cpu_kb(tr, 0))
			return true;
	}
	return false;
}

static void show_all(const struct trace_array *tr, struct trace_seq *seq)
{
	if (!tr->is_expanded)
		trace_seq_printf(seq, "%llu (expanded: %zu)\n",
				 (unsigned long long)unexpanded_kb(tr),
				 tr->wanted_bytes >> KB_SHIFT);
	else if (sizes_differ(tr))
		trace_seq_puts(seq, "X\n");
	else
		trace_seq_printf(seq, "%llu\n", (unsigned long long)cpu_kb(tr, 0));
}

static int buffer_size_show(struct trace_handle *handle, struct trace_seq *seq)
{
	int cpu = trace_handle_cpu(handle);

	trace_plat_lock(&trace_config_lock);
	if (cpu == RING_BUFFER_ALL_CPUS)
		show_all(handle->tr, seq);
	else
		trace_seq_printf(seq, "%llu\n",
				 (unsigned long long)cpu_kb(handle->tr, (uint32_t)cpu));
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int buffer_size_store(struct trace_handle *handle, char *text)
{
	uint64_t kb;
	int err = trace_handle_number(handle, text, &kb);

	if (err)
		return err;
	if (!kb || kb > SIZE_LIMIT_BYTES >> KB_SHIFT) {
		trace_handle_blame(handle, text,
				   kb ? "more than there can be" : "a buffer has at least 1");
		return kb ? -ENOMEM : -EINVAL;
	}
	trace_plat_lock(&trace_config_lock);
	err = trace_array_resize(handle->tr, kb << KB_SHIFT, trace_handle_cpu(handle));
	trace_plat_unlock(&trace_config_lock);
	if (err == -EBUSY)
		trace_handle_blame(handle, text, "somebody reads the trace or the snapshot");
	else if (err == -EOPNOTSUPP)
		trace_handle_blame(handle, text, "memory that survives a reset keeps its size");
	return err;
}

static int buffer_total_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_array *tr = handle->tr;
	uint64_t nr_cpus = trace_plat_nr_cpus(), total = 0, wanted;

	trace_plat_lock(&trace_config_lock);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		total += cpu_kb(tr, cpu);
	wanted = nr_cpus * (tr->wanted_bytes >> KB_SHIFT);
	if (tr->is_expanded)
		trace_seq_printf(seq, "%llu\n", (unsigned long long)total);
	else
		trace_seq_printf(seq, "%llu (expanded: %llu)\n", (unsigned long long)total,
				 (unsigned long long)wanted);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int subbuf_size_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%u\n", ring_buffer_subbuf_size(handle->tr->buffer) >> KB_SHIFT);
	return 0;
}

static int subbuf_size_store(struct trace_handle *handle, char *text)
{
	uint64_t kb;
	int err = trace_handle_number(handle, text, &kb), order = 0;

	if (err)
		return err;
	if (!kb || kb > SUBBUF_MAX_KB) {
		trace_handle_blame(handle, text, "not from 1 to 512");
		return -EINVAL;
	}
	while (RING_SUBBUF_BYTES >> KB_SHIFT << order < kb)
		order++;
	trace_plat_lock(&trace_config_lock);
	err = trace_array_set_subbuf_order(handle->tr, order);
	trace_plat_unlock(&trace_config_lock);
	if (err == -EBUSY)
		trace_handle_blame(handle, text, "somebody reads the trace or the snapshot");
	else if (err == -EOPNOTSUPP)
		trace_handle_blame(handle, text, "memory that survives a reset keeps its size");
	return err;
}

static void show_time(const struct trace_array *tr, struct trace_seq *seq, const char *name,
		      uint64_t time)
{
	uint64_t us = (time + 500) / 1000;

	if (tr->clock->is_ns)
		trace_seq_printf(seq, "%s: %5llu.%06llu\n", name,
				 (unsigned long long)(us / 1000000),
				 (unsigned long long)(us % 1000000));
	else
		trace_seq_printf(seq, "%s: %llu\n", name, (unsigned long long)time);
}

static int stats_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_array *tr = handle->tr;
	struct ring_stats stats;

	ring_buffer_stats_cpu(tr->buffer, (uint32_t)trace_handle_cpu(handle), &stats);
	trace_seq_printf(seq, "entries: %llu\n", (unsigned long long)stats.entries);
	trace_seq_printf(seq, "overrun: %llu\n", (unsigned long long)stats.overrun);
	trace_seq_printf(seq, "commit overrun: %llu\n", (unsigned long long)stats.commit_overrun);
	trace_seq_printf(seq, "bytes: %llu\n", (unsigned long long)stats.bytes);
	show_time(tr, seq, "oldest event ts", stats.oldest_ts);
	show_time(tr, seq, "now ts", stats.now_ts);
	trace_seq_printf(seq, "dropped events: %llu\n", (unsigned long long)stats.dropped);
	trace_seq_printf(seq, "read events: %llu\n", (unsigned long long)stats.read);
	return 0;
}

/* ---- buffer_percent, free_buffer ---- */

static int buffer_percent_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%u\n", handle->tr->buffer_percent);
	return 0;
}

static int buffer_percent_store(struct trace_handle *handle, char *text)
{
	uint64_t percent;
	int err = trace_handle_number(handle, text, &percent);

	if (err)
		return err;
	if (percent > 100) {
		trace_handle_blame(handle, text, "more than 100");
		return -EINVAL;
	}
	handle->tr->buffer_percent = (uint32_t)percent;
	return 0;
}

/* Closing the file frees the memory, so that it happens, too, when the program is killed. */
static int64_t free_buffer_write(struct trace_handle *handle, const char *buf, size_t len)
{
	(void)handle;
	(void)buf;
	return (int64_t)len;
}

static int free_buffer_close(struct trace_handle *handle)
{
	struct trace_array *tr = handle->tr;
	int err;

	trace_plat_lock(&trace_config_lock);
	if (tr->options & TRACE_OPT_BIT(TRACE_OPT_DISABLE_ON_FREE))
		trace_array_switch(tr, false, TRACE_OFF_BY_FREE_BUFFER);
	err = trace_array_resize(tr, TRACE_BUF_SIZE_MINIMAL, RING_BUFFER_ALL_CPUS);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static const struct trace_file buffer_percent_file = {
	.name = "buffer_percent",
	.mode = TRACE_MODE_WRITE,
	.show = buffer_percent_show,
	.store = buffer_percent_store,
	.store_max = NUMBER_MAX,
};

static const struct trace_file free_buffer_file = {
	.name = "free_buffer",
	.mode = 0200,
	.write = free_buffer_write,
	.close = free_buffer_close,
};

static const struct trace_file buffer_size_file = {
	.name = "buffer_size_kb",
	.mode = TRACE_MODE_WRITE,
	.show = buffer_size_show,
	.store = buffer_size_store,
	.store_max = NUMBER_MAX,
};

static const struct trace_file subbuf_size_file = {
	.name = "buffer_subbuf_size_kb",
	.mode = TRACE_MODE_WRITE,
	.show = subbuf_size_show,
	.store = subbuf_size_store,
	.store_max = NUMBER_MAX,
};

static const struct trace_file buffer_total_file = {
	.name = "buffer_total_size_kb",
	.mode = TRACE_MODE_READ,
	.show = buffer_total_show,
};

static const struct trace_file stats_file = {
	.name = "stats",
	.mode = TRACE_MODE_READ,
	.show = stats_show,
};

static const struct trace_file *const fs_buffer_files[] = {
	&buffer_size_file, &buffer_total_file, &subbuf_size_file, &buffer_percent_file,
	&free_buffer_file, &trace_trace_file,  &trace_pipe_file,
};

static const struct trace_file *const fs_buffer_cpu_files[] = {
	&buffer_size_file, &stats_file, &trace_trace_file, &trace_pipe_file, &trace_pipe_raw_file,
};

const struct trace_file_table trace_buffer_files = {
	.files = fs_buffer_files,
	.nr = TRACE_ARRAY_SIZE(fs_buffer_files),
	.cpu_files = fs_buffer_cpu_files,
	.nr_cpu = TRACE_ARRAY_SIZE(fs_buffer_cpu_files),
};
