/*
 * Types from BTF: kinds, sizes, members, where arguments are, declarations and values as text;
 * damaged data.
 */
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include <trace/types.h>
#include "btf_help.h"
#include "fake/fake.h"

static struct btf_maker made;

/* Numbers of the types that sample() makes. */
static uint32_t int_id, u32_id, ulong_id, size_id, bool_id, char_id, uchar_id, text_id, colour_id,
	wide_id, point_id, thread_id, float_id, mixed_id, big_id, loop_id, i128_id, name_id,
	long_enum, next_id;

static void make_basics(struct btf_maker *m)
{
	uint32_t id;

	int_id = make_int(m, "int", 4, MAKE_SIGNED);
	id = make_int(m, "unsigned int", 4, 0);
	u32_id = make_type(m, BTF_TYPEDEF, "uint32_t", 0, id);
	ulong_id = make_int(m, "long unsigned int", 8, 0);
	id = make_type(m, BTF_TYPEDEF, "size_t", 0, ulong_id);
	size_id = make_type(m, BTF_CONST, "", 0, id);
	bool_id = make_int(m, "_Bool", 1, MAKE_BOOL);
	char_id = make_int(m, "char", 1, MAKE_SIGNED);
	uchar_id = make_int(m, "unsigned char", 1, 0);
	id = make_type(m, BTF_CONST, "", 0, char_id);
	text_id = make_type(m, BTF_PTR, "", 0, id);
	colour_id = make_type(m, BTF_ENUM, "colour", 3, 4);
	make_word(m, make_string(m, "RED"));
	make_word(m, 0);
	make_word(m, make_string(m, "GREEN"));
	make_word(m, 7);
	make_word(m, make_string(m, "BLUE"));
	make_word(m, (uint32_t)-2);
	long_enum = make_type(m, BTF_ENUM64, "long_enum", 1, 8);
	make_word(m, make_string(m, "FAR"));
	make_word(m, 1);
	make_word(m, 2);
	wide_id = make_type(m, BTF_RESTRICT, "", 0, make_type(m, BTF_VOLATILE, "", 0, ulong_id));
	float_id = make_type(m, BTF_FLOAT, "double", 0, 8);
	i128_id = make_int(m, "__int128", 16, MAKE_SIGNED);
}

static void make_structs(struct btf_maker *m)
{
	uint32_t no_name, inner;

	point_id = make_type(m, BTF_STRUCT, "point", 2, 8);
	make_member(m, "x", int_id, 0);
	make_member(m, "y", int_id, 32);
	mixed_id = make_type(m, BTF_STRUCT, "mixed", 2, 16);
	make_member(m, "n", ulong_id, 0);
	make_member(m, "f", float_id, 64);
	name_id = make_array(m, char_id, 16);
	inner = make_type(m, BTF_STRUCT, "", 2, 16);
	make_member(m, "low", ulong_id, 0);
	make_member(m, "high", ulong_id, 64);
	no_name = make_type(m, BTF_UNION, "", 2, 16);
	make_member(m, "both", ulong_id, 0);
	make_member(m, "", inner, 0);
	thread_id = make_type(m, BTF_STRUCT, "thread", 6, 64);
	m->types[m->nr_words - 2] |= 1u << 31;
	make_member(m, "pid", int_id, 0);
	make_member(m, "comm", name_id, 32);
	make_member(m, "kind", u32_id, 3u << 24 | 160);
	make_member(m, "is_open", u32_id, 1u << 24 | 163);
	make_member(m, "", no_name, 192);
	make_member(m, "next", m->nr_types + 1, 320);
	next_id = make_type(m, BTF_PTR, "", 0, thread_id);
	loop_id = make_type(m, BTF_TYPEDEF, "loop", 0, m->nr_types + 1);
}

/* An array cannot be made in the middle of a struct. */
static void make_big(struct btf_maker *m)
{
	uint32_t words = make_array(m, ulong_id, 3);

	big_id = make_type(m, BTF_STRUCT, "big", 1, 24);
	make_member(m, "words", words, 0);
}

