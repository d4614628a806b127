/*
 * From events to text: the formats of `trace` and trace_pipe, Linux's byte for byte.
 *
 * Context: any; memory is the caller's.
 */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include <trace/event.h>
#include <trace/trace_seq.h>
#include "instance/event_private.h"
#include "iter.h"

/* Register the types of events that instances write themselves: output_events.c, output_stack.c. */
int trace_stack_events_init(void);
/*
 * The place of an address of a program: its file and function. `is_return`: it lies behind a call, which
 * may be the last thing of its function. False: there is no file, or the program is gone. Thread context;
 * reads the file. The second function prints it as `/bin/sh[+0x1a0] main+0x1c`, or nothing.
 */
bool trace_user_place(uint32_t tgid, uint64_t ip, bool is_return,
		      struct trace_plat_user_place *out);
bool trace_print_user_place(uint32_t tgid, uint64_t ip, bool is_return, struct trace_seq *seq);
/*
 * ftrace:print, a type. It becomes an event that has triggers in builds with events/event_marker.h.
 */
extern struct trace_event_call trace_marker_call;

/* The number of lines of the current event's text: output_stack.c. */
uint32_t trace_event_lines(const struct trace_iter *iter);

/*
 * Print an event by the description of its fields, for types without functions of their own:
 * output_fields.c. text: the current event. The others: the event of type `event` in the `len`
 * bytes at `data`. text and raw end with a newline, hex and binary do not.
 */
void trace_fields_text(const struct trace_iter *iter, struct trace_seq *seq);
/* The current event for the option `fields`, ended by a newline: output_values.c. */
void trace_fields_values(const struct trace_iter *iter, struct trace_seq *seq);
void trace_fields_raw(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq);
void trace_fields_hex(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq);
void trace_fields_binary(const struct trace_event *event, const void *data, uint32_t len,
			 struct trace_seq *seq);

/* For the options raw, hex and bin, with a type that is not printed so: its number. */
void trace_print_type(const struct trace_iter *iter, struct trace_seq *seq);
/* `name <-caller` as the options say, without newline. */
/* Print ` <-CALLER`, if options ask for it and the caller is known. */
void trace_print_caller(const struct trace_iter *iter, struct trace_seq *seq, uint32_t parent_ip);
void trace_print_call(const struct trace_iter *iter, struct trace_seq *seq, uint32_t ip,
		      uint32_t parent_ip);

/* The line of the current event as the options say, with a line about lost events before it. */
void trace_print_line(struct trace_iter *iter, struct trace_seq *seq);

/* The header of `trace`, above its first line: output_head.c. */
void trace_print_header(struct trace_iter *iter, struct trace_seq *seq);
/* The header of most tracers, without the name of the tracer: counts, and names of columns. */
void trace_print_default_header(struct trace_iter *iter, struct trace_seq *seq);
/* The first part of the header in the latency format: the maximum, whose it is, and counts. */
void trace_print_latency_summary(const struct trace_iter *iter, struct trace_seq *seq);

/*
 * Print the columns before an event's text, in the usual and in the latency format:
 * output_context.c.
 */
void trace_print_context(struct trace_iter *iter, struct trace_seq *seq);
void trace_print_latency_context(struct trace_iter *iter, struct trace_seq *seq);
/* The five columns of state: irqs-off, need-resched, context, preempt depth, migrate-disable. */
void trace_print_state(const struct trace_entry *entry, struct trace_seq *seq);
/* A mark for a long time: `$` above 1 s, `@` 100 ms, `*` 10 ms, `#` 1 ms, `!` 100 us, `+` 10 us. */
char trace_delay_mark(uint64_t ns);

/* The time `ts` with a blank before it, in seconds; as a number when the clock is not in ns. */
void trace_print_time(const struct trace_iter *iter, struct trace_seq *seq, uint64_t ts);

/* trace_print_ip() with flags instead of the instance's options. */
#define TRACE_IP_OFFSET 1u /* `name+0x1/0x2`; without it `name` */
#define TRACE_IP_RETURN 2u /* it is a return address: as trace_print_return() */
void trace_print_symbol(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			unsigned int flags);

#endif
