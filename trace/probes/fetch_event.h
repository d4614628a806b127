/*
 * An event that a program of arguments fills, and the texts in it. See fetch.h.
 *
 * Context: any, NMI included.
 */
#ifndef FETCH_EVENT_H
#define FETCH_EVENT_H

#include <trace/compiler.h>
#include "expr/expr.h"

#define FETCH_PIECE 8u /* bytes of a text that are read at once */

/* An event that is being filled, and the run that fills it. */
struct fetch_event {
	struct expr_run run;
	uint8_t *entry;
	uint32_t room;
	uint32_t bytes; /* so far; may be more than there is room for */
};

/* The lowest bit that is set is the high one of the first byte that is 0; none: none is. */
static TRACE_ALWAYS_INLINE uint64_t fetch_text_zeros(uint64_t piece)
{
	const uint64_t ones = 0x0101010101010101;

	return (piece - ones) & ~piece & ones << 7;
}

/* Bytes before a NUL, among the `nr` at `piece`. */
static inline uint32_t fetch_text_len(uint64_t piece, uint32_t nr)
{
	uint64_t zeros = fetch_text_zeros(piece);
	uint32_t len = zeros ? (uint32_t)__builtin_ctzll(zeros) / 8 : FETCH_PIECE;

	return len < nr ? len : nr;
}

/*
 * Each of these adds a text to the event, and writes its place and length into the field at `at`. A
 * text that does not fit is cut, and counts with all its length.
 */

/*
 * The text at the address `from`: with `is_user` only in the running program, otherwise in the kernel,
 * or, if it is not there, in the program. `(fault)` if it can be read in neither.
 */
void trace_fetch_store_text(struct fetch_event *event, uint32_t at, uintptr_t from, bool is_user);
/* `(fault)`. */
void trace_fetch_store_no_text(struct fetch_event *event, uint32_t at);
/* The symbol around the address, with its offset and size; or the address. */
void trace_fetch_store_symbol(struct fetch_event *event, uint32_t at, uint64_t address);
/* The name of the running thread. */
void trace_fetch_store_comm(struct fetch_event *event, uint32_t at);
/* The `len` characters at `text`. */
void trace_fetch_store_literal(struct fetch_event *event, uint32_t at, const char *text,
			       uint32_t len);

#endif
