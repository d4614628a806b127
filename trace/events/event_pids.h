/*
 * Threads whose events an instance records, or does not: see instance/pid_filter.h. While such a
 * set is in use every event of the instance has the flag TRACE_EVENT_PIDS, and who writes it looks
 * at the bit of the running thread first. What is about two threads, as the events of the scheduler
 * are, is recorded when either is wanted.
 */
#ifndef TRACE_EVENT_PIDS_H
#define TRACE_EVENT_PIDS_H

#include "instance/pid_filter.h"

extern const struct trace_pid_user trace_event_pids;

#endif
