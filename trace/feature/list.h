/*
 * Lists that features add to in their init(): of files, triggers, checks and the like. Each list is
 * declared where its kind of thing is, with a type of its own for an entry: a const table, and `next`.
 *
 * Context:   adding - trace_init(); a second one adds nothing. Walking - any, afterwards.
 * Ownership: an entry is static in the module of the feature.
 */
#ifndef TRACE_FEATURE_LIST_H
#define TRACE_FEATURE_LIST_H

#include <stddef.h>

/* Add `entry` at the end of the list that begins with the pointer `first`, unless it is there. */
#define TRACE_LIST_ADD(first, entry)                                                               \
	do {                                                                                       \
		__typeof__(first) *link_ = &(first);                                               \
                                                                                                   \
		while (*link_ && *link_ != (entry))                                                \
			link_ = &(*link_)->next;                                                   \
		*link_ = (entry);                                                                  \
	} while (0)

#endif
