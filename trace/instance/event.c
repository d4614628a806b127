/*
 * Types of events, and writing one. See event_private.h, <trace/event.h>.
 */
#include <stdatomic.h>
#include <trace/event.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/trace_events.h>
#include "array.h"
#include "entry.h"
#include "event_private.h"
#include "stacktrace.h"
#include "text/str.h"

#define PIECE_SLOTS	256u
#define NR_PIECES	((TRACE_EVENT_MAX_TYPE + 1) / PIECE_SLOTS)
#define WAIT_NS		1000000u /* between two looks whether a type is still used */
#define EVENTS_AT_FIRST 64u /* types for which the sorted array needs no memory of the host's */
#define OWN_DEPTH	1u  /* the ring keeps preemption off from reserve to commit */

struct event_slot {
	struct trace_event *_Atomic event; /* NULL: no such type, or it is leaving */
	_Atomic uint32_t nr_users;
	_Atomic uint32_t bytes; /* of an event, up to the end of its last field */
	bool is_leaving;	/* its number is not free yet; guarded by registry.lock */
};

struct event_piece {
	struct event_slot slots[PIECE_SLOTS];
};

/* The numbers that are known when trace/ is built need no memory of the host's. */
static struct event_piece first_piece;

static struct {
	struct trace_plat_lock lock;
	struct event_piece *_Atomic pieces[NR_PIECES]; /* NULL: no type has a number in it */
	/* Guarded by lock. */
	uint16_t nr_events[NR_PIECES]; /* types that have numbers in each */
	uint32_t newest;	       /* piece */
	uint32_t next_type;	       /* start of the search for a free number */
} registry = { .pieces = { &first_piece }, .next_type = TRACE_EVENT_FIRST_TYPE };

/* All types by system and name; guarded by registry.lock. */
static struct trace_event *first_events[EVENTS_AT_FIRST];
static _Atomic uint64_t version = 1;
static struct {
	struct trace_event **events;
	size_t nr;
	size_t capacity;
} sorted = { .events = first_events, .capacity = EVENTS_AT_FIRST };

/* NULL when there is no piece with it. The lock is held, preemption is off, or the type is used. */
static struct event_slot *slot_of(uint32_t type)
{
	struct event_piece *piece = registry.pieces[type / PIECE_SLOTS];

	return piece ? &piece->slots[type % PIECE_SLOTS] : NULL;
}

static struct trace_event *event_by_type(uint32_t type)
{
	struct event_slot *slot = slot_of(type);

	return slot ? slot->event : NULL;
}

static bool is_number_taken(uint32_t type)
{
	struct event_slot *slot = slot_of(type);

	return slot && (slot->event || slot->is_leaving);
}

const struct trace_event *trace_event_get(uint16_t type, uint32_t *out_bytes)
{
	struct trace_event *event = NULL;
	struct event_slot *slot;

	/* Unregistering waits until such sections have ended before it looks at nr_users. */
	trace_plat_preempt_disable();
	slot = slot_of(type);
	if (slot) {
		event = slot->event;
		*out_bytes = atomic_load_explicit(&slot->bytes, memory_order_relaxed);
	}
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

void (*_Atomic trace_event_added)(const struct trace_event *event);

static bool is_sound(const struct trace_event_field *field)
{
	if (!field->name || !field->type || !field->element_size)
		return false;
	if (field->is_address && field->element_size != sizeof(uint32_t))
		return false;
	if (field->offset < sizeof(struct trace_entry) || field->offset > RING_MAX_PAYLOAD ||
	    field->size > RING_MAX_PAYLOAD - field->offset)
		return false;
	if (field->kind != TRACE_FIELD_PLAIN)
		return field->size == sizeof(uint32_t);
	return field->size % field->element_size == 0;
}

static uint32_t event_bytes_of(const struct trace_event *event)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < event->nr_fields; i++) {
		uint32_t end = event->fields[i].offset + event->fields[i].size;

		bytes = end > bytes ? end : bytes;
	}
	return bytes;
}

static bool is_described(const struct trace_event *event)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (!is_sound(&event->fields[i]))
			return false;
	}
	return event->name && event->system;
}

/* ---- The sorted array ---- */

void trace_events_lock(void)
{
	trace_plat_lock(&registry.lock);
}

void trace_events_unlock(void)
{
	trace_plat_unlock(&registry.lock);
}

size_t trace_nr_events(void)
{
	return sorted.nr;
}

struct trace_event *trace_event_at(size_t i)
{
	return i < sorted.nr ? sorted.events[i] : NULL;
}

uint64_t trace_events_version(void)
{
	return version;
}

void trace_events_changed(void)
{
	version++;
}

static bool comes_before(const struct trace_event *event, const char *system, const char *name)
{
	int order = trace_strcmp(event->system, system);

	return order < 0 || (!order && trace_strcmp(event->name, name) < 0);
}

