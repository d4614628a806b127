/*
 * The trace events of programs: <trace/events/NAME.h> in kernel/include has the definitions. No call
 * sites, because these functions are probes.
 */
#include <kernel/string.h>
#include <trace/platform.h>

#define CREATE_TRACE_POINTS
#include <trace/events/exec.h> /* stays the last: it names its file, which would be that of the next, too */
