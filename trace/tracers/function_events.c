/*
 * The types of the function tracer's events. See function_entry.h, <trace/event.h>.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "function_entry.h"
#include "instance/event_private.h"
#include "print/output.h"
#include "text/str.h"

/* ---- function: a call ---- */

static void func_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;

	trace_print_call(iter, seq, entry->ip, entry->parent_ip);
	trace_seq_putc(seq, '\n');
}

static const struct trace_event_field func_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_func_entry, ip),
	TRACE_FIELD_ADDRESS("parent_ip", trace_func_entry, parent_ip),
};

static struct trace_event func_event = {
	.name = "function",
	.system = "ftrace",
	.type = TRACE_TYPE_FN,
	.fields = func_fields,
	.nr_fields = TRACE_ARRAY_SIZE(func_fields),
	.print_fmt =
		"\" %ps <-- %ps\", " TRACE_REC_ADDRESS("ip") ", " TRACE_REC_ADDRESS("parent_ip"),
	.funcs = &(const struct trace_event_functions){ .trace = func_text },
};

/* ---- func_args: a call with its arguments ---- */

static void function_args_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_args_entry *entry = iter->event.data;

	trace_print_ip(iter, seq, entry->call.ip);
	if (trace_call_types)
		trace_call_types->print_args(iter, seq, entry->call.ip,
					     offsetof(struct trace_func_args_entry, args));
	trace_print_caller(iter, seq, entry->call.parent_ip);
	trace_seq_putc(seq, '\n');
}

static void args_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_args_entry *entry = iter->event.data;

	trace_seq_printf(seq, "%lx %lx", (unsigned long)trace_plat_ip_unpack(entry->call.ip),
			 (unsigned long)trace_plat_ip_unpack(entry->call.parent_ip));
	trace_call_print_raw(iter, seq, offsetof(struct trace_func_args_entry, args));
	trace_seq_putc(seq, '\n');
}

static void args_hex(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_args_entry *entry = iter->event.data;

	trace_seq_hex(seq, trace_plat_ip_unpack(entry->call.ip), sizeof(uintptr_t));
	trace_seq_hex(seq, trace_plat_ip_unpack(entry->call.parent_ip), sizeof(uintptr_t));
	trace_call_print_hex(iter, seq, offsetof(struct trace_func_args_entry, args));
}

static void args_binary(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_args_entry *entry = iter->event.data;
	uintptr_t ips[] = { trace_plat_ip_unpack(entry->call.ip),
			    trace_plat_ip_unpack(entry->call.parent_ip) };

	trace_seq_write(seq, ips, sizeof(ips));
	trace_call_print_binary(iter, seq, offsetof(struct trace_func_args_entry, args));
}

static const struct trace_event_field function_args_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_func_args_entry, call.ip),
	TRACE_FIELD_ADDRESS("parent_ip", trace_func_args_entry, call.parent_ip),
	TRACE_FIELD_ARGS("args", trace_func_args_entry, args.args),
	TRACE_FIELD_ARG_TEXTS("text", trace_func_args_entry, args.text),
};

static struct trace_event function_args_event = {
	.name = "func_args",
	.system = "ftrace",
	.type = TRACE_TYPE_FUNC_ARGS,
	.fields = function_args_fields,
	.nr_fields = TRACE_ARRAY_SIZE(function_args_fields),
	.print_fmt = "\" %ps(%s) <-- %ps\", " TRACE_REC_ADDRESS(
		"ip") ", " TRACE_ARGS_FMT ", " TRACE_REC_ADDRESS("parent_ip"),
	.funcs = &(const struct trace_event_functions){ .trace = function_args_text,
							.raw = args_raw,
							.hex = args_hex,
							.binary = args_binary },
};

/* ---- func_repeats: the same call again ---- */

static uint32_t count_of(const struct trace_func_repeats_entry *entry)
{
	return (uint32_t)(entry->count_and_last >> TRACE_REPEATS_SHIFT);
}

/* Time from the last call to the event. Only the low 48 bits of the call's time are kept. */
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

static const struct trace_event_field repeats_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_func_repeats_entry, ip),
	TRACE_FIELD_ADDRESS("parent_ip", trace_func_repeats_entry, parent_ip),
	TRACE_FIELD("count_and_last", unsigned long long, trace_func_repeats_entry, count_and_last),
};

static struct trace_event repeats_event = {
	.name = "func_repeats",
	.system = "ftrace",
	.type = TRACE_TYPE_FUNC_REPEATS,
	.fields = repeats_fields,
	.nr_fields = TRACE_ARRAY_SIZE(repeats_fields),
	.print_fmt =
		"\" %ps <-%ps\\t(repeats:%u)\", " TRACE_REC_ADDRESS("ip") ", " TRACE_REC_ADDRESS(
			"parent_ip") ", (unsigned int)(REC->count_and_last >> 48)",
	.funcs =
		&(const struct trace_event_functions){
			.trace = repeats_text,
			.raw = repeats_raw,
			.hex = trace_print_type,
			.binary = trace_print_type,
		},
};

int trace_function_events_init(void)
{
	static struct trace_event *const events[] = { &func_event, &function_args_event,
						      &repeats_event };

	return trace_events_register(events, TRACE_ARRAY_SIZE(events));
}
