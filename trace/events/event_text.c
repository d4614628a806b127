/*
 * Texts for TP_printk(): functions behind __print_flags(), __print_symbolic() and the like. See
 * <trace/trace_events.h>. Texts are Linux's.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_events.h>
#include "print/iter.h"
#include "text/str.h"

const char *trace_iter_name(const struct trace_iter *iter)
{
	return iter->type ? iter->type->name : "";
}

struct trace_seq *trace_iter_scratch(const struct trace_iter *iter)
{
	/* A walk has one user, which prints one event at a time. */
	struct trace_iter *owner = (struct trace_iter *)(uintptr_t)iter;

	trace_seq_init(&owner->scratch_seq, owner->scratch, sizeof(owner->scratch));
	trace_iter_style(iter, &owner->scratch_seq);
	return &owner->scratch_seq;
}

void *trace_iter_begin_text(const struct trace_iter *iter, struct trace_seq *seq, uint32_t fixed,
			    struct trace_seq **out_scratch)
{
	*out_scratch = trace_iter_scratch(iter);
	trace_iter_style(iter, seq);
	trace_seq_puts(seq, trace_iter_name(iter));
	trace_seq_putc(seq, ':');
	trace_seq_putc(seq, ' ');
	if (iter->event.len >= fixed)
		return (void *)(uintptr_t)iter->event.data;
	trace_seq_puts(seq, "[too short]\n");
	return NULL;
}

/* The text from `start` on, with a NUL at its end; cut when the room is full. */
static const char *event_text_end(struct trace_seq *p, size_t start)
{
	if (p->len == p->size) {
		if (start >= p->size)
			return "";
		p->buf[p->size - 1] = '\0';
		return p->buf + start;
	}
	p->buf[p->len++] = '\0';
	return p->buf + start;
}

const char *trace_print_flags_seq(struct trace_seq *p, const char *delim, unsigned long long flags,
				  const struct trace_print_flags_u64 *names, size_t nr)
{
	size_t start = p->len;
	const char *before = "";

	for (size_t i = 0; i < nr && flags; i++) {
		if (!names[i].name || (flags & names[i].mask) != names[i].mask)
			continue;
		flags &= ~names[i].mask;
		trace_seq_puts(p, before);
		trace_seq_puts(p, names[i].name);
		before = delim ? delim : "";
	}
	if (flags) {
		trace_seq_puts(p, before);
		trace_seq_printf(p, "0x%llx", flags);
	}
	return event_text_end(p, start);
}

const char *trace_print_symbols_seq(struct trace_seq *p, unsigned long long value,
				    const struct trace_print_flags_u64 *names, size_t nr)
{
	size_t start = p->len;

	for (size_t i = 0; i < nr; i++) {
		if (names[i].name && names[i].mask == value) {
			trace_seq_puts(p, names[i].name);
			return event_text_end(p, start);
		}
	}
	trace_seq_printf(p, "0x%llx", value);
	return event_text_end(p, start);
}

const char *trace_print_hex_seq(struct trace_seq *p, const void *bytes, int len, bool is_joined)
{
	size_t start = p->len;

	for (int i = 0; i < len; i++)
		trace_seq_printf(p, "%s%02x", i && !is_joined ? " " : "",
				 ((const uint8_t *)bytes)[i]);
	return event_text_end(p, start);
}

const char *trace_print_array_seq(struct trace_seq *p, const void *array, int nr,
				  size_t element_bytes)
{
	const uint8_t *at = array;
	size_t start = p->len;
	uint64_t value = 0;

	trace_seq_putc(p, '{');
	for (int i = 0; i < nr; i++, at += element_bytes) {
		if (i)
			trace_seq_putc(p, ',');
		if (element_bytes > sizeof(value)) {
			trace_seq_printf(p, "BAD SIZE:%zu 0x%x", element_bytes, *at);
			continue;
		}
		memcpy(&value, at, element_bytes);
		trace_seq_printf(p, "0x%llx", (unsigned long long)value);
	}
	trace_seq_putc(p, '}');
	return event_text_end(p, start);
}

static size_t row_bytes(const struct trace_hex_dump *form)
{
	return form->row_bytes == 32 ? 32 : 16;
}

