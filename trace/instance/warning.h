/*
 * Tracing stops when the host warns: the boot parameter and the setting traceoff_on_warning. The
 * host's calls are in <trace/trace.h>.
 */
#ifndef TRACE_WARNING_H
#define TRACE_WARNING_H

/* Take the boot parameter, with the text behind the "=". */
void trace_off_on_warning_want(const char *value);

#endif
