/*
 * BTF made by hand: types are added in order and get the numbers 1, 2, 3...; functions come last,
 * sorted by name.
 */
#ifndef TESTS_BTF_HELP_H
#define TESTS_BTF_HELP_H

#include <stdint.h>
#include <string.h>
#include "types/btf_private.h"

struct btf_maker {
	uint32_t types[2048];
	uint32_t nr_words, nr_types;
	char strings[4096];
	uint32_t strings_len;
	uint32_t data[3072]; /* the whole, once btf_made() was called */
};

enum {
	MAKE_SIGNED = 1 << 24,
	MAKE_CHAR = 2 << 24,
	MAKE_BOOL = 4 << 24
};

static inline uint32_t make_string(struct btf_maker *m, const char *text)
{
	uint32_t at = m->strings_len ? m->strings_len : 1;

	if (!text || !*text)
		return 0;
	strcpy(m->strings + at, text);
	m->strings_len = at + (uint32_t)strlen(text) + 1;
	return at;
}

/* A head; words of its parts follow by make_word(). Returns its number. */
static inline uint32_t make_type(struct btf_maker *m, enum btf_kind kind, const char *name,
				 uint32_t parts, uint32_t size)
{
	m->types[m->nr_words++] = make_string(m, name);
	m->types[m->nr_words++] = (uint32_t)kind << 24 | parts;
	m->types[m->nr_words++] = size;
	return ++m->nr_types;
}

static inline void make_word(struct btf_maker *m, uint32_t word)
{
	m->types[m->nr_words++] = word;
}

static inline uint32_t make_int(struct btf_maker *m, const char *name, uint32_t bytes,
				uint32_t encoding)
{
	uint32_t id = make_type(m, BTF_INT, name, 0, bytes);

	make_word(m, encoding | bytes * 8);
	return id;
}

static inline uint32_t make_array(struct btf_maker *m, uint32_t of, uint32_t nr)
{
	uint32_t id = make_type(m, BTF_ARRAY, "", 0, 0);

	make_word(m, of);
	make_word(m, of);
	make_word(m, nr);
	return id;
}

/* A member of a struct, or with two words a parameter of a function. */
static inline void make_member(struct btf_maker *m, const char *name, uint32_t type,
			       uint32_t offset)
{
	make_word(m, make_string(m, name));
	make_word(m, type);
	make_word(m, offset);
}

static inline void make_param(struct btf_maker *m, const char *name, uint32_t type)
{
	make_word(m, make_string(m, name));
	make_word(m, type);
}

/* Put it together; its length in bytes. */
static inline size_t btf_made(struct btf_maker *m)
{
	struct btf_header header = { .magic = BTF_MAGIC,
				     .version = 1,
				     .header_len = sizeof(header) };

	header.type_len = m->nr_words * 4;
	header.string_offset = header.type_len;
	header.string_len = m->strings_len ? m->strings_len : 1;
	memcpy(m->data, &header, sizeof(header));
	memcpy((char *)m->data + sizeof(header), m->types, header.type_len);
	memcpy((char *)m->data + sizeof(header) + header.type_len, m->strings, header.string_len);
	return sizeof(header) + header.type_len + header.string_len;
}

static inline uint32_t make_proto(struct btf_maker *m, uint32_t returns, uint32_t nr)
{
	return make_type(m, BTF_FUNC_PROTO, "", nr, returns);
}

#endif
