/*
 * User events: events that programs define and write themselves, by the file user_events_data. This is the part that a host
 * calls for the requests (ioctl) on that file; the words and numbers of these are the host's, by Linux's <linux/user_events.h>.
 *
 * 	program --register--> index in its open file, and a word of its memory with a bit that is 1 while it is wanted
 * 	        --write-->    index, values   --> trace_user_event's rings
 *
 * The host keeps who wants which bit (an enabler), and sets or clears it when the event's use begins or ends: it is told so
 * by trace_user_events_host.changed().
 *
 * Context:   thread.
 * Locking:   the config lock, which no caller holds.
 * Ownership: an event is there while it has references: one for each open file that has registered it, one for each enabler.
 *            Without them it goes by itself once it is not on; one that is persistent stays until it is removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_USER_EVENTS_H
#define TRACE_USER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_handle;
struct trace_user_event;

#define TRACE_USER_EVENT_TEXT_MAX 512u /* bytes of a definition, with NUL */

/* As Linux's enum user_reg_flag. */
#define TRACE_USER_EVENT_PERSIST 1u /* it stays without references */
#define TRACE_USER_EVENT_MULTI_FORMAT                                                              \
	2u /* events of one name may have different fields: see the documentation */
#define TRACE_USER_EVENT_FLAGS 3u

struct trace_user_events_host {
	/* The event begins or ends to be used: trace_user_event_is_on(). Config lock held. */
	void (*changed)(struct trace_user_event *event);
};

/*
 * Register the event of a definition, `NAME[ TYPE FIELD[; TYPE FIELD]...]`, in a file user_events_data that is open; one
 * that is there with the same fields is taken. Returns its index for writes, and in *out_event a reference for an enabler.
 * -ENOTTY: it is another file; -EINVAL: no definition; -EADDRINUSE: there is one of other fields; -ENOSPC, -ENOMEM.
 */
int trace_user_events_register(struct trace_handle *handle, const char *definition, uint32_t flags,
			       struct trace_user_event **out_event);
/* Is the file user_events_data? Any context. */
bool trace_user_events_is_data(const struct trace_handle *handle);
/* One more reference, of an event that has one; one less. Any context that may take locks. */
void trace_user_event_get(struct trace_user_event *event);
void trace_user_event_put(struct trace_user_event *event);
/* Is it on in some instance, or has it triggers: does a write make sense? Any context. */
bool trace_user_event_is_on(const struct trace_user_event *event);
/*
 * Remove an event. -ENOENT; -EBUSY: it has references, or is on; -EPERM: it is persistent, and the caller may not do that.
 */
int trace_user_event_delete(const char *name, bool may_persistent);

TRACE_END_DECLS

#endif
