/*
 * Filters of events: each operator on each kind of field against plain C, random expressions
 * against a walk over the same expression, what is refused and where, and events that are shorter
 * or other than their type says.
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "allocations.h"
#include "events/filter.h"
#include "expr/expr_build.h"
#include "fake/fake.h"

/* Linux's messages that several tests expect. */
#define ILLEGAL_OP    "Illegal operation for field type"
#define INVALID_OP    "Invalid operator"
#define INVALID_VALUE "Invalid value (did you forget quotes)?"
#define TOO_LONG      "Operand too long"

struct sample {
	struct trace_entry ent;
	int8_t s8;
	uint8_t u8;
	int16_t s16;
	uint16_t u16;
	int32_t s32;
	uint32_t u32;
	uint32_t packed;
	uint32_t loc;
	uint32_t rel;
	uint32_t cpus;
	int32_t list[4];
	int64_t s64;
	uint64_t u64;
	const char *pointer;
	uint64_t site;
	uint64_t plain_cpus[2];
	char tiny[3];
	char name[16];
	char wide[40];
	char rest[];
} TRACE_ENTRY_ALIGNED;

#define FIELD(type, member) TRACE_FIELD(#member, type, sample, member)
#define KIND(field, c_type, member, place, filter)                                                 \
	{                                                                                          \
		.name = field, .type = c_type, .offset = offsetof(struct sample, member),          \
		.size = TRACE_SIZEOF_MEMBER(sample, member), .element_size = 1,                    \
		.is_signed = false, .is_address = false, .kind = place, .filter_type = filter      \
	}
static const struct trace_event_field fields[] = {
	FIELD(signed char, s8),
	FIELD(unsigned char, u8),
	FIELD(short, s16),
	FIELD(unsigned short, u16),
	FIELD(int, s32),
	FIELD(unsigned int, u32),
	FIELD(long, s64),
	FIELD(unsigned long, u64),
	TRACE_FIELD_ADDRESS("packed", sample, packed),
	FIELD(char, tiny),
	FIELD(char, name),
	FIELD(char, wide),
	FIELD(int, list),
	FIELD(const char *, pointer),
	TRACE_FIELD_REST("rest", char, sample, rest),
	KIND("loc", "char", loc, TRACE_FIELD_DATA_LOC, FILTER_OTHER),
	KIND("rel", "char", rel, TRACE_FIELD_REL_LOC, FILTER_OTHER),
	KIND("words", "int", loc, TRACE_FIELD_DATA_LOC, FILTER_OTHER),
	KIND("cpus", "cpumask_t", cpus, TRACE_FIELD_DATA_LOC, FILTER_CPUMASK),
	KIND("plain_cpus", "unsigned long", plain_cpus, TRACE_FIELD_PLAIN, FILTER_CPUMASK),
	KIND("string", "void *", pointer, TRACE_FIELD_PLAIN, FILTER_PTR_STRING),
	KIND("site", "unsigned long", site, TRACE_FIELD_PLAIN, FILTER_TRACE_FN),
	KIND("stack", "unsigned long", loc, TRACE_FIELD_DATA_LOC, FILTER_STACKTRACE),
};
static const struct trace_event type = {
	.name = "sample",
	.system = "test",
	.fields = fields,
	.nr_fields = sizeof(fields) / sizeof(fields[0]),
};

/* The event that filters are asked about; the parts that fields describe lie at its end. */
#define MAX_BEHIND 256u
static union {
	struct sample sample;
	uint8_t bytes[sizeof(struct sample) + MAX_BEHIND];
} event;
static uint32_t event_len;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	memset(&event, 0, sizeof(event));
	event_len = sizeof(struct sample);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

/* Appends to the event; returns what a field of the kind TRACE_FIELD_DATA_LOC says then. */
static uint32_t append(const void *bytes, uint32_t len)
{
	uint32_t at = event_len;

	assert_true(at + len <= sizeof(event));
	memcpy(event.bytes + at, bytes, len);
	event_len += len;
	return len << 16 | at;
}

/* The first test of a probe must not discard an event that passes, nor pass one that it may not. */
static void check_first(const struct expr_program *filter, const void *entry, bool matches)
{
	const struct trace_event_test *first = &filter->first;
	bool passes = trace_event_passes(first, entry);

	assert_true(passes || !matches);
	assert_true(matches || !passes || !first->is_all);
}

/* Matches in memory that is no longer than the event, so that each read beyond it is found. */
static bool match_len(const struct expr_program *filter, uint32_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	bool matches;

	memcpy(copy, event.bytes, len);
	matches = trace_expr_match(filter, copy, len);
	if (len == event_len) /* shorter than that no probe makes them */
		check_first(filter, copy, matches);
	free(copy);
	return matches;
}

static struct expr_program *compile(const char *text)
{
	struct expr_error error;
	struct expr_program *filter;
	int err = trace_filter_compile(&type, text, &filter, &error);

	if (err)
		fail_msg("%.200s: %s (%d) at %zu", text, error.why, err, error.pos);
	return filter;
}

static bool passes(const char *text)
{
	struct expr_program *filter = compile(text);
	bool matches = match_len(filter, event_len);

	trace_expr_free(filter);
	return matches;
}

static void is(const char *text, bool expected)
{
	if (passes(text) != expected)
		fail_msg("%s: not %s", text, expected ? "true" : "false");
}

static void refused(const char *text, int expected, const char *why, size_t pos)
{
	struct expr_error error;
	struct expr_program *filter;
	int err = trace_filter_compile(&type, text, &filter, &error);

	if (err != expected || strcmp(error.why, why) != 0 || error.pos != pos)
		fail_msg("%.200s: %s (%d) at %zu", text, error.why, err, error.pos);
	assert_true((error.why == trace_filter_syntax) == (strcmp(why, "Error") == 0));
}

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t nr)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % nr;
}

