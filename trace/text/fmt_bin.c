/*
 * Formatting in two halves: arguments now, text later. See <trace/fmt.h>.
 *
 * In packed form an integer takes 4 bytes, or 8 when its type is wider than that; a string takes
 * its bytes, no more than the precision allows, and a NUL. Integers begin at a multiple of 4 bytes,
 * as libtraceevent expects it.
 */
#include <trace/fmt.h>
#include "fmt_spec.h"
#include "str.h"

struct pack {
	uint8_t *buf;
	size_t size;
	size_t len;
};

static void pack_bytes(struct pack *pack, const void *bytes, size_t len)
{
	if (pack->len + len <= pack->size)
		memcpy(pack->buf + pack->len, bytes, len);
	pack->len += len;
}

static uint64_t pack_integer(struct pack *pack, struct fmt_args *args, size_t bytes)
{
	static const uint8_t zeros[FMT_PACKED_ALIGN];
	uint64_t value = fmt_args_integer(args, bytes);

	pack_bytes(pack, zeros, -pack->len % FMT_PACKED_ALIGN);
	pack_bytes(pack, &value, bytes > sizeof(uint32_t) ? sizeof(uint64_t) : sizeof(uint32_t));
	return value;
}

static void pack_string(struct pack *pack, struct fmt_args *args, int precision)
{
	const char *text = trace_fmt_args_string(args);
	size_t max = precision < 0 ? SIZE_MAX : (size_t)precision;

	pack_bytes(pack, text, trace_strnlen(text, max));
	pack_bytes(pack, "", 1);
}

static void pack_one(struct pack *pack, struct fmt_spec *spec, struct fmt_args *args)
{
	if (spec->width == FMT_FROM_ARG)
		pack_integer(pack, args, sizeof(int));
	if (spec->precision == FMT_FROM_ARG)
		spec->precision = (int)pack_integer(pack, args, sizeof(int));
	switch (spec->conversion) {
	case '%':
		break;
	case 's':
		pack_string(pack, args, spec->precision);
		break;
	case 'c':
		pack_integer(pack, args, sizeof(int));
		break;
	default:
		pack_integer(pack, args, spec->arg_bytes);
		break;
	}
}

size_t trace_bin_pack(void *buf, size_t size, const char *fmt, va_list ap)
{
	struct pack pack = { .buf = buf, .size = size };
	struct fmt_args args = { 0 };
	struct fmt_spec spec;
	va_list copy;

	va_copy(copy, ap);
	args.call = &copy;
	while (*fmt) {
		if (*fmt++ != '%')
			continue;
		fmt = trace_fmt_spec_parse(&spec, fmt);
		if (spec.conversion)
			pack_one(&pack, &spec, &args);
	}
	va_end(copy);
	return pack.len;
}

int trace_bin_format(char *buf, size_t size, const char *fmt, const void *args, size_t args_bytes)
{
	struct fmt_args packed = { .packed = args,
				   .packed_start = args,
				   .packed_end = (const uint8_t *)args + args_bytes };

	return trace_fmt_format(buf, size, fmt, &packed);
}
