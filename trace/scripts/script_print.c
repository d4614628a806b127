/* Tables and values as text, as bpftrace prints them: see script.h. */
#include <trace/platform.h>
#include <trace/platform_events.h>
#include <trace/trace_seq.h>
#include "print/output.h"
#include "script.h"
#include "script_user.h"
#include "text/str.h"

#define SCRIPT_BAR_CHARS  52u
#define SCRIPT_DATE_BYTES 128u /* longer ones are cut */

/* ---- Values ---- */

static void script_print_symbol(struct trace_seq *seq, uint64_t addr)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	if (trace_plat_symbol(addr, name, &start, &size))
		trace_seq_puts(seq, name);
	else
		trace_seq_printf(seq, "0x%lx", (unsigned long)addr);
}

/* An address of a program: its function, or the file and how far in its mapping. */
static TRACE_NOINLINE void script_print_user(struct trace_seq *seq, uint64_t word)
{
	struct trace_plat_user_place place;
	uint64_t addr = script_user_addr(word);

	if (!script_user_tgid(word) ||
	    !trace_user_place(script_user_tgid(word), addr, false, &place))
		trace_seq_printf(seq, "0x%lx", (unsigned long)addr);
	else if (place.function[0])
		trace_seq_puts(seq, place.function);
	else
		trace_seq_printf(seq, "%s[+0x%lx]", place.path, (unsigned long)place.offset);
}

/* The line of a program's address in a stack; the first one is where it was, the others return there. */
static void script_print_user_line(struct trace_seq *seq, uint64_t word, bool is_return)
{
	if (!script_user_tgid(word) ||
	    !trace_print_user_place(script_user_tgid(word), script_user_addr(word), is_return, seq))
		trace_seq_printf(seq, "0x%lx", (unsigned long)script_user_addr(word));
	trace_seq_putc(seq, '\n');
}

/* Bytes as characters, or as \x1f. */
static void script_print_buf(struct trace_seq *seq, const uint64_t *words)
{
	const uint8_t *bytes = (const uint8_t *)&words[1];

	for (uint64_t i = 0; i < words[0]; i++) {
		bool is_plain = bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '\\';

		if (is_plain)
			trace_seq_putc(seq, (char)bytes[i]);
		else
			trace_seq_printf(seq, "\\x%02x", bytes[i]);
	}
}

/* Keys have less space in front of the functions of a stack than values. */
enum script_indent {
	SCRIPT_KEY = 4,
	SCRIPT_VALUE_OF = 8,
};

static void script_print_stack(struct trace_seq *seq, const struct script_type *type,
			       const uint64_t *words, enum script_indent indent)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	trace_seq_putc(seq, '\n');
	for (uint32_t i = 0; i < type->bytes / 8 && words[i]; i++) {
		trace_seq_printf(seq, "%*s", (int)indent, "");
		if (type->kind == SCRIPT_USTACK)
			script_print_user_line(seq, words[i], i > 0);
		else if (trace_plat_symbol(words[i], name, &start, &size))
			trace_seq_printf(seq, "%s+%lu\n", name, (unsigned long)(words[i] - start));
		else
			trace_seq_printf(seq, "0x%lx\n", (unsigned long)words[i]);
	}
}

static void script_print_date(struct trace_seq *seq, const struct script_date *date, uint64_t ns)
{
	char text[SCRIPT_DATE_BYTES];

	trace_seq_write(seq, text, date->write(text, sizeof(text), date->format, ns));
}

static void script_print_typed(struct trace_seq *seq, const struct script_type *type,
			       const void *at, enum script_indent indent);

static void script_print_parts(struct trace_seq *seq, const struct script_type *type,
			       const uint8_t *at, enum script_indent indent)
{
	for (uint32_t i = 0; i < type->nr; i++) {
		trace_seq_puts(seq, i ? ", " : "");
		script_print_typed(seq, &type->parts[i], at, indent);
		at += type->parts[i].bytes;
	}
}