/* ---- Numbers ---- */

static const char *const cmps[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
#define NR_CMPS (sizeof(cmps) / sizeof(cmps[0]))

#define COMPARE(cmp, a, b)                                                                         \
	((cmp) == 0   ? (a) == (b)                                                                 \
	 : (cmp) == 1 ? (a) != (b)                                                                 \
	 : (cmp) == 2 ? (a) < (b)                                                                  \
	 : (cmp) == 3 ? (a) <= (b)                                                                 \
	 : (cmp) == 4 ? (a) > (b)                                                                  \
	 : (cmp) == 5 ? (a) >= (b)                                                                 \
		      : ((a) & (b)) != 0)

/* `field CMP number` as C has it: the number is taken for one of the field's type. */
static bool expected_of(const char *field, size_t cmp, uint64_t number)
{
	const struct sample *s = &event.sample;

	switch (atoi(field + 1)) {
	case 8:
		return field[0] == 's' ? COMPARE(cmp, s->s8, (int8_t)number)
				       : COMPARE(cmp, s->u8, (uint8_t)number);
	case 16:
		return field[0] == 's' ? COMPARE(cmp, s->s16, (int16_t)number)
				       : COMPARE(cmp, s->u16, (uint16_t)number);
	case 32:
		return field[0] == 's' ? COMPARE(cmp, s->s32, (int32_t)number)
				       : COMPARE(cmp, s->u32, (uint32_t)number);
	default:
		return field[0] == 's' ? COMPARE(cmp, s->s64, (int64_t)number)
				       : COMPARE(cmp, s->u64, number);
	}
}

static const int64_t numbers[] = {
	0,	    1,	       2,	  3,	   5,	      127,	 128,
	129,	    255,       256,	  300,	   32767,     32768,	 65535,
	65536,	    -1,	       -2,	  -128,	   -129,      -32768,	 INT32_MAX,
	UINT32_MAX, INT32_MIN, INT64_MAX, 1 << 30, 1ll << 40, INT64_MIN, -8589934592,
};
#define NR_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void set_all_numbers(uint64_t value)
{
	event.sample.s8 = (int8_t)value;
	event.sample.u8 = (uint8_t)value;
	event.sample.s16 = (int16_t)value;
	event.sample.u16 = (uint16_t)value;
	event.sample.s32 = (int32_t)value;
	event.sample.u32 = (uint32_t)value;
	event.sample.s64 = (int64_t)value;
	event.sample.u64 = value;
}

static void check_number(const char *field, size_t cmp, int64_t number)
{
	struct expr_program *filter;
	char text[64];

	snprintf(text, sizeof(text), field[0] == 's' ? "%s %s %lld" : "%s %s %llu", field,
		 cmps[cmp], (long long)number);
	filter = compile(text);
	for (size_t i = 0; i < NR_NUMBERS; i++) {
		set_all_numbers((uint64_t)numbers[i]);
		if (match_len(filter, event_len) != expected_of(field, cmp, (uint64_t)number))
			fail_msg("%s, of %lld", text, (long long)numbers[i]);
	}
	trace_expr_free(filter);
}

static void every_number(void **state)
{
	static const char *const names[] = { "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64" };

	(void)state;
	/* Whatever lies beside the field. */
	memset(&event, 0xa5, sizeof(event));
	for (size_t name = 0; name < 8; name++)
		for (size_t cmp = 0; cmp < NR_CMPS; cmp++)
			for (size_t i = 0; i < NR_NUMBERS; i++)
				check_number(names[name], cmp, numbers[i]);
}

static void forms_of_numbers(void **state)
{
	(void)state;
	event.sample.s32 = -10;
	event.sample.u32 = 10;
	is("s32 == -10", true);
	is("s32 == -0xa", true);
	is("s32 == -012", true);
	is("u32 == 0xA", true);
	is("u32 == 012", true);
	is("u32==10", true);
	is(" u32\t==  10 ", true);
	is("s64 > -9223372036854775808", true);
	is("s64 < 9223372036854775807", true);
	is("u64 < 18446744073709551615", true);
	is("u64 < 0xffffffffffffffff", true);
	refused("s64 > -9223372036854775809", -EINVAL, "Illegal integer value", 7);
	refused("s64 > 9223372036854775808", -EINVAL, "Illegal integer value", 7);
	refused("u64 < 18446744073709551616", -EINVAL, "Illegal integer value", 7);
	refused("u32 == -1", -EINVAL, "Illegal integer value", 8);
	refused("s32 == 08", -EINVAL, "Illegal integer value", 8);
	refused("s32 == 0x", -EINVAL, "Illegal integer value", 8);
	refused("s32 == 1z", -EINVAL, "Illegal integer value", 8);
	refused("s32 == -", -EINVAL, "Illegal integer value", 8);
	refused("s32 == --1", -EINVAL, "Illegal integer value", 8);
	is("u64 != 00000000000000000000001", true); /* 23 characters */
}

static void head_fields(void **state)
{
	(void)state;
	event.sample.ent = (struct trace_entry){
		.type = 0x8001, .flags = 0x82, .preempt_count = 0xf3, .pid = -5
	};
	is("common_type == 0x8001", true);
	is("common_type == 0x8002", false);
	is("common_type != 0x8001", false);
	is("common_type != 1", true);
	is("common_type > 0x8000", true);
	is("common_type < 0x8001", false);
	is("common_type & 1", true);
	is("common_type & 2", false);
	is("common_flags == 0x82", true);
	is("common_flags >= 0x82", true);
	is("common_flags > 0x82", false);
	is("common_flags <= 0x81", false);
	is("common_flags & 0x7d", false);
	is("common_preempt_count == 0xf3", true);
	is("common_preempt_count < 0xf3", false);
	is("common_preempt_count != 3", true);
	is("common_pid == -5", true);
	is("common_pid < 0", true);
	is("common_pid >= -4", false);
	is("common_pid == 5", false);
}

/* Arrays of numbers, and what they have behind the event, are taken for a number of their size. */
static void odd_fields(void **state)
{
	(void)state;
	is("list == 0", false);
	is("list != 0", false);
	is("!(list == 0)", true);
	event.sample.loc = 0x40010;
	is("words == 0x40010", true);
	refused("stack == 1", -EINVAL, ILLEGAL_OP, 10);
	refused("stack == \"x\"", -EINVAL, "Expecting numeric field", 10);
	refused("stack & CPUS{0}", -EINVAL, ILLEGAL_OP, 9);
	refused("plain_cpus == 1", -EINVAL, ILLEGAL_OP, 15);
	refused("list == \"x\"", -EINVAL, "Expecting numeric field", 9);
}

/* ---- Addresses ---- */

static void packed_addresses(void **state)
{
	static const uint64_t addrs[] = { 0,
					  1,
					  0x7ffffffe,
					  0x7fffffff,
					  0xffffffff80000000,
					  0xffffffff80000001,
					  0xffffffff81000010,
					  UINT64_MAX };
	static const uint64_t wanted[] = { 0,
					   1,
					   0x7fffffff,
					   0x80000000,
					   0x81000010,
					   0x100000000,
					   0xffffffff7fffffff,
					   0xffffffff80000000,
					   0xffffffff80000001,
					   0xffffffff81000010,
					   UINT64_MAX };

	(void)state;
	for (size_t cmp = 0; cmp < NR_CMPS; cmp++) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			char text[64];
			struct expr_program *filter;

			snprintf(text, sizeof(text), "packed %s 0x%llx", cmps[cmp],
				 (unsigned long long)wanted[i]);
			filter = compile(text);
			for (size_t k = 0; k < sizeof(addrs) / sizeof(addrs[0]); k++) {
				event.sample.packed = trace_plat_ip_pack(addrs[k]);
				if (match_len(filter, event_len) !=
				    COMPARE(cmp, addrs[k], wanted[i]))
					fail_msg("%s, of %llx", text, (unsigned long long)addrs[k]);
			}
			trace_expr_free(filter);
		}
	}
}

