/*
 * Boot parameters of features: see instance/feature.h, <trace/trace.h>.
 */
#ifndef TRACE_BOOT_H
#define TRACE_BOOT_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_BOOT_PARAM_MAX 2048u /* as long as a command line */

/* Kept as text, if there is one, until boot_start(); and told at once, if there is `take`. */
struct trace_boot_param {
	const char *name;
	char *text;
	size_t size;
	void (*take)(const char *value);
};

/* Add each pattern of `list`, with commas between, to a filter; complaints go to the log. */
void trace_boot_set_filters(char *list, const char *param,
			    int (*set)(const char *buf, size_t len, bool reset));

#endif
