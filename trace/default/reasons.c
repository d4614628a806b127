/*
 * Default: nothing is known about functions without a site.
 */
#include <trace/platform.h>

TRACE_DEFAULT int trace_plat_why_not(const char *name, char *out_text, size_t len)
{
	(void)name;
	(void)out_text;
	(void)len;
	return -ENOENT;
}