static void functions(void **state)
{
	static const char *const names[] = { "first", "second.part.0", "third" };
	char text[64];

	(void)state;
	fake_text_build(names, 3);
	event.sample.packed = trace_plat_ip_pack(fake_func(1) + 5);
	event.sample.site = fake_func(1) + FAKE_FUNC_BYTES - 1;
	is("packed.function == second.part.0", true);
	is("packed.function != second.part.0", false);
	is("packed.function == first", false);
	is("packed.function != third", true);
	is("(site.function==second.part.0)", true);
	is("site.function == third || site.function == first", false);
	is("site.function == second.part.0&&u32 == 0", true);
	event.sample.site++;
	is("site.function == second.part.0", false);
	snprintf(text, sizeof(text), "packed.function == 0x%lx", fake_func(1) + 3);
	is(text, true);
	refused("packed.function == nosuch", -EINVAL, "Function not found", 26);
	fake_symbol_add(fake_func(1), 16, "twice"); /* hides `second.part.0` */
	fake_symbol_add(fake_func(2), 16, "twice");
	snprintf(text, sizeof(text), "The symbol is not unique: twice@a/one-1.c, 0x%lx",
		 fake_func(2));
	fake_lines =
		(const struct fake_line[]){ { "a/one-1.c", 1, fake_func(1) }, { .file = NULL } };
	refused("packed.function == twice", -EINVAL, text, 25);
	is("packed.function == twice@one-1.c", true);
	is("(packed.function != twice@a/one-1.c)", false);
	fake_lines = NULL;
	fake_symbols_forget();
	refused("packed.function == ", -EINVAL, "Function not found", 20);
	refused("packed.function == 0x10", -EINVAL, "Function not found", 24);
	refused("packed.function == 0", -EINVAL, "Function not found", 21);
	refused("packed.function == 0x1g", -EINVAL, INVALID_VALUE, 24);
	refused("packed.function == 0xaaaaaaaaaaaaaaaaaaaaaa", -EINVAL, TOO_LONG, 44);
	refused("packed.function > first", -EINVAL, INVALID_OP, 19);
	refused("packed.function ~ first", -EINVAL, INVALID_OP, 19);
	refused("u32.function == first", -EINVAL, ILLEGAL_OP, 17);
	refused("name.function == first", -EINVAL, ILLEGAL_OP, 18);
	snprintf(text, sizeof(text), "s64.function != third");
	is(text, true);
}

/* ---- Texts ---- */

/* A pattern by its definition: slow, and written once more. */
static bool glob(const char *pattern, const char *text)
{
	if (!*pattern)
		return !*text;
	if (*pattern == '*')
		return glob(pattern + 1, text) || (*text && glob(pattern, text + 1));
	return *text && (*pattern == '?' || *pattern == *text) && glob(pattern + 1, text + 1);
}

static const char *const texts[] = { "",    "a",       "ab",
				     "abc", "abcdefg", "abcdefgh",
				     "bab", "xabcabx", "abcdefghijklmno" };
static const char *const patterns[] = { "",
					"a",
					"ab",
					"abc",
					"abcdefg",
					"abcdefgh",
					"*",
					"a*",
					"ab*",
					"*b",
					"*ab",
					"*a*",
					"*bc*",
					"a*c",
					"?b*",
					"abcdef?",
					"abcdefghijklmno",
					"**",
					"*x",
					"a?c*g*",
					"b*b",
					"abcdefghi*",
					"1*" };
#define NR_TEXTS    (sizeof(texts) / sizeof(texts[0]))
#define NR_PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

