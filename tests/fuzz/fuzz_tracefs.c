/*
 * Bytes as a session with tracefs: each op opens a file, writes, reads, closes it; calls of traced
 * functions happen in between. Memory may run out anywhere.
 *
 *   op:  file | its high bits, flags | memory until it fails | length of the text | text
 */
// links: trace/[a-k]*/*.c trace/livepatch/*.c trace/[m-z]*/*.c tests/unit/fake/*.c
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include <trace/fs.h>
#include <trace/ftrace.h>
#include <trace/trace.h>

#define MAX_LEAVES  4000u
#define NR_FUNCS    4u
#define SIZE_DIGITS 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct trace_node *leaves[MAX_LEAVES];
static size_t nr_leaves;

static void collect(struct trace_node *dir)
{
	struct trace_node *node = NULL;

	while ((node = trace_fs_next_child(dir, node))) {
		if (node->is_dir)
			collect(node);
		else if (nr_leaves == MAX_LEAVES)
			abort(); /* files would be left out */
		else
			leaves[nr_leaves++] = node;
	}
}

static void set_up(void)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	fake_reset();
	fake_set_nr_cpus(2);
	fake_text_build(names, NR_FUNCS);
	for (int32_t pid = 1; pid < 5; pid++)
		fake_thread_add(pid, "worker");
	ftrace_init();
	if (trace_init())
		abort();
	collect(trace_fs_root());
	fake_clock_step = 1000;
}

static void call_functions(void)
{
	for (size_t i = 0; i < NR_FUNCS; i++) {
		fake_bind((uint32_t)i & 1);
		fake_this->pid = (int32_t)i;
		fake_call(i, fake_func(1) + 4);
	}
	fake_bind(0);
}

static void use(struct trace_node *node, unsigned int flags, const uint8_t *text, size_t len)
{
	uint64_t write_pos = 0, read_pos = 0;
	struct trace_handle *handle;
	static char read[5000];

	if (len > SIZE_DIGITS && strcmp(node->name, "buffer_size_kb") == 0)
		len = SIZE_DIGITS; /* gigabytes are not what is tested */
	if (trace_fs_open(node, flags | TRACE_FS_NONBLOCK, &handle))
		return;
	if (flags & TRACE_FS_WRITE) {
		while (len) {
			int64_t done = trace_fs_write(handle, text, len, &write_pos);

			if (done <= 0)
				break;
			if ((size_t)done > len)
				abort();
			text += done;
			len -= (size_t)done;
		}
	}
	for (int i = 0; flags & TRACE_FS_READ && i < 4; i++)
		trace_fs_read(handle, read, i == 1 ? 7 : sizeof(read), &read_pos);
	trace_fs_close(handle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!nr_leaves)
		set_up();
	while (len >= 4) {
		size_t text_len = data[3] < len - 4 ? data[3] : len - 4;

		fake_alloc_budget = data[2] < 16 ? data[2] : -1;
		use(leaves[(data[0] | data[1] >> 4 << 8) % nr_leaves], data[1] & 15, data + 4,
		    text_len);
		fake_alloc_budget = -1;
		call_functions();
		trace_printk("text of %zu bytes\n", text_len);
		data += 4 + text_len;
		len -= 4 + text_len;
	}
	if (fake_nr_bugs || ftrace_is_dead())
		abort();
	return 0;
}
