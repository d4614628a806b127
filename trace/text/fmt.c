/*
 * The formatter. See <trace/fmt.h>.
 */
#include <stdatomic.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "fmt_spec.h"
#include "str.h"
#include "word.h"

/*
 * The text so far. When `buf` is full `len` goes on counting, up to the length of the whole text.
 */
struct out {
	char *buf;
	size_t size;
	size_t len;
};

static void out_char(struct out *out, char c)
{
	if (out->len < out->size)
		out->buf[out->len] = c;
	out->len++;
}

static void out_repeat(struct out *out, char c, int times)
{
	while (times-- > 0)
		out_char(out, c);
}

/* The first `nr` bytes of a word, at most eight. */
static TRACE_ALWAYS_INLINE void out_word(struct out *out, uint64_t word, size_t nr)
{
	if (TRACE_LIKELY(out->len + nr <= out->size)) {
		trace_word_store(out->buf + out->len, word, nr);
		out->len += nr;
		return;
	}
	for (; nr; nr--, word >>= 8)
		out_char(out, (char)word);
}

static void out_text(struct out *out, const char *text, size_t len)
{
	if (out->len < out->size) {
		size_t room = out->size - out->len;

		memcpy(out->buf + out->len, text, len < room ? len : room);
	}
	out->len += len;
}

static void out_padded(struct out *out, const struct fmt_spec *spec, const char *text, size_t len)
{
	int pad = spec->width - (int)len;

	if (!spec->left)
		out_repeat(out, ' ', pad);
	out_text(out, text, len);
	if (spec->left)
		out_repeat(out, ' ', pad);
}

/* Digits that end at `end`, none for 0. Returns where they start. */
static char *digits(char *end, uint64_t value, char conversion)
{
	const char *set = conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned int shift = conversion == 'o' ? 3 : 4;

	if (conversion == 'd' || conversion == 'u')
		return value ? trace_digits(end, value) : end;
	for (; value; value >>= shift)
		*--end = set[value & ((1u << shift) - 1)];
	return end;
}

/* Sign or base prefix of a number; "" for none. */
static const char *prefix_of(const struct fmt_spec *spec, uint64_t value, bool negative)
{
	if (spec->conversion == 'd') {
		if (negative)
			return "-";
		return spec->plus ? "+" : spec->space ? " " : "";
	}
	if (!spec->alternate || !value)
		return "";
	switch (spec->conversion) {
	case 'x':
		return "0x";
	case 'X':
		return "0X";
	default:
		return "";
	}
}

/* Of a number of `bytes` bytes with a sign: is it negative? *value becomes its amount. */
static bool take_sign(uint64_t *value, size_t bytes)
{
	unsigned int shift = 64 - (unsigned int)bytes * 8;
	int64_t wide = (int64_t)(*value << shift) >> shift;

	*value = wide < 0 ? -(uint64_t)wide : (uint64_t)wide;
	return wide < 0;
}

static void format_integer(struct out *out, const struct fmt_spec *spec, uint64_t value)
{
	char text[24], *end = text + sizeof(text), *start;
	const char *prefix;
	int nr, zeros, pad;
	bool negative = false;

	if (spec->conversion == 'd')
		negative = take_sign(&value, spec->arg_bytes);
	prefix = prefix_of(spec, value, negative);
	start = digits(end, value, spec->conversion);
	nr = (int)(end - start);
	zeros = (spec->precision == FMT_NONE ? 1 : spec->precision) - nr;
	if (spec->conversion == 'o' && spec->alternate && zeros < 1 && (value || zeros == 0))
		zeros = 1;
	zeros = zeros > 0 ? zeros : 0;
	pad = spec->width - nr - zeros - (int)trace_strlen(prefix);
	if (pad > 0 && spec->zero && !spec->left && spec->precision == FMT_NONE) {
		zeros += pad;
		pad = 0;
	}
	if (!spec->left)
		out_repeat(out, ' ', pad);
	out_text(out, prefix, trace_strlen(prefix));
	out_repeat(out, '0', zeros);
	out_text(out, start, (size_t)nr);
	if (spec->left)
		out_repeat(out, ' ', pad);
}

