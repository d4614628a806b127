/*
 * Function definitions in C source text, found without a compiler: at the outermost level, a name,
 * a parenthesis and a brace behind it. Finds the functions that the compiler dropped without trace.
 * Names in capitals are taken for macros.
 *
 * Context: host program, one thread.
 */
#ifndef WHYNOT_SOURCE_H
#define WHYNOT_SOURCE_H

#include "records.h"

/* Add the functions defined in the file `path`. A file that cannot be read is not an error. */
void source_collect(struct records *records, const char *path);

/* The same for text in memory. */
void source_collect_text(struct records *records, const char *path, const char *text);

#endif
