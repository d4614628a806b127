/*
 * The decoder of trace/arch/x86_64 against Zydis: both are given the same bytes, and what they say has
 * to be the same, but for what the table in compare.c allows.
 */
#ifndef DECODE_COMPARE_H
#define DECODE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Compare what both say of the instruction at `text`; `room` bytes may be read. Returns what differs,
 * in a word or two, or NULL. `out_length` is by how much to go on: the instruction's length, or 1.
 */
const char *compare_insn(const uint8_t *text, size_t room, size_t *out_length);

/* How often each allowed difference was met. */
void compare_print_allowed(void);

#endif
