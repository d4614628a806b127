/*
 * The events of yard_events.h and what their definitions need. To be included by one file of a
 * program, which then has their tracepoints.
 */
#ifndef YARD_H
#define YARD_H

#include "host/types.h"

enum yard_kind {
	YARD_SAND = 3,
	YARD_GRAVEL = 5
};
struct yard_box {
	char label[8];
	u16 width, height;
};

/* How many watch yard_watch now, and what is answered to the next one that wants to. */
static int yard_nr_watchers, yard_watch_result;

static int yard_watch_begins(void)
{
	if (fake_host_fails())
		return -EBUSY;
	if (!yard_watch_result)
		yard_nr_watchers++;
	return yard_watch_result;
}

static void yard_watch_ends(void)
{
	yard_nr_watchers--;
}

#define CREATE_TRACE_POINTS
#include "host/yard_events.h"

#endif
