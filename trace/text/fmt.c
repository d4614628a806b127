/*
 * The formatter. See <trace/fmt.h>.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "fmt_spec.h"
#include "str.h"

/* The text so far. When `buf` is full `len` goes on counting, up to the length of the whole text. */
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

/* Digits of `value`, written backwards from `end`. Returns where they start. */
static char *digits(char *end, uint64_t value, unsigned int base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (; value; value /= base)
		*--end = set[value % base];
	return end;
}

static unsigned int base_of(char conversion)
{
	switch (conversion) {
	case 'o':
		return 8;
	case 'd':
	case 'u':
		return 10;
	default:
		return 16;
	}
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

static void format_integer(struct out *out, const struct fmt_spec *spec, uint64_t value)
{
	char text[24], *end = text + sizeof(text), *start;
	const char *prefix;
	int nr, zeros, pad;
	bool negative = false;

	if (spec->conversion == 'd') {
		unsigned int shift = 64 - spec->arg_bytes * 8u;
		int64_t wide = (int64_t)(value << shift) >> shift;

		negative = wide < 0;
		value = negative ? -(uint64_t)wide : (uint64_t)wide;
	}
	prefix = prefix_of(spec, value, negative);
	start = digits(end, value, base_of(spec->conversion), spec->conversion == 'X');
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
	format_integer(out, spec, addr);
}

static void format_string(struct out *out, const struct fmt_spec *spec, struct fmt_args *args)
{
	const char *text = fmt_args_string(args);
	size_t max = spec->precision == FMT_NONE ? SIZE_MAX : (size_t)spec->precision;

	out_padded(out, spec, text, trace_strnlen(text, max));
}

static void format_one(struct out *out, struct fmt_spec *spec, struct fmt_args *args)
{
	char c;

	fmt_args_resolve(args, spec);
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

int fmt_format(char *buf, size_t size, const char *fmt, struct fmt_args *args)
{
	struct out out = { .buf = buf, .size = size };
	struct fmt_spec spec;
	const char *start;

	while (*fmt) {
		start = fmt;
		while (*fmt && *fmt != '%')
			fmt++;
		out_text(&out, start, (size_t)(fmt - start));
		if (!*fmt)
			break;
		start = fmt;
		fmt = fmt_spec_parse(&spec, fmt + 1);
		if (spec.conversion)
			format_one(&out, &spec, args);
		else
			out_text(&out, start, (size_t)(fmt - start));
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
	len = fmt_format(buf, size, fmt, &args);
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