static void sample(struct btf_maker *m)
{
	memset(m, 0, sizeof(*m));
	make_basics(m);
	make_big(m);
	make_structs(m);
}

static void load(struct btf_maker *m)
{
	size_t bytes = btf_made(m);

	trace_btf_unload();
	assert_int_equal(trace_btf_load(m->data, bytes), 0);
}

/* ---- Tests ---- */

static void test_kinds_and_sizes(void **state)
{
	(void)state;
	sample(&made);
	load(&made);
	assert_int_equal(trace_btf_kind(0), BTF_UNKNOWN);
	assert_int_equal(trace_btf_kind(UINT32_MAX), BTF_UNKNOWN);
	assert_int_equal(trace_btf_kind(loop_id + 1), BTF_UNKNOWN);
	assert_int_equal(trace_btf_kind(size_id), BTF_CONST);
	assert_int_equal(trace_btf_strip(size_id), ulong_id);
	assert_int_equal(trace_btf_strip(loop_id), 0);
	assert_int_equal(trace_btf_sizeof(loop_id), 0);
	assert_int_equal(trace_btf_sizeof(u32_id), 4);
	assert_int_equal(trace_btf_sizeof(text_id), 8);
	assert_int_equal(trace_btf_sizeof(name_id), 16);
	assert_int_equal(trace_btf_sizeof(thread_id), 64);
	assert_int_equal(trace_btf_sizeof(big_id), 24);
	assert_int_equal(trace_btf_sizeof(0), 0);
	assert_int_equal(trace_btf_target(text_id), char_id);
	assert_int_equal(trace_btf_target(name_id), char_id);
	assert_int_equal(trace_btf_target(next_id), thread_id);
	assert_int_equal(trace_btf_target(int_id), 0);
	assert_true(trace_btf_points_to_const(text_id));
	assert_false(trace_btf_points_to_const(next_id));
	assert_false(trace_btf_points_to_const(size_id));
	assert_false(trace_btf_points_to_const(loop_id));
	assert_int_equal(trace_btf_nr_elements(name_id), 16);
	assert_int_equal(trace_btf_nr_elements(int_id), 0);
	assert_string_equal(trace_btf_name(thread_id), "thread");
	assert_int_equal(trace_btf_find_type("thread"), thread_id);
	assert_int_equal(trace_btf_find_type("nothing"), 0);
}

/* Each type is found by its number, wherever the table of every 16th has its next entry. */
static void test_numbers(void **state)
{
	char name[16];

	(void)state;
	memset(&made, 0, sizeof(made));
	for (uint32_t i = 1; i <= 100; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		make_type(&made, BTF_STRUCT, name, i % 4, i);
		for (uint32_t part = 0; part < i % 4; part++)
			make_member(&made, "", 1, 0);
	}
	load(&made);
	for (uint32_t i = 1; i <= 100; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_string_equal(trace_btf_name(i), name);
		assert_int_equal(trace_btf_sizeof(i), i);
	}
	assert_int_equal(trace_btf_kind(101), BTF_UNKNOWN);
}

static void test_forms(void **state)
{
	(void)state;
	sample(&made);
	load(&made);
	assert_int_equal(trace_btf_form(0), BTF_FORM_NONE);
	assert_int_equal(trace_btf_form(loop_id), BTF_FORM_NONE);
	assert_int_equal(trace_btf_form(int_id), BTF_FORM_SIGNED);
	assert_int_equal(trace_btf_form(u32_id), BTF_FORM_UNSIGNED);
	assert_int_equal(trace_btf_form(wide_id), BTF_FORM_UNSIGNED);
	assert_int_equal(trace_btf_form(size_id), BTF_FORM_SIZE);
	assert_int_equal(trace_btf_form(bool_id), BTF_FORM_BOOL);
	assert_int_equal(trace_btf_form(char_id), BTF_FORM_CHAR);
	assert_int_equal(trace_btf_form(uchar_id), BTF_FORM_UNSIGNED);
	assert_int_equal(trace_btf_form(text_id), BTF_FORM_STRING);
	assert_int_equal(trace_btf_form(name_id), BTF_FORM_TEXT);
	assert_int_equal(trace_btf_form(colour_id), BTF_FORM_ENUM);
	assert_int_equal(trace_btf_form(long_enum), BTF_FORM_ENUM);
	assert_int_equal(trace_btf_form(next_id), BTF_FORM_POINTER);
	assert_int_equal(trace_btf_form(thread_id), BTF_FORM_STRUCT);
	assert_int_equal(trace_btf_form(float_id), BTF_FORM_FLOAT);
}

