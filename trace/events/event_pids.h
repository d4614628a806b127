/*
 * Sets of threads whose events an instance records, or leaves out: see instance/pid_filter.h. While
 * a set is in use, every event of the instance has the flag TRACE_EVENT_PIDS, and its writer looks
 * at the bit of the running thread first. An event about two threads, such as those of the
 * scheduler, is recorded when either thread is wanted.
 */
#ifndef TRACE_EVENT_PIDS_H
#define TRACE_EVENT_PIDS_H

#include "instance/pid_filter.h"

extern const struct trace_pid_user trace_event_pids;

#endif
