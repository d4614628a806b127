/*
 * The events of harbour_events.h and what their definitions need. To be included by one file of a
 * program, which then has their tracepoints.
 */
#ifndef HARBOUR_H
#define HARBOUR_H

#include "host/types.h"

/* The value of the field `stack` in each event `widths`. */
static unsigned long harbour_stack[3];

#define CREATE_TRACE_POINTS
#include "host/harbour_events.h"

#endif