/* `text` as the value of each field that can hold it. */
static void set_texts(const char *text, const char *name)
{
	uint32_t len = (uint32_t)strlen(text) + 1;

	memset(&event, 'b', sizeof(event));
	event_len = sizeof(struct sample);
	snprintf(event.sample.name, sizeof(event.sample.name), "%s", text);
	snprintf(event.sample.wide, sizeof(event.sample.wide), "%s", text);
	event.sample.pointer = text;
	event.sample.loc = append(text, len);
	event.sample.rel = append(text, len) - offsetof(struct sample, rel) - 4;
	if (strcmp(name, "rest") == 0) {
		event_len = offsetof(struct sample, rest);
		append(text, len - random_below(2)); /* with a NUL at its end, or without */
	}
}

static void check_text(const char *name, const char *text, const char *pattern)
{
	bool is_equal = strcmp(text, pattern) == 0;
	bool matches = pattern[0] == '1' ? is_equal : glob(pattern, text);
	char filter[80];

	set_texts(text, name);
	snprintf(filter, sizeof(filter), "%s == \"%s\"", name, pattern);
	is(filter, is_equal);
	snprintf(filter, sizeof(filter), "%s != '%s'", name, pattern);
	is(filter, !is_equal);
	snprintf(filter, sizeof(filter), "%s ~ \"%s\"", name, pattern);
	is(filter, matches);
	snprintf(filter, sizeof(filter), "%s ~ '!%s'", name, pattern);
	is(filter, !matches);
	snprintf(filter, sizeof(filter), "!(%s ~ '%s')", name, pattern);
	is(filter, !matches);
}

static void every_text(void **state)
{
	static const char *const names[] = { "name",	"wide", "loc",	 "rel",
					     "pointer", "rest", "string" };

	(void)state;
	for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++)
		for (size_t text = 0; text < NR_TEXTS; text++)
			for (size_t i = 0; i < NR_PATTERNS; i++)
				check_text(names[name], texts[text], patterns[i]);
}

/* A full array needs no NUL. What is compared with it may be longer than it is. */
static void full_arrays(void **state)
{
	(void)state;
	memcpy(event.sample.tiny, "abc", 3);
	memcpy(event.sample.name, "0123456789abcdef", 16);
	is("tiny == \"abc\"", true);
	is("tiny == \"abcd\"", true); /* as in Linux: strncmp() of three characters */
	is("tiny != \"abcd\"", false);
	is("tiny == \"abd\"", false);
	is("tiny == \"ab\"", false);
	is("tiny ~ \"abcd*\"", false);
	is("tiny ~ \"!abcd*\"", true);
	is("tiny ~ \"abc*\"", true);
	is("tiny ~ \"*c\"", true);
	is("tiny ~ \"a?c\"", true);
	is("tiny ~ \"*b*\"", true);
	is("tiny ~ \"*cd\"", false);
	is("name == \"0123456789abcdef\"", true);
	is("name == \"0123456789abcdeg\"", false);
	is("name == \"0123456789abcde\"", false);
	is("name ~ \"*f\"", true);
}

static void special_texts(void **state)
{
	(void)state;
	snprintf(event.sample.name, sizeof(event.sample.name), "a'b *c");
	is("name == \"a'b *c\"", true);
	is("name ~ \"a'b \\*c\"", true);
	is("name ~ \"*[*]c\"", true);
	is("name ~ \"[!b]*c\"", true);
	snprintf(event.sample.name, sizeof(event.sample.name), "a && (b");
	is("name == 'a && (b' && u32 == 0", true);
	is("name=='a && (b'", true);
	is("name.ustring == 'a && (b'", true);
	event.sample.pointer = "x";
	is("pointer == 'x'", true);
	is("pointer.ustring == 'x'", false);
	is("pointer.ustring != 'x'", false);
}

/* A text at an address that cannot be read is neither equal nor unequal to another. */
static void bad_pointers(void **state)
{
	char *pages = aligned_alloc(FAKE_PAGE_BYTES, 3 * FAKE_PAGE_BYTES);

	(void)state;
	memset(pages, 'x', 3 * FAKE_PAGE_BYTES);
	fake_bad_page = pages + 2 * FAKE_PAGE_BYTES;
	event.sample.pointer = NULL;
	is("pointer == 'x'", false);
	is("pointer != 'x'", false);
	is("!(pointer == 'x')", true);
	is("pointer ~ '*'", false);
	event.sample.pointer = fake_bad_page;
	is("pointer ~ '*'", false);
	event.sample.pointer = pages + 2 * FAKE_PAGE_BYTES - 5;
	is("pointer ~ '*'", false);
	pages[2 * FAKE_PAGE_BYTES - 1] = '\0';
	is("pointer ~ '*'", true);
	is("pointer == 'xxxx'", true);
	is("pointer != 'xxx'", true);
	/* Of a text without end the first part is looked at. */
	event.sample.pointer = pages;
	is("pointer ~ 'xx*'", true);
	is("pointer == 'xx'", false);
	is("pointer ~ '*x'", true);
	free(pages);
}

static void names_of_threads(void **state)
{
	(void)state;
	fake_thread_add(7, "worker");
	fake_cpus[0].pid = 7;
	event.sample.ent.pid = 7;
	is("comm == 'worker'", true);
	is("COMM == \"worker\"", true);
	is("comm != 'worker'", false);
	is("comm ~ 'work*'", true);
	is("comm ~ '*ork'", false);
	is("comm == 'work'", false);
	is("COMM != 'sh' && u32 == 0", true);
	fake_names_held = true; /* this depends on no lock */
	is("comm == 'worker'", true);
	refused("comm == worker", -EINVAL, INVALID_VALUE, 9);
	refused("comm == 5", -EINVAL, "Expecting string field", 9);
	refused("comm > 'worker'", -EINVAL, ILLEGAL_OP, 8);
	fake_cpus[0].pid = 0;
}

