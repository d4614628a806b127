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
 *
 * SPDX-License-Identifier: MIT
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

/*
 * As trace_snprintf(), but returns how many characters are in `buf`, without the NUL. This may be
 * added to a position in a buffer, cut or not.
 */
size_t trace_scnprintf(char *buf, size_t size, const char *fmt, ...) TRACE_PRINTF(3, 4);

/*
 * Pack the arguments that `fmt` takes into `buf`, which needs no alignment. Returns how many bytes
 * all of them need; when that is more than `size`, some are missing and `buf` is of no use.
 */
size_t trace_bin_pack(void *buf, size_t size, const char *fmt, va_list ap) TRACE_PRINTF(3, 0);

/*
 * Name the function that made the call which returns to `ret`; parameters and result are those of
 * trace_plat_symbol(). A call to a function that never returns may be the last instruction of its
 * caller. `ret` is then the address behind the caller, where another function may begin, so this
 * looks up `ret - 1` first. The offset `ret - *out_start` may therefore be as large as *out_size.
 */
bool trace_symbol_of_return(uintptr_t ret, char *out_name, uintptr_t *out_start, size_t *out_size);

/*
 * As trace_snprintf(), with `args_bytes` bytes of arguments that trace_bin_pack() stored for the
 * same `fmt`. Arguments beyond those bytes print as 0 and as empty strings.
 */
int trace_bin_format(char *buf, size_t size, const char *fmt, const void *args, size_t args_bytes);

TRACE_END_DECLS

#endif
