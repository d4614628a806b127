/* BTF as it lies in memory; shared declarations of the files of this folder. See btf.h. */
#ifndef TRACE_BTF_PRIVATE_H
#define TRACE_BTF_PRIVATE_H

#include <stdint.h>
#include "btf.h"

#define BTF_MAGIC     0xeb9fu
#define BTF_DEPTH_MAX 16u /* of types within types that are followed; the compilers stay below */

#define BTF_NESTED_MAX 4u    /* of structs without a name, each in the one before */
#define BTF_VISITS_MAX 4096u /* of members in one search; a limit for damaged types only */

struct btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t header_len; /* the offsets below count from behind it */
	uint32_t type_offset;
	uint32_t type_len;
	uint32_t string_offset;
	uint32_t string_len;
};

/* The beginning of every type; words of its kind follow. */
struct btf_type {
	uint32_t name; /* offset of a string */
	uint32_t info; /* bits 0-15 number of parts, 24-28 kind, 31 a flag of the kind */
	uint32_t size; /* or the type that it is made of */
};

static inline uint32_t btf_nr_parts(const struct btf_type *type)
{
	return type->info & 0xffffu;
}

static inline enum btf_kind btf_kind_of(const struct btf_type *type)
{
	return (enum btf_kind)(type->info >> 24 & 31u);
}

static inline bool btf_flag(const struct btf_type *type)
{
	return type->info >> 31;
}

/* The words behind the head. */
static inline const uint32_t *btf_words(const struct btf_type *type)
{
	return (const uint32_t *)(type + 1);
}

/* NULL for void, and for a number that no type has. */
const struct btf_type *trace_btf_type(uint32_t id);
const char *trace_btf_string(uint32_t offset);

#endif
