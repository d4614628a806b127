/*
 * Types as declarations in C, and values as their types say. See btf.h.
 *
 * A declaration is read from its name outwards: `[4]` and `(int)` stand behind, `*` in front of it,
 * and parentheses where a `*` would otherwise belong to what stands behind.
 */
#include <trace/errno.h>
#include <trace/trace_seq.h>
#include <trace/types.h>
#include "btf_private.h"
#include "text/str.h"

#define WORD_BITS 64u

static void btf_text_print_type(struct trace_seq *seq, uint32_t id, uint32_t depth, bool is_behind);

static const char *keyword(const struct btf_type *type)
{
	switch (btf_kind_of(type)) {
	case BTF_STRUCT:
		return "struct ";
	case BTF_UNION:
		return "union ";
	case BTF_ENUM:
	case BTF_ENUM64:
		return "enum ";
	case BTF_FWD:
		return btf_flag(type) ? "union " : "struct ";
	default:
		return "";
	}
}

static const char *qualifier(enum btf_kind kind)
{
	switch (kind) {
	case BTF_CONST:
		return "const";
	case BTF_VOLATILE:
		return "volatile";
	case BTF_RESTRICT:
		return "restrict";
	default:
		return NULL;
	}
}

static void print_params(struct trace_seq *seq, const struct btf_type *proto, uint32_t depth)
{
	const uint32_t *param = btf_words(proto);
	uint32_t nr = btf_nr_parts(proto);

	trace_seq_putc(seq, '(');
	if (!nr)
		trace_seq_puts(seq, "void");
	for (uint32_t i = 0; i < nr; i++, param += 2) {
		const char *name = trace_btf_string(param[0]);
		char last;

		if (i)
			trace_seq_puts(seq, ", ");
		if (!param[0] && !param[1]) {
			trace_seq_puts(seq, "...");
			continue;
		}
		btf_text_print_type(seq, param[1], depth + 1, false);
		last = seq->len ? seq->buf[seq->len - 1] : ' ';
		if (name[0] && last != '*' && last != ' ')
			trace_seq_putc(seq, ' ');
		trace_seq_puts(seq, name);
		btf_text_print_type(seq, param[1], depth + 1, true);
	}
	trace_seq_putc(seq, ')');
}

static bool needs_parentheses(uint32_t target)
{
	enum btf_kind kind = trace_btf_kind(target);

	return kind == BTF_ARRAY || kind == BTF_FUNC_PROTO;
}

static void print_pointer(struct trace_seq *seq, uint32_t target, uint32_t depth, bool is_behind)
{
	bool parentheses = needs_parentheses(target);

	if (is_behind) {
		if (parentheses)
			trace_seq_putc(seq, ')');
		btf_text_print_type(seq, target, depth, true);
		return;
	}
	btf_text_print_type(seq, target, depth, false);
	if (seq->len && seq->buf[seq->len - 1] != '*')
		trace_seq_putc(seq, ' ');
	trace_seq_puts(seq, parentheses ? "(*" : "*");
}

/* A qualifier of a pointer stands behind the `*`, one of anything else in front. */
static void print_qualified(struct trace_seq *seq, const struct btf_type *type, uint32_t depth)
{
	const char *word = qualifier(btf_kind_of(type));
	bool is_pointer = trace_btf_kind(type->size) == BTF_PTR;

	if (!is_pointer)
		trace_seq_printf(seq, "%s ", word);
	btf_text_print_type(seq, type->size, depth, false);
	if (is_pointer)
		trace_seq_printf(seq, " %s", word);
}

static void btf_text_print_plain(struct trace_seq *seq, const struct btf_type *type)
{
	const char *name = trace_btf_string(type->name);

	trace_seq_printf(seq, "%s%s", keyword(type), name[0] ? name : "{...}");
}

static void print_array_end(struct trace_seq *seq, const struct btf_type *type, uint32_t depth)
{
	trace_seq_printf(seq, "[%u]", btf_words(type)[2]);
	btf_text_print_type(seq, btf_words(type)[0], depth, true);
}

static void print_proto_end(struct trace_seq *seq, const struct btf_type *proto, uint32_t depth)
{
	print_params(seq, proto, depth);
	btf_text_print_type(seq, proto->size, depth, true);
}

