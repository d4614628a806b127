/*
 * The options of an instance: trace_options and options/NAME, Linux's names in Linux's order.
 */
#ifndef TRACE_OPTIONS_H
#define TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>

struct trace_array;
struct trace_seq;

#define TRACE_OPT_BIT(option) (1u << (option))

#define TRACE_OPTIONS_DEFAULT                                                                      \
	(TRACE_OPT_BIT(TRACE_OPT_PRINT_PARENT) | TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) |           \
	 TRACE_OPT_BIT(TRACE_OPT_ANNOTATE) | TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO) |               \
	 TRACE_OPT_BIT(TRACE_OPT_RECORD_CMD) | TRACE_OPT_BIT(TRACE_OPT_OVERWRITE) |                \
	 TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO) | TRACE_OPT_BIT(TRACE_OPT_MARKERS) |                    \
	 TRACE_OPT_BIT(TRACE_OPT_FUNCTION_TRACE))

/* Instances have no files for these: they mean the global one, whatever the instance says. */
#define TRACE_OPTIONS_ROOT_ONLY                                                                    \
	(TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) | TRACE_OPT_BIT(TRACE_OPT_PRINTK_MSG_ONLY) |        \
	 TRACE_OPT_BIT(TRACE_OPT_RECORD_CMD))

extern const char *const trace_option_names[TRACE_NR_OPTIONS];

/* Effect included. 0, or what the current tracer says against it. Config lock held. */
int trace_option_set(struct trace_array *tr, enum trace_option option, bool on);
/* The same without asking the tracer. */
void trace_option_apply(struct trace_array *tr, enum trace_option option, bool on);

struct tracer;
/* An option of a tracer. -EINVAL or what the tracer says. Config lock held. */
int tracer_option_set(struct trace_array *tr, struct tracer *tracer, uint32_t bit, bool on);

/*
 * `NAME` or `noNAME`, of the instance or of its current tracer. -EINVAL for an unknown one. Config
 * lock held.
 */
int trace_option_parse(struct trace_array *tr, const char *word);
/* trace_options as text. Config lock held. */
void trace_options_show(struct trace_array *tr, struct trace_seq *seq);

#endif
