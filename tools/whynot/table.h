/*
 * The block that becomes section .whynot; its layout is <kernel/whynot_format.h>.
 *
 * Context:   host program, one thread.
 * Ownership: the caller frees the block.
 */
#ifndef WHYNOT_TABLE_H
#define WHYNOT_TABLE_H

#include "blob.h"
#include "records.h"

/* Why `record` has no site, or that it has one. */
enum whynot_reason table_reason(const struct record *record);

/*
 * Append the block to `out`, which is empty; `records` must be sorted. Prints the reason and
 * returns -1 when a name or path is too long for the kernel's buffers.
 */
int table_make(struct blob *out, const struct records *records);

#endif
