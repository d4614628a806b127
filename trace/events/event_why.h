/* Sentences of the file `why` about trace events: see instance/why.h. */
#ifndef TRACE_EVENT_WHY_H
#define TRACE_EVENT_WHY_H

#include "instance/why.h"

extern const struct trace_why_check trace_event_whys[];

#endif
