/*
 * Boot parameters of features: see feature/feature.h, <trace/trace.h>.
 */
#ifndef TRACE_BOOT_H
#define TRACE_BOOT_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_BOOT_PARAM_MAX 2048u /* as long as a command line */

/*
 * A boot parameter. Its value is copied to the `size` bytes at `text`, for boot_start(), unless
 * `text` is NULL; and take() is called with it at once, unless that is NULL.
 */
struct trace_boot_param {
	const char *name;
	char *text;
	size_t size;
	void (*take)(const char *value);
};

/* Cut the next item off a list; NULL at the end. */
char *trace_boot_item(char **list, char end_of_item);

/*
 * Call set() for each pattern in `list`, with commas between, which is cut up. Errors are logged.
 */
void trace_boot_set_filters(char *list, const char *param,
			    int (*set)(const char *buf, size_t len, bool reset));

#endif
