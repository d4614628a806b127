/*
 * A host of the ring profile that has just its part: five inline functions, in run/, and three
 * others, in host.c. For all the rest it takes the defaults.
 *
 * Context: a test.
 */
#ifndef BARE_HOST_H
#define BARE_HOST_H

extern char bare_log[512]; /* the last message */
extern long bare_nr_alloc; /* pieces of memory that are out */

#endif
