/*
 * The type of stack traces. See output.h, <trace/event.h>, instance/entry.h.
 */
#include <trace/platform.h>
#include "output.h"
#include "text/str.h"

static uint32_t nr_ips(const struct trace_iter *iter)
{
	return (iter->event.len - (uint32_t)sizeof(struct trace_stack_entry)) /
	       (uint32_t)sizeof(uint64_t);
}

/* The first address may be a call site; the others are return addresses. */
static void print_location(const struct trace_iter *iter, struct trace_seq *seq, uint32_t i)
{
	const struct trace_stack_entry *entry = iter->event.data;
	uint32_t ip = trace_plat_ip_pack((uintptr_t)entry->ips[i]);

	if (i)
		trace_print_return(iter, seq, ip);
	else
		trace_print_ip(iter, seq, ip);
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
	uint16_t type = trace_iter_entry(iter)->type;

	if (type == TRACE_TYPE_STACK)
		return 1 + nr_ips(iter);
	return type == TRACE_TYPE_USER_STACK ? 1 + TRACE_USER_STACK_MAX : 1;
}

static const struct trace_event_field stack_fields[] = {
	TRACE_FIELD_REST("caller", unsigned long, trace_stack_entry, ips),
};

/* A print fmt has a fixed number of arguments, so tools show the first four callers. */
#define CALLER(i)   "(void *)REC->caller[" #i "]"
#define CALLER_LINE "\\t=> %ps\\n"

static struct trace_event stack_event = {
	.name = "kernel_stack",
	.system = "ftrace",
	.type = TRACE_TYPE_STACK,
	.fields = stack_fields,
	.nr_fields = TRACE_ARRAY_SIZE(stack_fields),
	.print_fmt = "\"" CALLER_LINE CALLER_LINE CALLER_LINE CALLER_LINE
		     "\", " CALLER(0) ", " CALLER(1) ", " CALLER(2) ", " CALLER(3),
	.funcs =
		&(const struct trace_event_functions){
			.trace = stack_text,
			.raw = trace_print_type,
			.hex = trace_print_type,
			.binary = trace_print_type,
		},
};

/* ---- Stacks of programs ---- */

bool trace_user_place(uint32_t tgid, uint64_t ip, bool is_return, struct trace_plat_user_place *out)
{
	if (!trace_plat_user_object((int32_t)tgid, ip - is_return, out))
		return false;
	out->offset += is_return;
	out->function_offset += is_return;
	return true;
}

bool trace_print_user_place(uint32_t tgid, uint64_t ip, bool is_return, struct trace_seq *seq)
{
	struct trace_plat_user_place place;

	if (!trace_user_place(tgid, ip, is_return, &place))
		return false;
	trace_seq_printf(seq, "%s[+0x%llx]", place.path, (unsigned long long)place.offset);
	if (place.function[0])
		trace_seq_printf(seq, " %s+0x%llx", place.function,
				 (unsigned long long)place.function_offset);
	return true;
}

/* An address of a program: with sym-userobj the file that it is from, where in its mapping, and the function. */
static void print_user_location(const struct trace_iter *iter, struct trace_seq *seq,
				const struct trace_user_stack_entry *entry, uint32_t index)
{
	uint64_t ip = entry->caller[index];
	uint64_t options = iter->tr->options;
	bool has_file = options & TRACE_OPT_BIT(TRACE_OPT_SYM_USEROBJ) && !iter->is_dump &&
			trace_print_user_place(entry->tgid, ip, index > 0, seq);

	if (!has_file || options & TRACE_OPT_BIT(TRACE_OPT_SYM_ADDR))
		trace_seq_printf(seq, " <%016llx>", (unsigned long long)ip);
}

static void user_stack_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_user_stack_entry *entry = iter->event.data;
	bool is_whole = iter->event.len >= sizeof(*entry);

	trace_seq_puts(seq, "<user stack trace>\n");
	for (uint32_t i = 0; is_whole && i < TRACE_USER_STACK_MAX && entry->caller[i]; i++) {
		trace_seq_write(seq, " => ", 4);
		print_user_location(iter, seq, entry, i);
		trace_seq_putc(seq, '\n');
	}
}

static const struct trace_event_field user_stack_fields[] = {
	TRACE_FIELD("tgid", unsigned int, trace_user_stack_entry, tgid),
	TRACE_FIELD("caller", unsigned long, trace_user_stack_entry, caller),
};

static struct trace_event user_stack_event = {
	.name = "user_stack",
	.system = "ftrace",
	.type = TRACE_TYPE_USER_STACK,
	.fields = user_stack_fields,
	.nr_fields = TRACE_ARRAY_SIZE(user_stack_fields),
	.print_fmt = "\"" CALLER_LINE CALLER_LINE CALLER_LINE
		     "\" \"" CALLER_LINE CALLER_LINE CALLER_LINE "\" \"" CALLER_LINE CALLER_LINE
		     "\", " CALLER(0) ", " CALLER(1) ", " CALLER(2) ", " CALLER(3) ", " CALLER(
			     4) ", " CALLER(5) ", " CALLER(6) ", " CALLER(7),
	.funcs =
		&(const struct trace_event_functions){
			.trace = user_stack_text,
			.raw = trace_print_type,
			.hex = trace_print_type,
			.binary = trace_print_type,
		},
};

int trace_stack_events_init(void)
{
	static struct trace_event *const events[] = { &stack_event, &user_stack_event };

	return trace_events_register(events, TRACE_ARRAY_SIZE(events));
}