static void test_members(void **state)
{
	struct btf_member member;

	(void)state;
	sample(&made);
	load(&made);
	assert_true(trace_btf_member_find(thread_id, "pid", 3, &member));
	assert_int_equal(member.type, int_id);
	assert_int_equal(member.bit_offset, 0);
	assert_true(trace_btf_member_find(thread_id, "comm[2]", 4, &member));
	assert_string_equal(member.name, "comm");
	assert_int_equal(member.type, name_id);
	assert_int_equal(member.bit_offset, 32);
	assert_true(trace_btf_member_find(thread_id, "kind", 4, &member));
	assert_int_equal(member.bit_offset, 160);
	assert_int_equal(member.bits, 3);
	assert_true(trace_btf_member_find(thread_id, "is_open", 7, &member));
	assert_int_equal(member.bit_offset, 163);
	assert_int_equal(member.bits, 1);
	assert_true(trace_btf_member_find(thread_id, "both", 4, &member));
	assert_int_equal(member.bit_offset, 192);
	assert_true(trace_btf_member_find(thread_id, "high", 4, &member));
	assert_int_equal(member.type, ulong_id);
	assert_int_equal(member.bit_offset, 192 + 64);
	assert_int_equal(member.bits, 0);
	assert_false(trace_btf_member_find(thread_id, "pi", 2, &member));
	assert_false(trace_btf_member_find(thread_id, "pids", 4, &member));
	assert_false(trace_btf_member_find(thread_id, "", 0, &member));
	assert_false(trace_btf_member_find(int_id, "pid", 3, &member));
	assert_false(trace_btf_member_find(0, "pid", 3, &member));
	assert_true(trace_btf_member_get(point_id, 1, &member));
	assert_string_equal(member.name, "y");
	assert_false(trace_btf_member_get(point_id, 2, &member));
}

/* A struct that is a member of itself, without a name: searching it ends. Members of one with a name are not the outer one's. */
static void test_endless_members(void **state)
{
	struct btf_member member;
	struct btf_func func;
	struct btf_arg arg;
	uint32_t id, proto, inner, outer;

	(void)state;
	memset(&made, 0, sizeof(made));
	make_int(&made, "int", 4, MAKE_SIGNED);
	id = make_type(&made, BTF_STRUCT, "endless", 100, 8);
	for (int i = 0; i < 100; i++)
		make_member(&made, "", id, 0);
	inner = make_type(&made, BTF_STRUCT, "inner", 1, 8);
	make_member(&made, "x", 1, 0);
	outer = make_type(&made, BTF_STRUCT, "outer", 1, 8);
	make_member(&made, "in", inner, 0);
	proto = make_proto(&made, 0, 2);
	make_param(&made, "a", id);
	make_param(&made, "", 1);
	make_type(&made, BTF_FUNC, "f", 0, proto);
	load(&made);
	assert_false(trace_btf_member_find(id, "x", 1, &member));
	assert_false(trace_btf_member_find(outer, "x", 1, &member));
	assert_true(trace_btf_func_find("f", &func));
	assert_false(trace_btf_func_arg_find(&func, "", 0, &arg));
	assert_true(trace_btf_func_arg(&func, 0, &arg));
	assert_int_equal(arg.place, BTF_PLACE_OTHER);
}

