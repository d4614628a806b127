/* Sentences of the file `why` about tracers that wait for an event: see instance/why.h. */
#ifndef TRACE_TRACER_WHY_H
#define TRACE_TRACER_WHY_H

#include "instance/why.h"

extern const struct trace_why_check trace_graph_whys[];
extern const struct trace_why_check trace_latency_whys[];

#endif
