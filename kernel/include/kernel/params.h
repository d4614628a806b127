/*
 * Boot parameters: words of the command line, `name`, `name=value` or `name="value with spaces"`.
 *
 * Context: any, after params_init(). Ownership: strings live for ever.
 */
#ifndef KERNEL_PARAMS_H
#define KERNEL_PARAMS_H

#include <kernel/base.h>

void params_init(const char *command_line);
/* The value; "" for a bare word; NULL when it was not given. The last one counts. */
const char *boot_param_get(const char *name);
bool boot_param_is_set(const char *name);
/* The value as a number; `otherwise` when not given, or when no number of min .. max (reported). */
long boot_param_number(const char *name, long min, long max, long otherwise);
/* The whole command line. */
const char *boot_command_line(void);
/* Hand the tracer's parameters to it; report those that nobody knows. */
void params_give_to_trace(void);

#endif
