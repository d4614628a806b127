/*
 * Types of arguments. See fetch.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch.h"
#include "text/str.h"

/* libtraceevent finds the sign of a number by the size of the conversion. */
#define UNSIGNED(bits, form)                                                                       \
	{                                                                                          \
		.name = "u" #bits, .field = "u" #bits, .conversion = (form), .size = (bits) / 8    \
	}
#define SIGNED(bits, form)                                                                         \
	{                                                                                          \
		.name = "s" #bits, .field = "s" #bits, .conversion = (form), .size = (bits) / 8,   \
		.is_signed = true                                                                  \
	}
#define HEX(bits, form)                                                                            \
	{                                                                                          \
		.name = "x" #bits, .field = "u" #bits, .conversion = (form), .size = (bits) / 8,   \
		.is_hex = true                                                                     \
	}
#define TEXT(name_, kind_, named_, is_user_)                                                       \
	{                                                                                          \
		.name = (name_), .field = "char", .conversion = "\\\"%s\\\"", .size = 4,           \
		.kind = (kind_), .named = (named_), .is_signed = true, .is_user = (is_user_)       \
	}
static const struct fetch_type fetch_types[] = {
	HEX(64, "0x%llx"),
	HEX(32, "0x%x"),
	HEX(16, "0x%x"),
	HEX(8, "0x%x"),
	UNSIGNED(64, "%llu"),
	UNSIGNED(32, "%u"),
	UNSIGNED(16, "%u"),
	UNSIGNED(8, "%u"),
	SIGNED(64, "%lld"),
	SIGNED(32, "%d"),
	SIGNED(16, "%hd"),
	SIGNED(8, "%hhd"),
	TEXT("string", FETCH_TEXT, '\0', false),
	TEXT("ustring", FETCH_TEXT, '\0', true),
	TEXT("symstr", FETCH_SYMBOL_TEXT, '\0', false),
	/* It knows no %c either. */
	{ .name = "char", .field = "u8", .conversion = "%u", .size = 1, .kind = FETCH_CHAR },
	{ .name = "symbol", .field = "u64", .conversion = "%pS", .size = 8, .kind = FETCH_SYMBOL },
	/* Not of every host: see trace_fetch_type_at(). */
	TEXT("%pd", FETCH_TEXT, 'd', false),
	TEXT("%pD", FETCH_TEXT, 'D', false),
};

const struct fetch_type *trace_fetch_type_at(size_t i)
{
	struct trace_plat_file_names names;

	if (i >= TRACE_ARRAY_SIZE(fetch_types) ||
	    (fetch_types[i].named && !trace_plat_file_names_get(&names)))
		return NULL;
	return &fetch_types[i];
}

const struct fetch_type *trace_fetch_type_find(const char *name, size_t len)
{
	const struct fetch_type *type;

	for (size_t i = 0; (type = trace_fetch_type_at(i)); i++) {
		if (trace_strlen(type->name) == len && memcmp(type->name, name, len) == 0)
			return type;
	}
	return NULL;
}

const struct fetch_type *trace_fetch_type_of(char letter, size_t bytes)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(fetch_types); i++) {
		const struct fetch_type *type = &fetch_types[i];

		if (type->kind == FETCH_NUMBER && *type->name == letter && type->size == bytes)
			return type;
	}
	return NULL;
}

/* As Linux: the text of an address that cannot be read has no quotes. */
static void fetch_type_print_text(const uint8_t *entry, uint32_t len, uint32_t place,
				  struct trace_seq *seq)
{
	uint32_t at = place & 0xffff, bytes = place >> 16;
	const char *quote = "\"";

	if (at > len)
		at = len;
	if (bytes > len - at)
		bytes = len - at;
	bytes = (uint32_t)trace_strnlen((const char *)entry + at, bytes);
	if (bytes == sizeof(FETCH_FAULT) - 1 && !memcmp(entry + at, FETCH_FAULT, bytes))
		quote = "";
	trace_seq_puts(seq, quote);
	trace_seq_write(seq, entry + at, bytes);
	trace_seq_puts(seq, quote);
}

static void print_signed(uint64_t value, uint32_t bits, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%lld", (long long)((int64_t)(value << (64 - bits)) >> (64 - bits)));
}

void trace_fetch_print(const struct fetch_type *type, const uint8_t *entry, uint32_t len,
		       uint32_t at, struct trace_seq *seq)
{
	uint64_t value = 0;

	memcpy(&value, entry + at, type->size);
	if (fetch_is_text(type))
		fetch_type_print_text(entry, len, (uint32_t)value, seq);
	else if (type->kind == FETCH_SYMBOL)
		trace_seq_printf(seq, "%pS", (void *)(uintptr_t)value);
	else if (type->kind == FETCH_CHAR)
		trace_seq_printf(seq, "'%c'", (char)value);
	else if (type->is_signed)
		print_signed(value, type->size * 8u, seq);
	else
		trace_seq_printf(seq, type->is_hex ? "0x%llx" : "%llu", (unsigned long long)value);
}
