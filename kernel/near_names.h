/*
 * Proposals for a mistyped name: the best few of all names offered.
 *
 * The distance is the number of characters to insert, drop, replace or swap with their neighbour.
 * Names that are too far away count only when they contain the name that was asked for.
 *
 * Context:   any; work area on the caller's stack.
 * Ownership: the caller's struct.
 */
#ifndef NEAR_NAMES_H
#define NEAR_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <kernel/symbols_format.h>

#define NEAR_MAX	3
#define NEAR_NO_SCORE	UINT32_MAX
#define NEAR_NAME_BYTES (SYMBOLS_NAME_MAX + 1)

struct near_names {
	const char *wanted;
	size_t wanted_len;
	uint32_t limit;		  /* largest distance that is near */
	uint32_t nr;		  /* names kept */
	uint32_t score[NEAR_MAX]; /* of each, the best (lowest) first */
	char name[NEAR_MAX][NEAR_NAME_BYTES];
};

/* Begin: no names so far. `wanted` is kept, not copied. */
void near_init(struct near_names *near, const char *wanted);
/* Keep `name` if it is among the best so far; one of over SYMBOLS_NAME_MAX characters never is. */
void near_offer(struct near_names *near, const char *name, size_t len);

#endif