static void script_print_typed(struct trace_seq *seq, const struct script_type *type,
			       const void *at, enum script_indent indent)
{
	const uint64_t *words = at;

	switch (type->kind) {
	case SCRIPT_TEXT:
		trace_seq_write(seq, at, trace_strnlen(at, type->bytes));
		break;
	case SCRIPT_KSTACK:
	case SCRIPT_USTACK:
		script_print_stack(seq, type, words, indent);
		break;
	case SCRIPT_KSYM:
		script_print_symbol(seq, *words);
		break;
	case SCRIPT_USYM:
		script_print_user(seq, *words);
		break;
	case SCRIPT_BUF:
		script_print_buf(seq, words);
		break;
	case SCRIPT_POINTER:
	case SCRIPT_STRUCT:
		trace_seq_printf(seq, "0x%lx", (unsigned long)*words);
		break;
	case SCRIPT_TUPLE:
		trace_seq_putc(seq, '(');
		script_print_parts(seq, type, at, indent);
		trace_seq_putc(seq, ')');
		break;
	case SCRIPT_DATE:
		script_print_date(seq, type->date, *words);
		break;
	case SCRIPT_AVG:
		trace_seq_printf(seq, "%ld", words[1] ? (long)words[0] / (long)words[1] : 0l);
		break;
	case SCRIPT_STATS:
		trace_seq_printf(seq, "count %lu, average %ld, total %ld", (unsigned long)words[1],
				 words[1] ? (long)words[0] / (long)words[1] : 0l, (long)words[0]);
		break;
	default:
		if (type->is_signed)
			trace_seq_printf(seq, "%ld", (long)*words);
		else
			trace_seq_printf(seq, "%lu", (unsigned long)*words);
		break;
	}
}

void trace_script_print_value(struct trace_seq *seq, const struct script_type *type, const void *at)
{
	script_print_typed(seq, type, at, SCRIPT_VALUE_OF);
}

/* ---- Histograms ---- */

/* 4096 as 4K, as far as it is a whole number of them. */
static void script_print_short(struct trace_seq *seq, uint64_t number)
{
	static const char units[] = "\0KMGTPE";
	uint32_t unit = 0;

	for (; number >= 1024 && number % 1024 == 0 && unit + 1 < sizeof(units) - 1; unit++)
		number /= 1024;
	trace_seq_printf(seq, "%lu", (unsigned long)number);
	if (unit)
		trace_seq_putc(seq, units[unit]);
}

static void script_print_log2_label(struct trace_seq *seq, uint32_t slot)
{
	if (slot <= 2) {
		static const char *const labels[] = { "(..., 0)", "[0]", "[1]" };

		trace_seq_puts(seq, labels[slot]);
		return;
	}
	trace_seq_putc(seq, '[');
	script_print_short(seq, 1ull << (slot - 2));
	trace_seq_puts(seq, ", ");
	if (slot + 1 < SCRIPT_LOG2_SLOTS)
		script_print_short(seq, 1ull << (slot - 1));
	else
		trace_seq_puts(seq, "16E");
	trace_seq_putc(seq, ')');
}

static void script_print_linear_label(struct trace_seq *seq, const struct script_type *type,
				      uint32_t slot, uint32_t nr_slots)
{
	int64_t from = type->min + (int64_t)(slot - 1) * type->step;

	if (!slot)
		trace_seq_printf(seq, "(..., %ld)", (long)type->min);
	else if (slot == nr_slots - 1)
		trace_seq_printf(seq, "[%ld, ...)", (long)type->max);
	else
		trace_seq_printf(seq, "[%ld, %ld)", (long)from, (long)(from + type->step));
}

struct script_range {
	uint32_t first, last; /* slots that are not 0; last < first: none */
	uint64_t most;
};

static struct script_range script_print_range(const uint64_t *slots, uint32_t nr)
{
	struct script_range range = { .first = nr };

