/*
 * Walks over the instructions of a function: where they begin, and where a jump may take their place.
 * links: trace/arch/x86_64/walk.c trace/arch/x86_64/decode*.c
 */
#include "unit.h"
#include "page_end.h"

#include <errno.h>
#include <string.h>
#include <trace/arch_walk.h>

#define START 0xffffffff81000000ull

static const uint8_t *code;
static size_t code_bytes;
static bool is_code;

static bool read_code(uintptr_t addr, void *out_bytes, size_t len)
{
	assert_true(addr >= START && addr + len <= START + code_bytes);
	memcpy(out_bytes, code + (addr - START), len);
	return is_code;
}

/* A function of these bytes, behind which nothing can be read. */
#define FUNC(...)                                                                                  \
	func_of((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct trace_walk_func func_of(const uint8_t *bytes, size_t nr)
{
	code = (const uint8_t *)at_page_end((const char *)bytes, nr);
	code_bytes = nr;
	is_code = true;
	return (struct trace_walk_func){ .start = START, .bytes = nr, .read = read_code };
}

/* push rbp; mov rbp, rsp; mov eax, [rdi + 8]; pop rbp; ret */
#define PLAIN 0x55, 0x48, 0x89, 0xe5, 0x8b, 0x47, 0x08, 0x5d, 0xc3

static void test_find(void **state)
{
	static const uint8_t starts[] = { 0, 1, 1, 1, 4, 4, 4, 7, 8 };
	static const uint8_t lengths[] = { 1, 3, 3, 3, 3, 3, 3, 1, 1 };
	struct trace_walk_func func = FUNC(PLAIN);
	struct trace_insn insn;
	uintptr_t start;

	(void)state;
	for (size_t i = 0; i < sizeof(starts); i++) {
		assert_int_equal(trace_walk_find(&func, START + i, &start, &insn), 0);
		assert_int_equal(start - START, starts[i]);
		assert_int_equal(insn.length, lengths[i]);
	}
	assert_int_equal(trace_walk_find(&func, START + 9, &start, &insn), -ERANGE);
	assert_int_equal(trace_walk_find(&func, START - 1, &start, &insn), -ERANGE);
	assert_int_equal(trace_walk_decode(&func, START + 9, &insn), -ERANGE);
	is_code = false;
	assert_int_equal(trace_walk_find(&func, START, &start, &insn), -EINVAL);
}

static void test_no_code(void **state)
{
	struct trace_walk_func func = FUNC(0x90, 0x06, 0x90, 0xc3); /* push es */
	struct trace_insn insn;
	uintptr_t start;
	size_t bytes;

	(void)state;
	assert_int_equal(trace_walk_find(&func, START, &start, &insn), 0);
	assert_int_equal(trace_walk_find(&func, START + 1, &start, &insn), -EINVAL);
	assert_int_equal(trace_walk_find(&func, START + 2, &start, &insn), -EINVAL);
	assert_int_equal(trace_walk_room(&func, START, 1, &bytes), -EINVAL);

	func = FUNC(0x90, 0xe8, 0, 0); /* a call that is cut */
	assert_int_equal(trace_walk_decode(&func, START + 1, &insn), -ERANGE);
	assert_int_equal(trace_walk_find(&func, START + 1, &start, &insn), -EINVAL);
}

static void test_room(void **state)
{
	struct trace_walk_func func = FUNC(PLAIN);
	size_t bytes = 0;

	(void)state;
	assert_int_equal(trace_walk_room(&func, START, 5, &bytes), 0);
	assert_int_equal(bytes, 7);
	assert_int_equal(trace_walk_room(&func, START, 4, &bytes), 0);
	assert_int_equal(bytes, 4);
	assert_int_equal(trace_walk_room(&func, START + 4, 5, &bytes), 0);
	assert_int_equal(bytes, 5); /* up to the end */
	assert_int_equal(trace_walk_room(&func, START + 7, 5, &bytes), -ERANGE);
	assert_int_equal(trace_walk_room(&func, START + 2, 5, &bytes), -EINVAL);
}

/* jne at the end goes to the byte `to`. */
static int room_with_jump(uint8_t to)
{
	struct trace_walk_func func = FUNC(PLAIN, 0x75, 0);
	uint8_t *distance = (uint8_t *)(uintptr_t)&code[10];
	size_t bytes;

	*distance = (uint8_t)(to - 11);
	return trace_walk_room(&func, START, 5, &bytes);
}

static void test_jumps_into(void **state)
{
	struct trace_walk_func func;
	size_t bytes;

	(void)state;
	/* the jump that is written there serves those, too */
	assert_int_equal(room_with_jump(0), 0);
	for (uint8_t to = 1; to < 7; to++)
		assert_int_equal(room_with_jump(to), -EBUSY);
	assert_int_equal(room_with_jump(7), 0);
	assert_int_equal(room_with_jump(0xf0), 0);

	func = FUNC(PLAIN, 0xff, 0xe0); /* jmp rax: a table of a switch */
	assert_int_equal(trace_walk_room(&func, START, 5, &bytes), -EOPNOTSUPP);
	func = FUNC(PLAIN, 0xff, 0xd0); /* call rax comes back behind itself */
	assert_int_equal(trace_walk_room(&func, START, 5, &bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_jumps_into),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
