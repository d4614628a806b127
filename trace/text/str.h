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
/* The length of `text`, or `max` when its first `max` bytes hold no NUL. */
size_t trace_strnlen(const char *text, size_t max);
bool trace_streq(const char *a, const char *b);
int trace_strcmp(const char *a, const char *b);
bool trace_str_starts(const char *text, const char *prefix);
/* Copy at most `size` - 1 characters of `from`, and a NUL. `size` is not 0. */
void trace_strcpy(char *to, const char *from, size_t size);
/*
 * Does all of `name` match the pattern: * for any characters, ? for one, [abc] [a-z] [!abc] for one
 * of a class, and \ before a character that stands for itself?
 */
bool trace_glob_match(const char *pattern, const char *name);
/* The same of the `len` characters at `text`, none of which is NUL. */
bool trace_glob_match_len(const char *pattern, const char *text, size_t len);
bool trace_is_space(char c);
/* Cut white space off the end of `text`, in place. Returns its first character that is none. */
char *trace_strip(char *text);

/*
 * Read all of `text` as one number, by the rules of Linux's kstrtoul(): a base of 0 means that the
 * prefix decides ("0x": 16, "0": 8, otherwise 10); a '+' may stand in front, one newline at the
 * end. 0, -EINVAL when `text` is anything else, -ERANGE when the number needs more than 64 bits.
 */
int trace_parse_u64(const char *text, unsigned int base, uint64_t *out_value);

#endif
