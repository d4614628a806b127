/*
 * Numbers of 1, 2, 4 or 8 bytes, for fetch_run.c.
 *
 * Context: any, NMI included.
 */
#ifndef FETCH_NUMBER_H
#define FETCH_NUMBER_H

#include <trace/platform.h>

static inline uint64_t fetch_load(const uint8_t *from, uint32_t size)
{
	uint64_t value = 0;

	switch (size) {
	case 1:
		return *from;
	case 2:
		__builtin_memcpy(&value, from, 2);
		return value;
	case 4:
		__builtin_memcpy(&value, from, 4);
		return value;
	default:
		__builtin_memcpy(&value, from, 8);
		return value;
	}
}

/*
 * `size` bytes at any address, and perhaps some behind them; false: they cannot be read. Those that
 * do not cross a border of words are read as part of a whole one, which lies in the same page.
 */
static TRACE_ALWAYS_INLINE bool fetch_number_at(uint64_t *value, uint64_t from, uint32_t size)
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

static inline uint64_t fetch_load_signed(const uint8_t *from, uint32_t size)
{
	uint32_t shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(fetch_load(from, size) << shift) >> shift);
}

static inline void fetch_store(uint8_t *to, uint64_t value, uint32_t size)
{
	switch (size) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		__builtin_memcpy(to, &value, 2);
		break;
	case 4:
		__builtin_memcpy(to, &value, 4);
		break;
	default:
		__builtin_memcpy(to, &value, 8);
		break;
	}
}

#endif
