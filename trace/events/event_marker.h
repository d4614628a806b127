/*
 * The event ftrace:print: a text written to trace_marker. It is always recorded, and has no switch;
 * but it has triggers, and with them histograms, which act once the text is in the trace:
 *
 *   echo 'traceoff if buf == "stop"' > events/ftrace/print/trigger
 *
 *   trace_marker --> trace_write_text() --> trace_array.marker_written --> the triggers
 *
 * An instance calls its own triggers, also for a marker that is copied to it. Markers that are not
 * recorded call none, and neither does trace_printk(), whose events may have this type, too.
 * set_event_pid has no effect.
 */
#ifndef TRACE_EVENT_MARKER_H
#define TRACE_EVENT_MARKER_H

struct trace_event_file;

/* Make the type an event of events/, once it is registered. */
void trace_event_marker_init(void);
/* Let the instance report markers to its new event_file of the event. Config lock held. */
void trace_event_marker_begin(struct trace_event_file *file);

#endif