/* Numbers at the limits of what BTF can say. */
static void test_large(void **state)
{
	struct btf_member member;
	uint32_t id, outer;

	(void)state;
	memset(&made, 0, sizeof(made));
	id = make_int(&made, "int", 4, MAKE_SIGNED);
	outer = make_array(&made, id, 4);
	outer = make_array(&made, outer, 1u << 31);
	outer = make_array(&made, outer, 1u << 31); /* times 4: 64 bits cannot count them */
	id = make_type(&made, BTF_STRUCT, "long", 2, 1u << 28);
	make_member(&made, "first", outer, 0);
	make_member(&made, "last", outer, 0x90000020);
	load(&made);
	assert_int_equal(trace_btf_sizeof(outer), (size_t)UINT32_MAX * 4);
	assert_true(trace_btf_member_find(id, "last", 4, &member));
	assert_int_equal(member.bit_offset, 0x90000020);
	assert_int_equal(member.bits, 0);
}

/* ---- Functions ---- */

static void add_func(struct btf_maker *m, const char *name, uint32_t proto)
{
	make_type(m, BTF_FUNC, name, 1, proto);
}

static void assert_arg(const struct btf_func *func, uint32_t nr, const char *name,
		       enum btf_place place, uint32_t at, uint32_t words)
{
	struct btf_arg arg;

	assert_true(trace_btf_func_arg(func, nr, &arg));
	assert_string_equal(arg.name, name);
	assert_int_equal(arg.place, place);
	assert_int_equal(arg.at, at);
	assert_int_equal(arg.words, words);
}

static void test_functions_are_found(void **state)
{
	static const char *const names[] = { "a", "ab", "b", "main", "zoo" };
	struct btf_func func;
	uint32_t proto, dots;

	(void)state;
	for (uint32_t nr = 0; nr <= 5; nr++) {
		sample(&made);
		proto = make_proto(&made, int_id, 1);
		make_param(&made, "n", int_id);
		dots = make_proto(&made, 0, 2);
		make_param(&made, "fmt", text_id);
		make_param(&made, "", 0);
		for (uint32_t i = 0; i < nr; i++)
			add_func(&made, names[i], i % 2 ? dots : proto);
		load(&made);
		for (uint32_t i = 0; i < 5; i++) {
			assert_int_equal(trace_btf_func_find(names[i], &func), i < nr);
			if (i >= nr)
				continue;
			assert_string_equal(func.name, names[i]);
			assert_int_equal(func.nr_args, 1);
			assert_int_equal(func.is_variadic, i % 2);
			assert_int_equal(func.returns, i % 2 ? 0 : int_id);
		}
		assert_false(trace_btf_func_find("", &func));
		assert_false(trace_btf_func_find("aa", &func));
		assert_false(trace_btf_func_find("zz", &func));
		assert_false(trace_btf_func_get(nr, &func));
		assert_true(!nr || trace_btf_func_get(nr - 1, &func));
	}
	trace_btf_unload();
	assert_false(trace_btf_is_loaded());
	assert_false(trace_btf_func_find("a", &func));
	assert_false(trace_btf_func_get(0, &func));
	assert_int_equal(trace_btf_find_type("thread"), 0);
	assert_int_equal(trace_btf_kind(1), BTF_UNKNOWN);
}

