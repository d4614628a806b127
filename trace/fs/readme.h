/*
 * The text of the file README: what is there of files, tracers and commands in this build.
 *
 * Context: thread, no lock held.
 */
#ifndef TRACE_README_H
#define TRACE_README_H

#include <stdbool.h>
#include <stddef.h>

struct trace_seq;

/* Append the next piece of the text, from `*index` on, 0 at first. False: that was all. */
bool trace_readme_next(size_t *index, struct trace_seq *seq);

#endif
