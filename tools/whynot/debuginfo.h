/*
 * Functions in the debug information: where they are defined, whether they became machine code of
 * their own, and where they were inlined.
 *
 * Context:   host program, one thread.
 * Ownership: none is kept: what the records need is copied.
 */
#ifndef WHYNOT_DEBUGINFO_H
#define WHYNOT_DEBUGINFO_H

#include "code.h"
#include "records.h"

/* Called with the path of each source file that the debug information names. */
typedef void (*debuginfo_file_fn)(const char *path, void *arg);

/* Prints the reason and returns -1 when there is no debug information or it is damaged. */
int debuginfo_collect(struct records *records, const struct code *code, debuginfo_file_fn each_file,
		      void *arg);

#endif