/* The calling convention: registers, pairs of them, the stack behind. */
static void test_places(void **state)
{
	uint32_t regs, pairs, large, floats, proto;
	struct btf_func func;
	struct btf_arg arg;

	(void)state;
	sample(&made);
	regs = make_proto(&made, 0, 8);
	for (int i = 0; i < 8; i++)
		make_param(&made, (const char *[]){ "a", "b", "c", "d", "e", "f", "g", "h" }[i],
			   i % 2 ? int_id : text_id);
	pairs = make_proto(&made, point_id, 5);
	make_param(&made, "i128", i128_id);
	make_param(&made, "p", point_id);
	make_param(&made, "big", big_id);
	make_param(&made, "pair", i128_id);
	make_param(&made, "more", i128_id);
	large = make_proto(&made, big_id, 2);
	make_param(&made, "a", int_id);
	make_param(&made, "next", next_id);
	floats = make_proto(&made, 0, 3);
	make_param(&made, "f", float_id);
	make_param(&made, "mixed", mixed_id);
	make_param(&made, "n", int_id);
	proto = make_type(&made, BTF_PTR, "", 0, regs);
	add_func(&made, "floats", floats);
	add_func(&made, "large", large);
	add_func(&made, "pairs", pairs);
	add_func(&made, "regs", regs);
	load(&made);

	assert_true(trace_btf_func_find("regs", &func));
	for (uint32_t i = 0; i < 6; i++)
		assert_arg(&func, i, (char[]){ (char)('a' + i), 0 }, BTF_PLACE_REGS, i, 1);
	assert_arg(&func, 6, "g", BTF_PLACE_STACK, 0, 1);
	assert_arg(&func, 7, "h", BTF_PLACE_STACK, 8, 1);
	assert_false(trace_btf_func_arg(&func, 8, &arg));
	assert_true(trace_btf_func_arg_find(&func, "gh", 1, &arg));
	assert_int_equal(arg.place, BTF_PLACE_STACK);
	assert_false(trace_btf_func_arg_find(&func, "gh", 2, &arg));
	assert_false(trace_btf_func_arg_find(&func, "", 0, &arg));

	assert_true(trace_btf_func_find("pairs", &func));
	assert_arg(&func, 0, "i128", BTF_PLACE_REGS, 0, 2);
	assert_arg(&func, 1, "p", BTF_PLACE_REGS, 2, 1);
	assert_arg(&func, 2, "big", BTF_PLACE_STACK, 0, 3);
	assert_arg(&func, 3, "pair", BTF_PLACE_REGS, 3, 2);
	assert_arg(&func, 4, "more", BTF_PLACE_STACK, 32, 2);

	assert_true(trace_btf_func_find("large", &func));
	assert_arg(&func, 0, "a", BTF_PLACE_REGS, 1, 1);
	assert_arg(&func, 1, "next", BTF_PLACE_REGS, 2, 1);

	assert_true(trace_btf_func_find("floats", &func));
	assert_arg(&func, 0, "f", BTF_PLACE_OTHER, 0, 1);
	assert_arg(&func, 1, "mixed", BTF_PLACE_OTHER, 0, 2);
	assert_arg(&func, 2, "n", BTF_PLACE_REGS, 0, 1);

	assert_true(trace_btf_func_of_proto(proto, &func));
	assert_arg(&func, 0, "a", BTF_PLACE_REGS, 0, 1);
	assert_false(trace_btf_func_of_proto(int_id, &func));
	assert_false(trace_btf_func_of_proto(0, &func));
}

/* ---- Text ---- */

static const char *decl(uint32_t id, const char *name)
{
	static char text[256];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text) - 1);
	trace_btf_print_decl(&seq, id, name);
	text[seq.len] = '\0';
	return text;
}

