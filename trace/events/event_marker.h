/*
 * The event ftrace:print: a text that was written to trace_marker. It is recorded whenever there is
 * one, so nobody switches it; but it has triggers, and with them histograms, which act once the text
 * is in the trace:
 *
 *   echo 'traceoff if buf == "stop"' > events/ftrace/print/trigger
 *
 *   trace_marker --> trace_write_text() --> trace_array.marker_written --> the triggers
 *
 * An instance calls those of its own, also for a marker that is copied to it. What is not recorded calls none, and neither does
 * trace_printk(), whose events may have this type, too; set_event_pid has no say.
 */
#ifndef TRACE_EVENT_MARKER_H
#define TRACE_EVENT_MARKER_H

struct trace_event_file;

/* Have the type be an event of events/, once it is registered. */
void trace_event_marker_init(void);
/* An instance has got its event_file of the event: have it told of markers. Config lock held. */
void trace_event_marker_begin(struct trace_event_file *file);

#endif
