/*
 * The types of functions and data, read from BTF, the format that Documentation/bpf/btf.rst of
 * Linux describes:
 *
 *   header | types, numbered from 1 | functions, sorted by name | strings
 *
 * Numbers of types are `uint32_t id`; 0 is void. The order is what tools/types makes, so that a
 * function is found by halving. trace_btf_load() looks at every byte once: afterwards all
 * references of types are known to be valid. It cannot exclude types that consist of themselves;
 * such a type is of the kind BTF_UNKNOWN, and has no members.
 *
 * Context:   trace_btf_load() - thread, once, from the start of trace/. The rest - any, NMI
 *            included; they neither lock nor allocate, and before trace_btf_load() find nothing.
 * Ownership: names and types lie in the host's data, which is never freed.
 */
#ifndef TRACE_BTF_H
#define TRACE_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_seq;

/* ---- Types ---- */

enum btf_kind {
	BTF_UNKNOWN,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD, /* a struct or union of which only the name is known */
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_NR_KINDS
};

/*
 * Make all this known. 0; -EINVAL: it is damaged, or not sorted, and nothing is known; -ENOMEM;
 * -EEXIST: types are there already.
 */
int trace_btf_load(const void *data, size_t bytes);
/* Forget all types, which have no users. For tests. */
void trace_btf_unload(void);
bool trace_btf_is_loaded(void);

enum btf_kind trace_btf_kind(uint32_t id);
/* Its name; "" when it has none. */
const char *trace_btf_name(uint32_t id);
/* The type without typedefs and qualifiers in front: an int, a pointer, a struct... */
uint32_t trace_btf_strip(uint32_t id);
/*
 * The type that a pointer points to, or an array consists of, both stripped; 0 for void and for
 * other types.
 */
uint32_t trace_btf_target(uint32_t id);
/* Is it a pointer to something const? */
bool trace_btf_points_to_const(uint32_t id);
/* The number of elements of an array. */
uint32_t trace_btf_nr_elements(uint32_t id);
/* Bytes of an object of that type; 0 of void, functions and what is not known. */
size_t trace_btf_sizeof(uint32_t id);

/* Forms of values, typedefs and qualifiers aside. */
enum btf_form {
	BTF_FORM_NONE, /* void, a function, an unknown type */
	BTF_FORM_SIGNED,
	BTF_FORM_UNSIGNED,
	BTF_FORM_SIZE, /* an unsigned number whose type is called size_t */
	BTF_FORM_BOOL,
	BTF_FORM_CHAR, /* `char`, a number whose name is so */
	BTF_FORM_ENUM,
	BTF_FORM_POINTER,
	BTF_FORM_STRING,   /* a pointer to char */
	BTF_FORM_FUNCTION, /* a pointer to a function */
	BTF_FORM_TEXT,	   /* an array of char */
	BTF_FORM_ARRAY,
	BTF_FORM_STRUCT, /* or a union */
	BTF_FORM_FLOAT,
};
enum btf_form trace_btf_form(uint32_t id);
/* The name of a value of an enum; NULL for a value without one, and when it is none. */
const char *trace_btf_enum_name(uint32_t id, int64_t value);

/* A struct, union, enum or typedef by its name: "thread", "size_t". 0: there is none. Slow. */
uint32_t trace_btf_find_type(const char *name);
/* The number of types in front of the functions, void included. */
uint32_t trace_btf_nr_types(void);

/* ---- Members ---- */

struct btf_member {
	const char *name;
	uint32_t type;
	uint32_t bit_offset; /* from the start of the struct that was searched */
	uint32_t bits;	     /* of a bit field; 0: it is none */
};

/*
 * The member `name`, which has `len` characters, of a struct or union, or of structs and unions
 * without a name in it. false: there is none.
 */
bool trace_btf_member_find(uint32_t id, const char *name, size_t len, struct btf_member *out);
/* Member number `nr` of a struct or union, one without a name included. false: there are fewer. */
bool trace_btf_member_get(uint32_t id, uint32_t nr, struct btf_member *out);

/* ---- Functions ---- */

struct btf_func {
	const char *name;
	uint32_t proto;	  /* its type */
	uint32_t returns; /* 0: nothing */
	uint32_t nr_args; /* without "..." */
	bool is_variadic;
};

/* Places of an argument when the function begins: the calling convention of System V for x86-64. */
enum btf_place {
	BTF_PLACE_REGS,	 /* argument registers number `at` and, if `words` is 2, the next */
	BTF_PLACE_STACK, /* `at` bytes above the return address, that of 8 bytes not included */
	BTF_PLACE_OTHER, /* a floating point register, or not known */
};

struct btf_arg {
	const char *name; /* may be "" */
	uint32_t type;
	enum btf_place place;
	uint32_t at;
	uint32_t words; /* of 8 bytes */
};

#define BTF_ARG_REGS 6u

/* The function of that name. false: there is none, or it is not sure what its arguments are. */
bool trace_btf_func_find(const char *name, struct btf_func *out);
/* The functions in the order of their names; false from the number of functions on. */
bool trace_btf_func_get(uint32_t nr, struct btf_func *out);
/* The function type `proto`, or one that a pointer points to, as a function without a name. */
bool trace_btf_func_of_proto(uint32_t proto, struct btf_func *out);
bool trace_btf_func_arg(const struct btf_func *func, uint32_t nr, struct btf_arg *out);
bool trace_btf_func_arg_find(const struct btf_func *func, const char *name, size_t len,
			     struct btf_arg *out);

/* ---- As text ---- */

/* A declaration in C: `void *kmalloc(size_t bytes)`. */
void trace_btf_print_func(struct trace_seq *seq, const struct btf_func *func);
/* The declaration of `name` as that type: `const char *name`, `int name[4]`, `int`. */
void trace_btf_print_decl(struct trace_seq *seq, uint32_t id, const char *name);
/*
 * `value`, as it is in a register, as the type says: `-22`, `64` for a size_t, `0x2` for other
 * unsigned numbers, `true`, `'x'`, names of enums, pointers as addresses. Only the bytes that the
 * type has count. Structs and what is not known: the word in hex.
 */
void trace_btf_print_value(struct trace_seq *seq, uint32_t id, uint64_t value);

#endif
