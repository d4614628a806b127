/*
 * The text of the file README: which files, tracers and commands this build has.
 *
 * Context: thread, no lock held.
 */
#ifndef TRACE_README_H
#define TRACE_README_H

#include <stdbool.h>
#include <stddef.h>

struct trace_seq;

/* Append the next piece of the text. *index is 0 before the first call. False: there is no more. */
bool trace_readme_next(size_t *index, struct trace_seq *seq);

#endif
