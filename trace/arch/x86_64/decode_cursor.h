/*
 * Reading an instruction byte by byte, for the files of the decoder.
 *
 * Context: any; not traced.
 */
#ifndef DECODE_CURSOR_H
#define DECODE_CURSOR_H

#include <stdint.h>
#include <trace/arch_decode.h>
#include <trace/errno.h>

struct decode_cursor {
	const uint8_t *text;
	uint8_t at;
	uint8_t end; /* of what may be read */
	int err;     /* for who reads behind it */
};

/* The next byte; 0 behind the end, and `err` says so. */
static inline uint8_t decode_byte(struct decode_cursor *cursor)
{
	if (cursor->at < cursor->end)
		return cursor->text[cursor->at++];
	cursor->err = cursor->end == TRACE_INSN_MAX ? -E2BIG : -ENODATA;
	return 0;
}

/* The next `size` bytes as a number, low byte first. */
static inline uint64_t decode_number(struct decode_cursor *cursor, uint8_t size)
{
	uint64_t value = 0;

	for (uint8_t i = 0; i < size; i++)
		value |= (uint64_t)decode_byte(cursor) << (8 * i);
	return value;
}

static inline int64_t decode_signed(struct decode_cursor *cursor, uint8_t size)
{
	uint64_t value = decode_number(cursor, size), sign;

	if (!size)
		return 0;
	sign = 1ull << (8 * size - 1);
	return (int64_t)((value ^ sign) - sign);
}

#endif
