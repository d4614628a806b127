/*
 * The block that becomes section .ksyms; its layout is <kernel/symbols_format.h>.
 *
 * Context:   host program, one thread.
 * Ownership: the caller frees the block.
 */
#ifndef KSYMS_TABLE_H
#define KSYMS_TABLE_H

#include "blob.h"
#include "select.h"

/* Append the block to `out`, which is empty. */
void table_make(struct blob *out, const struct selection *selection);

#endif
