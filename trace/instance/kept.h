/*
 * Instances whose ring lies in memory that survives a reset: trace_instance=NAME@MEMORY; and copies
 * of what they hold, trace_instance=NAME=SOURCE.
 *
 *   boot --> holds the last kernel's events, recording is off --> begun: holds this kernel's
 *
 * The first switching on, an emptying of the buffer, or the boot itself when there are no events,
 * begins it: the events go, and the note beside the ring gets this kernel's names and types. Until
 * then a further reset finds everything as it is.
 *
 *   note:  build, clock | types: number, hash of name and fields | names of threads
 *
 * Numbers of types are translated at the boot. Events of a type that this kernel does not have, or
 * that have changed, get the number 0 and are shown as of an unknown type; so are those that point
 * to a text, in another build. Addresses of another build are shown as numbers.
 *
 * Context:   thread; the names of threads: any.
 * Locking:   config lock, except for trace_kept_comm() and trace_thread_named().
 * Ownership: such an instance is never removed.
 */
#ifndef TRACE_KEPT_H
#define TRACE_KEPT_H

#include <trace/ring_kept.h>
#include "array.h"
#include "cmdlines.h"

#define TRACE_BUILD_LEN	 32u   /* of trace_plat_build_id(), NUL included */
#define KEPT_NR_TYPES	 1024u /* types that a note has room for */
#define KEPT_NR_NAMES	 1024u /* threads; by their pid modulo this */
#define KEPT_CLOCK_BYTES 16u

struct kept_type {
	uint64_t hash;
	uint16_t type;
	uint16_t unused[3];
};

/* Beside the ring, in the memory that survives. All of it may be damaged. */
struct kept_note {
	_Atomic uint32_t is_translating; /* numbers of types are being replaced in the events */
	uint32_t nr_types;
	char build[TRACE_BUILD_LEN];
	char clock[KEPT_CLOCK_BYTES];
	struct kept_type types[KEPT_NR_TYPES];
	struct trace_cmdline names[KEPT_NR_NAMES];
} __attribute__((aligned(64)));

struct trace_kept {
	struct kept_note *note; /* in the memory; in a copy of the events a copy of it, too */
	struct ring_kept_report found;
	char memory[TRACE_COMM_LEN]; /* its name; "": a copy, which the next reset takes away */
	char build[TRACE_BUILD_LEN]; /* of the last kernel, if it left events */
	bool is_same_build;
	bool was_cut; /* a reset came while numbers of types were being replaced: events are gone */
	bool stays_off;		 /* ^traceoff */
	bool is_copied;		 /* its events are in another instance, too */
	struct trace_kept *next; /* of those with memory */
};

/*
 * Make the instance `name` with its ring in the memory that the host has under the name `memory`. 0;
 * -ENOENT: the host has none; -EINVAL: it is too small; or as trace_instance_create().
 */
int trace_kept_create(const char *name, const char *memory);
/*
 * Make the instance `name` with a copy of the events of the last kernel that `source` holds, and
 * begin `source`. 0; -ENOENT: no such instance is in memory that survives; or as
 * trace_instance_create().
 */
int trace_kept_backup(const char *name, const char *source);
/*
 * All instances of the boot are made: those whose events have been copied begin to record, unless
 * ^traceoff says no. Others with events of the last kernel keep them, which is logged.
 */
void trace_kept_boot_done(void);
/*
 * Begin to record this kernel's events: the last one's go. Recording is off or is about to be
 * switched on. Nothing happens when that was done. Config lock held.
 */
void trace_kept_begin(struct trace_array *tr);
/* Its events are those of the last kernel, and it does not record. Any context. */
static inline bool trace_kept_holds(const struct trace_array *tr)
{
	return atomic_load_explicit(&tr->holds_last, memory_order_relaxed);
}
/* Addresses in its events are those of another build. Any context. */
static inline bool trace_kept_is_foreign(const struct trace_array *tr)
{
	return trace_kept_holds(tr) && !tr->kept->is_same_build;
}
/* The instance has got another clock, and is empty. */
void trace_kept_note_clock(struct trace_array *tr);
/* trace_cmdlines_find() for a thread of the last kernel. */
void trace_kept_comm(const struct trace_array *tr, int32_t pid, char *out_comm);

/* ---- kept_note.c ---- */

/* Note all types that there are now, for events whose numbers are those of this kernel. */
void trace_kept_note_types(struct kept_note *note);
/* Write the note of this kernel. Config lock held. */
void trace_kept_note_write(struct kept_note *note, const char *clock);
/* From now on types that are registered, and threads that get a name, are noted there. */
void trace_kept_note_follow(struct trace_kept *kept);

/* The types of the last kernel, as a check needs them. */
struct kept_types;
/*
 * The types of `note`, for trace_kept_is_sound(). NULL: out of memory. With `is_same_build` events
 * that point to texts of trace_printk() are believed.
 */
struct kept_types *trace_kept_types_make(const struct kept_note *note, bool is_same_build);
void trace_kept_types_free(struct kept_types *types);
/* Has a type another number in this kernel, or none? */
bool trace_kept_types_differ(const struct kept_types *types);
/*
 * The is_sound of <trace/ring_kept.h>, with the types as `arg`: may the event be shown? Replaces its
 * number.
 */
bool trace_kept_is_sound(void *arg, const void *payload, uint32_t len);

#endif