bool trace_symbol_of_return(uintptr_t ret, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	return trace_plat_symbol(ret - 1, out_name, out_start, out_size) ||
	       trace_plat_symbol(ret, out_name, out_start, out_size);
}

static void format_symbol(struct out *out, const struct fmt_spec *spec, uint64_t addr)
{
	char text[TRACE_SYM_LEN + 40];
	uintptr_t start;
	size_t size, len;
	bool is_found = spec->symbol == 'B'
				? trace_symbol_of_return((uintptr_t)addr, text, &start, &size)
				: trace_plat_symbol((uintptr_t)addr, text, &start, &size);

	if (!is_found) {
		len = trace_scnprintf(text, sizeof(text), "0x%lx", (unsigned long)addr);
	} else {
		len = trace_strlen(text);
		if (spec->symbol != 's')
			len += trace_scnprintf(text + len, sizeof(text) - len, "+0x%lx/0x%lx",
					       (unsigned long)(addr - start), (unsigned long)size);
	}
	out_padded(out, spec, text, len);
}

/*
 * A number of 32 bits that stands for an address, the same one until the next boot. Its key is the
 * time of the first use. It keeps addresses out of a text; who tries can find them.
 */
static uint64_t pointer_hash(uint64_t addr)
{
	static _Atomic uint64_t key;
	uint64_t none = 0, hash;

	if (!atomic_load_explicit(&key, memory_order_relaxed))
		(void)atomic_compare_exchange_strong(&key, &none, trace_plat_clock_ns() | 1);
	hash = addr ^ atomic_load_explicit(&key, memory_order_relaxed);
	for (int i = 0; i < 2; i++) { /* each bit changes about half of the result's */
		hash ^= hash >> 32;
		hash *= 0xd6e8feb86659fd93ull;
	}
	return hash >> 32;
}

static void format_pointer(struct out *out, struct fmt_spec *spec, struct fmt_args *args)
{
	uint64_t addr = fmt_args_integer(args, sizeof(void *));

	if (spec->symbol) {
		format_symbol(out, spec, addr);
		return;
	}
	if (!spec->width) {
		spec->width = 2 * sizeof(void *);
		spec->zero = true;
	}
	if (args->hashes_pointers && addr)
		addr = pointer_hash(addr);
	format_integer(out, spec, addr);
}

static void format_string(struct out *out, const struct fmt_spec *spec, struct fmt_args *args)
{
	const char *text = trace_fmt_args_string(args);
	size_t max = spec->precision == FMT_NONE ? SIZE_MAX : (size_t)spec->precision;

	out_padded(out, spec, text, trace_strnlen(text, max));
}

static void format_one(struct out *out, struct fmt_spec *spec, struct fmt_args *args)
{
	char c;

	trace_fmt_args_resolve(args, spec);
	switch (spec->conversion) {
	case '%':
		out_char(out, '%');
		break;
	case 'c':
		c = (char)fmt_args_integer(args, sizeof(int));
		out_padded(out, spec, &c, 1);
		break;
	case 's':
		format_string(out, spec, args);
		break;
	case 'p':
		format_pointer(out, spec, args);
		break;
	default:
		format_integer(out, spec, fmt_args_integer(args, spec->arg_bytes));
		break;
	}
}

/* The text of `fmt` up to a conversion or its end, at most eight characters at once. */
TRACE_WORD_READER static const char *out_literal(struct out *out, const char *fmt)
{
	for (;;) {
		uint64_t word, ends;

		if (TRACE_UNLIKELY(!trace_word_is_inside(fmt))) {
			if (!*fmt || *fmt == '%')
				return fmt;
			out_char(out, *fmt++);
			continue;
		}
		word = trace_word_load(fmt);
		ends = trace_word_zeros(word) | trace_word_zeros(word ^ TRACE_WORD_OF('%'));
		if (ends) {
			out_word(out, word, trace_word_before(ends));
			return fmt + trace_word_before(ends);
		}
		out_word(out, word, TRACE_WORD_BYTES);
		fmt += TRACE_WORD_BYTES;
	}
}

