/*
 * Memory and string functions as in C, and numbers from text. Those of string.c are not traced: the
 * compiler calls the mem* functions, and probes use many of them.
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
char *strchrnul(const char *s,
		int c); /* as strchr(), but the end of the text when it is not there */
char *strstr(const char *s, const char *what);
/* Copy at most size - 1 characters and a NUL (size > 0); returns strlen(from). */
size_t strlcpy(char *to, const char *from, size_t size);
/* Append to `to`, an array of `size` bytes; cut as by strlcpy(). The length without the cut. */
size_t strlcat(char *to, const char *from, size_t size);
bool str_has_prefix(const char *s, const char *prefix);

/*
 * Parse all of `s` as a number in `base`, 2 to 36; 0: hexadecimal after 0x, octal after 0, else
 * decimal. str_to_i64() takes a sign in front. 0, -EINVAL when `s` is no number, -ERANGE when it
 * does not fit; *out is written only on success.
 */
int str_to_u64(const char *s, unsigned int base, unsigned long *out);
int str_to_i64(const char *s, unsigned int base, long *out);
/*
 * Parse all of `s` as a length of time, as sleep(1) reads it: `2`, `0.5`, `1.5s`, `2m`, `1h`. 0 or
 * -EINVAL. A time that does not fit is UINT64_MAX, which means for ever.
 */
int str_to_duration(const char *s, uint64_t *out_ns);
/*
 * As Linux's kstrtobool: y, 1 and on are true; n, 0 and off are false; capitals count as well. Only
 * the first character is looked at, and after an o the second, so anything may follow. 0, or
 * -EINVAL; *out is written only on success.
 */
int str_to_bool(const char *s, bool *out);

#endif
