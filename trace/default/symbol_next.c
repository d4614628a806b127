/*
 * Default: names of ascending addresses, each looked up by itself.
 */
#include <trace/platform.h>
#include "text/str.h"

TRACE_DEFAULT size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr,
					    char *out_name)
{
	uintptr_t start;
	size_t size;

	(void)cursor;
	if (!trace_plat_symbol(addr, out_name, &start, &size))
		return 0;
	return trace_strnlen(out_name, TRACE_SYM_LEN);
}
