/* Properties of types: size, form, members. See btf.h. */
#include "btf_private.h"
#include "text/str.h"

#define POINTER_BYTES 8u

static bool is_wrapper(enum btf_kind kind)
{
	return kind == BTF_TYPEDEF || kind == BTF_VOLATILE || kind == BTF_CONST ||
	       kind == BTF_RESTRICT || kind == BTF_TYPE_TAG;
}

uint32_t trace_btf_strip(uint32_t id)
{
	for (uint32_t depth = 0; depth < BTF_DEPTH_MAX; depth++) {
		const struct btf_type *type = trace_btf_type(id);

		if (!type || !is_wrapper(btf_kind_of(type)))
			return id;
		id = type->size;
	}
	return 0;
}

uint32_t trace_btf_target(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(trace_btf_strip(id));

	if (type && btf_kind_of(type) == BTF_PTR)
		return trace_btf_strip(type->size);
	if (type && btf_kind_of(type) == BTF_ARRAY)
		return trace_btf_strip(btf_words(type)[0]);
	return 0;
}

bool trace_btf_points_to_const(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(trace_btf_strip(id));

	if (!type || btf_kind_of(type) != BTF_PTR)
		return false;
	for (uint32_t depth = 0; depth < BTF_DEPTH_MAX; depth++) {
		type = trace_btf_type(type->size);
		if (!type || !is_wrapper(btf_kind_of(type)))
			return false;
		if (btf_kind_of(type) == BTF_CONST)
			return true;
	}
	return false;
}

uint32_t trace_btf_nr_elements(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(trace_btf_strip(id));

	return type && btf_kind_of(type) == BTF_ARRAY ? btf_words(type)[2] : 0;
}

size_t trace_btf_sizeof(uint32_t id)
{
	size_t nr = 1;

	for (uint32_t depth = 0; depth < BTF_DEPTH_MAX; depth++) {
		const struct btf_type *type = trace_btf_type(trace_btf_strip(id));

		switch (type ? btf_kind_of(type) : BTF_UNKNOWN) {
		case BTF_ARRAY:
			nr *= btf_words(type)[2];
			nr = nr > UINT32_MAX ? UINT32_MAX : nr;
			id = btf_words(type)[0];
			break;
		case BTF_PTR:
			return nr * POINTER_BYTES;
		case BTF_INT:
		case BTF_FLOAT:
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_STRUCT:
		case BTF_UNION:
			return nr * type->size;
		default:
			return 0;
		}
	}
	return 0;
}

/* ---- Forms ---- */

/* Bits of the word of an int. */
enum {
	INT_SIGNED = 1u << 24,
	INT_CHAR = 1u << 25,
	INT_BOOL = 1u << 26,
};

static bool is_char(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(id);

	return type && btf_kind_of(type) == BTF_INT && type->size == 1 &&
	       trace_streq(trace_btf_string(type->name), "char");
}

/* Is one of the typedefs of this type called size_t? */
static bool is_size(uint32_t id)
{
	for (uint32_t depth = 0; depth < BTF_DEPTH_MAX; depth++) {
		const struct btf_type *type = trace_btf_type(id);

		if (!type || !is_wrapper(btf_kind_of(type)))
			return false;
		if (btf_kind_of(type) == BTF_TYPEDEF &&
		    trace_streq(trace_btf_string(type->name), "size_t"))
			return true;
		id = type->size;
	}
	return false;
}

static enum btf_form int_form(uint32_t id, uint32_t stripped)
{
	const struct btf_type *type = trace_btf_type(stripped);
	uint32_t encoding = btf_words(type)[0];

	if (encoding & INT_BOOL)
		return BTF_FORM_BOOL;
	if (is_char(stripped))
		return BTF_FORM_CHAR;
	if (encoding & INT_SIGNED)
		return BTF_FORM_SIGNED;
	return is_size(id) ? BTF_FORM_SIZE : BTF_FORM_UNSIGNED;
}

