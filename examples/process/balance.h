/*
 * How calls and returns pair up, as a processor's return predictor sees it: a call notes where it
 * will be returned to, a return is guessed to go to the youngest note, and takes it away. One call
 * too few or one return too many and all guesses are wrong that follow, of the callers too. An
 * emulator does not show it and a clock only hints at it, so instructions are stepped through and
 * counted here.
 *
 * Context: one thread; it uses SIGTRAP.
 */
#ifndef BALANCE_H
#define BALANCE_H

#include <stdint.h>

struct balance {
	uint64_t calls;
	uint64_t returns;
	uint64_t wrong; /* of the returns: they went elsewhere than guessed */
};

/* Of fn(rounds), and of the call of fn. */
struct balance balance_of(void (*fn)(uint64_t rounds), uint64_t rounds);

#endif
