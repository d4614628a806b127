/*
 * Pairs of calls and returns, as a processor's return predictor sees them: a call notes its return
 * address; a return is guessed to go to the youngest note, and takes it away. After one call too
 * few, or one return too many, all guesses that follow are wrong, also those for the callers. An
 * emulator has no predictor, and measured times only hint at it. So here instructions are executed
 * one at a time and counted.
 *
 * Context: one thread; it uses SIGTRAP.
 */
#ifndef BALANCE_H
#define BALANCE_H

#include <stdint.h>

struct balance {
	uint64_t calls;
	uint64_t returns;
	uint64_t wrong; /* returns that went elsewhere than guessed */
};

/* Call fn(rounds) and count; the call of fn is counted, too. */
struct balance balance_of(void (*fn)(uint64_t rounds), uint64_t rounds);

#endif
