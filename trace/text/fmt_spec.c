/*
 * Taking a conversion apart, and fetching its arguments. See fmt_spec.h.
 */
#include <trace/fmt.h>
#include "fmt_spec.h"
#include "str.h"

#define WIDEST 32767 /* as in Linux: a wild number must not keep a CPU busy */

static bool fmt_spec_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *parse_flags(struct fmt_spec *spec, const char *fmt)
{
	for (;; fmt++) {
		switch (*fmt) {
		case '-':
			spec->left = true;
			break;
		case '+':
			spec->plus = true;
			break;
		case ' ':
			spec->space = true;
			break;
		case '0':
			spec->zero = true;
			break;
		case '#':
			spec->alternate = true;
			break;
		default:
			return fmt;
		}
	}
}

static const char *fmt_spec_parse_number(int *out_value, const char *fmt)
{
	int value = 0;

	if (*fmt == '*') {
		*out_value = FMT_FROM_ARG;
		return fmt + 1;
	}
	for (; fmt_spec_is_digit(*fmt); fmt++)
		value = value < WIDEST ? value * 10 + (*fmt - '0') : value;
	*out_value = value < WIDEST ? value : WIDEST;
	return fmt;
}

static const char *fmt_spec_parse_size(struct fmt_spec *spec, const char *fmt)
{
	spec->arg_bytes = sizeof(int);
	switch (*fmt) {
	case 'h':
		spec->arg_bytes = fmt[1] == 'h' ? sizeof(char) : sizeof(short);
		return fmt + (fmt[1] == 'h' ? 2 : 1);
	case 'l':
		spec->arg_bytes = sizeof(long);
		return fmt + (fmt[1] == 'l' ? 2 : 1);
	case 'z':
	case 'j':
	case 't':
		spec->arg_bytes = sizeof(size_t);
		return fmt + 1;
	default:
		return fmt;
	}
}

static const char *parse_conversion(struct fmt_spec *spec, const char *fmt)
{
	switch (*fmt) {
	case 'i':
	case 'd':
		spec->conversion = 'd';
		return fmt + 1;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c':
	case 's':
	case '%':
		spec->conversion = *fmt;
		return fmt + 1;
	case 'p':
		spec->conversion = 'p';
		spec->arg_bytes = sizeof(void *);
		if (fmt[1] != 'S' && fmt[1] != 's' && fmt[1] != 'B')
			return fmt + 1;
		spec->symbol = fmt[1];
		return fmt + 2;
	default:
		return fmt; /* unknown: printed as it stands, consumes nothing */
	}
}

const char *trace_fmt_spec_parse(struct fmt_spec *spec, const char *fmt)
{
	*spec = (struct fmt_spec){ .width = 0, .precision = FMT_NONE };
	fmt = parse_flags(spec, fmt);
	fmt = fmt_spec_parse_number(&spec->width, fmt);
	if (*fmt == '.')
		fmt = fmt_spec_parse_number(&spec->precision, fmt + 1);
	fmt = fmt_spec_parse_size(spec, fmt);
	return parse_conversion(spec, fmt);
}

const char *trace_fmt_args_string(struct fmt_args *args)
{
	const char *text;

	if (args->call) {
		text = va_arg(*args->call, const char *); // NOLINT: the caller has started it
		return text ? text : "(null)";
	}
	text = (const char *)args->packed;
	args->packed += trace_strnlen(text, (size_t)(args->packed_end - args->packed));
	if (args->packed == args->packed_end)
		return ""; /* the packed data was cut in the middle of this string */
	args->packed++;
	return text;
}

static int clamped(int value)
{
	return value < -WIDEST ? -WIDEST : value > WIDEST ? WIDEST : value;
}

void trace_fmt_args_resolve(struct fmt_args *args, struct fmt_spec *spec)
{
	if (spec->width == FMT_FROM_ARG) {
		spec->width = clamped((int)fmt_args_integer(args, sizeof(int)));
		if (spec->width < 0) {
			spec->left = true;
			spec->width = -spec->width;
		}
	}
	if (spec->precision == FMT_FROM_ARG) {
		spec->precision = clamped((int)fmt_args_integer(args, sizeof(int)));
		if (spec->precision < 0)
			spec->precision = FMT_NONE;
	}
}
