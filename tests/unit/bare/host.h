/*
 * A host of the profiles ring and events that has just their part: nine inline functions, three of
 * which the ring does without, in run/, and three others, in host.c. For all the rest it takes the
 * defaults.
 *
 * Context: a test.
 */
#ifndef BARE_HOST_H
#define BARE_HOST_H

extern char bare_log[512]; /* the last message */
extern long bare_nr_alloc; /* pieces of memory that are out */

#endif
