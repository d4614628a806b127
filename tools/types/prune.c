/* See prune.h. */
#include "prune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/btf.h>

#include "names.h"

#define HEAD sizeof(struct btf_type)

struct type {
	uint32_t *words; /* the struct btf_type and what belongs to it */
	uint32_t bytes;
	uint32_t new_id; /* once it is needed; 0: it is not */
};

struct pruning {
	const char *path;
	const char *strings;
	uint32_t strings_len;
	struct type *types; /* from 1 on; 0 is void */
	uint32_t nr;	    /* with void */
	uint32_t nr_new;
	uint32_t *stack; /* of needed types whose own needs are to be seen yet */
	uint32_t nr_stack;
	uint32_t *funcs; /* those that stay */
	uint32_t nr_funcs;
	struct blob text;   /* the new strings */
	uint32_t *new_text; /* of each old string, 0: not yet */
};

static int complain(const struct pruning *p, const char *what)
{
	fprintf(stderr, "types: %s: %s\n", p->path, what);
	return -1;
}

static const struct btf_type *head_of(const struct pruning *p, uint32_t id)
{
	return (const struct btf_type *)p->types[id].words;
}

/*
 * The layout of a kind behind the struct btf_type: the words of each part that name text and types.
 */
struct shape {
	bool is_known;
	bool has_ref;	       /* `type` of the head is a type, not a size */
	uint8_t fixed;	       /* words that each type of the kind has */
	uint8_t part;	       /* words of each of its vlen parts */
	uint8_t part_has_name; /* the first word */
	uint8_t part_has_ref;  /* the second word */
	uint8_t fixed_refs;    /* the first words of the fixed ones */
};

static const struct shape shapes[NR_BTF_KINDS] = {
	[BTF_KIND_INT] = { .is_known = true, .fixed = 1 },
	[BTF_KIND_PTR] = { .is_known = true, .has_ref = true },
	[BTF_KIND_ARRAY] = { .is_known = true, .fixed = 3, .fixed_refs = 2 },
	[BTF_KIND_STRUCT] = { .is_known = true, .part = 3, .part_has_name = 1, .part_has_ref = 1 },
	[BTF_KIND_UNION] = { .is_known = true, .part = 3, .part_has_name = 1, .part_has_ref = 1 },
	[BTF_KIND_ENUM] = { .is_known = true, .part = 2, .part_has_name = 1 },
	[BTF_KIND_FWD] = { .is_known = true },
	[BTF_KIND_TYPEDEF] = { .is_known = true, .has_ref = true },
	[BTF_KIND_VOLATILE] = { .is_known = true, .has_ref = true },
	[BTF_KIND_CONST] = { .is_known = true, .has_ref = true },
	[BTF_KIND_RESTRICT] = { .is_known = true, .has_ref = true },
	[BTF_KIND_FUNC] = { .is_known = true, .has_ref = true },
	[BTF_KIND_FUNC_PROTO] = { .is_known = true,
				  .has_ref = true,
				  .part = 2,
				  .part_has_name = 1,
				  .part_has_ref = 1 },
	[BTF_KIND_VAR] = { .is_known = true, .has_ref = true, .fixed = 1 },
	[BTF_KIND_DATASEC] = { .is_known = true, .part = 3 },
	[BTF_KIND_FLOAT] = { .is_known = true },
	[BTF_KIND_DECL_TAG] = { .is_known = true, .has_ref = true, .fixed = 1 },
	[BTF_KIND_TYPE_TAG] = { .is_known = true, .has_ref = true },
	[BTF_KIND_ENUM64] = { .is_known = true, .part = 3, .part_has_name = 1 },
};

static const struct shape *shape_of(const struct btf_type *head)
{
	uint32_t kind = BTF_INFO_KIND(head->info);

	return kind < NR_BTF_KINDS && shapes[kind].is_known ? &shapes[kind] : NULL;
}

/* ---- Reading ---- */

