/*
 * Addresses as text; texts and raw data, the types whose events code and users write. See output.h,
 * <trace/event.h>, instance/entry.h.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_events.h>
#include "iter.h"
#include "output.h"
#include "text/str.h"
#include "feature/feature.h"
#include "instance/kept.h"

/* Spread of addresses over the symbols that a walk keeps: the top bits of the product. */
#define HASH_FACTOR 2654435761u
#define HASH_SHIFT  24u
_Static_assert(TRACE_ITER_SYMBOLS == 1u << (32 - HASH_SHIFT), "one bucket for each symbol");

static bool output_events_has_option(const struct trace_iter *iter, enum trace_option option)
{
	return iter->tr->options & TRACE_OPT_BIT(option);
}

#define SYMBOL_TEXT (TRACE_SYM_LEN + 40u) /* `name+0x1/0x2` */

/*
 * The name of an address. In the padding behind a function an address is that function's: no other
 * one ends there.
 */
static size_t symbol_text(char *text, uintptr_t ip, unsigned int flags)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	if (!(!(flags & TRACE_IP_RETURN) && trace_plat_symbol(ip, name, &start, &bytes)) &&
	    !trace_symbol_of_return(ip, name, &start, &bytes))
		return trace_scnprintf(text, SYMBOL_TEXT, "0x%lx", (unsigned long)ip);
	if (!(flags & TRACE_IP_OFFSET))
		return trace_scnprintf(text, SYMBOL_TEXT, "%s", name);
	return trace_scnprintf(text, SYMBOL_TEXT, "%s+0x%lx/0x%lx", name,
			       (unsigned long)(ip - start), (unsigned long)bytes);
}

static void print_and_keep(const struct trace_iter *iter, struct trace_seq *seq,
			   struct trace_iter_symbol *symbol, uint32_t packed_ip, unsigned int flags)
{
	char text[SYMBOL_TEXT];
	uintptr_t ip = trace_plat_ip_unpack(packed_ip);
	size_t len = trace_kept_is_foreign(iter->tr)
			     ? trace_scnprintf(text, sizeof(text), "0x%lx", (unsigned long)ip)
			     : symbol_text(text, ip, flags);

	trace_seq_write(seq, text, len);
	if (len > sizeof(symbol->text))
		return;
	memcpy(symbol->text, text, len);
	symbol->ip = packed_ip;
	symbol->flags = (uint8_t)flags;
	symbol->len = (uint8_t)len;
}

void trace_print_symbol(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			unsigned int flags)
{
	struct trace_iter_symbol *symbol = &iter->symbols[packed_ip * HASH_FACTOR >> HASH_SHIFT];

	if (symbol->len && symbol->ip == packed_ip && symbol->flags == flags)
		trace_seq_write(seq, symbol->text, symbol->len);
	else
		print_and_keep(iter, seq, symbol, packed_ip, flags);
}

static void print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
		     unsigned int flags)
{
	if (output_events_has_option(iter, TRACE_OPT_SYM_OFFSET))
		flags |= TRACE_IP_OFFSET;
	trace_print_symbol(iter, seq, packed_ip, flags);
	if (output_events_has_option(iter, TRACE_OPT_SYM_ADDR))
		trace_seq_printf(seq, " <%lx>", (unsigned long)trace_plat_ip_unpack(packed_ip));
}

void trace_print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip)
{
	print_ip(iter, seq, packed_ip, 0);
}

void trace_print_return(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip)
{
	print_ip(iter, seq, packed_ip, TRACE_IP_RETURN);
}

void trace_print_caller(const struct trace_iter *iter, struct trace_seq *seq, uint32_t parent_ip)
{
	if (output_events_has_option(iter, TRACE_OPT_PRINT_PARENT) && parent_ip) {
		trace_seq_write(seq, " <-", 3);
		trace_print_return(iter, seq, parent_ip);
	}
}

void trace_print_call(const struct trace_iter *iter, struct trace_seq *seq, uint32_t ip,
		      uint32_t parent_ip)
{
	trace_print_ip(iter, seq, ip);
	trace_print_caller(iter, seq, parent_ip);
}

const void *trace_iter_event(const struct trace_iter *iter, uint32_t *out_len)
{
	*out_len = iter->event.len;
	return iter->event.data;
}

struct trace_array *trace_iter_array(const struct trace_iter *iter)
{
	return iter->tr;
}

uint32_t trace_iter_cpu(const struct trace_iter *iter)
{
	return iter->event.cpu;
}

uint64_t trace_iter_ts(const struct trace_iter *iter)
{
	return iter->event.ts;
}

void trace_print_type(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "type: %d\n", trace_iter_entry(iter)->type);
}

/* Text of an entry ends at its NUL, or where the event ends. */
static int output_events_text_len(const struct trace_iter *iter, const char *text)
{
	const char *end = (const char *)iter->event.data + iter->event.len;

	return (int)trace_strnlen(text, (size_t)(end - text));
}

/*
 * The types with an address and a message, as their descriptions have it: the address is the first
 * field, the message what `message` prints.
 */