static void test_declarations(void **state)
{
	uint32_t kmalloc, printk, fn, fn_ptr, table, nothing, const_ptr, fwd, ptr_array, returns_fn;
	struct btf_func func;
	struct trace_seq seq;
	char text[64];

	(void)state;
	sample(&made);
	nothing = make_type(&made, BTF_PTR, "", 0, 0);
	kmalloc = make_proto(&made, nothing, 2);
	make_param(&made, "size", size_id);
	make_param(&made, "flags", u32_id);
	printk = make_proto(&made, int_id, 2);
	make_param(&made, "fmt", text_id);
	make_param(&made, "", 0);
	fn = make_proto(&made, 0, 1);
	make_param(&made, "", next_id);
	fn_ptr = make_type(&made, BTF_PTR, "", 0, fn);
	table = make_array(&made, fn_ptr, 4);
	const_ptr = make_type(&made, BTF_CONST, "", 0, nothing);
	fwd = make_type(&made, BTF_FWD, "secret", 0, 0);
	ptr_array = make_type(&made, BTF_PTR, "", 0, name_id);
	returns_fn = make_proto(&made, fn_ptr, 0);
	add_func(&made, "kmalloc", kmalloc);
	add_func(&made, "printk", printk);
	load(&made);
	assert_string_equal(decl(text_id, "name"), "const char *name");
	assert_string_equal(decl(text_id, ""), "const char *");
	assert_string_equal(decl(int_id, "n"), "int n");
	assert_string_equal(decl(0, ""), "void");
	assert_string_equal(decl(name_id, "comm"), "char comm[16]");
	assert_string_equal(decl(next_id, "next"), "struct thread *next");
	assert_string_equal(decl(colour_id, "c"), "enum colour c");
	assert_string_equal(decl(fn_ptr, "fn"), "void (*fn)(struct thread *)");
	assert_string_equal(decl(table, "fns"), "void (*fns[4])(struct thread *)");
	assert_string_equal(decl(const_ptr, "p"), "void * const p");
	assert_string_equal(decl(fwd, ""), "struct secret");
	assert_string_equal(decl(ptr_array, "p"), "char (*p)[16]");
	assert_string_equal(decl(wide_id, "w"), "restrict volatile long unsigned int w");
	assert_string_equal(decl(returns_fn, "get"), "void (*get(void))(struct thread *)");
	assert_string_equal(decl(loop_id, "x"), "loop x");
	assert_string_equal(decl(99999, "x"), "? x");
	assert_true(trace_btf_func_find("kmalloc", &func));
	trace_seq_init(&seq, text, sizeof(text));
	trace_btf_print_func(&seq, &func);
	assert_string_equal((text[seq.len] = '\0', text),
			    "void *kmalloc(const size_t size, uint32_t flags)");
	assert_int_equal(trace_function_prototype("kmalloc", text, 8), 7);
	assert_string_equal(text, "void *k");
	assert_int_equal(trace_function_prototype("kmallo", text, 8), -ENOENT);
	assert_int_equal(trace_function_prototype("kmalloc", text, 0), -ENOENT);
	assert_string_equal(trace_function_argument("kmalloc", 1), "flags");
	assert_null(trace_function_argument("kmalloc", 2));
	assert_null(trace_function_argument("kmallo", 0));
	assert_true(trace_btf_func_find("printk", &func));
	trace_seq_init(&seq, text, sizeof(text));
	trace_btf_print_func(&seq, &func);
	assert_string_equal((text[seq.len] = '\0', text), "int printk(const char *fmt, ...)");
}

static void assert_value(uint32_t id, uint64_t value, const char *want)
{
	char text[64];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text) - 1);
	trace_btf_print_value(&seq, id, value);
	text[seq.len] = '\0';
	assert_string_equal(text, want);
}

static void test_values(void **state)
{
	(void)state;
	sample(&made);
	load(&made);
	assert_value(int_id, 0xabcdef00ffffffeaull, "-22");
	assert_value(int_id, 5, "5");
	assert_value(u32_id, 0xffffffff00000002ull, "0x2");
	assert_value(wide_id, UINT64_MAX, "0xffffffffffffffff");
	assert_value(size_id, 64, "64");
	assert_value(bool_id, 0xff00, "false");
	assert_value(bool_id, 0xff01, "true");
	assert_value(char_id, 'x', "'x'");
	assert_value(char_id, 0xfff7, "-9");
	assert_value(uchar_id, 0x1ff, "0xff");
	assert_value(colour_id, 7, "GREEN");
	assert_value(colour_id, 0xfffffffeull, "BLUE");
	assert_value(colour_id, 3, "3");
	assert_value(long_enum, 2ull << 32 | 1, "FAR");
	assert_value(long_enum, 1, "1");
	assert_value(text_id, 0xffffffff80123456ull, "0xffffffff80123456");
	assert_value(point_id, 0x500000003ull, "0x500000003");
	assert_value(0, 18, "0x12");
	assert_null(trace_btf_enum_name(int_id, 7));
}

/* ---- Damage ---- */