	for (uint32_t i = 0; i < nr; i++) {
		if (!slots[i])
			continue;
		if (range.first == nr)
			range.first = i;
		range.last = i;
		if (slots[i] > range.most)
			range.most = slots[i];
	}
	return range;
}

/* The line of a slot, `[4, 8)                 3 |@@@    |`. */
static void script_print_slot(struct trace_seq *seq, const struct script_map *map,
			      const uint64_t *slots, uint32_t slot, uint64_t most)
{
	uint64_t bar = most ? slots[slot] * SCRIPT_BAR_CHARS / most : 0;
	size_t begin = seq->len;

	if (map->value.kind == SCRIPT_HIST)
		script_print_log2_label(seq, slot);
	else
		script_print_linear_label(seq, &map->value, slot, map->value_words);
	while (seq->len - begin < 16 && !seq->overflowed)
		trace_seq_putc(seq, ' ');
	trace_seq_printf(seq, "%8lu |", (unsigned long)slots[slot]);
	for (uint32_t i = 0; i < SCRIPT_BAR_CHARS; i++)
		trace_seq_putc(seq, i < bar ? '@' : ' ');
	trace_seq_puts(seq, "|\n");
}

static bool script_print_is_hist(const struct script_map *map)
{
	return map->value.kind == SCRIPT_HIST || map->value.kind == SCRIPT_LHIST;
}

/* ---- Tables ---- */

/* Order of two entries: of histograms by the number of values, of others by value. */
static uint64_t script_print_weight(const struct script_map *map, struct script_entry *entry)
{
	const uint64_t *words = script_entry_value(map, entry);
	uint64_t sum = 0;

	if (map->value.kind == SCRIPT_AVG)
		return words[1] ? (uint64_t)((int64_t)words[0] / (int64_t)words[1]) ^ 1ull << 63
				: 0;
	if (!script_print_is_hist(map))
		return map->value.is_signed ? words[0] ^ 1ull << 63 : words[0];
	for (uint32_t i = 0; i < map->value_words; i++)
		sum += words[i];
	return sum;
}

/* Does `a` stand behind `b`: is it larger, or as large with a larger key? */
static bool script_print_is_behind(const struct script_map *map, struct script_entry *a,
				   struct script_entry *b)
{
	uint64_t left = script_print_weight(map, a), right = script_print_weight(map, b);

	for (uint32_t i = 0; left == right && i < map->key_words; i++) {
		left = a->words[i];
		right = b->words[i];
	}
	return left > right;
}

static void script_print_sift(struct script_print *print, uint32_t at, uint32_t nr)
{
	const struct script_map *map = print->map;
	struct script_entry **sorted = print->sorted, *entry = sorted[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && script_print_is_behind(map, sorted[child + 1], sorted[child]))
			child++;
		if (!script_print_is_behind(map, sorted[child], entry))
			break;
		sorted[at] = sorted[child];
		at = child;
	}
	sorted[at] = entry;
}

/* The smallest first; by a heap. */
static void script_print_sort(struct script_print *print)
{
	for (uint32_t i = print->nr / 2; i-- > 0;)
		script_print_sift(print, i, print->nr);
	for (uint32_t nr = print->nr; nr-- > 1;) {
		struct script_entry *largest = print->sorted[0];

		print->sorted[0] = print->sorted[nr];
		print->sorted[nr] = largest;
		script_print_sift(print, 0, nr);
	}
}

static size_t script_print_bytes(const struct script_print *print)
{
	return (size_t)print->room * print->map->stride;
}

/* Copy the table to memory for `room` entries. 0; -ENOMEM; -E2BIG: it has more. Freed by trace_script_print_end(). */
static int script_print_copy(struct script_print *print, struct script_map *map, uint32_t room)
{
	*print = (struct script_print){ .map = map, .room = room };
	print->memory = trace_plat_alloc(script_print_bytes(print));
	print->sorted = trace_plat_alloc(room * sizeof(struct script_entry *));
	if (!print->memory || !print->sorted)
		return -ENOMEM;
	print->nr = trace_script_map_copy(map, print->memory, room);
	return print->nr > room ? -E2BIG : 0;
}

