/*
 * Layout of the symbol table in section .ksyms, which tools/ksyms writes and kernel/symbols.c
 * reads.
 *
 *   struct symbols_header
 *   uint64_t token_text[256]    a token's text, at most 8 bytes, padded with zeros
 *   struct symbols_place[nr_symbols + 1 + nr_variables]
 *                               address and size; the first nr_addressed strictly ascending, none
 *                               reaching into the next; behind them one at SYMBOLS_NO_OFFSET; then
 *                               the others; then variables, ascending, the first nr_constants,
 *                               which cannot be written, at offsets from base, others from data_start
 *   uint32_t by_name[nr_symbols]
 *                               indexes of the symbols in the order of their names (strcmp)
 *   uint32_t variable_by_name[nr_variables]
 *                               the same of the variables; the first has index nr_symbols
 *   uint32_t mark[]             position in names[] of every SYMBOLS_MARK-th symbol, from symbol 0
 *   uint8_t  token_len[256]     length of each token's text
 *   uint8_t  names[]            for each symbol: number of tokens, then one byte for each
 *
 * Symbols [0, nr_addressed) answer "what is at this address". The rest, aliases of the former and
 * boundaries without a size, can be found by name only. The second link moves the variables behind
 * the table, which can be written, but all by the same distance; constants lie in front of it. Every
 * array starts on 8 bytes; all numbers are little endian. tools/ksyms/README.md says how the tokens are chosen.
 *
 * Context, locking, ownership: constant data.
 */
#ifndef KERNEL_SYMBOLS_FORMAT_H
#define KERNEL_SYMBOLS_FORMAT_H

#include <stdint.h>

#define SYMBOLS_MAGIC	   0x344d59534b544146ULL /* "FATKSYM4" */
#define SYMBOLS_TOKEN_SIZE 8
#define SYMBOLS_NO_OFFSET  UINT32_MAX
#define SYMBOLS_MARK	   32 /* symbols between two entries of mark[] */

/*
 * Room for a name, with its NUL and the up to 7 bytes that the expansion of the last token writes
 * behind the name.
 */
#define KSYM_NAME_LEN 128
/* The longest name, in characters. */
#define SYMBOLS_NAME_MAX (KSYM_NAME_LEN - SYMBOLS_TOKEN_SIZE - 1)

/* Positions are in bytes from the start of this header. */
struct symbols_header {
	uint64_t magic;
	uint64_t base; /* address that the offsets count from */
	uint32_t total_bytes;
	uint32_t nr_symbols;
	uint32_t nr_addressed;
	uint32_t token_text_pos;
	uint32_t place_pos;
	uint32_t by_name_pos;
	uint32_t mark_pos;
	uint32_t token_len_pos;
	uint32_t names_pos;
	uint32_t nr_variables;
	uint32_t variable_by_name_pos;
	uint32_t nr_constants;
};

struct symbols_place {
	uint32_t offset; /* address - base; below SYMBOLS_NO_OFFSET */
	uint32_t size;	 /* bytes; not 0 for addressed symbols */
};

/* The table that is linked in; all zero in the first link. */
extern const struct symbols_header symbols_blob;

#endif
