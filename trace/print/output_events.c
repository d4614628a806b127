/*
 * The text of each type of event. See output.h, entry.h.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "output.h"
#include "str.h"

/* Spread of addresses over the symbols that a walk keeps: the top bits of the product. */
#define HASH_FACTOR 2654435761u
#define HASH_SHIFT  24u
_Static_assert(TRACE_ITER_SYMBOLS == 1u << (32 - HASH_SHIFT), "one bucket for each symbol");

static bool has_option(const struct trace_iter *iter, enum trace_option option)
{
	return iter->tr->options & TRACE_OPT_BIT(option);
}

static void look_up(struct trace_iter_symbol *symbol, uint32_t packed_ip, bool with_offset)
{
	const char *fmt = with_offset ? "%pS" : "%ps";
	void *ip = (void *)trace_plat_ip_unpack(packed_ip);
	int len = trace_snprintf(symbol->text, sizeof(symbol->text), fmt, ip);

	symbol->ip = packed_ip;
	symbol->with_offset = with_offset;
	symbol->len = (uint8_t)(len < (int)sizeof(symbol->text) ? len : 0);
}

void trace_print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip)
{
	bool with_offset = has_option(iter, TRACE_OPT_SYM_OFFSET);
	struct trace_iter_symbol *symbol = &iter->symbols[packed_ip * HASH_FACTOR >> HASH_SHIFT];
	void *ip = (void *)trace_plat_ip_unpack(packed_ip);

	if (!symbol->len || symbol->ip != packed_ip || symbol->with_offset != with_offset)
		look_up(symbol, packed_ip, with_offset);
	if (symbol->len)
		trace_seq_write(seq, symbol->text, symbol->len);
	else
		trace_seq_printf(seq, with_offset ? "%pS" : "%ps", ip); /* too long to keep */
	if (has_option(iter, TRACE_OPT_SYM_ADDR))
		trace_seq_printf(seq, " <%lx>", (unsigned long)ip);
}

/* Text of an entry ends at its NUL, or where the event ends. */
static int text_len(const struct trace_iter *iter, const char *text)
{
	const char *end = (const char *)iter->event.data + iter->event.len;

	return (int)trace_strnlen(text, (size_t)(end - text));
}

/* ---- function ---- */

static void func_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;

	trace_print_ip(iter, seq, entry->ip);
	if (has_option(iter, TRACE_OPT_PRINT_PARENT) && entry->parent_ip) {
		trace_seq_write(seq, " <-", 3);
		trace_print_ip(iter, seq, entry->parent_ip);
	}
	trace_seq_putc(seq, '\n');
}

static void func_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;

	trace_seq_printf(seq, "%lx %lx\n", (unsigned long)trace_plat_ip_unpack(entry->ip),
			 (unsigned long)trace_plat_ip_unpack(entry->parent_ip));
}

static void func_hex(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;

	trace_seq_hex(seq, trace_plat_ip_unpack(entry->ip), sizeof(uintptr_t));
	trace_seq_hex(seq, trace_plat_ip_unpack(entry->parent_ip), sizeof(uintptr_t));
}

static void func_binary(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;
	uintptr_t ips[2] = { trace_plat_ip_unpack(entry->ip),
			     trace_plat_ip_unpack(entry->parent_ip) };

	trace_seq_write(seq, ips, sizeof(ips));
}

/* ---- print: trace_marker and trace_puts ---- */

static void print_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_print_entry *entry = iter->event.data;

	trace_seq_write(seq, entry->text, (size_t)text_len(iter, entry->text));
}

static void print_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_print_entry *entry = iter->event.data;

	trace_print_ip(iter, seq, entry->ip);
	trace_seq_puts(seq, ": ");
	print_message(iter, seq);
}

static void print_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_print_entry *entry = iter->event.data;

	trace_seq_printf(seq, "# %lx ", (unsigned long)trace_plat_ip_unpack(entry->ip));
	print_message(iter, seq);
}

/* ---- bprint: trace_printk with arguments ---- */

static void bprint_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bprint_entry *entry = iter->event.data;
	size_t room = iter->event.len - sizeof(*entry);

	trace_seq_bprintf(seq, entry->fmt, entry->args,
			  entry->args_bytes < room ? entry->args_bytes : room);
}

static void bprint_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bprint_entry *entry = iter->event.data;

	trace_print_ip(iter, seq, entry->ip);
	trace_seq_puts(seq, ": ");
	bprint_message(iter, seq);
}

static void bprint_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bprint_entry *entry = iter->event.data;

	trace_seq_printf(seq, ": %lx : ", (unsigned long)trace_plat_ip_unpack(entry->ip));
	bprint_message(iter, seq);
}

/* ---- bputs: trace_printk of a literal ---- */

static void bputs_message(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bputs_entry *entry = iter->event.data;

	trace_seq_puts(seq, entry->text);
}

static void bputs_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bputs_entry *entry = iter->event.data;

	trace_print_ip(iter, seq, entry->ip);
	trace_seq_puts(seq, ": ");
	bputs_message(iter, seq);
}

static void bputs_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_bputs_entry *entry = iter->event.data;

	trace_seq_printf(seq, ": %lx : ", (unsigned long)trace_plat_ip_unpack(entry->ip));
	bputs_message(iter, seq);
}

/* ---- raw data: trace_marker_raw ---- */

static void raw_data_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_raw_data_entry *entry = iter->event.data;

	trace_seq_printf(seq, "# %x buf:", entry->id);
	for (size_t i = 0; i < iter->event.len - sizeof(*entry); i++)
		trace_seq_printf(seq, " %02x", entry->data[i]);
	trace_seq_putc(seq, '\n');
}

/* What has no such form. */
static void type_only(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "type: %d\n", trace_iter_entry(iter)->type);
}

static const struct trace_event_format formats[TRACE_NR_TYPES] = {
	[TRACE_TYPE_FN] = {
		.text = func_text,
		.raw = func_raw,
		.hex = func_hex,
		.binary = func_binary,
	},
	[TRACE_TYPE_PRINT] = {
		.text = print_text,
		.raw = print_raw,
		.hex = type_only,
		.binary = type_only,
		.message = print_message,
	},
	[TRACE_TYPE_BPRINT] = {
		.text = bprint_text,
		.raw = bprint_raw,
		.hex = type_only,
		.binary = type_only,
		.message = bprint_message,
	},
	[TRACE_TYPE_BPUTS] = {
		.text = bputs_text,
		.raw = bputs_raw,
		.hex = type_only,
		.binary = type_only,
		.message = bputs_message,
	},
	[TRACE_TYPE_RAW_DATA] = {
		.text = raw_data_text,
		.raw = raw_data_text,
		.hex = type_only,
		.binary = type_only,
	},
};

const struct trace_event_format *trace_event_format(uint16_t type)
{
	if (type >= TRACE_NR_TYPES || !formats[type].text)
		return NULL;
	return &formats[type];
}