int trace_script_print_begin(struct script_print *print, struct script_map *map, uint32_t top)
{
	int err = script_print_copy(print, map, script_map_nr(map));

	if (err == -E2BIG) { /* keys were made meanwhile */
		trace_script_print_end(print);
		err = script_print_copy(print, map, map->nr_entries);
	}
	if (err) {
		trace_script_print_end(print);
		return err;
	}
	for (uint32_t i = 0; i < print->nr; i++)
		print->sorted[i] =
			(struct script_entry *)(void *)(print->memory + (size_t)i * map->stride);
	script_print_sort(print);
	print->at = top && top < print->nr ? print->nr - top : 0;
	return 0;
}

void trace_script_print_end(struct script_print *print)
{
	if (print->memory)
		trace_plat_free(print->memory, script_print_bytes(print));
	if (print->sorted)
		trace_plat_free(print->sorted, print->room * sizeof(struct script_entry *));
	*print = (struct script_print){ 0 };
}

static void script_print_key(struct script_print *print, const struct script_entry *entry,
			     struct trace_seq *seq)
{
	trace_seq_write(seq, print->map->name.at, print->map->name.len);
	if (print->map->key_words) {
		trace_seq_putc(seq, '[');
		if (print->map->key.kind == SCRIPT_TUPLE)
			script_print_parts(seq, &print->map->key, (const uint8_t *)entry->words,
					   SCRIPT_KEY);
		else
			script_print_typed(seq, &print->map->key, entry->words, SCRIPT_KEY);
		trace_seq_putc(seq, ']');
	}
	trace_seq_puts(seq, ": ");
}

/* One line of a histogram; line 0 is its key. False: it has no more. */
static bool script_print_hist_line(struct script_print *print, struct script_entry *entry,
				   struct trace_seq *seq)
{
	const uint64_t *slots = script_entry_value(print->map, entry);
	struct script_range range = script_print_range(slots, print->map->value_words);

	if (!print->line) {
		script_print_key(print, entry, seq);
		trace_seq_putc(seq, '\n');
	} else {
		script_print_slot(seq, print->map, slots, range.first + print->line - 1,
				  range.most);
	}
	return range.most && range.first + print->line++ <= range.last;
}

/* Divide a value of the copy, if it is a number. */
static void script_print_divide(const struct script_print *print, uint64_t *value)
{
	const struct script_type *type = &print->map->value;
	bool is_number = type->kind == SCRIPT_INT || type->kind == SCRIPT_COUNT ||
			 type->kind == SCRIPT_SUM || type->kind == SCRIPT_MIN ||
			 type->kind == SCRIPT_MAX;

	if (print->divisor < 2 || !is_number)
		return;
	*value = type->is_signed ? (uint64_t)((int64_t)*value / print->divisor)
				 : *value / print->divisor;
}

bool trace_script_print_line(struct script_print *print, struct trace_seq *seq)
{
	struct script_entry *entry;

	if (print->at == print->nr) {
		if (!print->nr)
			trace_seq_putc(seq, '\n');
		if (print->map->value.kind == SCRIPT_AVG || print->map->value.kind == SCRIPT_STATS)
			trace_seq_putc(seq, '\n');
		trace_script_print_end(print);
		return false;
	}
	entry = print->sorted[print->at];
	if (script_print_is_hist(print->map)) {
		if (script_print_hist_line(print, entry, seq))
			return true;
		trace_seq_putc(seq, '\n');
		print->line = 0;
	} else {
		script_print_key(print, entry, seq);
		script_print_divide(print, script_entry_value(print->map, entry));
		trace_script_print_value(seq, &print->map->value,
					 script_entry_value(print->map, entry));
		trace_seq_putc(seq, '\n');
	}
	print->at++;
	return true;
}