static int split_types(struct pruning *p, uint8_t *bytes, uint32_t len)
{
	uint32_t pos = 0;

	p->nr = 1;
	p->types = xcalloc(len / HEAD + 2, sizeof(*p->types));
	while (pos < len) {
		const struct btf_type *head = (const struct btf_type *)(bytes + pos);
		const struct shape *shape = len - pos >= HEAD ? shape_of(head) : NULL;
		uint32_t size;

		if (!shape)
			return complain(p, "a kind of type that is not known");
		size = (uint32_t)HEAD +
		       4 * (shape->fixed + shape->part * BTF_INFO_VLEN(head->info));
		if (size > len - pos)
			return complain(p, "a type goes on behind the end");
		p->types[p->nr++] =
			(struct type){ .words = (uint32_t *)(bytes + pos), .bytes = size };
		pos += size;
	}
	return 0;
}

static int read_raw(struct pruning *p, const struct blob *raw)
{
	const struct btf_header *header = (const struct btf_header *)raw->bytes;
	uint64_t base;

	if (raw->size < sizeof(*header) || header->magic != BTF_MAGIC || header->version != 1)
		return complain(p, "no BTF");
	base = header->hdr_len;
	if (base + header->type_off + header->type_len > raw->size ||
	    base + header->str_off + header->str_len > raw->size || header->str_len == 0 ||
	    (base + header->type_off) % 4)
		return complain(p, "BTF that is cut");
	p->strings = (const char *)raw->bytes + base + header->str_off;
	p->strings_len = header->str_len;
	if (p->strings[p->strings_len - 1])
		return complain(p, "the last string has no end");
	p->new_text = xcalloc(p->strings_len, sizeof(*p->new_text));
	return split_types(p, raw->bytes + base + header->type_off, header->type_len);
}

/* ---- Types that stay ---- */

static int need(struct pruning *p, uint32_t id)
{
	if (id >= p->nr)
		return complain(p, "a type that is not there is referred to");
	if (id && !p->types[id].new_id) {
		p->types[id].new_id = 1; /* until number_types() */
		p->stack[p->nr_stack++] = id;
	}
	return 0;
}

static int need_parts(struct pruning *p, const struct type *type)
{
	const struct btf_type *head = (const struct btf_type *)type->words;
	const struct shape *shape = shape_of(head);
	const uint32_t *words = type->words + HEAD / 4;
	int err = shape->has_ref ? need(p, head->type) : 0;

	for (uint32_t i = 0; i < shape->fixed_refs && !err; i++)
		err = need(p, words[i]);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(head->info) && shape->part_has_ref && !err; i++)
		err = need(p, words[i * shape->part + 1]);
	return err;
}

static const char *string_at(const struct pruning *p, uint32_t offset)
{
	return offset < p->strings_len ? p->strings + offset : "";
}

/* qsort() has no argument of its own. */
static const struct pruning *sorted;

static int compare_funcs(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return strcmp(string_at(sorted, head_of(sorted, *a)->name_off),
		      string_at(sorted, head_of(sorted, *b)->name_off));
}

/* And what these need in turn. */
static int need_the_rest(struct pruning *p)
{
	int err = 0;

	while (p->nr_stack && !err)
		err = need_parts(p, &p->types[p->stack[--p->nr_stack]]);
	return err;
}

static bool is_named_struct(const struct btf_type *head)
{
	uint32_t kind = BTF_INFO_KIND(head->info);

	return (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) && head->name_off;
}

/* Has a struct a member, not only a pointer to one, that is a struct which stays? */
static bool holds_needed(const struct pruning *p, const struct type *type)
{
	const struct btf_type *head = (const struct btf_type *)type->words;
	const struct btf_member *members = (const struct btf_member *)(head + 1);

	for (uint32_t i = 0; i < BTF_INFO_VLEN(head->info); i++) {
		uint32_t id = members[i].type;

		if (id < p->nr && id && p->types[id].new_id && is_named_struct(head_of(p, id)))
			return true;
	}
	return false;
}