/*
 * A text: its words are copied as they are looked at, while they are in one page and there is room.
 */
TRACE_WORD_READER static void plain_text(struct out *out, const char *text)
{
	while (trace_word_is_inside(text) && out->len + TRACE_WORD_BYTES <= out->size) {
		uint64_t word = trace_word_load(text), zeros = trace_word_zeros(word);

		if (zeros) {
			trace_word_store(out->buf + out->len, word, trace_word_before(zeros));
			out->len += trace_word_before(zeros);
			return;
		}
		trace_word_store(out->buf + out->len, word, TRACE_WORD_BYTES);
		out->len += TRACE_WORD_BYTES;
		text += TRACE_WORD_BYTES;
	}
	out_text(out, text, trace_strlen(text));
}

static void plain_number(struct out *out, char conversion, uint64_t value, size_t bytes)
{
	char text[1 + TRACE_DIGITS_MAX + TRACE_WORD_BYTES], *end = text + 1 + TRACE_DIGITS_MAX;
	bool is_negative = conversion == 'd' && take_sign(&value, bytes);
	char *start = conversion != 'x' ? trace_digits(end, value)
		      : value		? digits(end, value, 'x')
					: trace_digits(end, 0);

	if (is_negative)
		*--start = '-';
	/* The bytes behind `end` are there to be loaded; they are not stored. */
	if (TRACE_LIKELY(end - start <= (ptrdiff_t)TRACE_WORD_BYTES))
		out_word(out, trace_word_load(start), (size_t)(end - start));
	else
		out_text(out, start, (size_t)(end - start));
}

/*
 * The commonest conversions: %d %i %u %x, with `l` or `ll`, and %s. They are not taken apart.
 * `fmt` points behind the '%'. Returns where it ends; NULL: it is another one.
 */
static const char *format_plain(struct out *out, const char *fmt, struct fmt_args *args)
{
	size_t bytes = sizeof(int);

	if (*fmt == 'l') {
		bytes = sizeof(long);
		fmt += fmt[1] == 'l' ? 2 : 1;
	}
	switch (*fmt) {
	case 's':
		plain_text(out, trace_fmt_args_string(args));
		return fmt + 1;
	case 'd':
	case 'i':
		plain_number(out, 'd', fmt_args_integer(args, bytes), bytes);
		return fmt + 1;
	case 'u':
	case 'x':
		plain_number(out, *fmt, fmt_args_integer(args, bytes), bytes);
		return fmt + 1;
	default:
		return NULL;
	}
}

/* Format the conversion at '%'. Returns its end. */
static const char *format_conversion(struct out *out, const char *fmt, struct fmt_args *args)
{
	const char *end = format_plain(out, fmt + 1, args);
	struct fmt_spec spec;

	if (TRACE_LIKELY(end))
		return end;
	end = trace_fmt_spec_parse(&spec, fmt + 1);
	if (spec.conversion)
		format_one(out, &spec, args);
	else
		out_text(out, fmt, (size_t)(end - fmt));
	return end;
}

int trace_fmt_format(char *buf, size_t size, const char *fmt, struct fmt_args *args)
{
	struct out out = { .buf = buf, .size = size };

	for (;;) {
		fmt = out_literal(&out, fmt);
		if (!*fmt)
			break;
		fmt = format_conversion(&out, fmt, args);
	}
	if (size)
		buf[out.len < size ? out.len : size - 1] = '\0';
	return (int)out.len;
}

int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct fmt_args args = { 0 };
	va_list copy;
	int len;

	va_copy(copy, ap);
	args.call = &copy;
	len = trace_fmt_format(buf, size, fmt, &args);
	va_end(copy);
	return len;
}

int trace_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = trace_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return len;
}

size_t trace_scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	size_t len;

	if (!size)
		return 0;
	va_start(ap, fmt);
	len = (size_t)trace_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return len < size ? len : size - 1;
}
