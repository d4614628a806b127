/*
 * The facts about each function name, from all places that know of it.
 *
 * Context:   host program, one thread. Out of memory ends the program.
 * Ownership: records_free(); names and files are copied.
 */
#ifndef WHYNOT_RECORDS_H
#define WHYNOT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kernel/whynot_format.h>

/* One place where a function was inlined. */
struct call {
	const char *caller; /* the function of the machine code */
	const char *file;
	uint32_t line;
	bool is_caller_traced;
};

struct record {
	const char *name;
	const char *file; /* of the definition; NULL when unknown */
	uint32_t line;
	bool has_site;	     /* a symbol of this name has a call site */
	bool is_compiled;    /* exists as C function with machine code of its own */
	bool is_file_traced; /* other functions of its file have sites */
	bool is_cold_part;
	bool is_assembly;    /* a symbol that debug information does not know as a function */
	bool is_in_source;   /* source text or debug information has its definition */
	const char *renamed; /* name of the traced clone that the compiler made of it; or NULL */
	uint32_t nr_inlined;
	struct call calls[WHYNOT_MAX_CALLS];
};

struct records {
	struct record **list; /* pointers stay good */
	size_t nr;
	size_t capacity;
	uint32_t *slots; /* hash table: index + 1, 0 for free */
	size_t nr_slots;
	char **strings; /* copies that the records point to */
	size_t nr_strings;
};

/* The record of `name`, made when it is new. */
struct record *records_get(struct records *records, const char *name);

/* A copy of a path without "./" and without the working directory in front; NULL stays NULL. */
const char *records_path(struct records *records, const char *path);
/* A copy of any string. */
const char *records_string(struct records *records, const char *text);

/* Count an inlined call; keeps the most useful ones: into traced callers, of different names. */
void record_add_call(struct record *record, const struct call *call);

/* Sort by name, after which records_get() must not be used. */
void records_sort(struct records *records);
void records_free(struct records *records);

#endif
