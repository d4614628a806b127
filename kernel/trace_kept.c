/*
 * Memory that survives a reset, and the name of this build, for trace/. See <trace/platform.h>.
 */
#include <arch/sections.h>
#include <kernel/mm.h>

#include <trace/fmt.h>
#include <trace/platform.h>

void *trace_plat_kept_memory(const char *name, size_t *out_bytes)
{
	return mm_reserved(name, out_bytes);
}

/* A hash of all constants: formats, tables, names and addresses of functions, lines of the source. */
static uint64_t trace_build_hash(void)
{
	const uint64_t *word = (const uint64_t *)(const void *)rodata_start;
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; word < (const uint64_t *)(const void *)rodata_end; word++)
		hash = ((hash ^ *word) * 0x100000001b3ull) ^ hash >> 47;
	return hash;
}

const char *trace_plat_build_id(void)
{
	static char text[17];

	if (!text[0])
		trace_scnprintf(text, sizeof(text), "%016lx", trace_build_hash());
	return text;
}
