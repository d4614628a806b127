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

/* output_events.c, output_stack.c: the types whose events instances write themselves. */
int trace_text_events_init(void);
int trace_stack_events_init(void);

/* output_stack.c: lines that the current event takes as text. */
uint32_t trace_event_lines(const struct trace_iter *iter);

/*
 * output_fields.c: an event of type `event`, of `len` bytes at `data`, as its fields say. Raw with
 * a newline, hex and binary without.
 */
void trace_fields_text(const struct trace_iter *iter, struct trace_seq *seq);
void trace_fields_raw(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq);
void trace_fields_hex(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq);
void trace_fields_binary(const struct trace_event *event, const void *data, uint32_t len,
			 struct trace_seq *seq);

/* As raw, hex and bin for a type that has no such form: its number. */
void trace_print_type(const struct trace_iter *iter, struct trace_seq *seq);
/* `name <-caller` as the options say, without newline. */
void trace_print_call(const struct trace_iter *iter, struct trace_seq *seq, uint32_t ip,
		      uint32_t parent_ip);

/* The line of the current event as the options say, with a line about lost events before it. */
void trace_print_line(struct trace_iter *iter, struct trace_seq *seq);

/* output_head.c: what stands above the first line of `trace`. */
void trace_print_header(struct trace_iter *iter, struct trace_seq *seq);
/* Its part that most tracers have in common: counts or a summary, and the names of columns. */
void trace_print_default_header(struct trace_iter *iter, struct trace_seq *seq);
/* The part of the latency format that does not name columns. */
void trace_print_latency_summary(const struct trace_iter *iter, struct trace_seq *seq);

/* output_context.c: what stands before an event's text. */
void trace_print_context(struct trace_iter *iter, struct trace_seq *seq);
void trace_print_latency_context(struct trace_iter *iter, struct trace_seq *seq);
/* The five columns of state: irqs-off, need-resched, context, preempt depth, migrate-disable. */
void trace_print_state(const struct trace_entry *entry, struct trace_seq *seq);
/* How long something took, at a glance: one of `$@*#!+` or a blank. */
char trace_delay_mark(uint64_t ns);

/* A time as the clock has it: seconds or counts, with a blank before it. */
void trace_print_time(const struct trace_iter *iter, struct trace_seq *seq, uint64_t ts);

/* As trace_print_ip(), whatever the options say. */
#define TRACE_IP_OFFSET 1u /* `name+0x1/0x2`; without it `name` */
#define TRACE_IP_RETURN 2u /* as trace_print_return() */
void trace_print_symbol(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			unsigned int flags);

#endif