size_t trace_event_place(const char *system, const char *name)
{
	size_t low = 0, high = sorted.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (comes_before(sorted.events[middle], system, name))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(size_t place, const struct trace_event *event)
{
	const struct trace_event *other = place < sorted.nr ? sorted.events[place] : NULL;

	return other && trace_streq(other->system, event->system) &&
	       trace_streq(other->name, event->name);
}

/* Room for one more. The first ones need no memory of the host's. */
static int event_make_place(void)
{
	size_t capacity = sorted.capacity * 2;
	struct trace_event **events;

	if (sorted.nr < sorted.capacity)
		return 0;
	events = trace_plat_alloc(capacity * sizeof(struct trace_event *));
	if (!events)
		return -ENOMEM;
	memcpy(events, sorted.events, sorted.nr * sizeof(struct trace_event *));
	if (sorted.events != first_events)
		trace_plat_free(sorted.events, sorted.capacity * sizeof(struct trace_event *));
	sorted.events = events;
	sorted.capacity = capacity;
	return 0;
}

static void put_in_place(size_t place, struct trace_event *event)
{
	memmove(&sorted.events[place + 1], &sorted.events[place],
		(sorted.nr - place) * sizeof(struct trace_event *));
	sorted.events[place] = event;
	sorted.nr++;
	trace_events_changed();
}

static void take_from_place(const struct trace_event *event)
{
	size_t place = trace_event_place(event->system, event->name);

	sorted.nr--;
	memmove(&sorted.events[place], &sorted.events[place + 1],
		(sorted.nr - place) * sizeof(struct trace_event *));
	trace_events_changed();
}

/* ---- Numbers ---- */

/* Is `event` registered, or its number or its name in its system in use? Lock held. */
static bool event_is_taken(size_t place, const struct trace_event *event)
{
	return is_at(place, event) || (event->type && is_number_taken(event->type));
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
		if (!is_number_taken(type))
			return (uint16_t)type;
	}
	return 0;
}

/*
 * Free a piece in which no number is given. The newest one stays: the next type gets its number
 * from there. Lock held.
 */
static void free_piece_if_empty(uint32_t nr)
{
	struct event_piece *piece = registry.pieces[nr];

	if (registry.nr_events[nr] || piece == &first_piece || nr == registry.newest)
		return;
	registry.pieces[nr] = NULL;
	trace_plat_synchronize_preempt(); /* no context that has found it reads it any more */
	trace_plat_free(piece, sizeof(*piece));
}

static int make_slot(uint16_t type)
{
	uint32_t before = registry.newest;
	struct event_piece *piece;

	if (slot_of(type))
		return 0;
	piece = trace_plat_alloc(sizeof(*piece));
	if (!piece)
		return -ENOMEM;
	registry.newest = type / PIECE_SLOTS;
	registry.pieces[registry.newest] = piece;
	free_piece_if_empty(before);
	return 0;
}

/* Functions of types that are printed by their fields. */
static const struct trace_event_functions event_no_functions;

/* Lock held. */
static int event_enter(struct trace_event *event)
{
	size_t place = trace_event_place(event->system, event->name);
	uint16_t type = event->type;
	int err;

	if (event_is_taken(place, event))
		return -EEXIST;
	if (type >= TRACE_EVENT_FIRST_TYPE)
		return -EINVAL;
	if (!type)
		type = free_type();
	if (!type)
		return -ENOSPC;
	err = make_slot(type);
	if (!err)
		err = event_make_place();
	if (err)
		return err;
	event->type = type;
	if (!event->funcs)
		event->funcs = &event_no_functions;
	slot_of(type)->bytes = event_bytes_of(event);
	slot_of(type)->event = event;
	registry.nr_events[type / PIECE_SLOTS]++;
	put_in_place(place, event);
	if (trace_event_added)
		trace_event_added(event);
	return 0;
}

int register_trace_event(struct trace_event *event)
{
	int err;

	if (!is_described(event))
		return -EINVAL;
	trace_plat_lock(&registry.lock);
	err = event_enter(event);
	trace_plat_unlock(&registry.lock);
	return err;
}

int trace_event_leave(struct trace_event *event)
{
	struct event_slot *slot;
	int err = -ENOENT;

	trace_plat_lock(&registry.lock);
	slot = slot_of(event->type);
	if (slot && slot->event == event) {
		slot->event = NULL;
		slot->is_leaving = true;
		take_from_place(event);
		err = 0;
	}
	trace_plat_unlock(&registry.lock);
	return err;
}

void trace_event_left(struct trace_event *event)
{
	const uint32_t piece = event->type / PIECE_SLOTS;
	struct event_slot *slot;

	trace_plat_lock(&registry.lock);
	slot = slot_of(event->type);
	while (slot->nr_users)
		trace_plat_pause(WAIT_NS, false);
	slot->is_leaving = false;
	if (event->type >= TRACE_EVENT_FIRST_TYPE)
		event->type = 0;
	registry.nr_events[piece]--;
	free_piece_if_empty(piece);
	trace_plat_unlock(&registry.lock);
}

int unregister_trace_event(struct trace_event *event)
{
	int err = trace_event_leave(event);

	if (err)
		return err;
	trace_plat_synchronize_preempt();
	trace_event_left(event);
	return 0;
}

int trace_events_register(struct trace_event *const *events, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (event_by_type(events[i]->type) != events[i])
			err = register_trace_event(events[i]);
	}
	return err;
}

/* ---- Enumerators ---- */

/* The section that stages/call.h fills. */
TRACE_SECTION(trace_eval_maps);
extern const struct trace_eval_map *const __start_trace_eval_maps[];
extern const struct trace_eval_map *const __stop_trace_eval_maps[];

bool trace_eval_find(const char *system, const char *text, size_t len, unsigned long *out_value)
{
	const struct trace_eval_map *const *at = __start_trace_eval_maps;

	for (; at < __stop_trace_eval_maps; at++) {
		const struct trace_eval_map *map = *at;

		if (trace_strlen(map->text) == len && memcmp(map->text, text, len) == 0 &&
		    trace_streq(map->system, system)) {
			*out_value = map->value;
			return true;
		}
	}
	return false;
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
	if (TRACE_UNLIKELY(trace_userstack_wanted(fbuffer->tr)))
		trace_userstack_write(fbuffer->tr, 0);
}
