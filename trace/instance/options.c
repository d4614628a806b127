/*
 * See options.h.
 */
#include <trace/trace_seq.h>
#include "array.h"
#include "feature/feature.h"
#include "options.h"
#include "printk.h"
#include "text/str.h"

const char *const trace_option_names[TRACE_NR_OPTIONS] = {
	[TRACE_OPT_PRINT_PARENT] = "print-parent",
	[TRACE_OPT_SYM_OFFSET] = "sym-offset",
	[TRACE_OPT_SYM_ADDR] = "sym-addr",
	[TRACE_OPT_VERBOSE] = "verbose",
	[TRACE_OPT_RAW] = "raw",
	[TRACE_OPT_HEX] = "hex",
	[TRACE_OPT_BIN] = "bin",
	[TRACE_OPT_BLOCK] = "block",
	[TRACE_OPT_FIELDS] = "fields",
	[TRACE_OPT_TRACE_PRINTK] = "trace_printk",
	[TRACE_OPT_ANNOTATE] = "annotate",
	[TRACE_OPT_USERSTACKTRACE] = "userstacktrace",
	[TRACE_OPT_SYM_USEROBJ] = "sym-userobj",
	[TRACE_OPT_PRINTK_MSG_ONLY] = "printk-msg-only",
	[TRACE_OPT_CONTEXT_INFO] = "context-info",
	[TRACE_OPT_LATENCY_FORMAT] = "latency-format",
	[TRACE_OPT_RECORD_CMD] = "record-cmd",
	[TRACE_OPT_RECORD_TGID] = "record-tgid",
	[TRACE_OPT_OVERWRITE] = "overwrite",
	[TRACE_OPT_DISABLE_ON_FREE] = "disable_on_free",
	[TRACE_OPT_IRQ_INFO] = "irq-info",
	[TRACE_OPT_MARKERS] = "markers",
	[TRACE_OPT_EVENT_FORK] = "event-fork",
	[TRACE_OPT_PRINTK_DEST] = "trace_printk_dest",
	[TRACE_OPT_COPY_MARKER] = "copy_trace_marker",
	[TRACE_OPT_PAUSE_ON_TRACE] = "pause-on-trace",
	[TRACE_OPT_HASH_PTR] = "hash-ptr",
	[TRACE_OPT_BITMASK_LIST] = "bitmask-list",
	[TRACE_OPT_FUNCTION_TRACE] = "function-trace",
	[TRACE_OPT_FUNCTION_FORK] = "function-fork",
	[TRACE_OPT_DISPLAY_GRAPH] = "display-graph",
	[TRACE_OPT_STACKTRACE] = "stacktrace",
	[TRACE_OPT_ERRNO_NAMES] = "errno-names",
};

void trace_option_apply(struct trace_array *tr, enum trace_option option, bool on)
{
	if (option == TRACE_OPT_PRINTK_DEST)
		trace_printk_redirect(on ? tr : &trace_global);
	else if (on)
		tr->options |= TRACE_OPT_BIT(option);
	else
		tr->options &= ~TRACE_OPT_BIT(option);
	if (option == TRACE_OPT_OVERWRITE)
		ring_buffer_change_overwrite(tr->buffer, on);
	trace_features_option_changed(tr, option, on);
}

int trace_option_set(struct trace_array *tr, enum trace_option option, bool on)
{
	int err;

	if (on == !!(tr->options & TRACE_OPT_BIT(option)))
		return 0;
	/* One instance always has it: the global one, unless another one has set it. */
	if (option == TRACE_OPT_PRINTK_DEST && trace_array_is_global(tr) && !on)
		return -EINVAL;
	trace_option_apply(tr, option, on);
	err = tr->tracer->instance_option ? tr->tracer->instance_option(tr, option, on) : 0;
	if (err)
		trace_option_apply(tr, option, !on);
	return err;
}

int tracer_option_set(struct trace_array *tr, struct tracer *tracer, uint32_t bit, bool on)
{
	int err;

	if (on == !!(tracer_option_bits(tr, tracer) & bit))
		return 0;
	err = tracer->set_option ? tracer->set_option(tr, bit, on) : 0;
	if (err)
		return err;
	err = trace_features_tracer_option(tr, tracer, bit, on);
	if (err) {
		if (tracer->set_option)
			(void)tracer->set_option(tr, bit, !on);
		return err;
	}
	tr->tracer_bits[tracer->index] ^= bit;
	return 0;
}

int trace_option_parse(struct trace_array *tr, const char *word)
{
	const struct tracer *tracer = tr->tracer;
	bool on = !trace_str_starts(word, "no");

	if (!on)
		word += 2;
	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++) {
		if (trace_streq(word, trace_option_names[i]))
			return trace_option_set(tr, (enum trace_option)i, on);
	}
	for (size_t i = 0; i < tracer->nr_options; i++) {
		if (trace_streq(word, tracer->options[i].name))
			return tracer_option_set(tr, tr->tracer, tracer->options[i].bit, on);
	}
	return -EINVAL;
}

static void options_show_one(struct trace_seq *seq, const char *name, bool on)
{
	trace_seq_printf(seq, "%s%s\n", on ? "" : "no", name);
}

void trace_options_show(struct trace_array *tr, struct trace_seq *seq)
{
	const struct tracer *tracer = tr->tracer;

	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++)
		options_show_one(seq, trace_option_names[i], tr->options & TRACE_OPT_BIT(i));
	for (size_t i = 0; i < tracer->nr_options; i++)
		options_show_one(seq, tracer->options[i].name,
				 tracer_option_bits(tr, tracer) & tracer->options[i].bit);
}
