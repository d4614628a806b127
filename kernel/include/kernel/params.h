/*
 * Boot parameters: words of the command line, `name`, `name=value` or `name="value with spaces"`.
 *
 * Context:   any, after params_init() on the boot CPU.
 * Ownership: strings live for ever.
 */
#ifndef KERNEL_PARAMS_H
#define KERNEL_PARAMS_H

#include <kernel/base.h>

/* `command_line` stays. */
void params_init(const char *command_line);
/* The value; "" for a bare word; NULL when it was not given. Of several, the last one counts. */
const char *boot_param_get(const char *name);
/*
 * All values of a parameter that may come several times, in their order: the next one each time,
 * NULL at the end. `*index` is 0 at first.
 */
const char *boot_param_next(const char *name, size_t *index);
bool boot_param_is_set(const char *name);
/*
 * The value as a number. `otherwise` when it was not given; also when it is not a number from min
 * to max, which is reported.
 */
long boot_param_number(const char *name, long min, long max, long otherwise);
/* The whole command line. */
const char *boot_command_line(void);
/*
 * Give the tracer the parameters that the kernel does not know; report those that it does not know
 * either.
 */
void params_give_to_trace(void);

#endif
