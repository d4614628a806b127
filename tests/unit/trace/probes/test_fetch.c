/*
 * Arguments of probes: what each becomes, on registers and memory that are known; and what is wrong
 * with those that cannot be, and where.
 */
#include <stdio.h>
#include <string.h>
#include "unit.h"
#include "fake/fake.h"
#include <trace/trace_seq.h>
#include "events/dyn_event.h"
#include "probes/fetch.h"
#include "fetch_help.h"

static const struct fetch_context at_code = { .place = FETCH_AT_CODE };
static const struct fetch_context at_entry = { .place = FETCH_AT_ENTRY };
static const struct fetch_context at_return = { .place = FETCH_AT_RETURN };
static const struct fetch_context at_tracepoint = { .place = FETCH_AT_TRACEPOINT, .nr_args = 3 };

static const struct fetch_context at_event = { .place = FETCH_AT_EVENT };

static const char memory_text[] = "a text of some length";
static const struct {
	uint64_t word;
	const char *pointers[2];
	uint16_t halves[4];
	int8_t small;
} memory = { 0x1122334455667788, { memory_text, "two" }, { 1, 2, 0xffff, 4 }, -5 };
static uintptr_t stack[4] = { 0x100, 0x200, 0x300, 0x400 };

/* In `fmt`, %p is the address of `memory`. */
static const char *with_memory(const char *fmt)
{
	static char line[200];

	snprintf(line, sizeof(line), fmt, (void *)(uintptr_t)&memory);
	return line;
}
#define CHECK_MEMORY(what, expected) CHECK_VALUE(at_code, with_memory(what), expected)

/* Bytes of `memory` from `at` on, as they are printed. */
static const char *with_memory_word(size_t at)
{
	static char line[24];
	uint64_t value;

	memcpy(&value, (const char *)&memory + at, sizeof(value));
	snprintf(line, sizeof(line), "0x%llx", (unsigned long long)value);
	return line;
}

static const char *with_memory_half(size_t at)
{
	static char line[24];
	uint32_t value;

	memcpy(&value, (const char *)&memory + at, sizeof(value));
	snprintf(line, sizeof(line), "%u", value);
	return line;
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build((const char *const[]){ "schedule", "yield" }, 2);
	fake_thread_add(7, "worker");
	fake_run(7);
	regs = (struct ftrace_regs){ .arg = { (uintptr_t)&memory, 2, -1ul, 4, 5, 6 },
				     .saved = { 10 },
				     .value = 77,
				     .frame = 0xf0,
				     .rip = fake_func(1) + 4,
				     .slot = stack };
	return 0;
}

static void registers(void **state)
{
	(void)state;
	CHECK_VALUE(at_code, "%si", "0x2");
	assert_int_equal(build.nr_copies, 1);
	assert_false(build.has_all_registers);
	CHECK_VALUE(at_code, "name=%r10:u64", "10");
	assert_true(build.has_all_registers);
	CHECK_VALUE(at_code, "%dx:s32", "-1");
	assert_int_equal(build.nr_words, 1);
	assert_int_equal(build.nr_insns, 0);
	CHECK_VALUE(at_code, "%si:u32", "2");
	CHECK_VALUE(at_code, "%dx:u16", "65535");
	CHECK_VALUE(at_code, "%dx:x8", "0xff");
	CHECK_VALUE(at_code, "%ip:symbol", "yield+0x4/0x10");
	CHECK_VALUE(at_code, "%ip:symstr", "\"yield+0x4/0x10\"");
	CHECK_VALUE(at_code, "%si:symstr", "\"0x2\"");
	CHECK_VALUE(at_code, "$stack1", "0x200");
	CHECK_VALUE(at_code, "+16($stack):u32", "768");
	CHECK_VALUE(at_code, "$comm", "\"worker\"");
	CHECK_VALUE(at_code, "$comm:string", "\"worker\"");
	CHECK_VALUE(at_code, "%dx:b4@4/16", "15");
	CHECK_VALUE(at_return, "$retval:u8", "77");
	CHECK_VALUE(at_entry, "$arg2", "0x2");
	CHECK_VALUE(at_entry, "$arg8", "0x300");
}

