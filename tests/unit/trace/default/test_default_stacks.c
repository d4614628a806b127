/*
 * The walkers of stacks: which words of a thread's stack they show. A stack is an array; a trampoline is looked
 * for on it.
 *
 * links: trace/arch/x86_64/stacks.c
 */
#include "unit.h"
#include <string.h>
#include <trace/arch_stacks.h>
#include <trace/ftrace.h>
#include "fake/fake.h"

#define NR_WORDS   24u
#define TRAMPOLINE 0x7700u /* what is looked for */
#define SITE	   0x5500u
#define CODE	   0x1100u
#define INSIDE	   4u /* the bit that says that it was found */

static uintptr_t stack[NR_WORDS];
static struct trace_thread thread;
static uint32_t nr_seen, seen_found;

/* The one call site. */
uintptr_t ftrace_location(uintptr_t ip)
{
	return ip == SITE ? SITE : 0;
}

static uint32_t find(struct trace_thread *of, const uintptr_t *words, size_t nr, void *arg)
{
	uint32_t found = 0;

	assert_ptr_equal(of, &thread);
	assert_ptr_equal(arg, stack);
	assert_true(words >= stack && words + nr <= stack + NR_WORDS);
	for (size_t i = 0; i < nr; i++)
		found |= words[i] == TRAMPOLINE ? INSIDE : 0;
	return found;
}

static void seen(struct trace_thread *of, uint32_t found, void *arg)
{
	(void)arg;
	assert_ptr_equal(of, &thread);
	nr_seen++;
	seen_found = found;
}

static const struct trace_plat_look look = { .find = find, .seen = seen, .arg = stack };

static uintptr_t at(uint32_t word)
{
	return (uintptr_t)&stack[word];
}

/* A frame at `word`, and the next one. */
static void frame(uint32_t word, uintptr_t next, uintptr_t ret)
{
	stack[word] = next;
	stack[word + 1] = ret;
}

static int setup(void **state)
{
	(void)state;
	memset(stack, 0, sizeof(stack));
	nr_seen = 0;
	return 0;
}

static bool is_inside_by_frames(uint32_t word)
{
	trace_stack_show_frames(&look, &thread, at(word), at(NR_WORDS));
	assert_int_equal(nr_seen, 1);
	nr_seen = 0;
	return seen_found == INSIDE;
}

/* Remains of earlier calls lie below, between and behind the frames. */
static void test_holes(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NR_WORDS; i++)
		stack[i] = TRAMPOLINE;
	frame(2, at(6), CODE);
	frame(6, at(12), CODE);
	frame(12, 0, CODE);
	assert_false(is_inside_by_frames(2));
	frame(6, at(12), TRAMPOLINE);
	assert_true(is_inside_by_frames(2));
}

/* A callback without a frame returns into the trampoline below the frame of that. */
static void test_trampoline(void **state)
{
	(void)state;
	frame(2, at(10), CODE);
	stack[5] = TRAMPOLINE;
	frame(10, at(16), SITE + TRACE_INSN_SIZE);
	stack[12] = CODE;
	frame(16, 0, CODE);
	assert_true(is_inside_by_frames(2));
	frame(10, at(16), CODE); /* another function's */
	assert_false(is_inside_by_frames(2));
	frame(10, at(16), SITE + TRACE_INSN_SIZE);
	stack[5] = CODE;
	assert_false(is_inside_by_frames(2));
	stack[12] = TRAMPOLINE; /* the traced function returns into another one */
	assert_true(is_inside_by_frames(2));
	stack[12] = CODE;
	stack[13] = TRAMPOLINE;
	assert_false(is_inside_by_frames(2));
}

/* Frame pointers lead elsewhere: what lies behind is not known. */
static void test_broken_chain(void **state)
{
	const uintptr_t wrong[] = { at(2), at(8) + 1,	at(NR_WORDS - 1),
				    8,	   UINTPTR_MAX, (uintptr_t)&thread };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setup(NULL);
		stack[2] = stack[3] = stack[5] = TRAMPOLINE; /* left behind */
		frame(4, at(8), CODE);
		frame(8, wrong[i], CODE);
		stack[6] = TRAMPOLINE; /* a hole */
		assert_false(is_inside_by_frames(4));
		stack[20] = TRAMPOLINE;
		assert_true(is_inside_by_frames(4));
	}
}

/* The last frame ends where the stack does; that of a trampoline there has no second return address. */
static void test_end(void **state)
{
	(void)state;
	frame(NR_WORDS - 2, 0, TRAMPOLINE);
	assert_true(is_inside_by_frames(NR_WORDS - 2));
	frame(NR_WORDS - 2, 0, SITE + TRACE_INSN_SIZE);
	assert_false(is_inside_by_frames(NR_WORDS - 2));
	trace_stack_show_frames(&look, &thread, 0, at(NR_WORDS)); /* a thread that has no frame */
	assert_int_equal(seen_found, 0);
}

static void test_words(void **state)
{
	(void)state;
	stack[7] = TRAMPOLINE;
	trace_stack_show_words(&look, &thread, at(7) + 3, at(NR_WORDS));
	assert_int_equal(seen_found, INSIDE);
	trace_stack_show_words(&look, &thread, at(8), at(NR_WORDS));
	assert_int_equal(seen_found, 0);
	trace_stack_show_words(&look, &thread, at(NR_WORDS), at(NR_WORDS));
	assert_int_equal(seen_found, 0);
	assert_int_equal(nr_seen, 3);
}

#define TEST(name) cmocka_unit_test_setup(test_##name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(holes), TEST(trampoline), TEST(broken_chain),
					    TEST(end), TEST(words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
