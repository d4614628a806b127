/*
 * From events to text: the formats of `trace` and trace_pipe, Linux's byte for byte.
 *
 * Context: any; memory is the caller's.
 */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include <trace/trace_seq.h>
#include "iter.h"

/* How events of one type are printed; what follows the context, newline included. */
struct trace_event_format {
	void (*text)(const struct trace_iter *iter, struct trace_seq *seq);
	void (*raw)(const struct trace_iter *iter, struct trace_seq *seq);
	void (*hex)(const struct trace_iter *iter, struct trace_seq *seq); /* without newline */
	void (*binary)(const struct trace_iter *iter, struct trace_seq *seq);
	/* printk-msg-only; NULL where that option changes nothing. */
	void (*message)(const struct trace_iter *iter, struct trace_seq *seq);
};

/* NULL for a type nobody knows. */
const struct trace_event_format *trace_event_format(uint16_t type);

/* output_ctx.c */
extern const struct trace_event_format trace_ctx_format;

/* output_graph.c: events of the graph where function_graph is not the tracer, as in a snapshot. */
extern const struct trace_event_format trace_graph_entry_format;
extern const struct trace_event_format trace_graph_return_format;

/* output_stack.c */
extern const struct trace_event_format trace_stack_format;
extern const struct trace_event_format trace_func_repeats_format;
/* Lines that the current event takes as text. */
uint32_t trace_event_lines(const struct trace_iter *iter);

/* What has no such form: its type. */
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

/* An address as the options say: `name`, `name+0x1/0x2`, with or without ` <address>`. */
void trace_print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip);
/* The same of an address that a call returns to: the function is the caller. */
void trace_print_return(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip);

#define TRACE_IP_OFFSET 1u /* `name+0x1/0x2`; without it `name` */
#define TRACE_IP_RETURN 2u /* as trace_print_return() */
/* What `flags` say, whatever the options do. */
void trace_print_symbol(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			unsigned int flags);

#endif
