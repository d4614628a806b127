/*
 * Any bytes as the tables and the stack of a program: each search and each step ends, and nothing outside is read.
 * links: kernel/process/unwind/cfi.c kernel/process/unwind/cfi_cursor.c kernel/process/unwind/cfi_entry.c kernel/process/unwind/cfi_run.c
 */
#include <string.h>
#include "process/unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t *memory;
static size_t memory_bytes;
static uint64_t nr_read;

bool cfi_read(void *to, uint64_t from, size_t bytes)
{
	nr_read += bytes;
	if (from >= memory_bytes || bytes > memory_bytes - from)
		return false;
	memcpy(to, memory + from, bytes);
	return true;
}

/* Callers of a frame at `ip`, by one table; a walk is as long as its caller wants. */
static void walk(const struct cfi_table *table, uint64_t ip)
{
	struct cfi_frame frame = { .ip = ip, .sp = ip & 0xff, .fp = ip & 0x7f, .is_exact = true };
	struct cfi_rule rule;
	uint64_t slot;

	for (int i = 0; i < 8; i++) {
		nr_read = 0;
		if (!cfi_find(table, frame.is_exact ? frame.ip : frame.ip - 1, &rule))
			break;
		if (nr_read > 2 * CFI_BYTES_MAX + 1024)
			__builtin_trap();
		if (!cfi_step(&frame, &rule, &slot))
			break;
	}
}

/* The input: an address, the place of the table, and all of the program's memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct cfi_pair pairs[64];
	struct cfi_table table = { 0 };
	uint16_t at[2];

	if (len < sizeof(at))
		return 0;
	memcpy(at, data, sizeof(at));
	memory = data + sizeof(at);
	memory_bytes = len - sizeof(at);
	table = (struct cfi_table){ .start = at[1] % 64, .bytes = memory_bytes };
	walk(&table, at[0]);
	cfi_has_pointers(&table);
	table.nr = cfi_index(&table, pairs, 64);
	table.index = pairs;
	walk(&table, at[0]);
	return 0;
}
