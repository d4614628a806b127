/*
 * Text that grows in a buffer of fixed size. See <trace/trace_seq.h>.
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "fmt_spec.h"
#include "str.h"
#include "word.h"

void trace_seq_init(struct trace_seq *seq, char *buf, size_t size)
{
	*seq = (struct trace_seq){ .buf = buf, .size = size };
}

/* A formatter was given the free room and has a text of `len` bytes: count what is there of it. */
static void advance(struct trace_seq *seq, size_t len)
{
	size_t room = trace_seq_room(seq);

	if (len < room) {
		seq->len += len;
		return;
	}
	seq->overflowed = true;
	seq->len += room ? room - 1 : 0; /* the last byte is the formatter's NUL */
}

void trace_seq_printf(struct trace_seq *seq, const char *fmt, ...)
{
	struct fmt_args args = { .hashes_pointers = seq->hashes_pointers };
	va_list ap;

	va_start(ap, fmt);
	args.call = &ap;
	advance(seq,
		(size_t)trace_fmt_format(seq->buf + seq->len, trace_seq_room(seq), fmt, &args));
	va_end(ap);
}

void trace_seq_bprintf(struct trace_seq *seq, const char *fmt, const void *args, size_t args_bytes)
{
	struct fmt_args packed = { .packed = args,
				   .packed_start = args,
				   .packed_end = (const uint8_t *)args + args_bytes,
				   .hashes_pointers = seq->hashes_pointers };

	advance(seq,
		(size_t)trace_fmt_format(seq->buf + seq->len, trace_seq_room(seq), fmt, &packed));
}

void trace_seq_write(struct trace_seq *seq, const void *bytes, size_t len)
{
	size_t room = trace_seq_room(seq);

	if (len > room) {
		seq->overflowed = true;
		len = room;
	}
	memcpy(seq->buf + seq->len, bytes, len);
	seq->len += len;
}

void trace_seq_puts(struct trace_seq *seq, const char *text)
{
	trace_seq_write(seq, text, trace_strlen(text));
}

static void fill_up(struct trace_seq *seq, char c, size_t nr)
{
	size_t room = trace_seq_room(seq);

	if (nr > room) {
		seq->overflowed = true;
		nr = room;
	}
	memset(seq->buf + seq->len, c, nr);
	seq->len += nr;
}

void trace_seq_right(struct trace_seq *seq, const char *text, size_t width)
{
	size_t len = trace_strlen(text);

	if (width > len)
		fill_up(seq, ' ', width - len);
	trace_seq_write(seq, text, len);
}

void trace_seq_dec(struct trace_seq *seq, uint64_t value, unsigned int width, char fill)
{
	char digits[TRACE_DIGITS_MAX], *end = digits + sizeof(digits);
	char *start = trace_digits(end, value);
	size_t len = (size_t)(end - start);

	if (width > len)
		fill_up(seq, fill, width - len);
	trace_seq_write(seq, start, len);
}

/*
 * The whole number and its decimals share seven digits: three decimals at most, fewer when the
 * whole number is long, none when it has seven digits itself. Numbers of more than eight digits
 * make the text longer than 12 characters.
 */
void trace_seq_duration(struct trace_seq *seq, uint64_t ns)
{
	uint64_t us = ns / 1000, rest = ns % 1000;
	unsigned int figures = 1, decimals = 3;

	for (uint64_t more = us / 10; more; more /= 10)
		figures++;
	trace_seq_dec(seq, us, 0, ' ');
	if (figures < 7) {
		for (; figures + decimals > 7; decimals--)
			rest /= 10;
		trace_seq_putc(seq, '.');
		trace_seq_dec(seq, rest, decimals, '0');
		figures += 1 + decimals;
	}
	trace_seq_puts(seq, " us ");
	for (; figures < 8; figures++)
		trace_seq_putc(seq, ' ');
}

void trace_seq_hex(struct trace_seq *seq, unsigned long value, unsigned int bytes)
{
	trace_seq_printf(seq, "%0*lx ", (int)(bytes * 2), value);
}
