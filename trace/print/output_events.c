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

/*
 * Right behind a function, in the padding: what a call returns to that never does, and the last
 * instruction of its function. 0 when it is not so.
 */
static int name_end(char *text, size_t size, uintptr_t ip, bool with_offset)
{
	char name[TRACE_SYM_LEN];
	unsigned long bytes;
	uintptr_t start;

	if (text[0] != '0' || !trace_plat_symbol(ip - 1, name, &start, &bytes))
		return 0;
	if (!with_offset)
		return trace_snprintf(text, size, "%s", name);
	return trace_snprintf(text, size, "%s+0x%lx/0x%lx", name, ip - start, bytes);
}

static void look_up(struct trace_iter_symbol *symbol, uint32_t packed_ip, bool with_offset)
{
	const char *fmt = with_offset ? "%pS" : "%ps";
	void *ip = (void *)trace_plat_ip_unpack(packed_ip);
	int len = trace_snprintf(symbol->text, sizeof(symbol->text), fmt, ip);
	int end = name_end(symbol->text, sizeof(symbol->text), (uintptr_t)ip, with_offset);

	if (end)
		len = end;
	symbol->ip = packed_ip;
	symbol->with_offset = with_offset;
	symbol->len = (uint8_t)(len < (int)sizeof(symbol->text) ? len : 0);
}

void trace_print_symbol(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip,
			bool with_offset)
{
	struct trace_iter_symbol *symbol = &iter->symbols[packed_ip * HASH_FACTOR >> HASH_SHIFT];
	void *ip = (void *)trace_plat_ip_unpack(packed_ip);

	if (!symbol->len || symbol->ip != packed_ip || symbol->with_offset != with_offset)
		look_up(symbol, packed_ip, with_offset);
	if (symbol->len)
		trace_seq_write(seq, symbol->text, symbol->len);
	else
		trace_seq_printf(seq, with_offset ? "%pS" : "%ps", ip); /* too long to keep */
}

void trace_print_ip(const struct trace_iter *iter, struct trace_seq *seq, uint32_t packed_ip)
{
	trace_print_symbol(iter, seq, packed_ip, has_option(iter, TRACE_OPT_SYM_OFFSET));
	if (has_option(iter, TRACE_OPT_SYM_ADDR))
		trace_seq_printf(seq, " <%lx>", (unsigned long)trace_plat_ip_unpack(packed_ip));
}

/* Text of an entry ends at its NUL, or where the event ends. */
static int text_len(const struct trace_iter *iter, const char *text)
{
	const char *end = (const char *)iter->event.data + iter->event.len;

	return (int)trace_strnlen(text, (size_t)(end - text));
}

/* ---- function ---- */

void trace_print_call(const struct trace_iter *iter, struct trace_seq *seq, uint32_t ip,
		      uint32_t parent_ip)
{
	trace_print_ip(iter, seq, ip);
	if (has_option(iter, TRACE_OPT_PRINT_PARENT) && parent_ip) {
		trace_seq_write(seq, " <-", 3);
		trace_print_ip(iter, seq, parent_ip);
	}
}

static void func_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_func_entry *entry = iter->event.data;

	trace_print_call(iter, seq, entry->ip, entry->parent_ip);
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

void trace_print_type(const struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "type: %d\n", trace_iter_entry(iter)->type);
}

/* Those of other files. */
static const struct trace_event_format *const other_formats[TRACE_NR_TYPES] = {
	[TRACE_TYPE_CTX] = &trace_ctx_format,
	[TRACE_TYPE_WAKE] = &trace_ctx_format,
	[TRACE_TYPE_STACK] = &trace_stack_format,
	[TRACE_TYPE_FUNC_REPEATS] = &trace_func_repeats_format,
	[TRACE_TYPE_GRAPH_ENT] = &trace_graph_entry_format,
	[TRACE_TYPE_GRAPH_RETADDR_ENT] = &trace_graph_entry_format,
	[TRACE_TYPE_GRAPH_RET] = &trace_graph_return_format,
	[TRACE_TYPE_GRAPH_RETVAL] = &trace_graph_return_format,
};

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
		.hex = trace_print_type,
		.binary = trace_print_type,
		.message = print_message,
	},
	[TRACE_TYPE_BPRINT] = {
		.text = bprint_text,
		.raw = bprint_raw,
		.hex = trace_print_type,
		.binary = trace_print_type,
		.message = bprint_message,
	},
	[TRACE_TYPE_BPUTS] = {
		.text = bputs_text,
		.raw = bputs_raw,
		.hex = trace_print_type,
		.binary = trace_print_type,
		.message = bputs_message,
	},
	[TRACE_TYPE_RAW_DATA] = {
		.text = raw_data_text,
		.raw = raw_data_text,
		.hex = trace_print_type,
		.binary = trace_print_type,
	},
};

const struct trace_event_format *trace_event_format(uint16_t type)
{
	if (type >= TRACE_NR_TYPES)
		return NULL;
	return formats[type].text ? &formats[type] : other_formats[type];
}