static void numbers(void **state)
{
	static const uint64_t args[] = { 65, 66, 67 };

	(void)state;
	CHECK_VALUE(at_code, "\\12:u32", "12");
	CHECK_VALUE(at_code, "\\0x12", "0x12");
	CHECK_VALUE(at_code, "\\-3:s16", "-3");
	CHECK_VALUE(at_code, "\\\"a:text\"", "\"a:text\"");
	CHECK_VALUE(at_code, "\\\"a\":string", "\"a\"");
	assert_string_equal(value_of(&at_tracepoint, "$arg3:char", args), "'C'");
	assert_string_equal(value_of(&at_tracepoint, "$arg1", args), "0x41");
}

static void memory_reads(void **state)
{
	(void)state;
	CHECK_VALUE(at_code, "+0(%di)", "0x1122334455667788");
	assert_int_equal(build.nr_insns, 1);
	CHECK_VALUE(at_code, "+1(%di)", with_memory_word(1));
	CHECK_VALUE(at_code, "+6(%di):u32", with_memory_half(6));
	CHECK_VALUE(at_code, "+2(%di):x16", "0x5566");
	CHECK_VALUE(at_code, "-0(%di):x8", "0x88");
	CHECK_VALUE(at_code, "+0(+8(%di)):string", "\"a text of some length\"");
	CHECK_VALUE(at_code, "+0x18(%di):u16[4]", "1,2,65535,4");
	CHECK_VALUE(at_code, "+0x18(%di):b4@0/16[3]", "1,2,15");
	CHECK_VALUE(at_code, "+0x20(%di):s8", "-5");
	CHECK_VALUE(at_code, "+8(%di):string[2]", "\"a text of some length\",\"two\"");
	CHECK_VALUE(at_code, "+4(%di):b8@8/32", "51");
	CHECK_MEMORY("@%p:u8", "136");
	CHECK_MEMORY("@%p:x32", "0x55667788");
	CHECK_MEMORY("+2(\\%p):x16", "0x5566");
	CHECK_MEMORY("+0(+8(\\%p)):string", "\"a text of some length\"");
}

/* Texts of any length at any distance from a border of words; what is behind them is another text. */
/* An element for each CPU; the hit is on the CPU that runs. */
static void per_cpu(void **state)
{
	static struct {
		uint64_t first;
		uint32_t second;
		const char *name;
	} each[FAKE_MAX_CPUS];
	static const struct fake_variable variables[] = { { "each", each, sizeof(each) },
							  { .name = NULL } };
	char want[24];

	(void)state;
	fake_variables = variables;
	fake_per_cpu = each;
	fake_per_cpu_bytes = sizeof(each[0]);
	each[0].name = "none";
	each[2].first = (uintptr_t)&memory;
	each[2].second = 22;
	each[2].name = memory_text;
	fake_bind(2);
	snprintf(want, sizeof(want), "0x%llx", (unsigned long long)(uintptr_t)&each[2]);
	CHECK_VALUE(at_code, "this_cpu_ptr(@each)", want);
	CHECK_VALUE(at_entry, "this_cpu_read(@each+8):u32", "22");
	CHECK_VALUE(at_code, "+0(+16(this_cpu_ptr(@each))):string", "\"a text of some length\"");
	CHECK_VALUE(at_return, "+0(this_cpu_read(@each))", "0x1122334455667788");
	CHECK_VALUE(at_code, "this_cpu_read(@each+8):u8[4]", "22,0,0,0");
	fake_bind(1);
	CHECK_VALUE(at_code, "this_cpu_read(@each)", "0x0");
	/* An address that is no symbol's: of the element of any CPU, or of none. */
	fake_bind(2);
	regs.arg[0] = (uintptr_t)&each[1].second;
	CHECK_VALUE(at_code, "this_cpu_read(%di):u32", "22");
	regs.arg[0] = (uintptr_t)&memory;
	CHECK_VALUE(at_code, "this_cpu_ptr(%di)", "0x0");
	CHECK_VALUE(at_code, "+0(this_cpu_read(%di)):string", "(fault)");
	fake_bind(0);
	fake_variables = NULL;
	fake_per_cpu_bytes = 0;
}

