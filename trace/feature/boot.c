/*
 * Lists in the values of boot parameters. See boot.h.
 */
#include "boot.h"
#include <trace/platform.h>
#include "text/str.h"

char *trace_boot_item(char **list, char end_of_item)
{
	char *item = *list, *end = item;

	if (!*item)
		return NULL;
	while (*end && *end != end_of_item)
		end++;
	*list = *end ? end + 1 : end;
	*end = '\0';
	return item;
}

void trace_boot_set_filters(char *list, const char *param,
			    int (*set)(const char *buf, size_t len, bool reset))
{
	char *item;

	while ((item = trace_boot_item(&list, ','))) {
		if (*item && set(item, trace_strlen(item), false))
			trace_plat_log("trace: %s: no function matches %s", param, item);
	}
}
