/*
 * One conversion of a format string, taken apart. The formatter (fmt.c) and the packer (fmt_bin.c)
 * both use this parser, so that they always agree on which arguments a format consumes.
 *
 * Context: any, NMI included.
 */
#ifndef TRACE_FMT_SPEC_H
#define TRACE_FMT_SPEC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FMT_FROM_ARG (-2) /* width or precision given as `*` */
#define FMT_NONE     (-1)

struct fmt_spec {
	char conversion;   /* d u x X o c s p %, or 0 for an unknown one */
	char symbol;	   /* of %p: 'S', 's', 'B' or 0 */
	uint8_t arg_bytes; /* size of the argument's type */
	bool left;
	bool plus;
	bool space;
	bool zero;
	bool alternate;
	int width;
	int precision;
};

/*
 * The source of arguments: the va_list of a call, or the words stored by trace_bin_pack(). `call`
 * is NULL in the second case.
 */
struct fmt_args {
	va_list *call;
	const uint8_t *packed; /* the next one */
	const uint8_t *packed_start;
	const uint8_t *packed_end;
	bool hashes_pointers; /* %p prints a number that stands for the address */
};

/* `fmt` points behind the '%'. Returns where the conversion ends. */
const char *trace_fmt_spec_parse(struct fmt_spec *spec, const char *fmt);

#define FMT_PACKED_ALIGN 4u /* of integers, from the first argument on */

/* Types narrower than int are packed as 4 bytes: see fmt_bin.c. */
static inline uint64_t fmt_args_packed(struct fmt_args *args, size_t bytes)
{
	size_t gap = -(size_t)(args->packed - args->packed_start) % FMT_PACKED_ALIGN;
	uint64_t value = 0;

	bytes = bytes > sizeof(uint32_t) ? sizeof(uint64_t) : sizeof(uint32_t);
	if ((size_t)(args->packed_end - args->packed) < gap + bytes) {
		args->packed = args->packed_end;
		return 0;
	}
	args->packed += gap;
	if (bytes == sizeof(value))
		__builtin_memcpy(&value, args->packed, sizeof(value));
	else
		__builtin_memcpy(&value, args->packed, sizeof(uint32_t));
	args->packed += bytes;
	return value;
}

/* The next integer or pointer of `bytes` bytes, zero-extended. */
static inline uint64_t fmt_args_integer(struct fmt_args *args, size_t bytes)
{
	uint64_t value;

	if (!args->call)
		value = fmt_args_packed(args, bytes);
	else if (bytes > sizeof(int))
		value = va_arg(*args->call, unsigned long); // NOLINT: the caller has started it
	else
		value = va_arg(*args->call, unsigned int); // NOLINT: the caller has started it
	return bytes < sizeof(value) ? value & ((1ull << (bytes * 8)) - 1) : value;
}

/* The next string; never NULL. */
const char *trace_fmt_args_string(struct fmt_args *args);
/* Replace `*` by the arguments that stand for it. */
void trace_fmt_args_resolve(struct fmt_args *args, struct fmt_spec *spec);

/* As trace_vsnprintf(), with arguments from either place. */
int trace_fmt_format(char *buf, size_t size, const char *fmt, struct fmt_args *args);

#endif
