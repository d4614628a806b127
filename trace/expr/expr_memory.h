/*
 * Numbers of 1, 2, 4 or 8 bytes in memory that may not be there.
 *
 * Context: any, NMI included.
 */
#ifndef TRACE_EXPR_MEMORY_H
#define TRACE_EXPR_MEMORY_H

#include <trace/platform.h>

/*
 * `size` bytes at any address, and perhaps some behind them; false: they cannot be read. Those that
 * do not cross a border of words are read as part of a whole one, which lies in the same page.
 */
static TRACE_ALWAYS_INLINE bool expr_number_at(uint64_t *value, uint64_t from, uint32_t size)
{
	uint32_t skipped = (uint32_t)(from % sizeof(*value));

	if (TRACE_LIKELY(size == sizeof(*value)))
		return trace_plat_read_word(value, (const void *)(uintptr_t)from);
	if (TRACE_UNLIKELY(skipped + size > sizeof(*value)))
		return trace_plat_read(value, (const void *)(uintptr_t)from, size);
	if (!trace_plat_read_word(value, (const void *)(uintptr_t)(from - skipped)))
		return false;
	*value >>= 8 * skipped;
	return true;
}

#endif
