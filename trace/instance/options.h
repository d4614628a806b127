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

#define TRACE_OPT_BIT(option) (1ull << (option))

#define TRACE_OPTIONS_DEFAULT                                                                      \
	(TRACE_OPT_BIT(TRACE_OPT_PRINT_PARENT) | TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) |           \
	 TRACE_OPT_BIT(TRACE_OPT_ANNOTATE) | TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO) |               \
	 TRACE_OPT_BIT(TRACE_OPT_RECORD_CMD) | TRACE_OPT_BIT(TRACE_OPT_OVERWRITE) |                \
	 TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO) | TRACE_OPT_BIT(TRACE_OPT_MARKERS) |                    \
	 TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST) | TRACE_OPT_BIT(TRACE_OPT_COPY_MARKER) |             \
	 TRACE_OPT_BIT(TRACE_OPT_FUNCTION_TRACE))

/* Options that count in the global instance only. Other instances have no files for them. */
#define TRACE_OPTIONS_ROOT_ONLY                                                                    \
	(TRACE_OPT_BIT(TRACE_OPT_TRACE_PRINTK) | TRACE_OPT_BIT(TRACE_OPT_PRINTK_MSG_ONLY) |        \
	 TRACE_OPT_BIT(TRACE_OPT_RECORD_CMD))

extern const char *const trace_option_names[TRACE_NR_OPTIONS];

/*
 * Set an option, with its effects. Returns 0, or with nothing changed the error with which the
 * current tracer refuses it; -EINVAL for clearing trace_printk_dest in the global instance, which
 * loses it when another instance gets it. Config lock held.
 */
int trace_option_set(struct trace_array *tr, enum trace_option option, bool on);
/* The same without asking the tracer. Config lock held. */
void trace_option_apply(struct trace_array *tr, enum trace_option option, bool on);

struct tracer;
/*
 * Set option `bit` of a tracer, running or not. Returns 0, or the error of a refusal. Config lock.
 */
int tracer_option_set(struct trace_array *tr, struct tracer *tracer, uint32_t bit, bool on);

/*
 * Set the option `NAME`, or clear it for `noNAME`; of the instance or of its current tracer. 0,
 * -EINVAL for an unknown name, or an error as above. Config lock held.
 */
int trace_option_parse(struct trace_array *tr, const char *word);
/* The text of the file trace_options. Config lock held. */
void trace_options_show(struct trace_array *tr, struct trace_seq *seq);

#endif