/* ---- CPUs ---- */

/* Of the names that stand for the present thread and CPU, a field of the event takes precedence. */
static void own_comm(void **state)
{
	static const struct trace_event_field own[] = {
		{ .name = "comm",
		  .type = "char [16]",
		  .offset = 20,
		  .size = 16,
		  .element_size = 1 },
	};
	const struct trace_event sample_of = { .fields = own, .nr_fields = 1 };
	struct expr_error error;
	struct expr_program *filter;

	(void)state;
	assert_int_equal(trace_filter_compile(&sample_of, "comm == 'x'", &filter, &error), 0);
	assert_int_equal(filter->insns[0].op, EXPR_TEST);
	assert_int_equal(filter->min_len, 22);
	trace_expr_free(filter);
	assert_int_equal(trace_filter_compile(&sample_of, "COMM == 'x'", &filter, &error), 0);
	assert_int_equal(filter->insns[0].place, EXPR_PLACE_COMM);
	trace_expr_free(filter);
}

static void running_cpu(void **state)
{
	(void)state;
	fake_set_nr_cpus(8);
	fake_bind(5);
	is("cpu == 5", true);
	is("CPU == 5", true);
	is("common_cpu == 5", true);
	is("cpu != 5", false);
	is("cpu < 5", false);
	is("cpu <= 5", true);
	is("cpu > 4 && cpu < 6", true);
	is("cpu >= 6", false);
	is("cpu & 4", true);
	is("cpu & 2", false);
	is("cpu > -1", false); /* as in Linux: without sign */
	is("cpu == CPUS{5}", true);
	is("cpu & CPUS{5}", true);
	is("cpu != CPUS{5}", false);
	is("cpu & CPUS{0-4,6}", false);
	is("cpu & CPUS{4-6}", true);
	is("cpu == CPUS{4-6}", false);
	is("cpu != CPUS{4-6}", true);
	refused("cpu ~ \"5\"", -EINVAL, "Expecting numeric field", 7);
	fake_bind(0);
}

static void numbers_as_cpus(void **state)
{
	(void)state;
	fake_set_nr_cpus(64);
	event.sample.u8 = 3;
	event.sample.s16 = 63;
	event.sample.u32 = 64;
	event.sample.s32 = -1;
	event.sample.u64 = 3ull << 32 | 3;
	event.sample.ent.flags = 9;
	is("u8 & CPUS{0-3,5}", true);
	is("u8 & CPUS{0-2,4-63}", false);
	is("u8 == CPUS{3}", true);
	is("u8 & CPUS{3}", true);
	is("u8 != CPUS{3}", false);
	is("u8 != CPUS{0-3}", true);
	is("u8 == CPUS{0-3}", false);
	is("s16 & CPUS{62-63}", true);
	is("u32 & CPUS{0-63}", false);
	is("u32 != CPUS{0-1}", false); /* is no CPU */
	is("u32 != CPUS{0}", true);
	is("s32 & CPUS{all}", false);
	is("s32 != CPUS{0-1}", false);
	is("u64 & CPUS{0-5}", false);
	is("common_flags & CPUS{9,10}", true);
	is("common_flags & CPUS{8,10}", false);
}

static void sets_of_cpus(void **state)
{
	uint64_t mask = 0x2c;

	(void)state;
	fake_set_nr_cpus(64);
	event.sample.cpus = append(&mask, sizeof(mask));
	event.sample.plain_cpus[0] = mask;
	for (int i = 0; i < 2; i++) {
		static const char *const names[] = { "cpus", "plain_cpus" };
		static const struct {
			const char *rest;
			bool expected;
		} cases[] = {
			{ "== CPUS{2,3,5}", true },	{ "== CPUS{2-3, 5}", true },
			{ "== CPUS{2-5}", false },	{ "!= CPUS{2-5}", true },
			{ "!= CPUS{2,3,5}", false },	{ "& CPUS{5}", true },
			{ "& CPUS{0,1,4,6-N}", false }, { "& CPUS{all}", true },
			{ "& CPUS{0-1,3}", true },	{ "== CPUS{2}", false },
			{ "!= CPUS{2}", true },		{ "== CPUS{all}", false },
		};

		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
			char text[64];

			snprintf(text, sizeof(text), "%s %s", names[i], cases[k].rest);
			is(text, cases[k].expected);
		}
	}
	/* The word says that the set lies beyond the event. */
	event.sample.cpus = sizeof(mask) << 16 | (event_len - 1);
	is("cpus == CPUS{2}", false);
	is("cpus != CPUS{2}", false);
}