/* Bytes of a group: a row of `len` bytes has whole groups, or else single bytes. */
static size_t group_bytes(const struct trace_hex_dump *form, size_t len)
{
	switch (form->group_bytes) {
	case 2:
	case 4:
	case 8:
		return len % (size_t)form->group_bytes ? 1 : (size_t)form->group_bytes;
	default:
		return 1;
	}
}

/* Print one row of a dump: groups in hex, then the characters. */
static void event_text_print_row(struct trace_seq *p, const struct trace_hex_dump *form,
				 const uint8_t *row, size_t len)
{
	size_t begin = p->len, each = group_bytes(form, len);
	size_t ascii_at = row_bytes(form) * 2 + row_bytes(form) / each + 1;
	uint64_t value;

	for (size_t at = 0; at < len; at += each) {
		value = 0;
		memcpy(&value, row + at, each);
		trace_seq_printf(p, "%s%0*llx", at ? " " : "", (int)(each * 2),
				 (unsigned long long)value);
	}
	if (!form->has_ascii)
		return;
	while (p->len - begin < ascii_at && trace_seq_room(p))
		trace_seq_putc(p, ' ');
	for (size_t at = 0; at < len; at++)
		trace_seq_putc(p, row[at] >= ' ' && row[at] <= '~' ? (char)row[at] : '.');
}

const char *trace_print_hex_dump_seq(struct trace_seq *p, const struct trace_hex_dump *form,
				     const void *bytes, size_t len)
{
	enum {
		WITH_ADDRESS = 1,
		WITH_OFFSET = 2
	};
	size_t start = p->len, each = row_bytes(form);
	const uint8_t *from = bytes;

	trace_seq_putc(p, '\n');
	for (size_t at = 0; at < len; at += each) {
		trace_seq_puts(p, form->prefix);
		if (form->prefix_type == WITH_ADDRESS)
			trace_seq_printf(p, "%p: ", (const void *)(from + at));
		else if (form->prefix_type == WITH_OFFSET)
			trace_seq_printf(p, "%.8zx: ", at);
		event_text_print_row(p, form, from + at, len - at < each ? len - at : each);
		trace_seq_putc(p, '\n');
	}
	return event_text_end(p, start);
}

static bool has_bit(const uint8_t *mask, uint32_t bit)
{
	return mask[bit / 8] >> bit % 8 & 1;
}

/* `0-3,7`; nothing when no bit is set. */
static void print_bit_list(struct trace_seq *p, const uint8_t *mask, uint32_t nr_bits)
{
	const char *before = "";

	for (uint32_t bit = 0; bit < nr_bits; bit++) {
		uint32_t first = bit;

		if (!has_bit(mask, bit))
			continue;
		while (bit + 1 < nr_bits && has_bit(mask, bit + 1))
			bit++;
		trace_seq_printf(p, bit > first ? "%s%u-%u" : "%s%u", before, first, bit);
		before = ",";
	}
}

const char *trace_print_bitmask_seq(struct trace_seq *p, const void *mask, uint32_t bytes)
{
	const uint8_t *at = mask;
	size_t start = p->len;

	if (p->lists_bits) {
		print_bit_list(p, mask, bytes * 8);
		return event_text_end(p, start);
	}
	/* Words of 32 bits, the highest first, with commas between them. */
	for (uint32_t end = bytes & ~3u; end > 0; end -= 4) {
		uint32_t word;

		memcpy(&word, at + end - 4, sizeof(word));
		trace_seq_printf(p, "%08x%s", word, end > 4 ? "," : "");
	}
	return event_text_end(p, start);
}

char *trace_print_room_seq(struct trace_seq *p, size_t bytes)
{
	char *room = p->buf + p->len;
	size_t left = trace_seq_room(p);

	if (bytes > left)
		return (char *)(uintptr_t)event_text_end(p, p->len);
	p->len += bytes;
	return room;
}

uint32_t trace_event_vtext_bytes(const char *fmt, va_list *va)
{
	va_list copy;
	int len;

	va_copy(copy, *va); // NOLINT: the caller has started it
	len = trace_vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	return (uint32_t)len + 1;
}

void trace_event_vtext(char *to, uint32_t bytes, const char *fmt, va_list *va)
{
	va_list copy;

	if (!bytes)
		return;
	va_copy(copy, *va); // NOLINT: the caller has started it
	(void)trace_vsnprintf(to, bytes, fmt, copy);
	va_end(copy);
}
