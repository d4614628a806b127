/*
 * The first line is a format, the rest packed arguments: whatever both hold, nothing is read or
 * written outside, and the packing of a formatted number is what the packer makes.
 * links: trace/text/fmt.c trace/text/fmt_spec.c trace/text/fmt_bin.c trace/text/str.c
 */
#include <stdlib.h>
#include <string.h>
#include <trace/fmt.h>
#include <trace/platform.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	if (addr & 1)
		return false;
	memset(out_name, 'n', TRACE_SYM_LEN - 1);
	out_name[TRACE_SYM_LEN - 1] = '\0';
	*out_start = addr & ~0xfffull;
	*out_size = SIZE_MAX;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *newline = memchr(data, '\n', len);
	size_t fmt_len = newline ? (size_t)(newline - data) : len;
	size_t args_len = newline ? len - fmt_len - 1 : 0;
	char *fmt = malloc(fmt_len + 1), *args = malloc(args_len + 1), buf[64];
	int whole, part;

	memcpy(fmt, data, fmt_len);
	fmt[fmt_len] = '\0';
	memcpy(args, data + len - args_len, args_len);
	whole = trace_bin_format(NULL, 0, fmt, args, args_len);
	for (size_t size = 1; size <= sizeof(buf); size += 21) {
		part = trace_bin_format(buf, size, fmt, args, args_len);
		if (part != whole || buf[size - 1 < (size_t)part ? size - 1 : (size_t)part] != '\0')
			abort();
	}
	free(args);
	free(fmt);
	return 0;
}