/* The part of a declaration in front of the name, or the one behind it. */
static void btf_text_print_type(struct trace_seq *seq, uint32_t id, uint32_t depth, bool is_behind)
{
	const struct btf_type *type = trace_btf_type(id);
	enum btf_kind kind = type ? btf_kind_of(type) : BTF_UNKNOWN;

	if (seq->overflowed)
		return; /* damaged types have no end */
	if (!type || ++depth > BTF_DEPTH_MAX) {
		if (!is_behind)
			trace_seq_puts(seq, id ? "?" : "void");
		return;
	}
	if (kind == BTF_PTR)
		print_pointer(seq, type->size, depth, is_behind);
	else if (qualifier(kind) && !is_behind)
		print_qualified(seq, type, depth);
	else if (qualifier(kind) || kind == BTF_TYPE_TAG)
		btf_text_print_type(seq, type->size, depth, is_behind);
	else if (kind == BTF_ARRAY && is_behind)
		print_array_end(seq, type, depth);
	else if (kind == BTF_ARRAY)
		btf_text_print_type(seq, btf_words(type)[0], depth, false);
	else if (kind == BTF_FUNC_PROTO && is_behind)
		print_proto_end(seq, type, depth);
	else if (kind == BTF_FUNC_PROTO)
		btf_text_print_type(seq, type->size, depth, false);
	else if (!is_behind)
		btf_text_print_plain(seq, type);
}

void trace_btf_print_decl(struct trace_seq *seq, uint32_t id, const char *name)
{
	btf_text_print_type(seq, id, 0, false);
	if (name[0] && seq->len && seq->buf[seq->len - 1] != '*')
		trace_seq_putc(seq, ' ');
	trace_seq_puts(seq, name);
	btf_text_print_type(seq, id, 0, true);
}

void trace_btf_print_func(struct trace_seq *seq, const struct btf_func *func)
{
	trace_btf_print_decl(seq, func->proto, func->name);
}

int trace_function_prototype(const char *name, char *buf, size_t size)
{
	struct btf_func func;
	struct trace_seq seq;

	if (!size || !trace_btf_func_find(name, &func))
		return -ENOENT;
	trace_seq_init(&seq, buf, size - 1);
	trace_btf_print_func(&seq, &func);
	buf[seq.len] = '\0';
	return (int)seq.len;
}

const char *trace_function_argument(const char *name, unsigned int nr)
{
	struct btf_func func;
	struct btf_arg arg;

	return trace_btf_func_find(name, &func) && trace_btf_func_arg(&func, nr, &arg) ? arg.name
										       : NULL;
}

/* ---- Values ---- */

static uint64_t btf_text_cut(uint64_t value, size_t bytes)
{
	return bytes && bytes < sizeof(value) ? value & ((1ull << bytes * 8) - 1) : value;
}

static int64_t btf_text_extend(uint64_t value, size_t bytes)
{
	uint32_t shift = bytes && bytes < sizeof(value) ? WORD_BITS - (uint32_t)bytes * 8 : 0;

	return (int64_t)(value << shift) >> shift;
}

static void btf_text_print_char(struct trace_seq *seq, uint8_t c)
{
	if (c >= ' ' && c < 127)
		trace_seq_printf(seq, "'%c'", c);
	else
		trace_seq_printf(seq, "%d", (int8_t)c);
}

void trace_btf_print_value(struct trace_seq *seq, uint32_t id, uint64_t value)
{
	size_t bytes = trace_btf_sizeof(id);
	const char *name;

	switch (trace_btf_form(id)) {
	case BTF_FORM_SIGNED:
		trace_seq_printf(seq, "%lld", (long long)btf_text_extend(value, bytes));
		break;
	case BTF_FORM_SIZE:
		trace_seq_printf(seq, "%llu", (unsigned long long)btf_text_cut(value, bytes));
		break;
	case BTF_FORM_BOOL:
		trace_seq_puts(seq, btf_text_cut(value, bytes) ? "true" : "false");
		break;
	case BTF_FORM_CHAR:
		btf_text_print_char(seq, (uint8_t)value);
		break;
	case BTF_FORM_ENUM:
		name = trace_btf_enum_name(id, btf_text_extend(value, bytes));
		if (name)
			trace_seq_puts(seq, name);
		else
			trace_seq_printf(seq, "%lld", (long long)btf_text_extend(value, bytes));
		break;
	default:
		trace_seq_printf(seq, "0x%llx", (unsigned long long)btf_text_cut(value, bytes));
	}
}
