/*
 * The registry of event types, for printing events. See <trace/event.h>.
 *
 * Model:   a table by type number, in pieces of 256 that are there while a type has a number in
 *          them. Finding a type takes two loads and no lock, whatever the number.
 *          Beside it an array of all types, sorted by system and name.
 * Locking: `registry.lock` for changes. A type that was found is counted as used until it is put:
 *          unregistering first takes it out of the table, then waits until it has no users.
 */
#ifndef TRACE_EVENT_PRIVATE_H
#define TRACE_EVENT_PRIVATE_H

#include <trace/event.h>

/*
 * The type of number `type`, or NULL when there is none; *out_bytes is the length of an event that
 * has all its fields. It stays registered until the caller calls trace_event_put(). Any context.
 */
const struct trace_event *trace_event_get(uint16_t type, uint32_t *out_bytes);
/* `event` may be NULL. Any context. */
void trace_event_put(const struct trace_event *event);

/*
 * unregister_trace_event() in two steps, with trace_plat_synchronize_preempt() in between, one for
 * all that leave together. leave: the type cannot be found any more; returns 0 or -ENOENT. left: it
 * has no users any more, and its number is free. Thread.
 */
int trace_event_leave(struct trace_event *event);
void trace_event_left(struct trace_event *event);

/*
 * All types, in the order of systems and names. Between lock and unlock none comes or goes; order
 * of locks: config lock, this one. Thread.
 */
void trace_events_lock(void);
void trace_events_unlock(void);
/* The number of types; type number `i`, NULL behind the last. The lock is held. */
size_t trace_nr_events(void);
struct trace_event *trace_event_at(size_t i);
/*
 * The number of the first type that comes not before (system, name); with "" as the name the first
 * one of the system. The lock is held.
 */
size_t trace_event_place(const char *system, const char *name);

/* Called for each type that is registered, with the lock held; NULL: none listens. */
extern void (*_Atomic trace_event_added)(const struct trace_event *event);

/* A number that is another one when a type has come or gone. */
uint64_t trace_events_version(void);
/* Have it be another one, because a type is about to go. */
void trace_events_changed(void);

/*
 * The value of an enumerator, or of a sizeof(), that definitions of a system have made known by
 * TRACE_DEFINE_ENUM() and TRACE_DEFINE_SIZEOF(): of the `len` characters at `text`. Any context.
 */
bool trace_eval_find(const char *system, const char *text, size_t len, unsigned long *out_value);

/*
 * Register the `nr` types that a part of trace/ writes; they have fixed numbers and stay for good.
 * Types that are registered already are left alone, so several features may register the same. 0,
 * or an error of register_trace_event().
 */
int trace_events_register(struct trace_event *const *events, size_t nr);

#endif
