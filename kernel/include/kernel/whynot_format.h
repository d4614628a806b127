/*
 * Layout of the table in section .whynot, which tools/whynot writes and kernel/whynot.c reads.
 *
 *   struct whynot_header
 *   uint64_t token_text[256]   as in <kernel/symbols_format.h>
 *   uint32_t entry[nr_entries] position of each entry, in the order of their names (strcmp)
 *   uint32_t string[nr_strings] position of each string of the pool
 *   uint8_t  token_len[256]
 *   bytes: the entries
 *   bytes: the strings: number of tokens, then one byte for each
 *
 * An entry is: a name as in the pool (number of tokens, tokens); the reason, one byte; then numbers
 * of 7 bits a byte, low part first, top bit set in all but the last:
 *   string of the file it is defined in (0: unknown), line;
 *   for WHYNOT_RENAMED only: string of the clone's name;
 *   number of calls that were inlined; if there are any, up to WHYNOT_MAX_CALLS of them, into
 *   different callers: string of the caller's name, string of the file, line; fewer end with a 0.
 * Positions are in bytes from the start of the header; strings count from 1.
 *
 * Context, locking, ownership: constant data.
 */
#ifndef KERNEL_WHYNOT_FORMAT_H
#define KERNEL_WHYNOT_FORMAT_H

#include <stdint.h>

#define WHYNOT_MAGIC	 0x31594857544146ULL /* "FATWHY1" */
#define WHYNOT_MAX_CALLS 2

enum whynot_reason {
	WHYNOT_TRACEABLE = 0,	 /* has a call site */
	WHYNOT_INLINED = 1,	 /* exists only inside its callers */
	WHYNOT_NOTRACE_FUNC = 2, /* marked notrace in the source */
	WHYNOT_NOTRACE_FILE = 3, /* the whole file is built without call sites */
	WHYNOT_ASSEMBLY = 4,
	WHYNOT_DISCARDED = 5, /* in the source, but unused: not in the kernel */
	WHYNOT_COLD_PART = 6, /* the unlikely half of another function */
	WHYNOT_RENAMED = 7,   /* exists only as a clone with a longer name, which can be traced */
	WHYNOT_UNKNOWN = 8,   /* no function of that name; the sentence proposes near ones */
};

struct whynot_header {
	uint64_t magic;
	uint32_t total_bytes;
	uint32_t nr_entries;
	uint32_t nr_strings;
	uint32_t token_text_pos;
	uint32_t entry_pos;
	uint32_t string_pos;
	uint32_t token_len_pos;
	uint32_t reserved; /* 0 */
};

/* The table that is linked in; all zero in the first link. */
extern const struct whynot_header whynot_blob;

#endif