static void lists_of_cpus(void **state)
{
	(void)state;
	fake_set_nr_cpus(16);
	event.sample.plain_cpus[0] = 0x3333;
	is("plain_cpus == CPUS{0-15:2/4}", true);
	is("plain_cpus == CPUS{all:2/4}", true);
	is("plain_cpus == CPUS{0-N:2/4}", true);
	is("plain_cpus == CPUS{0,1,4 5,,8-9\t12-13}", true);
	event.sample.plain_cpus[0] = 0x8000;
	is("plain_cpus == CPUS{N}", true);
	is("plain_cpus == CPUS{15-15}", true);
	refused("cpu & CPUS", -EINVAL, "Missing '{'", 12);
	refused("cpu & CPUS(0)", -EINVAL, "Missing '{'", 12);
	refused("cpu & CPUS{0", -EINVAL, "Missing '}'", 13);
	refused("cpu & CPUS{}", -EINVAL, "Invalid cpulist", 12);
	refused("cpu & CPUS{,}", -EINVAL, "Invalid cpulist", 13);
	refused("cpu & CPUS{16}", -EINVAL, "Invalid cpulist", 14);
	refused("cpu & CPUS{3-2}", -EINVAL, "Invalid cpulist", 15);
	refused("cpu & CPUS{0-16}", -EINVAL, "Invalid cpulist", 16);
	refused("cpu & CPUS{0-}", -EINVAL, "Invalid cpulist", 14);
	refused("cpu & CPUS{-1}", -EINVAL, "Invalid cpulist", 14);
	refused("cpu & CPUS{x}", -EINVAL, "Invalid cpulist", 13);
	refused("cpu & CPUS{1x}", -EINVAL, "Invalid cpulist", 14);
	refused("cpu & CPUS{0-3:2}", -EINVAL, "Invalid cpulist", 17);
	refused("cpu & CPUS{0-3:2/0}", -EINVAL, "Invalid cpulist", 19);
	refused("cpu & CPUS{0-3:3/2}", -EINVAL, "Invalid cpulist", 19);
	refused("cpu & CPUS{99999999999999999999}", -EINVAL, "Invalid cpulist", 32);
	refused("cpu < CPUS{1}", -EINVAL, ILLEGAL_OP, 7);
	refused("name == CPUS{1}", -EINVAL, ILLEGAL_OP, 9);
	refused("packed == CPUS{1}", -EINVAL, ILLEGAL_OP, 11);
}

/* ---- Expressions ---- */

static void precedence(void **state)
{
	(void)state;
	event.sample.u8 = 1;
	is("u8 == 1 || u8 == 2 && u8 == 3", true);
	is("(u8 == 1 || u8 == 2) && u8 == 3", false);
	is("u8 == 2 && u8 == 3 || u8 == 1", true);
	is("u8 == 2 && (u8 == 3 || u8 == 1)", false);
	is("!u8 == 1", false);
	is("!!u8 == 1", true);
	is("!u8 == 2 && u8 == 1", true);
	is("!(u8 == 1 && u8 == 2)", true);
	is("!(u8 == 1 || u8 == 2)", false);
	is("!(!(u8 == 1) || !(u8 != 2))", true);
	is("!(!(u8 == 1))", true);
	is("!\t(u8 == 2)", true);
	is("((((u8 == 1))))", true);
	is("u8==1&&u8!=2||u8>5", true);
	is("u8 & 1 && u8 & 1", true);
	is("u8 == 3 || u8 == 2 || (u8 == 1)", true);
	is("u8 == 1 || (u8 == 2 && u8 == 3) && u8 == 4", true);
}

/* An expression as text, and its value, which is known as it is written. */
struct writer {
	char text[16384];
	size_t len;
};

static void put(struct writer *writer, const char *word)
{
	static const char *const blanks[] = { "", "", "", " ", "  ", "\t" };

	writer->len += (size_t)sprintf(writer->text + writer->len, "%s%s", word,
				       word[0] == '!' ? "" : blanks[random_below(6)]);
}

static bool write_or(struct writer *writer, uint32_t depth);

static bool write_pred(struct writer *writer)
{
	static const struct {
		const char *text;
		bool value;
	} preds[] = {
		{ "u8 == 1", true },
		{ "u8 == 2", false },
		{ "u8 != 1", false },
		{ "u32 > 7", false },
		{ "s32 < 0", true },
		{ "name == 'abc'", true },
		{ "name ~ 'b*'", false },
		{ "loc ~ '*c'", true },
		{ "cpu == 0", true },
		{ "rel == '(&&'", false },
		{ "name != \"abcdefghijk\"", true },
		{ "u8 & 2", false },
		{ "wide == 'abcdefgh'", true },
		{ "wide != 'abcdefgh'", false },
		{ "common_pid >= 0", true },
		{ "list == 1", false },
	};
	uint32_t i = random_below(sizeof(preds) / sizeof(preds[0]));

	put(writer, preds[i].text);
	return preds[i].value;
}

static bool write_operand(struct writer *writer, uint32_t depth)
{
	bool value;

	if (random_below(4) == 0) {
		put(writer, "!");
		return !write_operand(writer, depth);
	}
	if (!depth || writer->len > 1000 || random_below(2))
		return write_pred(writer);
	put(writer, "(");
	value = write_or(writer, depth - 1);
	put(writer, ")");
	return value;
}

static bool write_and(struct writer *writer, uint32_t depth)
{
	bool value = write_operand(writer, depth);

	while (writer->len < 2000 && random_below(5) < 2) {
		put(writer, "&&");
		value &= write_operand(writer, depth);
	}
	return value;
}

static bool write_or(struct writer *writer, uint32_t depth)
{
	bool value = write_and(writer, depth);

	while (writer->len < 2000 && random_below(5) < 2) {
		put(writer, "||");
		value |= write_and(writer, depth);
	}
	return value;
}

/* Each instruction leads to later ones, so that none is executed twice. */
static void check_order(const struct expr_program *filter)
{
	for (uint32_t at = 0; at < filter->nr; at++) {
		const struct expr_insn *insn = &filter->insns[at];

		for (int i = 0; i < 2 && expr_is_test(insn->op); i++)
			assert_true(expr_has_ended(insn->next[i]) || insn->next[i] > insn);
	}
}

static void random_expressions(void **state)
{
	struct writer writer;

	(void)state;
	set_texts("abcdefgh", "name");
	event.sample.u8 = 1;
	event.sample.u32 = 7;
	event.sample.s32 = -3;
	event.sample.ent.pid = 0;
	strcpy(event.sample.name, "abc");
	event.sample.loc = append("xxc", 4);
	for (int i = 0; i < unit_rounds(8000); i++) {
		struct expr_program *filter;
		bool value;

		writer.len = 0;
		value = write_or(&writer, 4);
		filter = compile(writer.text);
		check_order(filter);
		if (match_len(filter, event_len) != value)
			fail_msg("%s: not %d", writer.text, value);
		trace_expr_free(filter);
	}
}