/*
 * From an address of a member one comes to the struct around it, as with container_of(): no function
 * need have an argument of such a struct.
 */
static int need_holders(struct pruning *p)
{
	uint32_t nr = 0;

	for (uint32_t id = 1; id < p->nr; id++) {
		if (p->types[id].new_id || !is_named_struct(head_of(p, id)) ||
		    !holds_needed(p, &p->types[id]))
			continue;
		nr++;
		if (need(p, id) != 0 || need_the_rest(p) != 0)
			return -1;
	}
	return nr ? need_holders(p) : 0;
}

static int choose(struct pruning *p, const struct unsure *unsure)
{
	p->stack = xcalloc(p->nr, sizeof(*p->stack));
	p->funcs = xcalloc(p->nr, sizeof(*p->funcs));
	for (uint32_t id = 1; id < p->nr; id++) {
		const struct btf_type *head = head_of(p, id);

		if (BTF_INFO_KIND(head->info) != BTF_KIND_FUNC ||
		    unsure_has(unsure, string_at(p, head->name_off)))
			continue;
		p->funcs[p->nr_funcs++] = id;
		if (need(p, head->type) != 0)
			return -1;
	}
	if (need_the_rest(p) != 0 || need_holders(p) != 0)
		return -1;
	sorted = p;
	qsort(p->funcs, p->nr_funcs, sizeof(*p->funcs), compare_funcs);
	return 0;
}

/* ---- Writing ---- */

static uint32_t new_text(struct pruning *p, uint32_t offset)
{
	const char *text = string_at(p, offset);

	if (!*text)
		return 0;
	if (!p->new_text[offset])
		p->new_text[offset] = blob_append(&p->text, text, strlen(text) + 1, 1);
	return p->new_text[offset];
}

static void write_type(struct pruning *p, const struct type *type, struct blob *out)
{
	uint32_t at = blob_append(out, type->words, type->bytes, 4);
	struct btf_type *head = (struct btf_type *)(out->bytes + at);
	const struct shape *shape = shape_of(head);
	uint32_t *words = (uint32_t *)(head + 1);

	head->name_off = new_text(p, head->name_off);
	if (shape->has_ref)
		head->type = p->types[head->type].new_id;
	for (uint32_t i = 0; i < shape->fixed_refs; i++)
		words[i] = p->types[words[i]].new_id;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(head->info); i++) {
		uint32_t *part = words + i * shape->part;

		if (shape->part_has_name)
			part[0] = new_text(p, part[0]);
		if (shape->part_has_ref)
			part[1] = p->types[part[1]].new_id;
	}
}

static void write_all(struct pruning *p, struct blob *out)
{
	struct btf_header header = { .magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(header) };
	struct blob types = { 0 };

	for (uint32_t id = 1; id < p->nr; id++)
		if (p->types[id].new_id)
			p->types[id].new_id = ++p->nr_new;
	blob_append(&p->text, "", 1, 1);
	for (uint32_t id = 1; id < p->nr; id++)
		if (p->types[id].new_id)
			write_type(p, &p->types[id], &types);
	for (uint32_t i = 0; i < p->nr_funcs; i++)
		write_type(p, &p->types[p->funcs[i]], &types);
	header.type_len = (uint32_t)types.size;
	header.str_off = header.type_len;
	header.str_len = (uint32_t)p->text.size;
	blob_append(out, &header, sizeof(header), 4);
	blob_append(out, types.bytes, types.size, 4);
	blob_append(out, p->text.bytes, p->text.size, 4);
	blob_free(&types);
}

int prune(struct blob *out, const struct blob *raw, const struct unsure *unsure, const char *path)
{
	struct pruning p = { .path = path };
	int err = read_raw(&p, raw);

	if (!err)
		err = choose(&p, unsure);
	if (!err)
		write_all(&p, out);
	free(p.types);
	free(p.stack);
	free(p.funcs);
	free(p.new_text);
	blob_free(&p.text);
	return err;
}