static void texts_of_all_lengths(void **state)
{
	static char letters[64] __attribute__((aligned(8)));
	char expected[40];

	(void)state;
	for (size_t start = 0; start < 8; start++) {
		for (size_t len = 0; len < 32; len++) {
			memset(letters, 'x', sizeof(letters));
			memset(letters + start, 'y', len);
			letters[start + len] = '\0';
			regs.arg[0] = (uintptr_t)letters + start;
			expected[0] = '"';
			memset(expected + 1, 'y', len);
			strcpy(expected + 1 + len, "\"");
			CHECK_VALUE(at_code, "+0(%di):string", expected);
			assert_int_equal(trace_fetch_run(&program, &regs, entry, ROOM),
					 (HEAD + 4 + len + 1 + 3) / 4 * 4);
		}
	}
}

static void faults(void **state)
{
	static uint8_t pages[2 * FAKE_PAGE_BYTES];
	uint8_t *bad = pages + FAKE_PAGE_BYTES;

	(void)state;
	fake_bad_page = bad;
	memset(pages, 'x', sizeof(pages));
	regs.arg[0] = (uintptr_t)bad - 4;
	CHECK_VALUE(at_code, "+0(%di):x32", "0x78787878");
	CHECK_VALUE(at_code, "+0(%di):x64", "0x0");
	CHECK_VALUE(at_code, "+4(%di):x32", "0x0");
	CHECK_VALUE(at_code, "+5(%di):x16", "0x0");
	CHECK_VALUE(at_code, "+6(%di):x8", "0x0");
	CHECK_VALUE(at_code, "+0(%di):string", "(fault)");
	CHECK_VALUE(at_code, "+8(%di):string[2]", "(fault),(fault)");
	CHECK_VALUE(at_code, "+8(+8(%di)):string", "(fault)");
	CHECK_VALUE(at_code, "+8(+8(%di)):u16[2]", "0,0");
	CHECK_VALUE(at_code, "+8(+8(%di)):b3@1/16", "0");
	CHECK_VALUE(at_code, "+8(%di):symstr", "(fault)");
	bad[-1] = '\0'; /* the text ends where memory does */
	CHECK_VALUE(at_code, "+0(%di):string", "\"xxx\"");
	bad[-1] = 'x';
}

/* A text that is too long is cut, and says how long it would have been. */
static void long_texts(void **state)
{
	static char letters[600];
	struct fetch_parsed parsed;
	uint32_t place;

	(void)state;
	memset(letters, 'y', sizeof(letters) - 1);
	regs.arg[0] = (uintptr_t)letters;
	assert_int_equal(parse(&at_code, "+0(%di):string", &parsed), 0);
	memset(entry, 0xee, sizeof(entry));
	assert_int_equal(trace_fetch_run(&program, &regs, entry, 64), 616);
	assert_int_equal(entry[64], 0xee);
	memcpy(&place, entry + HEAD, sizeof(place));
	assert_int_equal(place, 16u | 48u << 16);
	assert_int_equal(strlen((const char *)entry + 16), 47);
}

/* One that does not end in FETCH_TEXT_MAX bytes ends there; nothing old is behind a text. */
static void ends_of_texts(void **state)
{
	static char letters[2 * FETCH_TEXT_MAX];
	struct fetch_parsed parsed;

	(void)state;
	memset(letters, 'y', sizeof(letters) - 1);
	regs.arg[0] = (uintptr_t)letters;
	assert_int_equal(parse(&at_code, "+0(%di):string", &parsed), 0);
	assert_int_equal(trace_fetch_run(&program, &regs, entry, ROOM), HEAD + 4 + FETCH_TEXT_MAX);
	assert_int_equal(parse(&at_code, "$comm", &parsed), 0);
	for (size_t len = 1; len < TRACE_COMM_LEN; len++) {
		char name[TRACE_COMM_LEN] = "";
		uint32_t end = HEAD + 4 + (uint32_t)len + 1;

		memset(name, 'n', len);
		fake_thread_add(77, name);
		fake_cpus[0].pid = 77;
		memset(entry, 0xee, sizeof(entry));
		assert_int_equal(trace_fetch_run(&program, &regs, entry, ROOM), (end + 3) / 4 * 4);
		for (; end % 4; end++)
			assert_int_equal(entry[end], 0);
		fake_thread_exit(77);
	}
	fake_cpus[0].pid = 0;
}