static enum btf_form pointer_form(uint32_t target)
{
	if (is_char(target))
		return BTF_FORM_STRING;
	return trace_btf_kind(target) == BTF_FUNC_PROTO ? BTF_FORM_FUNCTION : BTF_FORM_POINTER;
}

enum btf_form trace_btf_form(uint32_t id)
{
	uint32_t stripped = trace_btf_strip(id);

	switch (trace_btf_kind(stripped)) {
	case BTF_INT:
		return int_form(id, stripped);
	case BTF_PTR:
		return pointer_form(trace_btf_target(stripped));
	case BTF_ARRAY:
		return is_char(trace_btf_target(stripped)) ? BTF_FORM_TEXT : BTF_FORM_ARRAY;
	case BTF_ENUM:
	case BTF_ENUM64:
		return BTF_FORM_ENUM;
	case BTF_STRUCT:
	case BTF_UNION:
		return BTF_FORM_STRUCT;
	case BTF_FLOAT:
		return BTF_FORM_FLOAT;
	default:
		return BTF_FORM_NONE;
	}
}

const char *trace_btf_enum_name(uint32_t id, int64_t value)
{
	const struct btf_type *type = trace_btf_type(trace_btf_strip(id));
	bool is_long = type && btf_kind_of(type) == BTF_ENUM64;
	const uint32_t *words;

	if (!type || (btf_kind_of(type) != BTF_ENUM && !is_long))
		return NULL;
	words = btf_words(type);
	for (uint32_t i = 0; i < btf_nr_parts(type); i++, words += is_long ? 3 : 2) {
		uint64_t of = words[1];

		if (is_long)
			of |= (uint64_t)words[2] << 32;
		/* Of 32 bits only those count: whether an enum is signed, old tools do not say. */
		if (is_long ? of == (uint64_t)value : (uint32_t)of == (uint32_t)value)
			return trace_btf_string(words[0]);
	}
	return NULL;
}

/* ---- Members ---- */

static bool btf_type_has_members(const struct btf_type *type)
{
	return type && (btf_kind_of(type) == BTF_STRUCT || btf_kind_of(type) == BTF_UNION);
}

bool trace_btf_member_get(uint32_t id, uint32_t nr, struct btf_member *out)
{
	const struct btf_type *type = trace_btf_type(trace_btf_strip(id));
	const uint32_t *words;

	if (!btf_type_has_members(type) || nr >= btf_nr_parts(type))
		return false;
	words = btf_words(type) + (size_t)nr * 3;
	out->name = trace_btf_string(words[0]);
	out->type = words[1];
	/* With the flag, the offset has 24 bits, and the size of a bit field is above. */
	out->bit_offset = btf_flag(type) ? words[2] & 0xffffffu : words[2];
	out->bits = btf_flag(type) ? words[2] >> 24 : 0;
	return true;
}

static bool btf_type_is_name(const char *text, const char *name, size_t len)
{
	return trace_strnlen(text, len + 1) == len && memcmp(text, name, len) == 0;
}

struct btf_search {
	const char *name;
	size_t len;
	uint32_t visits;
};

/* `depth` counts structs without a name, each in the one before. */
static bool find_member(struct btf_search *search, uint32_t id, uint32_t depth,
			struct btf_member *out)
{
	struct btf_member member;

	for (uint32_t nr = 0; trace_btf_member_get(id, nr, &member); nr++) {
		if (search->visits++ >= BTF_VISITS_MAX)
			return false;
		*out = member;
		if (member.name[0] && btf_type_is_name(member.name, search->name, search->len))
			return true;
		if (member.name[0] || depth == BTF_NESTED_MAX ||
		    !find_member(search, member.type, depth + 1, out))
			continue;
		out->bit_offset += member.bit_offset;
		return true;
	}
	return false;
}

bool trace_btf_member_find(uint32_t id, const char *name, size_t len, struct btf_member *out)
{
	struct btf_search search = { name, len, 0 };

	return len && find_member(&search, id, 0, out);
}
