/* What a host gives definitions of events that were written for Linux. */
#include <trace/trace_events.h>
