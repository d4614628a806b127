/*
 * Default: all addresses can be read but for those near 0, which no memory has.
 */
#include <trace/platform.h>
#include "text/str.h"

#define LOWEST 4096u

TRACE_DEFAULT bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	if ((uintptr_t)from < LOWEST || (uintptr_t)from > UINTPTR_MAX - bytes)
		return false;
	memcpy(to, from, bytes);
	return true;
}