/* ---- Refusals ---- */

#define TOO_MANY_TERMS "Too many terms in predicate expression"

static void mistakes(void **state)
{
	(void)state;
	refused("", -EINVAL, "Error", 0);
	refused("  ", -EINVAL, "Error", 0);
	refused("()", -EINVAL, "Error", 0);
	refused("== 1", -EPERM, "Error", 0);
	refused("&& u8 == 1", -EPERM, "Error", 0);
	refused("u8 == 1 && && u8 == 2", -EPERM, "Error", 0);
	refused("u8 == 1 && ()", -EPERM, "Error", 0);
	refused("(u8 == 1 &&)", -EPERM, "Error", 0);
	refused("! (u8 == 1)", -EPERM, "Error", 0);
	refused("!", -EINVAL, "No filter found", 1);
	refused("!!", -EINVAL, "No filter found", 2);
	refused("u8 == 1 &&", -EINVAL, "Meaningless filter expression", 10);
	refused("u8 == 1 || ", -EINVAL, "Meaningless filter expression", 11);
	refused("(u8 == 1", -ENOENT, "Too many '('", 0);
	refused("((u8 == 1)", -ENOENT, "Too many '('", 0);
	refused("(u8 == 1) && (u8 == 2", -ENOENT, "Too many '('", 13);
	refused("(u8 == 1 && (name == ')'", -ENOENT, "Too many '('", 12);
	refused("u8 == 1)", -EPERM, "Too few '('", 7);
	refused(")u8 == 1(", -EPERM, "Too few '('", 0);
	refused("name == \"x", -ESRCH, "Missing matching quote", 8);
	refused("name == 'x\"", -ESRCH, "Missing matching quote", 8);
	refused("name == \"x\"'", -ESRCH, "Missing matching quote", 11);
	refused("nosuch == 1", -EINVAL, "Field not found", 7);
	refused("u8 == 1 && nosuch == 1", -EINVAL, "Field not found", 18);
	refused("u == 8", -EINVAL, "Field not found", 2);
	refused("u888 == 8", -EINVAL, "Field not found", 5);
	refused("stacktrace == 1", -EINVAL, "Field not found", 11);
	refused("u8", -EINVAL, INVALID_OP, 3);
	refused("u8 = 1", -EINVAL, INVALID_OP, 4);
	refused("u8 !~ 1", -EINVAL, INVALID_OP, 4);
	refused("u8.x == 1", -EINVAL, INVALID_OP, 3);
	refused("u8.log2 == 1", -EINVAL, INVALID_OP, 3);
	refused("u8 + 1 == 1", -EINVAL, INVALID_OP, 4);
	refused("(u8) == 1", -EINVAL, INVALID_OP, 4);
	refused("u8 ==", -EINVAL, INVALID_VALUE, 6);
	refused("u8 == x", -EINVAL, INVALID_VALUE, 7);
	refused("u8 == (1)", -EINVAL, INVALID_VALUE, 7);
	refused("u8 && u8 == 1", -EINVAL, INVALID_VALUE, 5);
	refused("u8 == 1.5", -EPERM, TOO_MANY_TERMS, 7);
	refused("u8 == 1 u8 == 2", -EPERM, TOO_MANY_TERMS, 8);
	refused("u8 == 1 & u8 == 2", -EPERM, TOO_MANY_TERMS, 8);
	refused("u8 == 1 |", -EPERM, TOO_MANY_TERMS, 8);
	refused("u8 == 1 (u8 == 2)", -EPERM, TOO_MANY_TERMS, 8);
	refused("u8 == 1 ! && u8 == 2", -EPERM, TOO_MANY_TERMS, 8);
	refused("name == \"x\"y", -EPERM, TOO_MANY_TERMS, 11);
	refused("u8 == \"1\"", -EINVAL, "Expecting numeric field", 7);
	refused("u8 < \"1\"", -EINVAL, ILLEGAL_OP, 6);
	refused("u8 ~ 1", -EINVAL, ILLEGAL_OP, 6);
	refused("name & \"1\"", -EINVAL, ILLEGAL_OP, 8);
	refused("name == 1", -EINVAL, "Expecting string field", 9);
	refused("loc > 1", -EINVAL, "Expecting string field", 7);
}

/* ---- Limits ---- */

static char long_text[70000];

static void repeat(const char *word, size_t nr)
{
	size_t len = strlen(long_text);

	for (size_t i = 0; i < nr; i++, len += strlen(word))
		strcpy(long_text + len, word);
}

static void long_texts(void **state)
{
	(void)state;
	strcpy(long_text, "name == '");
	repeat("x", 255);
	repeat("'", 1);
	is(long_text, false);
	memset(event.sample.wide, 'x', 40);
	strcpy(long_text, "wide == '");
	repeat("x", 255);
	repeat("'", 1);
	is(long_text, true);
	strcpy(long_text, "loc == '");
	repeat("x", 256);
	repeat("'", 1);
	refused(long_text, -EINVAL, TOO_LONG, 8 + 256 + 1);
	strcpy(long_text, "u64 == 0x1234567890abcdef1234567");
	refused(long_text, -EINVAL, TOO_LONG, 33);
	long_text[0] = '\0';
	repeat("u", 300);
	refused(long_text, -EINVAL, "Field not found", 301);
}

