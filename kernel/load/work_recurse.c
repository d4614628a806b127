/*
 * The command recurse: a function that calls itself to the depth that its argument says, and
 * returns. It makes a stack of a known depth, for tests of the tracers that measure stacks and
 * calls.
 */
#include <kernel/mm.h>
#include <kernel/thread.h>
#include "shell/cmd/command_tables.h"

/* Bytes at the end of the stack that the recursion leaves to interrupts and tracers. */
#define RESERVE_BYTES 2560ul
#define FRAME_WORDS   8

static TRACE_NOINLINE uint64_t recurse_step(uint64_t left, uintptr_t *out_deepest)
{
	volatile uint64_t frame[FRAME_WORDS];

	*out_deepest = (uintptr_t)__builtin_frame_address(0);
	frame[left % FRAME_WORDS] = left;
	if (left > 1 && *out_deepest - (uintptr_t)current_thread()->stack > RESERVE_BYTES)
		return recurse_step(left - 1, out_deepest) + (frame[left % FRAME_WORDS] == left);
	return 1;
}

static int recurse_run(struct command_env *env, int argc, char **argv)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), deepest = here;
	uint64_t wanted, reached;

	if (argc != 2 || !command_parse_u64(argv[1], &wanted) || !wanted)
		return COMMAND_USAGE;
	reached = recurse_step(wanted, &deepest);
	command_printf(env, "%lu calls deep, %lu bytes of stack\n", reached, here - deepest);
	if (reached == wanted)
		return 0;
	command_error(env, "no more fit on a stack of %lu bytes", STACK_BYTES);
	return 1;
}

const struct command recurse_commands[] = {
	{ "recurse", "DEPTH", "call a function that calls itself, DEPTH calls deep", recurse_run,
	  0 },
	{ 0 },
};
