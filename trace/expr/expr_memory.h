/*
 * Numbers of 1, 2, 4 or 8 bytes in memory that may not be there.
 *
 * Context: any, NMI included.
 */
#ifndef TRACE_EXPR_MEMORY_H
#define TRACE_EXPR_MEMORY_H

#include <trace/platform.h>

/* A number that was read; 0 when that failed. */
struct expr_got {
	uint64_t value;
	bool is_there;
};

/* `size` bytes at an address of the running program. */
struct expr_got trace_expr_user_number(uint64_t from, uint32_t size);

/*
 * `size` bytes at any address of the kernel, and perhaps some behind them; false: they cannot be
 * read. Those that do not cross a border of words are read as part of a whole one, which lies in the
 * same page.
 */
static TRACE_ALWAYS_INLINE bool expr_kernel_number(uint64_t *value, uint64_t from, uint32_t size)
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

/* The same at any address: memory of the running program is where the kernel has none. */
static TRACE_ALWAYS_INLINE bool expr_number_at(uint64_t *value, uint64_t from, uint32_t size)
{
	struct expr_got got;

	if (TRACE_LIKELY(expr_kernel_number(value, from, size)))
		return true;
	got = trace_expr_user_number(from, size);
	*value = got.value;
	return got.is_there;
}

#endif