/* Whatever the data are: use all that can be asked of them. */
static void ask_all(void)
{
	char text[128];
	struct trace_seq seq;
	struct btf_member member;
	struct btf_func func;
	struct btf_arg arg;

	for (uint32_t id = 0; id < 80; id++) {
		trace_seq_init(&seq, text, sizeof(text));
		trace_btf_print_decl(&seq, id, trace_btf_name(id));
		trace_btf_print_value(&seq, id, id * 77777u);
		trace_btf_sizeof(id);
		trace_btf_enum_name(id, 7);
		trace_btf_member_find(id, "comm", 4, &member);
		if (trace_btf_func_of_proto(id, &func))
			trace_btf_func_arg(&func, 0, &arg);
	}
	for (uint32_t nr = 0; trace_btf_func_get(nr, &func); nr++) {
		assert_true(strlen(func.name) < 100000);
		for (uint32_t i = 0; i < 10; i++)
			trace_btf_func_arg(&func, i, &arg);
	}
	trace_btf_func_find("regs", &func);
	trace_btf_find_type("thread");
}

static size_t make_all(struct btf_maker *m)
{
	uint32_t proto;

	sample(m);
	proto = make_proto(m, int_id, 2);
	make_param(m, "thread", next_id);
	make_param(m, "mixed", mixed_id);
	add_func(m, "a", proto);
	add_func(m, "regs", proto);
	return btf_made(m);
}

/* Cut anywhere, nothing is accepted; with any byte changed, nothing outside is read (ASan). */
static void test_damage(void **state)
{
	size_t bytes = make_all(&made);
	uint8_t *copy;

	(void)state;
	for (size_t len = 0; len < bytes; len++) {
		copy = malloc(len ? len : 1);
		memcpy(copy, made.data, len);
		trace_btf_unload();
		assert_int_equal(trace_btf_load(copy, len), -EINVAL);
		free(copy);
	}
	copy = malloc(bytes);
	for (size_t at = 0; at < bytes; at++) {
		for (uint32_t value = 0; value < 256; value += 51) {
			memcpy(copy, made.data, bytes);
			copy[at] = (uint8_t)(copy[at] + value + 1);
			trace_btf_unload();
			if (trace_btf_load(copy, bytes) == 0)
				ask_all();
		}
	}
	trace_btf_unload();
	free(copy);
}

static void refuse(struct btf_maker *m)
{
	size_t bytes = btf_made(m);

	trace_btf_unload();
	assert_int_equal(trace_btf_load(m->data, bytes), -EINVAL);
	assert_false(trace_btf_is_loaded());
}

static void test_what_is_refused(void **state)
{
	uint32_t proto;

	(void)state;
	sample(&made);
	proto = make_proto(&made, 0, 0);
	add_func(&made, "b", proto);
	add_func(&made, "a", proto); /* not sorted */
	refuse(&made);
	sample(&made);
	proto = make_proto(&made, 0, 0);
	add_func(&made, "a", proto);
	make_int(&made, "int", 4, 0); /* functions are not last */
	refuse(&made);
	sample(&made);
	add_func(&made, "a", int_id); /* no prototype */
	refuse(&made);
	sample(&made);
	make_type(&made, BTF_PTR, "", 0, made.nr_types + 2); /* to what is not there */
	refuse(&made);
	sample(&made);
	make_type(&made, BTF_NR_KINDS, "", 0, 0);
	refuse(&made);
	fake_alloc_budget = 0;
	sample(&made);
	trace_btf_unload();
	assert_int_equal(trace_btf_load(made.data, btf_made(&made)), -ENOMEM);
	fake_alloc_budget = -1;
	load(&made);
	assert_int_equal(trace_btf_load(made.data, btf_made(&made)), -EEXIST);
	trace_btf_unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_and_sizes), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_forms),		cmocka_unit_test(test_members),
		cmocka_unit_test(test_endless_members), cmocka_unit_test(test_large),
		cmocka_unit_test(test_places),		cmocka_unit_test(test_functions_are_found),
		cmocka_unit_test(test_declarations),	cmocka_unit_test(test_values),
		cmocka_unit_test(test_damage),		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
