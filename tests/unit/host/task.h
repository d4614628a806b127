/*
 * The events of task_events.h. To be included by one file of a program, behind host/gold.h, which
 * has what they need.
 */
#ifndef TASK_H
#define TASK_H

#define CREATE_TRACE_POINTS
#include "host/task_events.h"

#endif
