/*
 * The registry of event types, for who prints events. See <trace/event.h>.
 *
 * Model:   a table by number, in pieces that are made when a number in them is first used. Looking
 *          a type up takes two loads and no lock, whatever the number.
 * Locking: `registry.lock` for changes. A type that was found is counted as used until it is put:
 *          unregistering first takes it out of the table, then waits until nobody uses it.
 */
#ifndef TRACE_INSTANCE_EVENT_H
#define TRACE_INSTANCE_EVENT_H

#include <trace/event.h>

/* The type `type`, which stays registered until it is put; NULL: none. Any context. */
const struct trace_event *trace_event_get(uint16_t type);
/* NULL is fine. Any context. */
void trace_event_put(const struct trace_event *event);

/*
 * Register the `nr` types of a part of trace/, with numbers of their own. They stay for good;
 * several features may write the same ones, and each registers them.
 */
int trace_events_register(struct trace_event *const *events, size_t nr);

#endif
