/*
 * The few string helpers of trace/, which may not rely on a C library. memcpy, memmove, memset and
 * memcmp come from the host.
 *
 * Context: any.
 */
#ifndef TRACE_STR_H
#define TRACE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#define TRACE_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

size_t trace_strlen(const char *text);
/* At most `max`; `max` when there is no NUL before. */
size_t trace_strnlen(const char *text, size_t max);
bool trace_streq(const char *a, const char *b);
int trace_strcmp(const char *a, const char *b);
bool trace_str_starts(const char *text, const char *prefix);
/* Copy, cut to `size` - 1, always ended by NUL. */
void trace_strcpy(char *to, const char *from, size_t size);
bool trace_is_space(char c);
/* Cut blanks at the end of `text`, in place; return the first that is none. */
char *trace_strip(char *text);

/*
 * The whole of `text` as a number, as Linux's kstrtoul reads it: base 10 or 16, or 0 for "0x" and
 * "0" prefixes; one newline may follow. -EINVAL for anything else, -ERANGE when it does not fit.
 */
int trace_parse_u64(const char *text, unsigned int base, uint64_t *out_value);

#endif
