/*
 * Types for the functions of the fake machine, for tests of probes by names. A test includes
 * fake.h first.
 */
#ifndef TESTS_PROBE_TYPES_H
#define TESTS_PROBE_TYPES_H

#include <stddef.h>
#include <stdlib.h>
#include <trace/host_tracepoints.h>
#include <trace/thread.h>
#include <trace/tracepoint.h>
#include "trace/types/btf_help.h"

/* As the types have it. */
struct file {
	char name[16];
	struct {
		const char *text;
		uint32_t len;
	} path;
	const struct file *next;
	uint32_t mode : 3;
	int32_t level : 5; /* -4 */
	uint8_t is_open;
	int32_t kind;
	int64_t pos;
};

static uint32_t int_id, uint_id, long_id, size_id, short_id, bool_id, text_id, chars_id, file_ptr,
	sched_ptr;

static inline void make_numbers(struct btf_maker *m)
{
	uint32_t char_id;

	int_id = make_int(m, "int", 4, MAKE_SIGNED);
	uint_id = make_int(m, "unsigned int", 4, 0);
	long_id = make_int(m, "long int", 8, MAKE_SIGNED);
	size_id = make_type(m, BTF_TYPEDEF, "size_t", 0, make_int(m, "unsigned long", 8, 0));
	short_id = make_int(m, "unsigned short", 2, 0);
	bool_id = make_int(m, "_Bool", 1, MAKE_BOOL);
	char_id = make_int(m, "char", 1, MAKE_SIGNED);
	text_id = make_type(m, BTF_PTR, "", 0, make_type(m, BTF_CONST, "", 0, char_id));
	chars_id = make_array(m, char_id, 16);
}

/* `at` in bytes. */
static inline void add_member(struct btf_maker *m, const char *name, uint32_t type, size_t at)
{
	make_member(m, name, type, (uint32_t)at * 8);
}

static inline void make_structs(struct btf_maker *m)
{
	uint32_t path_id, kind_id, file_id, bits = ((uint32_t)offsetof(struct file, next) + 8) * 8;

	path_id = make_type(m, BTF_STRUCT, "path", 2, sizeof(((struct file *)0)->path));
	add_member(m, "text", text_id, 0);
	add_member(m, "len", uint_id, 8);
	kind_id = make_type(m, BTF_ENUM, "kind", 0, 4);
	file_ptr = m->nr_types + 2;
	file_id = make_type(m, BTF_STRUCT, "file", 9, sizeof(struct file));
	m->types[m->nr_words - 2] |= 1u << 31; /* it has bit fields */
	add_member(m, "name", chars_id, offsetof(struct file, name));
	add_member(m, "path", path_id, offsetof(struct file, path));
	add_member(m, "next", file_ptr, offsetof(struct file, next));
	make_member(m, "mode", uint_id, 3u << 24 | bits);
	make_member(m, "level", int_id, 5u << 24 | (bits + 3));
	add_member(m, "is_open", bool_id, offsetof(struct file, is_open));
	add_member(m, "kind", kind_id, offsetof(struct file, kind));
	add_member(m, "pos", long_id, offsetof(struct file, pos));
	/* As in a packed struct: over the end of its word, into `kind`. */
	make_member(m, "packed", uint_id, 8u << 24 | (bits + 28));
	if (make_type(m, BTF_PTR, "", 0, file_id) != file_ptr)
		abort();
	make_type(m, BTF_STRUCT, "fake_thread", 2, fake_comm_at + TRACE_COMM_LEN);
	add_member(m, "pid", int_id, 0);
	add_member(m, "comm", chars_id, fake_comm_at);
	make_type(m, BTF_STRUCT, "sched_thread", 2, sizeof(struct trace_sched_thread));
	add_member(m, "comm", text_id, offsetof(struct trace_sched_thread, comm));
	add_member(m, "pid", int_id, offsetof(struct trace_sched_thread, pid));
	sched_ptr = make_type(m, BTF_PTR, "", 0, m->nr_types);
}

/* Members that are no number of a word, and bits of one word that do not begin at its first byte. */
static inline void make_odd(struct btf_maker *m)
{
	uint32_t wide = make_int(m, "__int128", 16, 0);
	uint32_t real = make_type(m, BTF_FLOAT, "double", 0, 8);

	make_type(m, BTF_STRUCT, "odd", 4, 40);
	m->types[m->nr_words - 2] |= 1u << 31;
	add_member(m, "wide", wide, 0);
	add_member(m, "real", real, 16);
	make_member(m, "across", size_id, 58u << 24 | (16 * 8 + 7));
	make_member(m, "within", size_id, 57u << 24 | (24 * 8 + 7));
}

/*
 * int do_work(struct file *file, unsigned short nr, const char *text, size_t size, _Bool now, int,
 *             long last);
 * void kfree(struct pair pair, struct file *file);
 * struct file *yield(void);
 * and of sched_switch, `iterate`; of sched_wakeup, `iterate_long`, whose argument has a name that
 * is too long for one of an event. There are no types of schedule().
 */
static inline void make_types(struct btf_maker *m)
{
	uint32_t pair_id, do_work, kfree_, yield, iterate, iterate_long, pointer;

	make_numbers(m);
	make_structs(m);
	pair_id = make_type(m, BTF_STRUCT, "pair", 2, 16);
	add_member(m, "a", long_id, 0);
	add_member(m, "b", long_id, 8);
	make_type(m, BTF_TYPEDEF, "pair_t", 0, pair_id);
	pointer = make_type(m, BTF_PTR, "", 0, 0);
	do_work = make_proto(m, int_id, 7);
	make_param(m, "file", file_ptr);
	make_param(m, "nr", short_id);
	make_param(m, "text", text_id);
	make_param(m, "size", size_id);
	make_param(m, "now", bool_id);
	make_param(m, "", int_id);
	make_param(m, "last", long_id);
	kfree_ = make_proto(m, 0, 2);
	make_param(m, "pair", pair_id);
	make_param(m, "file", file_ptr);
	yield = make_proto(m, file_ptr, 0);
	iterate = make_proto(m, 0, 3);
	make_param(m, "funcs_", pointer);
	make_param(m, "prev", sched_ptr);
	make_param(m, "next", sched_ptr);
	iterate_long = make_proto(m, 0, 2);
	make_param(m, "funcs_", pointer);
	make_param(m, "a_name_of_more_than_thirty_two_letters", sched_ptr);
	make_odd(m);
	make_type(m, BTF_FUNC, "do_work", 0, do_work);
	make_type(m, BTF_FUNC, "iterate", 0, iterate);
	make_type(m, BTF_FUNC, "iterate_long", 0, iterate_long);
	make_type(m, BTF_FUNC, "kfree", 0, kfree_);
	make_type(m, BTF_FUNC, "yield", 0, yield);
}

/* The functions have types, from trace_init() on. */
static inline void probe_types_make(void)
{
	static struct btf_maker made;

	make_types(&made);
	fake_btf_bytes = btf_made(&made);
	fake_btf = made.data;
}

static inline void name_iterate(struct tracepoint *tp, void *arg)
{
	(void)arg;
	if (!strcmp(tp->name, "sched_switch"))
		fake_symbol_add((uintptr_t)tp->iterate, 16, "iterate");
	if (!strcmp(tp->name, "sched_wakeup"))
		fake_symbol_add((uintptr_t)tp->iterate, 16, "iterate_long");
}

/* And two tracepoints, until symbols are reset. */
static inline void probe_types_name(void)
{
	for_each_kernel_tracepoint(name_iterate, NULL);
}

#endif