static uint32_t output_events_ip_of(const struct trace_iter *iter)
{
	uint32_t packed;

	memcpy(&packed, (const char *)iter->event.data + iter->type->fields[0].offset,
	       sizeof(packed));
	return packed;
}

static void message_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_print_ip(iter, seq, output_events_ip_of(iter));
	trace_seq_puts(seq, ": ");
	iter->type->funcs->message(iter, seq);
}

static void message_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(
		seq, ": %lx : ", (unsigned long)trace_plat_ip_unpack(output_events_ip_of(iter)));
	iter->type->funcs->message(iter, seq);
}

/*
 * Their descriptions, of NAME_fields and NAME_message(). Tools take the field `text` for the
 * message.
 */
#define MESSAGE_TYPE(NAME, number, text, raw_text)                                                 \
	.name = #NAME, .system = "ftrace", .type = (number), .fields = NAME##_fields,              \
	.nr_fields = TRACE_ARRAY_SIZE(NAME##_fields),                                              \
	.print_fmt = "\"%ps: %s\", " TRACE_REC_ADDRESS("ip") ", REC->" text,                       \
	.funcs = &(const struct trace_event_functions)                                             \
	{                                                                                          \
		.trace = message_text, .raw = (raw_text), .hex = trace_print_type,                 \
		.binary = trace_print_type, .message = NAME##_message,                             \
	}

/* ---- print: trace_marker and trace_puts ---- */

static void print_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_print_entry *entry = iter->event.data;

	trace_seq_write(seq, entry->text, (size_t)output_events_text_len(iter, entry->text));
}

static void output_events_print_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "# %lx ",
			 (unsigned long)trace_plat_ip_unpack(output_events_ip_of(iter)));
	print_message(iter, seq);
}

static const struct trace_event_field print_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_print_entry, ip),
	TRACE_FIELD_REST("buf", char, trace_print_entry, text),
};

struct trace_event_call trace_marker_call = {
	.event = { MESSAGE_TYPE(print, TRACE_TYPE_PRINT, "buf", output_events_print_raw) },
};

/* ---- bprint: trace_printk with arguments ---- */

static void bprint_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bprint_entry *entry = iter->event.data;
	size_t room = iter->event.len - sizeof(*entry);

	trace_iter_style(iter, seq);
	trace_seq_bprintf(seq, entry->fmt, entry->args,
			  entry->args_bytes < room ? entry->args_bytes : room);
}

static const struct trace_event_field bprint_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_bprint_entry, ip),
	TRACE_FIELD("args_bytes", unsigned short, trace_bprint_entry, args_bytes),
	TRACE_FIELD("fmt", const char *, trace_bprint_entry, fmt),
	TRACE_FIELD_REST("buf", unsigned char, trace_bprint_entry, args),
};

static struct trace_event bprint_event = { MESSAGE_TYPE(bprint, TRACE_TYPE_BPRINT, "fmt",
							message_raw) };

/* ---- bputs: trace_printk of a literal ---- */

static void bputs_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bputs_entry *entry = iter->event.data;

	trace_seq_puts(seq, entry->text);
}

static const struct trace_event_field bputs_fields[] = {
	TRACE_FIELD_ADDRESS("ip", trace_bputs_entry, ip),
	TRACE_FIELD("str", const char *, trace_bputs_entry, text),
};

static struct trace_event bputs_event = { MESSAGE_TYPE(bputs, TRACE_TYPE_BPUTS, "str",
						       message_raw) };

/* ---- raw data: trace_marker_raw ---- */

static void raw_data_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_raw_data_entry *entry = iter->event.data;

	trace_seq_printf(seq, "# %x buf:", entry->id);
	for (size_t i = 0; i < iter->event.len - sizeof(*entry); i++)
		trace_seq_printf(seq, " %02x", entry->data[i]);
	trace_seq_putc(seq, '\n');
}

static const struct trace_event_field raw_data_fields[] = {
	TRACE_FIELD("id", unsigned int, trace_raw_data_entry, id),
	TRACE_FIELD_REST("buf", char, trace_raw_data_entry, data),
};

static struct trace_event raw_data_event = {
	.name = "raw_data",
	.system = "ftrace",
	.type = TRACE_TYPE_RAW_DATA,
	.fields = raw_data_fields,
	.nr_fields = TRACE_ARRAY_SIZE(raw_data_fields),
	.print_fmt = "\"id:%04x %08x\", REC->id, (int)REC->buf[0]",
	.funcs =
		&(const struct trace_event_functions){
			.trace = raw_data_text,
			.raw = raw_data_text,
			.hex = trace_print_type,
			.binary = trace_print_type,
		},
};

static int text_events_init(void)
{
	static struct trace_event *const events[] = { &trace_marker_call.event, &bprint_event,
						      &bputs_event, &raw_data_event };

	return trace_events_register(events, TRACE_ARRAY_SIZE(events));
}

/* ---- The feature ---- */

static int text_init(void)
{
	int err = text_events_init();

	return err ? err : trace_stack_events_init();
}

const struct trace_feature trace_feature_text = {
	.name = "text",
	.init = text_init,
};
