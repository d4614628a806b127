/* See host.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "kernel/host.h"

_Atomic long host_live;
long host_fail_at = -1;
bool host_fails_once;

void *kmalloc(size_t bytes)
{
	if (host_fail_at == 0) {
		host_fail_at = host_fails_once ? -1 : 0;
		return NULL;
	}
	if (host_fail_at > 0)
		host_fail_at--;
	host_live++;
	return memset(malloc(bytes), 1, bytes); /* small numbers, as memory may have anything */
}

void *kzalloc(size_t bytes)
{
	void *memory = kmalloc(bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void kfree(void *memory)
{
	host_live -= memory != NULL;
	free(memory);
}

char *kstrdup(const char *s)
{
	char *copy = kmalloc(strlen(s) + 1);

	return copy ? strcpy(copy, s) : NULL;
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from);
	return strlen(from);
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

int trace_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	return vsnprintf(buf, size, fmt, ap);
}

int trace_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return len;
}

size_t trace_scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return (size_t)len < size ? (size_t)len : size - 1;
}