/* However little room is left for a text, nothing is written behind it. */
static void room_for_texts(void **state)
{
	static char letters[] = "twelve bytes";
	struct fetch_parsed parsed;
	uint32_t place, whole = HEAD + 4 + sizeof(letters);

	(void)state;
	regs.arg[0] = (uintptr_t)letters;
	assert_int_equal(parse(&at_code, "+0(%di):string", &parsed), 0);
	for (uint32_t room = HEAD + 8; room < ROOM; room += 4) {
		memset(entry, 0xee, sizeof(entry));
		assert_int_equal(trace_fetch_run(&program, &regs, entry, room),
				 (whole + 3) / 4 * 4);
		for (uint32_t at = room; at <= ROOM; at++)
			assert_int_equal(entry[at], 0xee);
		memcpy(&place, entry + HEAD, sizeof(place));
		assert_int_equal(place >> 16, (room < whole ? room : whole) - HEAD - 4);
		assert_int_equal(strlen((const char *)entry + HEAD + 4), (place >> 16) - 1);
	}
}

struct mistake {
	const char *text; /* ^ is in front of what is wrong */
	const char *why;
	const struct fetch_context *context;
};

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "^$retval", "$retval is not available on probe", &at_code },
		{ "^$stack10000", "Invalid stack number", &at_code },
		{ "^$stackx", "Invalid $-variable specified", &at_code },
		{ "^$stack10000", "Invalid stack number", &at_tracepoint },
		{ "^%di", "Invalid $-variable specified", &at_tracepoint },
		{ "^$arg10000", "Invalid argument number", &at_entry },
		{ "^$arg0", "Invalid argument number", &at_entry },
		{ "^$arg1", "Invalid $-variable specified", &at_code },
		{ "^$arg4", "$argN index is too big", &at_tracepoint },
		{ "^$argx", "Invalid $-variable specified", &at_entry },
		{ "^$none_var", "Invalid $-variable specified", &at_code },
		{ "^%none_reg", "Invalid register name", &at_code },
		{ "^%di", "Invalid $-variable specified", &at_tracepoint },
		{ "^@12345678abcde", "Invalid memory address", &at_code },
		{ "^@+10", "File offset is not available with kprobe", &at_code },
		{ "^@", "Invalid memory address", &at_code },
		{ "^@nothing", "Invalid memory address", &at_code },
		{ "^@schedule+x", "Invalid memory address", &at_code },
		{ "arg1=\\\"abcd^", "String is not closed with '\"'", &at_code },
		{ "\\^x", "Invalid immediate value", &at_code },
		{ "^+0@0)", "Dereference needs a brace", &at_code },
		{ "^+0ab1(@0)", "Invalid dereference offset", &at_code },
		{ "^+-1(@0)", "Invalid dereference offset", &at_code },
		{ "+0(+0(@0^)", "Dereference brace is not closed", &at_code },
		{ "+0(@0)^x", "Invalid fetch argument", &at_code },
		{ "+0(^$comm)", "$comm can not be dereferenced", &at_code },
		{ "+0(^\\\"a\")", "$comm can not be dereferenced", &at_code },
		{ "^&1", "Invalid fetch argument", &at_code },
		{ "+0(^)", "Invalid fetch argument", &at_code },
		{ "+0(^+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(@0))))))))))))))",
		  "Dereference is too much nested", &at_code },
		{ "this_cpu_ptr(^@schedule)", "This is not a per-CPU variable", &at_code },
		{ "this_cpu_read(^@nothing)", "Invalid memory address", &at_code },
		{ "this_cpu_read(@11^", "Dereference brace is not closed", &at_code },
		{ "this_cpu_ptr(%di)^+8", "Invalid fetch argument", &at_code },
		{ "this_cpu_ptr(^)", "Invalid fetch argument", &at_code },
		{ "this_cpu_ptr(^$comm)", "$comm can not be dereferenced", &at_code },
		{ "^this_cpu_add(@11)", "BTF is not available or not supported", &at_code },
		{ "^this_cpu_ptr(@11)", "Per-cpu variable access is only for kernel probes",
		  &at_event },
		{ "this_cpu_ptr(%di):^string", "String accepts only memory argument", &at_code },
		{ "+0(@11):u8[10^", "Array is not closed", &at_code },
		{ "+0(@11):u8[10]^a", "Array has wrong suffix", &at_code },
		{ "+0(@11):u8[^10a]", "Invalid array size", &at_code },
		{ "+0(@11):u8[^0]", "Invalid array size", &at_code },
		{ "+0(@11):u8[^256]", "Array number is too big", &at_code },
		{ "@11:^unknown_type", "Unknown type is specified", &at_code },
		{ "@11:^", "Unknown type is specified", &at_code },
		{ "$stack0:^", "Unknown type is specified", &at_code },
		{ "^@ext4:inodes", "There are no modules: SYMBOL alone", &at_code },
		{ "a=^@ext4:inodes+8", "There are no modules: SYMBOL alone", &at_code },
		{ "+0(^@ext4:bitmap):string", "There are no modules: SYMBOL alone", &at_code },
		{ "@schedule:^inodes", "Unknown type is specified", &at_code },
		{ "@ext4:u8[^", "Array is not closed", &at_code },
		{ "^@ext4:u8", "Invalid memory address", &at_code },
		{ "\\\"a@b\":^inodes", "Unknown type is specified", &at_code },
		{ "%di:^string", "String accepts only memory argument", &at_code },
		{ "$stack1:^x8[8]", "String accepts only memory argument", &at_code },
		{ "$stack0:^string", "String accepts only memory argument", &at_code },
		{ "%di:^u8[2]", "String accepts only memory argument", &at_code },
		{ "$comm:^u8", "$comm and immediate-string only accepts string type", &at_code },
		{ "$comm:^string[2]", "$comm and immediate-string only accepts string type",
		  &at_code },
		{ "@11:^b10@a/16", "Invalid bitfield", &at_code },
		{ "@11:^b0@1/16", "Invalid bitfield", &at_code },
		{ "@11:^b9@8/16", "Invalid bitfield", &at_code },
		{ "@11:^b3/16", "Invalid bitfield", &at_code },
		{ "@11:^b3@1/17", "Unknown type is specified", &at_code },
		{ "@11:^b3@1", "Unknown type is specified", &at_code },
		{ "^arg123456789012345678901234567890=@11", "Argument name is too long", &at_code },
		{ "^=@11", "Argument name is not specified", &at_code },
		{ "^+1234567(+1234567(+1234567(+1234567(+1234567(+1234567(@1234))))))",
		  "Argument expression is too long", &at_code },
		{ "arg1=^", "No argument expression", &at_code },
		{ "^name", "BTF is not available or not supported", &at_code },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *caret = strchr(all[i].text, '^');
		size_t pos = (size_t)(caret - all[i].text);
		struct fetch_parsed parsed;
		char line[100];

		memcpy(line, all[i].text, pos);
		strcpy(line + pos, caret + 1);
		if (parse(all[i].context, line, &parsed) >= 0)
			fail_msg("%s is taken", line);
		if (strcmp(error.why, all[i].why) != 0 || error.at != line + pos)
			fail_msg("%s: %s at %td", line, error.why, error.at - line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(registers, setup),
		cmocka_unit_test_setup(numbers, setup),
		cmocka_unit_test_setup(memory_reads, setup),
		cmocka_unit_test_setup(per_cpu, setup),
		cmocka_unit_test_setup(texts_of_all_lengths, setup),
		cmocka_unit_test_setup(faults, setup),
		cmocka_unit_test_setup(long_texts, setup),
		cmocka_unit_test_setup(ends_of_texts, setup),
		cmocka_unit_test_setup(room_for_texts, setup),
		cmocka_unit_test_setup(mistakes, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
