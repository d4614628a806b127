/*
 * The text of stack traces and of repeated calls. See output.h, entry.h.
 */
#include <trace/platform.h>
#include "output.h"

/* ---- stack ---- */

static uint32_t nr_ips(const struct trace_iter *iter)
{
	return (iter->event.len - (uint32_t)sizeof(struct trace_stack_entry)) /
	       (uint32_t)sizeof(uint32_t);
}

/* The first one may be the traced function itself: that is an address in it. */
static void print_location(const struct trace_iter *iter, struct trace_seq *seq, uint32_t i)
{
	const struct trace_stack_entry *entry = iter->event.data;

	if (i)
		trace_print_return(iter, seq, entry->ips[i]);
	else
		trace_print_ip(iter, seq, entry->ips[i]);
}

static void stack_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_stack_entry *entry = iter->event.data;

	trace_seq_puts(seq, "<stack trace>\n");
	for (uint32_t i = 0; i < nr_ips(iter); i++) {
		trace_seq_write(seq, " => ", 4);
		if (entry->ips[i])
			print_location(iter, seq, i);
		else
			trace_seq_printf(seq, "... (more than %u)", TRACE_STACK_MAX);
		trace_seq_putc(seq, '\n');
	}
}

uint32_t trace_event_lines(const struct trace_iter *iter)
{
	return trace_iter_entry(iter)->type == TRACE_TYPE_STACK ? 1 + nr_ips(iter) : 1;
}

const struct trace_event_format trace_stack_format = {
	.text = stack_text,
	.raw = trace_print_type,
	.hex = trace_print_type,
	.binary = trace_print_type,
};

/* ---- repeats of a call ---- */

static uint32_t count_of(const struct trace_func_repeats_entry *entry)
{
	return (uint32_t)(entry->count_and_last >> TRACE_REPEATS_SHIFT);
}

/* How long before the event the last call was; the time is kept without its high bits. */
static uint64_t ago(const struct trace_iter *iter, const struct trace_func_repeats_entry *entry)
{
	return (iter->event.ts - entry->count_and_last) & TRACE_REPEATS_TIME;
}

static void repeats_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_repeats_entry *entry = iter->event.data;

	trace_print_call(iter, seq, entry->ip, entry->parent_ip);
	trace_seq_printf(seq, " (repeats: %u, last_ts:", count_of(entry));
	trace_print_time(iter, seq, iter->event.ts - ago(iter, entry));
	trace_seq_puts(seq, ")\n");
}

static void repeats_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_repeats_entry *entry = iter->event.data;

	trace_seq_printf(seq, "%lu %lu %u %llu\n", (unsigned long)trace_plat_ip_unpack(entry->ip),
			 (unsigned long)trace_plat_ip_unpack(entry->parent_ip), count_of(entry),
			 (unsigned long long)ago(iter, entry));
}

const struct trace_event_format trace_func_repeats_format = {
	.text = repeats_text,
	.raw = repeats_raw,
	.hex = trace_print_type,
	.binary = trace_print_type,
};
