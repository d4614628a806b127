/* A host's answer to definitions of events that were written for Linux. */
#ifndef HOST_LINUX_TRACEPOINT_H
#define HOST_LINUX_TRACEPOINT_H

#include <trace/trace_events.h>

enum {
	DUMP_PREFIX_NONE,
	DUMP_PREFIX_ADDRESS,
	DUMP_PREFIX_OFFSET
};

#endif
