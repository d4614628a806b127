/*
 * The traced functions of `torture`: see torture.h. Each is entered and left in another way, and
 * its result tells whether the trampolines kept its arguments.
 */
#include <stdatomic.h>
#include <trace/compiler.h>
#include "torture.h"
#include "torture_count.h"

#define CREATE_TRACE_POINTS
#include "torture_trace.h"

typedef uint64_t (*sum_fn)(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			   uint64_t g, uint64_t h);

_Atomic uint64_t torture_runs[TORTURE_NR_TARGETS];

const char *const torture_labels[TORTURE_NR_TARGETS] = {
	"target-0", "target-1", "target-2", "target-3",
	"target-4", "target-5", "target-6", "target-7",
};

static TRACE_NOINLINE uint64_t torture_helper(uint64_t value)
{
	return value ^ 0x5555;
}

/* Six arguments in registers, two on the stack: all of them have to survive. */
// NOLINTNEXTLINE(readability-function-size): more arguments than registers are the point
static TRACE_NOINLINE uint64_t torture_sum(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
					   uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

/* The compiler may not look through these. */
static torture_target_fn volatile call_helper = torture_helper;
static sum_fn volatile call_sum = torture_sum;

static uint64_t target_leaf(uint64_t value)
{
	torture_count_run(0, value);
	return value * 3;
}

static uint64_t target_call(uint64_t value)
{
	torture_count_run(1, value);
	return call_helper(value) + 1;
}

static uint64_t target_tail_call(uint64_t value)
{
	torture_count_run(2, value);
	return call_helper(value);
}

static uint64_t target_loop(uint64_t value)
{
	torture_count_run(3, value);
	for (uint32_t i = 0; i < 4; i++)
		value = call_helper(value) + i;
	return value;
}

static uint64_t target_arguments(uint64_t value)
{
	torture_count_run(4, value);
	return call_sum(value, value + 1, 3, 4, 5, 6, value + 7, 8);
}

static uint64_t target_stack(uint64_t value)
{
	volatile uint64_t words[32];

	torture_count_run(5, value);
	for (uint32_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = value + i;
	return words[value % ARRAY_SIZE(words)];
}

static uint64_t target_branch(uint64_t value)
{
	torture_count_run(6, value);
	return value & 1 ? value * 5 : value + 100;
}

static uint64_t target_empty(uint64_t value)
{
	torture_count_run(7, value);
	return value;
}

uint64_t torture_in_nmi(uint64_t value)
{
	return call_helper(call_helper(value));
}

const torture_target_fn torture_targets[TORTURE_NR_TARGETS] = {
	target_leaf,	  target_call,	target_tail_call, target_loop,
	target_arguments, target_stack, target_branch,	  target_empty,
};

const char torture_target_names[] = "target_leaf target_call target_tail_call target_loop "
				    "target_arguments target_stack target_branch target_empty\n";
