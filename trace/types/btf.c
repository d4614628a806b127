/*
 * Looking at BTF once, and finding types and functions in it. See btf.h.
 *
 * Types have different lengths, so every 16th has its offset in a table; from there one goes on
 * from type to type.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "btf_private.h"
#include "text/str.h"

#define STEP 16u /* types for each entry of `marks` */

static struct {
	const uint8_t *types;
	const char *strings;
	uint32_t types_len, strings_len;
	uint32_t *marks; /* offsets of types 1, 17, 33...; set last when all the rest is known */
	size_t marks_bytes;
	uint32_t nr;	     /* of types, void included */
	uint32_t first_func; /* all types from here on are functions */
	uint32_t funcs_at;   /* the offset of the first */
} btf;

/* Words that a type of a kind has behind its head, and what they are. */
struct btf_shape {
	bool is_known;
	bool has_ref;	    /* the third word of the head is a type */
	uint8_t fixed;	    /* words of every type of the kind */
	uint8_t fixed_refs; /* the first of them are types */
	uint8_t part;	    /* words of each part */
	bool part_has_name; /* the first of them */
	bool part_has_ref;  /* the second of them */
};

static const struct btf_shape shapes[BTF_NR_KINDS] = {
	[BTF_INT] = { .is_known = true, .fixed = 1 },
	[BTF_PTR] = { .is_known = true, .has_ref = true },
	[BTF_ARRAY] = { .is_known = true, .fixed = 3, .fixed_refs = 2 },
	[BTF_STRUCT] = { .is_known = true, .part = 3, .part_has_name = true, .part_has_ref = true },
	[BTF_UNION] = { .is_known = true, .part = 3, .part_has_name = true, .part_has_ref = true },
	[BTF_ENUM] = { .is_known = true, .part = 2, .part_has_name = true },
	[BTF_FWD] = { .is_known = true },
	[BTF_TYPEDEF] = { .is_known = true, .has_ref = true },
	[BTF_VOLATILE] = { .is_known = true, .has_ref = true },
	[BTF_CONST] = { .is_known = true, .has_ref = true },
	[BTF_RESTRICT] = { .is_known = true, .has_ref = true },
	[BTF_FUNC] = { .is_known = true, .has_ref = true },
	[BTF_FUNC_PROTO] = { .is_known = true,
			     .has_ref = true,
			     .part = 2,
			     .part_has_name = true,
			     .part_has_ref = true },
	[BTF_VAR] = { .is_known = true, .has_ref = true, .fixed = 1 },
	[BTF_DATASEC] = { .is_known = true, .part = 3 },
	[BTF_FLOAT] = { .is_known = true },
	[BTF_DECL_TAG] = { .is_known = true, .has_ref = true, .fixed = 1 },
	[BTF_TYPE_TAG] = { .is_known = true, .has_ref = true },
	[BTF_ENUM64] = { .is_known = true, .part = 3, .part_has_name = true },
};

/* Bytes of a type of a known kind. A function has no parts, whatever its head says of linkage. */
static uint32_t btf_type_bytes(const struct btf_type *type)
{
	const struct btf_shape *shape = &shapes[btf_kind_of(type)];

	return (uint32_t)sizeof(*type) + 4u * (shape->fixed + shape->part * btf_nr_parts(type));
}

/* ---- Looking at it once ---- */

/* The head at `pos`; NULL if there is no whole type of a known kind. */
static const struct btf_type *type_at(uint32_t pos)
{
	const struct btf_type *type = (const void *)(btf.types + pos);
	enum btf_kind kind;

	if (btf.types_len - pos < sizeof(*type))
		return NULL;
	kind = btf_kind_of(type);
	if (kind >= BTF_NR_KINDS || !shapes[kind].is_known ||
	    btf_type_bytes(type) > btf.types_len - pos)
		return NULL;
	return type;
}

/* The number of types, void included; 0 when they are damaged. */
static uint32_t count_types(void)
{
	uint32_t nr = 1;

	for (uint32_t pos = 0; pos < btf.types_len; nr++) {
		const struct btf_type *type = type_at(pos);

		if (!type)
			return 0;
		pos += btf_type_bytes(type);
	}
	return nr;
}

/* Is all that a type refers to there? */
static bool has_all(const struct btf_type *type)
{
	const struct btf_shape *shape = &shapes[btf_kind_of(type)];
	const uint32_t *words = btf_words(type);

	if (type->name >= btf.strings_len || (shape->has_ref && type->size >= btf.nr))
		return false;
	for (uint32_t i = 0; i < shape->fixed_refs; i++) {
		if (words[i] >= btf.nr)
			return false;
	}
	for (uint32_t i = 0; i < btf_nr_parts(type); i++, words += shape->part) {
		if (shape->part_has_name && words[0] >= btf.strings_len)
			return false;
		if (shape->part_has_ref && words[1] >= btf.nr)
			return false;
	}
	return true;
}

static bool is_proto(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(id);

	return type && btf_kind_of(type) == BTF_FUNC_PROTO;
}

/* Functions have prototypes, and are last and sorted. `last` is the type in front; NULL: none. */
static bool is_in_order(const struct btf_type *last, const struct btf_type *type)
{
	bool follows_func = last && btf_kind_of(last) == BTF_FUNC;

	if (btf_kind_of(type) != BTF_FUNC)
		return !follows_func;
	return is_proto(type->size) && btf_nr_parts(type) <= 2 &&
	       (!follows_func ||
		trace_strcmp(trace_btf_string(last->name), trace_btf_string(type->name)) < 0);
}

