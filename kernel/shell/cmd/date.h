/*
 * A time as text, in UTC.
 *
 * Context: any. Locking, ownership: none.
 */
#ifndef KERNEL_DATE_H
#define KERNEL_DATE_H

#include <kernel/base.h>

#define DATE_DEFAULT_FORMAT "%a %b %e %H:%M:%S %Z %Y"

/*
 * Write the time `ns` (nanoseconds since 1970) as `format` says. It knows these letters of date(1):
 * a A b B c d D e F h H I j k m M n N p R s S t T u w y Y z Z, and %3N for three digits of N. Other
 * conversions stay as they are. The text is cut to fit `size` bytes with a NUL; returns its length.
 */
size_t date_format(char *out, size_t size, const char *format, uint64_t ns);

#endif