static void deep_and_many(void **state)
{
	(void)state;
	event.sample.u8 = 1;
	long_text[0] = '\0';
	repeat("!(", 20001);
	repeat("u8 == 1", 1);
	repeat(")", 20001);
	is(long_text, false);
	long_text[0] = '\0';
	repeat("u8==2||", 9000);
	is(strcat(long_text, "u8==1"), true);
	is(strcat(long_text, "&&u8==2"), false);
	long_text[0] = '\0';
	repeat("u8&1&&", 10000);
	is(strcat(long_text, "u8==1"), true);
	is(strcat(long_text, "&&u8==2"), false);
	long_text[0] = '\0';
	repeat("(u8==2||(u8==1&&", 2000);
	repeat("u8==1", 1);
	repeat("))", 2000);
	is(long_text, true);
	fake_set_nr_cpus(64);
	strcpy(long_text, "cpu&CPUS{0,1}");
	repeat("&&cpu&CPUS{0,1}", 4000);
	is(long_text, true);
	/* 65535 characters are not too many. */
	strcpy(long_text, "u8==1");
	memset(long_text + 5, ' ', 65530);
	long_text[65535] = '\0';
	is(long_text, true);
	strcat(long_text, " ");
	refused(long_text, -EINVAL, "Error", 0);
}

static void out_of_memory(void **state)
{
	struct expr_error error;
	struct expr_program *filter;
	long nr;

	(void)state;
	for_each_allocation(nr,
			    trace_filter_compile(&type, "u8 == 0 && name ~ '*x' || cpu & CPUS{0}",
						 &filter, &error))
		assert_int_equal(fake_alloc_out, 0);
	assert_int_equal(nr, 2);
	trace_expr_free(filter);
	trace_expr_free(NULL);
	/* A refused filter leaves nothing behind. */
	refused("u8 == 0 && name ~ '*x' || u8 == x", -EINVAL, INVALID_VALUE, 33);
}

/* ---- Damaged events ---- */

/* No byte beyond the event is read, and what is not there matches in no way. */
static void short_events(void **state)
{
	static const struct {
		const char *text;
		uint32_t end; /* of what it reads */
	} cases[] = {
		{ "u8 != 77", offsetof(struct sample, u8) + 1 },
		{ "u64 != 77", offsetof(struct sample, u64) + 8 },
		{ "!(u64 == 77)", offsetof(struct sample, u64) + 8 },
		{ "common_type != 77", 8 },
		{ "common_pid != 77", 8 },
		{ "name != 'x'", offsetof(struct sample, name) + 2 },
		{ "name != '0123456789abcdef'", offsetof(struct sample, name) + 16 },
		{ "name ~ '!*x'", offsetof(struct sample, name) + 16 },
		{ "wide == ''", offsetof(struct sample, wide) + 1 },
		{ "loc != 'x'", offsetof(struct sample, loc) + 4 },
		{ "pointer != 'x'", offsetof(struct sample, pointer) + 8 },
		{ "rest != 'x'", offsetof(struct sample, rest) },
		{ "plain_cpus != CPUS{0}", offsetof(struct sample, plain_cpus) + 16 },
		{ "u8 == 0 || u64 == 0", offsetof(struct sample, u64) + 8 },
	};

	(void)state;
	event.sample.pointer = "";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct expr_program *filter = compile(cases[i].text);

		for (uint32_t len = 0; len <= sizeof(struct sample); len++) {
			if (match_len(filter, len) != (len >= cases[i].end))
				fail_msg("%s, of %u bytes", cases[i].text, len);
		}
		trace_expr_free(filter);
	}
}

static void damaged_words(void **state)
{
	static const char *const filters[] = { "loc == 'x'",	  "loc != 'x'", "loc ~ '*x'",
					       "loc ~ '*x*'",	  "rel ~ 'x?'", "rel != 'x'",
					       "cpus & CPUS{0-3}" };

	(void)state;
	fake_set_nr_cpus(8);
	append("xyx", 4);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct expr_program *filter = compile(filters[i]);

		for (int k = 0; k < 5000; k++) {
			uint32_t word = random_below(event_len + 20) | random_below(40) << 16;

			event.sample.loc = event.sample.rel = event.sample.cpus = word;
			match_len(filter, event_len);
			event.sample.loc = word | 0xff000000;
			assert_false(match_len(filter, event_len) && filters[i][0] == 'l');
			event.sample.rel = word | 0xffff;
			assert_false(match_len(filter, event_len) && filters[i][0] == 'r');
		}
		trace_expr_free(filter);
	}
}

/* Random characters, mostly of those that mean something: nothing bad happens. */
static void random_texts(void **state)
{
	static const char *const words[] = {
		"(",   ")",    "&&", "||", "!",	  "u8",	     "name", "==",  "!=", "<",
		"&",   "~",    "1",  "-2", "'x'", "\"*a*\"", "CPUS", "{0}", " ",  "loc",
		"cpu", "comm", "0x", "'",  "==1", "|",	     "\\",   "99",  ".",  "packed.function"
	};
	char text[512];

	(void)state;
	for (int i = 0; i < unit_rounds(30000); i++) {
		struct expr_error error = { 0 };
		struct expr_program *filter;
		size_t len = 0;

		for (uint32_t k = random_below(24) + 1; k; k--)
			len += (size_t)sprintf(text + len, "%s", words[random_below(30)]);
		if (trace_filter_compile(&type, text, &filter, &error)) {
			assert_non_null(error.why);
			assert_true(error.pos <= len + 2);
			continue;
		}
		check_order(filter);
		match_len(filter, event_len);
		trace_expr_free(filter);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_number),       T(forms_of_numbers), T(head_fields),	 T(odd_fields),
		T(packed_addresses),   T(functions),	    T(every_text),	 T(full_arrays),
		T(special_texts),      T(bad_pointers),	    T(names_of_threads), T(running_cpu),
		T(numbers_as_cpus),    T(sets_of_cpus),	    T(lists_of_cpus),	 T(precedence),
		T(random_expressions), T(mistakes),	    T(long_texts),	 T(deep_and_many),
		T(out_of_memory),      T(short_events),	    T(damaged_words),	 T(random_texts),
		T(own_comm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
