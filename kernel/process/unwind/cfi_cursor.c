/* Bytes of a program's tables, one after the other: see cfi_priv.h. */
#include "cfi_priv.h"

#define CFI_PAGE 4096u /* a read stays in one */

void cfi_cursor_set(struct cfi_cursor *cursor, uint64_t at, uint64_t bytes)
{
	cursor->at = at;
	cursor->end = at + bytes;
	cursor->nr = 0;
	cursor->is_bad |= cursor->end < at;
}

static bool cfi_fill(struct cfi_cursor *cursor)
{
	uint64_t bytes = CFI_PAGE - cursor->at % CFI_PAGE;

	if (bytes > sizeof(cursor->window))
		bytes = sizeof(cursor->window);
	if (bytes > cursor->end - cursor->at)
		bytes = cursor->end - cursor->at;
	cursor->base = cursor->at;
	cursor->nr = (uint32_t)bytes;
	if (cfi_read(cursor->window, cursor->at, bytes))
		return true;
	cursor->nr = 0;
	cursor->is_missing = true;
	cursor->end = cursor->at;
	return false;
}

uint8_t cfi_byte(struct cfi_cursor *cursor)
{
	if (cursor->at >= cursor->end) {
		cursor->is_bad = true;
		return 0;
	}
	if (cursor->at - cursor->base >= cursor->nr && !cfi_fill(cursor))
		return 0;
	return cursor->window[cursor->at++ - cursor->base];
}

uint64_t cfi_number(struct cfi_cursor *cursor, uint32_t bytes)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint64_t)cfi_byte(cursor) << (8 * i);
	return value;
}

/* LEB128: seven bits a byte, the lowest first; *out_bits is how many there were, *out_last the last byte. */
static uint64_t cfi_leb(struct cfi_cursor *cursor, uint32_t *out_bits, uint8_t *out_last)
{
	uint64_t value = 0;
	uint32_t bits = 0;
	uint8_t byte;

	do {
		byte = cfi_byte(cursor);
		if (bits < 64)
			value |= (uint64_t)(byte & 0x7f) << bits;
		bits += 7;
	} while (byte & 0x80);
	*out_bits = bits;
	*out_last = byte;
	return value;
}

uint64_t cfi_unsigned(struct cfi_cursor *cursor)
{
	uint32_t bits;
	uint8_t last;

	return cfi_leb(cursor, &bits, &last);
}

int64_t cfi_signed(struct cfi_cursor *cursor)
{
	uint32_t bits;
	uint8_t last;
	uint64_t value = cfi_leb(cursor, &bits, &last);

	if (bits < 64 && last & 0x40)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

void cfi_skip_to(struct cfi_cursor *cursor, uint64_t start, uint64_t bytes)
{
	if (start > cursor->end || bytes > cursor->end - start)
		cursor->is_bad = true;
	else
		cursor->at = start + bytes;
}
