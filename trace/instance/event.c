/*
 * Types of events, and writing one. See event_private.h, <trace/event.h>.
 */
#include <stdatomic.h>
#include <trace/event.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "array.h"
#include "entry.h"
#include "event_private.h"
#include "stacktrace.h"
#include "text/str.h"

#define PIECE_SLOTS 256u
#define NR_PIECES   ((TRACE_EVENT_MAX_TYPE + 1) / PIECE_SLOTS)
#define WAIT_NS	    1000000u /* between two looks whether a type is still used */
#define OWN_DEPTH   1u	     /* the ring keeps preemption off from reserve to commit */

struct event_slot {
	struct trace_event *_Atomic event; /* NULL: no such type */
	_Atomic uint32_t nr_users;
};

struct event_piece {
	struct event_slot slots[PIECE_SLOTS];
};

/* The numbers that are known when trace/ is built need no memory of the host's. */
static struct event_piece first_piece;

static struct {
	struct trace_plat_lock lock;
	struct event_piece *_Atomic pieces[NR_PIECES]; /* NULL, or made and never freed */
	uint32_t next_type; /* where to look for a free number; guarded by lock */
} registry = { .pieces = { &first_piece }, .next_type = TRACE_EVENT_FIRST_TYPE };

/* NULL when the piece of this number has not been made yet. */
static struct event_slot *slot_of(uint32_t type)
{
	struct event_piece *piece = registry.pieces[type / PIECE_SLOTS];

	return piece ? &piece->slots[type % PIECE_SLOTS] : NULL;
}

static struct trace_event *event_of(uint32_t type)
{
	struct event_slot *slot = slot_of(type);

	return slot ? slot->event : NULL;
}

const struct trace_event *trace_event_get(uint16_t type)
{
	struct event_slot *slot = slot_of(type);
	struct trace_event *event;

	if (!slot)
		return NULL;
	/* Unregistering waits until such sections have ended before it looks at nr_users. */
	trace_plat_preempt_disable();
	event = slot->event;
	if (event)
		slot->nr_users++;
	trace_plat_preempt_enable();
	return event;
}

void trace_event_put(const struct trace_event *event)
{
	if (event)
		slot_of(event->type)->nr_users--;
}

/* ---- Registering ---- */

static bool is_sound(const struct trace_event_field *field)
{
	if (!field->name || !field->type || !field->element_size)
		return false;
	if (field->is_address && field->element_size != sizeof(uint32_t))
		return false;
	return field->offset >= sizeof(struct trace_entry) && field->offset <= RING_MAX_PAYLOAD &&
	       field->size <= RING_MAX_PAYLOAD - field->offset &&
	       field->size % field->element_size == 0;
}

static bool is_described(const struct trace_event *event)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (!is_sound(&event->fields[i]))
			return false;
	}
	return event->name && event->system;
}

/* Is the number of `event`, or its name in its system, in use, or is it registered? Lock held. */
static bool is_taken(const struct trace_event *event)
{
	const struct trace_event *other;

	for (uint32_t type = 1; type <= TRACE_EVENT_MAX_TYPE; type++) {
		if (!registry.pieces[type / PIECE_SLOTS]) {
			type |= PIECE_SLOTS - 1;
			continue;
		}
		other = event_of(type);
		if (!other)
			continue;
		if (type == event->type || other == event ||
		    (trace_streq(other->name, event->name) &&
		     trace_streq(other->system, event->system)))
			return true;
	}
	return false;
}

/*
 * A number that no type has, or 0. Numbers are given in turn, not the lowest first: events of a
 * type that was unregistered may still be in buffers, and the next type should not have their
 * number. Lock held.
 */
static uint16_t free_type(void)
{
	for (uint32_t i = TRACE_EVENT_FIRST_TYPE; i <= TRACE_EVENT_MAX_TYPE; i++) {
		uint32_t type = registry.next_type;

		registry.next_type =
			type < TRACE_EVENT_MAX_TYPE ? type + 1 : TRACE_EVENT_FIRST_TYPE;
		if (!event_of(type))
			return (uint16_t)type;
	}
	return 0;
}

static int make_slot(uint16_t type)
{
	struct event_piece *piece;

	if (slot_of(type))
		return 0;
	piece = trace_plat_alloc(sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	registry.pieces[type / PIECE_SLOTS] = piece;
	return 0;
}

/* Lock held. */
static int enter(struct trace_event *event)
{
	uint16_t type = event->type;
	int err;

	if (is_taken(event))
		return -EEXIST;
	if (type >= TRACE_EVENT_FIRST_TYPE)
		return -EINVAL;
	if (!type)
		type = free_type();
	if (!type)
		return -ENOSPC;
	err = make_slot(type);
	if (err)
		return err;
	event->type = type;
	slot_of(type)->event = event;
	return 0;
}

int register_trace_event(struct trace_event *event)
{
	int err;

	if (!is_described(event))
		return -EINVAL;
	trace_plat_lock(&registry.lock);
	err = enter(event);
	trace_plat_unlock(&registry.lock);
	return err;
}

int unregister_trace_event(struct trace_event *event)
{
	struct event_slot *slot = slot_of(event->type);
	int err = -ENOENT;

	trace_plat_lock(&registry.lock);
	if (slot && slot->event == event) {
		slot->event = NULL;
		trace_plat_synchronize_preempt(); /* everybody who found it is in nr_users now */
		while (slot->nr_users)
			trace_plat_pause(WAIT_NS, false);
		if (event->type >= TRACE_EVENT_FIRST_TYPE)
			event->type = 0;
		err = 0;
	}
	trace_plat_unlock(&registry.lock);
	return err;
}

int trace_events_register(struct trace_event *const *events, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (event_of(events[i]->type) != events[i])
			err = register_trace_event(events[i]);
	}
	return err;
}

/* ---- Writing ---- */

void *trace_event_buffer_reserve(struct trace_event_buffer *fbuffer, struct trace_array *tr,
				 const struct trace_event *event, size_t bytes)
{
	void *entry;

	fbuffer->tr = tr ? tr : &trace_global;
	/* Load `buffer` once for each event: a snapshot may exchange the buffers at any moment. */
	fbuffer->buffer = fbuffer->tr->buffer;
	if (!fbuffer->buffer)
		return NULL;
	entry = ring_buffer_lock_reserve(fbuffer->buffer, bytes);
	if (entry)
		trace_entry_init(entry, event->type, OWN_DEPTH);
	return entry;
}

void trace_event_buffer_commit(struct trace_event_buffer *fbuffer, void *entry)
{
	ring_buffer_unlock_commit(fbuffer->buffer, entry);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(fbuffer->tr)))
		trace_stacktrace_code(fbuffer->buffer, (uintptr_t)__builtin_frame_address(0), 0);
}
