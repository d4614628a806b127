/*
 * The one formatter: the C conversions without floating point, and names for code addresses.
 *
 *   %d %i %u %x %X %o %c %s %p %%   flags "-+ 0#", width and precision (both may be *),
 *                                   sizes hh h l ll z j t
 *   %pS  symbol+0xoffset/0xsize     %ps  symbol     (an address without symbol prints as 0x...)
 *   %pB  as %pS, for a return address: the symbol is the caller's, see trace_symbol_of_return()
 *
 * The same formats also work in two halves: trace_bin_pack() copies the arguments next to a format
 * pointer, quickly and in any context; trace_bin_format() makes the text later. Strings are copied
 * when they are packed, so they may vanish in between. The format itself must stay.
 *
 * Context: any, NMI included; no lock, no memory but the caller's.
 */
#ifndef TRACE_FMT_H
#define TRACE_FMT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/*
 * Format into `buf`, always ended by NUL when size > 0. Returns the length that the whole text has,
 * as C does: a result >= size means that the text was cut.
 */
int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap) TRACE_PRINTF(3, 0);
int trace_snprintf(char *buf, size_t size, const char *fmt, ...) TRACE_PRINTF(3, 4);

/* The same, but returns the length that was stored: what may be added to a position. */
size_t trace_scnprintf(char *buf, size_t size, const char *fmt, ...) TRACE_PRINTF(3, 4);

/*
 * Pack the arguments that `fmt` takes. Returns the bytes the whole would need; when that is more
 * than `size`, `buf` holds nothing of use.
 */
size_t trace_bin_pack(void *buf, size_t size, const char *fmt, va_list ap) TRACE_PRINTF(3, 0);

/*
 * As trace_plat_symbol(), of the function that a call returns to at `ret`. The call may be that
 * function's last instruction, when it is one to a function that never returns: then `ret` is
 * behind it, where another may begin, and the offset `ret - *out_start` is all of its size.
 */
bool trace_symbol_of_return(uintptr_t ret, char *out_name, uintptr_t *out_start, size_t *out_size);

/* Format packed arguments; a packing that ends early prints as if the rest were zero. */
int trace_bin_format(char *buf, size_t size, const char *fmt, const void *args, size_t args_bytes);

TRACE_END_DECLS

#endif
