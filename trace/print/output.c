/*
 * The line of one event, in the format that the options ask for. See output.h.
 */
#include "output.h"
#include "text/str.h"

static bool output_has_option(const struct trace_iter *iter, enum trace_option option)
{
	return iter->tr->options & TRACE_OPT_BIT(option);
}

static void print_lost(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (iter->event.lost)
		trace_seq_printf(seq, "CPU:%u [LOST %llu EVENTS]\n", iter->event.cpu,
				 (unsigned long long)iter->event.lost);
}

/*
 * Once events were overwritten, the buffers of CPUs begin at different times. For the option
 * annotate: mark the first event of each CPU, except for the very first ones.
 */
static void print_start(struct trace_iter *iter, struct trace_seq *seq)
{
	struct trace_iter_cpu *cpu = &iter->cpus[iter->event.cpu - iter->first_cpu];

	if (!iter->has_overruns || !output_has_option(iter, TRACE_OPT_ANNOTATE) || cpu->is_started)
		return;
	cpu->is_started = true;
	if (iter->index > 1)
		trace_seq_printf(seq, "##### CPU %u buffer started ####\n", iter->event.cpu);
}

static void output_print_text(struct trace_iter *iter, struct trace_seq *seq)
{
	print_start(iter, seq);
	if (output_has_option(iter, TRACE_OPT_CONTEXT_INFO)) {
		if (iter->is_latency)
			trace_print_latency_context(iter, seq);
		else
			trace_print_context(iter, seq);
	}
	if (!iter->type)
		trace_seq_printf(seq, "Unknown type %d\n", trace_iter_entry(iter)->type);
	else if (output_has_option(iter, TRACE_OPT_FIELDS))
		trace_fields_values(iter, seq);
	else if (iter->type->funcs->trace)
		iter->type->funcs->trace(iter, seq);
	else
		trace_fields_text(iter, seq);
}

static void output_print_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (output_has_option(iter, TRACE_OPT_CONTEXT_INFO))
		trace_seq_printf(seq, "%d %u %llu ", trace_iter_entry(iter)->pid, iter->event.cpu,
				 (unsigned long long)iter->event.ts);
	if (!iter->type)
		trace_seq_printf(seq, "%d ?\n", trace_iter_entry(iter)->type);
	else if (iter->type->funcs->raw)
		iter->type->funcs->raw(iter, seq);
	else
		trace_fields_raw(iter->type, iter->event.data, iter->event.len, seq);
}

static void print_hex(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (output_has_option(iter, TRACE_OPT_CONTEXT_INFO)) {
		trace_seq_hex(seq, (uint32_t)trace_iter_entry(iter)->pid, sizeof(int32_t));
		trace_seq_hex(seq, iter->event.cpu, sizeof(uint32_t));
		trace_seq_hex(seq, iter->event.ts, sizeof(uint64_t));
	}
	if (iter->type && iter->type->funcs->hex)
		iter->type->funcs->hex(iter, seq);
	else if (iter->type)
		trace_fields_hex(iter->type, iter->event.data, iter->event.len, seq);
	trace_seq_putc(seq, '\n');
}

static void print_binary(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (output_has_option(iter, TRACE_OPT_CONTEXT_INFO)) {
		trace_seq_write(seq, &trace_iter_entry(iter)->pid, sizeof(int32_t));
		trace_seq_write(seq, &iter->event.cpu, sizeof(uint32_t));
		trace_seq_write(seq, &iter->event.ts, sizeof(uint64_t));
	}
	if (iter->type && iter->type->funcs->binary)
		iter->type->funcs->binary(iter, seq);
	else if (iter->type)
		trace_fields_binary(iter->type, iter->event.data, iter->event.len, seq);
}

static void end_cut_line(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (seq->overflowed && !output_has_option(iter, TRACE_OPT_BIN))
		seq->buf[seq->len - 1] = '\n';
}

static void output_print_event(struct trace_iter *iter, struct trace_seq *seq)
{
	print_lost(iter, seq);
	if (iter->tracer->print_line && iter->tracer->print_line(iter, seq))
		return;
	if (iter->type && iter->type->funcs->message &&
	    output_has_option(iter, TRACE_OPT_PRINTK_MSG_ONLY))
		iter->type->funcs->message(iter, seq);
	else if (output_has_option(iter, TRACE_OPT_BIN))
		print_binary(iter, seq);
	else if (output_has_option(iter, TRACE_OPT_HEX))
		print_hex(iter, seq);
	else if (output_has_option(iter, TRACE_OPT_RAW))
		output_print_raw(iter, seq);
	else
		output_print_text(iter, seq);
	end_cut_line(iter, seq);
}

/*
 * An event that has not all the fields that its type describes is damaged. It is printed as one of
 * an unknown type, because functions of a type take them for granted; printing field by field does
 * not.
 */
void trace_print_line(struct trace_iter *iter, struct trace_seq *seq)
{
	uint32_t bytes = 0;
	const struct trace_event *type = trace_event_get(trace_iter_entry(iter)->type, &bytes);

	iter->type = type && (!type->funcs->trace || iter->event.len >= bytes) ? type : NULL;
	output_print_event(iter, seq);
	trace_event_put(type);
	iter->type = NULL;
}
