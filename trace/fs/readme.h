/*
 * The text of the file README, in parts of less than 4 KiB.
 */
#ifndef TRACE_README_H
#define TRACE_README_H

#include <stddef.h>

extern const char *const trace_readme[];
extern const size_t trace_readme_nr_parts;

#endif