static void mark_types(void)
{
	uint32_t pos = 0;

	btf.first_func = btf.nr;
	for (uint32_t id = 1; id < btf.nr; id++) {
		const struct btf_type *type = (const void *)(btf.types + pos);

		if (id % STEP == 1)
			btf.marks[id / STEP] = pos;
		if (btf_kind_of(type) == BTF_FUNC && btf.first_func == btf.nr) {
			btf.first_func = id;
			btf.funcs_at = pos;
		}
		pos += btf_type_bytes(type);
	}
}

static bool check_types(void)
{
	const struct btf_type *last = NULL;
	uint32_t pos = 0;

	while (pos < btf.types_len) {
		const struct btf_type *type = (const void *)(btf.types + pos);

		if (!has_all(type) || !is_in_order(last, type))
			return false;
		last = type;
		pos += btf_type_bytes(type);
	}
	return true;
}

/* Find the two parts of the data. */
static bool find_parts(const uint8_t *data, size_t bytes)
{
	const struct btf_header *header = (const void *)data;
	uint64_t types, strings;

	if (bytes < sizeof(*header) || (uintptr_t)data % 4 || header->magic != BTF_MAGIC ||
	    header->version != 1)
		return false;
	types = (uint64_t)header->header_len + header->type_offset;
	strings = (uint64_t)header->header_len + header->string_offset;
	if (types % 4 || types + header->type_len > bytes || strings + header->string_len > bytes ||
	    !header->string_len)
		return false;
	btf.types = data + types;
	btf.types_len = header->type_len;
	btf.strings = (const char *)data + strings;
	btf.strings_len = header->string_len;
	return !btf.strings[0] && !btf.strings[btf.strings_len - 1];
}

int trace_btf_load(const void *data, size_t bytes)
{
	if (btf.marks)
		return -EEXIST;
	if (!find_parts(data, bytes))
		return -EINVAL;
	btf.nr = count_types();
	if (!btf.nr)
		return -EINVAL;
	btf.marks_bytes = (btf.nr / STEP + 1) * sizeof(*btf.marks);
	btf.marks = trace_plat_alloc(btf.marks_bytes);
	if (!btf.marks)
		return -ENOMEM;
	mark_types();
	if (check_types())
		return 0;
	trace_btf_unload();
	return -EINVAL;
}

void trace_btf_unload(void)
{
	if (btf.marks)
		trace_plat_free(btf.marks, btf.marks_bytes);
	btf.marks = NULL;
}

bool trace_btf_is_loaded(void)
{
	return btf.marks;
}

/* ---- Types ---- */

const char *trace_btf_string(uint32_t offset)
{
	return btf.strings + offset;
}

const struct btf_type *trace_btf_type(uint32_t id)
{
	const struct btf_type *type;

	if (!btf.marks || !id || id >= btf.nr)
		return NULL;
	if (id >= btf.first_func)
		return (const void *)(btf.types + btf.funcs_at +
				      (id - btf.first_func) * sizeof(*type));
	type = (const void *)(btf.types + btf.marks[(id - 1) / STEP]);
	for (uint32_t left = (id - 1) % STEP; left; left--)
		type = (const void *)((const uint8_t *)type + btf_type_bytes(type));
	return type;
}

enum btf_kind trace_btf_kind(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(id);

	return type ? btf_kind_of(type) : BTF_UNKNOWN;
}

const char *trace_btf_name(uint32_t id)
{
	const struct btf_type *type = trace_btf_type(id);

	return type ? trace_btf_string(type->name) : "";
}

uint32_t trace_btf_find_type(const char *name)
{
	uint32_t pos = 0;

	for (uint32_t id = 1; btf.marks && id < btf.first_func; id++) {
		const struct btf_type *type = (const void *)(btf.types + pos);

		if (type->name && trace_streq(trace_btf_string(type->name), name))
			return id;
		pos += btf_type_bytes(type);
	}
	return 0;
}

uint32_t trace_btf_nr_types(void)
{
	return btf.marks ? btf.first_func : 0;
}

/* ---- Functions ---- */

static void fill_func(uint32_t proto, const char *name, struct btf_func *out)
{
	const struct btf_type *type = trace_btf_type(proto);
	uint32_t nr = btf_nr_parts(type);
	const uint32_t *last = btf_words(type) + (size_t)nr * 2 - 2;

	/* "..." is a parameter without a name and without a type. */
	*out = (struct btf_func){ .name = name,
				  .proto = proto,
				  .returns = type->size,
				  .nr_args = nr,
				  .is_variadic = nr && !last[0] && !last[1] };
	if (out->is_variadic)
		out->nr_args--;
}

bool trace_btf_func_get(uint32_t nr, struct btf_func *out)
{
	const struct btf_type *type;

	if (!btf.marks || nr >= btf.nr - btf.first_func)
		return false;
	type = trace_btf_type(btf.first_func + nr);
	fill_func(type->size, trace_btf_string(type->name), out);
	return true;
}

bool trace_btf_func_find(const char *name, struct btf_func *out)
{
	uint32_t low = 0, high = btf.marks ? btf.nr - btf.first_func : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int diff = trace_strcmp(trace_btf_name(btf.first_func + middle), name);

		if (diff == 0)
			return trace_btf_func_get(middle, out);
		if (diff < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool trace_btf_func_of_proto(uint32_t proto, struct btf_func *out)
{
	uint32_t id = trace_btf_strip(proto);

	if (trace_btf_kind(id) == BTF_PTR)
		id = trace_btf_target(id);
	if (!is_proto(id))
		return false;
	fill_func(id, "", out);
	return true;
}
