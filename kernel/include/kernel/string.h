/*
 * Memory and string functions as in C. The mem* are not traced (compilers and probes use them).
 *
 * Context: any.
 */
#ifndef KERNEL_STRING_H
#define KERNEL_STRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memmove(void *to, const void *from, size_t len);
void *memset(void *to, int byte, size_t len);
int memcmp(const void *a, const void *b, size_t len);
void *memchr(const void *in, int byte, size_t len);

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t max);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *what);
/* Copy at most size - 1 characters and a NUL (size > 0); returns strlen(from). */
size_t strlcpy(char *to, const char *from, size_t size);
size_t strlcat(char *to, const char *from, size_t size);
bool str_has_prefix(const char *s, const char *prefix);

/*
 * Parse all of `s` as a number in `base` (0: 0x hex, 0 octal, else decimal). 0, -EINVAL when it
 * is none, -ERANGE when it does not fit; *out is written only on success.
 */
int str_to_u64(const char *s, unsigned int base, unsigned long *out);
int str_to_i64(const char *s, unsigned int base, long *out);
/*
 * Parse all of `s` as a length of time, as sleep(1) reads it: `2`, `0.5`, `1.5s`, `2m`, `1h`. 0 or
 * -EINVAL; what does not fit is UINT64_MAX, for ever.
 */
int str_to_duration(const char *s, uint64_t *out_ns);
/*
 * As Linux's kstrtobool: y Y 1 and on, n N 0 and off, in any case; only these letters are looked
 * at, so what follows may be anything. 0, or -EINVAL; *out is written only on success.
 */
int str_to_bool(const char *s, bool *out);

#endif
