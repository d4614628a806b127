/*
 * See warning.h, <trace/trace.h>.
 */
#include <stdatomic.h>
#include <trace/trace.h>
#include "array.h"
#include "text/str.h"
#include "warning.h"

static _Atomic int setting;

void trace_off_on_warning_want(const char *value)
{
	setting = !trace_streq(value, "0") && !trace_streq(value, "off");
}

int trace_off_on_warning(void)
{
	return setting;
}

int trace_set_off_on_warning(int value)
{
	setting = value;
	return 0;
}

/* The text is Linux's. */
void trace_host_warned(uintptr_t ip)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_WARNING, .ip = ip };
	struct trace_array *tr = trace_global_array();

	if (!tr || !setting)
		return;
	trace_array_printk_at(tr, ip, "Disabling tracing due to warning\n");
	trace_array_off(tr, &from);
}
