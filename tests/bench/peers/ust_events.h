/* The tracepoint of ust.c: one signed number of 64 bits. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER peer
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ust_events.h"

#if !defined(UST_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define UST_EVENTS_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(peer, number, LTTNG_UST_TP_ARGS(int64_t, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, value, value)))
#endif

#include <lttng/tracepoint-event.h>
