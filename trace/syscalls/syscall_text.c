/*
 * Events of system calls as text: lines of `trace`, and the print fmt of `format`. See
 * syscall_event.h.
 */
#include <trace/trace_seq.h>
#include "syscall_event.h"
#include "instance/options.h"
#include "print/output.h"
#include "text/str.h"

/* ---- Lines of `trace` ---- */

/* The memory of an argument in the event being printed, which may be damaged. */
struct syscall_memory {
	const char *at;
	uint32_t bytes;
};

static struct syscall_memory syscall_memory_of(const struct trace_iter *iter, uint32_t user_at,
					       uint32_t i)
{
	uint32_t len = iter->event.len, place, at, bytes;

	memcpy(&place, (const char *)iter->event.data + user_at + i * sizeof(place), sizeof(place));
	at = place & 0xffff;
	bytes = place >> 16;
	if (at > len || bytes > len - at)
		return (struct syscall_memory){ "", 0 };
	return (struct syscall_memory){ (const char *)iter->event.data + at, bytes };
}

static void syscall_print_number(const char *name, uint64_t value, struct trace_seq *seq)
{
	trace_seq_printf(seq, value < 10 ? "%s: %llu" : "%s: 0x%llx", name,
			 (unsigned long long)value);
}

static bool syscall_is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

/* Print bytes: as digits, and if one of them is printable, as characters. */
static void syscall_print_bytes(const struct syscall_memory *memory, uint64_t count,
				struct trace_seq *seq)
{
	bool is_cut = memory->bytes < count, has_text = false;

	trace_seq_puts(seq, " (");
	for (uint32_t i = 0; i < memory->bytes; i++) {
		has_text = has_text || syscall_is_printable(memory->at[i]);
		trace_seq_printf(seq, "%s%02x", i ? ":" : "", (uint8_t)memory->at[i]);
	}
	trace_seq_puts(seq, is_cut ? ", ...)" : ")");
	if (!has_text)
		return;
	trace_seq_puts(seq, " \"");
	for (uint32_t i = 0; i < memory->bytes; i++)
		trace_seq_putc(seq, syscall_is_printable(memory->at[i]) ? memory->at[i] : '.');
	trace_seq_puts(seq, is_cut ? "\"..." : "\"");
}

static void syscall_print_memory(const struct trace_iter *iter, const struct syscall_event *event,
				 uint32_t i, uint64_t count, struct trace_seq *seq)
{
	struct syscall_memory memory = syscall_memory_of(iter, event->user_at, i);

	if (!event->vals[i].is_text)
		syscall_print_bytes(&memory, count, seq);
	else
		trace_seq_printf(seq, " \"%.*s\"", (int)trace_strnlen(memory.at, memory.bytes),
				 memory.at);
}

static void syscall_print_args(const struct trace_iter *iter, const struct syscall_event *event,
			       struct trace_seq *seq)
{
	bool has_types = iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_VERBOSE);
	const char *args_at = (const char *)iter->event.data + SYSCALL_ARGS_AT;
	uint64_t args[TRACE_SYSCALL_ARGS + 1] = { 0 };
	uint32_t val = 0;

	memcpy(args, args_at, event->nr_args * sizeof(*args));
	for (uint32_t i = 0; i < event->nr_args; i++) {
		trace_seq_puts(seq, i ? ", " : "");
		if (has_types)
			trace_seq_printf(seq, "%s ", event->call->types[i]);
		syscall_print_number(event->call->args[i], args[i], seq);
		if (val < event->nr_vals && event->vals[val].arg == i)
			syscall_print_memory(iter, event, val++, args[i + 1], seq);
	}
}

static void syscall_print_enter(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct syscall_event *event = trace_syscall_of_enter(iter->type);

	trace_seq_printf(seq, "sys_%s(", event->call->name);
	if (iter->event.len >= event->fixed_bytes)
		syscall_print_args(iter, event, seq);
	trace_seq_puts(seq, ")\n");
}

/* End a line, with the option errno-names behind the name of the error that was returned. */
static void syscall_print_errname(const struct trace_iter *iter, int64_t ret, struct trace_seq *seq)
{
	const char *name = NULL;

	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_ERRNO_NAMES))
		name = trace_errname(ret);
	if (name)
		trace_seq_printf(seq, " (%s)", name);
	trace_seq_putc(seq, '\n');
}

static void syscall_print_exit(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct syscall_event *event = trace_syscall_of_exit(iter->type);
	uint64_t ret = 0;

	if (iter->event.len >= SYSCALL_EXIT_BYTES)
		memcpy(&ret, (const char *)iter->event.data + SYSCALL_ARGS_AT, sizeof(ret));
	trace_seq_printf(seq, "sys_%s -> 0x%llx", event->call->name, (unsigned long long)ret);
	syscall_print_errname(iter, (int64_t)ret, seq);
}

static void syscall_print_latency(const struct trace_iter *iter, struct trace_seq *seq)
{
	const char *entry = iter->event.data;
	char name[SYSCALL_NAME_BYTES + 1] = "";
	uint64_t lat = 0;
	int64_t ret = 0;

	if (iter->event.len >= SYSCALL_LATENCY_BYTES) {
		memcpy(&lat, entry + SYSCALL_LAT_AT, sizeof(lat));
		memcpy(&ret, entry + SYSCALL_LAT_RET_AT, sizeof(ret));
		memcpy(name, entry + SYSCALL_LAT_NAME_AT, SYSCALL_NAME_BYTES);
	}
	trace_seq_printf(seq, "syscall_latency: %s lat=%llu ret=%lld", name,
			 (unsigned long long)lat, (long long)ret);
	syscall_print_errname(iter, ret, seq);
}

/* ---- print fmt ---- */

/* Write the print fmt: each argument in digits, a text in quotes, bytes in parentheses. */
static void syscall_print_fmt(const struct trace_event *type, struct trace_seq *seq)
{
	const struct syscall_event *event = trace_syscall_of_enter(type);
	const char *const *args = event->call->args;
	uint32_t val = 0;

	trace_seq_putc(seq, '"');
	for (uint32_t i = 0; i < event->nr_args; i++) {
		trace_seq_printf(seq, "%s%s: 0x%%08lx", i ? ", " : "", args[i]);
		if (val < event->nr_vals && event->vals[val].arg == i)
			trace_seq_puts(seq, event->vals[val++].is_text ? " \\\"%s\\\"" : " (%s)");
	}
	trace_seq_putc(seq, '"');
	for (uint32_t i = 0, v = 0; i < event->nr_args; i++) {
		trace_seq_printf(seq, ", ((unsigned long)(REC->%s))", args[i]);
		if (v >= event->nr_vals || event->vals[v].arg != i)
			continue;
		if (event->vals[v++].is_text)
			trace_seq_printf(seq, ", __get_str(__%s_val)", args[i]);
		else
			trace_seq_printf(seq,
					 ", __print_hex(__get_dynamic_array(__%s_val), "
					 "__get_dynamic_array_len(__%s_val))",
					 args[i], args[i]);
	}
}

const struct trace_event_functions trace_syscall_enter_funcs = {
	.trace = syscall_print_enter,
	.print_fmt = syscall_print_fmt,
};

const struct trace_event_functions trace_syscall_exit_funcs = {
	.trace = syscall_print_exit,
};

const struct trace_event_functions trace_syscall_latency_funcs = {
	.trace = syscall_print_latency,
};
