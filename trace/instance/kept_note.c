/*
 * Notes beside kept rings: types of events and names of threads, for the next kernel; and the check
 * of the last kernel's events by its types. See kept.h.
 */
#include <trace/trace.h>
#include "entry.h"
#include "event_private.h"
#include "kept.h"
#include "text/str.h"

#define HASH_START  0xcbf29ce484222325ull
#define HASH_FACTOR 0x100000001b3ull

/* Notes that are followed; only added to, with the config lock held. */
static struct trace_kept *_Atomic followed;

/* The formats of trace_printk(): the only texts that events point to. */
TRACE_SECTION(trace_printk_fmts);
extern const char *const __start_trace_printk_fmts[];
extern const char *const __stop_trace_printk_fmts[];

/* A type of the last kernel. */
struct kept_number {
	/* An event with so many bytes may be shown as it is; UINT16_MAX: there is more to look at. */
	uint16_t plain_bytes;
	uint16_t to;	/* its number now; 0: this kernel has no such type */
	uint16_t bytes; /* that an event has at least */
	bool is_there;
	const struct trace_event *checked; /* NULL: it has no texts and no values behind its end */
};

struct kept_types {
	bool is_same_build;
	bool do_differ;
	uint32_t nr;
	struct kept_number numbers[];
};

/* ---- Hashes ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * HASH_FACTOR;
	return hash * HASH_FACTOR;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * HASH_FACTOR;
}

/* Of the name and of all that says how an event is read. */
static uint64_t hash_event(const struct trace_event *event)
{
	uint64_t hash = hash_text(hash_text(HASH_START, event->system), event->name);

	for (size_t i = 0; i < event->nr_fields; i++) {
		const struct trace_event_field *field = &event->fields[i];

		hash = hash_text(hash_text(hash, field->name), field->type);
		hash = hash_number(hash, (uint64_t)field->offset << 32 | field->size);
		hash = hash_number(hash, (uint64_t)field->element_size << 32 |
						 (uint32_t)field->kind << 8 | field->is_signed);
	}
	return hash;
}

/* ---- Writing notes ---- */

/* When there is no room the next kernel will not know the type. */
static void note_type(struct kept_note *note, const struct trace_event *event)
{
	uint32_t nr = note->nr_types;

	if (nr >= KEPT_NR_TYPES)
		return;
	note->types[nr] = (struct kept_type){ .hash = hash_event(event), .type = event->type };
	__atomic_store_n(&note->nr_types, nr + 1, __ATOMIC_RELEASE);
}

/* A type was registered; the lock of types is held. */
static void note_new_type(const struct trace_event *event)
{
	for (struct trace_kept *kept = followed; kept; kept = kept->next)
		note_type(kept->note, event);
}

static void note_name(struct kept_note *note, int32_t pid, const char *comm)
{
	struct trace_cmdline *line = &note->names[(uint32_t)pid % KEPT_NR_NAMES];

	line->pid = pid;
	trace_strcpy(line->comm, comm, sizeof(line->comm));
}

void trace_thread_named(int32_t pid, const char *comm)
{
	for (struct trace_kept *kept = followed; kept; kept = kept->next)
		note_name(kept->note, pid, comm);
}

void trace_kept_note_types(struct kept_note *note)
{
	trace_events_lock();
	note->nr_types = 0;
	for (size_t i = 0; i < trace_nr_events(); i++)
		note_type(note, trace_event_at(i));
	note->is_translating = false;
	trace_events_unlock();
}

void trace_kept_note_write(struct kept_note *note, const char *clock)
{
	struct trace_cmdline_list *living;

	trace_events_lock(); /* a type that is registered meanwhile is noted there */
	memset(note, 0, sizeof(*note));
	trace_strcpy(note->build, trace_plat_build_id(), sizeof(note->build));
	trace_strcpy(note->clock, clock, sizeof(note->clock));
	trace_events_unlock();
	living = trace_cmdlines_living(false);
	for (size_t i = 0; living && i < living->nr; i++)
		note_name(note, living->lines[i].pid, living->lines[i].comm);
	trace_cmdlines_put_list(living);
	trace_kept_note_types(note);
}

void trace_kept_note_follow(struct trace_kept *kept)
{
	trace_events_lock();
	for (struct trace_kept *at = followed; at; at = at->next) {
		if (at == kept)
			goto unlock;
	}
	kept->next = followed;
	followed = kept;
	trace_event_added = note_new_type;
unlock:
	trace_events_unlock();
}

/* ---- Reading notes ---- */

static bool kept_is_text(const struct trace_event_field *field)
{
	return field->element_size == 1 &&
	       (trace_streq(field->type, "char") || trace_streq(field->type, "const char"));
}

static bool is_pointer_to_text(const struct trace_event_field *field)
{
	size_t len = trace_strlen(field->type);

	return field->kind == TRACE_FIELD_PLAIN && len > 6 &&
	       trace_streq(field->type + len - 6, "char *");
}

/* Has the type something that has to be looked at in each event? */
static bool has_checked_field(const struct trace_event *event)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		const struct trace_event_field *field = &event->fields[i];

		if (field->kind != TRACE_FIELD_PLAIN || is_pointer_to_text(field) ||
		    (kept_is_text(field) && (field->size > 1 || event->type == TRACE_TYPE_PRINT)))
			return true;
	}
	return false;
}

static uint16_t kept_bytes_of(const struct trace_event *event)
{
	uint32_t bytes = sizeof(struct trace_entry);

	for (size_t i = 0; i < event->nr_fields; i++) {
		uint32_t end = event->fields[i].offset + event->fields[i].size;

		bytes = end > bytes ? end : bytes;
	}
	return (uint16_t)bytes;
}

static void know_number(struct kept_types *types, const struct kept_type *old,
			const uint64_t *hashes)
{
	struct kept_number *number = &types->numbers[old->type];
	struct trace_event *event;
	size_t i;

	for (i = 0; i < trace_nr_events() && hashes[i] != old->hash; i++)
		continue;
	event = trace_event_at(i);
	*number = (struct kept_number){ .is_there = true,
					.plain_bytes = UINT16_MAX,
					.bytes = sizeof(struct trace_entry) };
	if (event) {
		number->to = event->type;
		number->bytes = kept_bytes_of(event);
		number->checked = has_checked_field(event) ? event : NULL;
		if (!number->checked && number->to == old->type)
			number->plain_bytes = number->bytes;
	}
	types->do_differ |= number->to != old->type;
}

/* The hash of each type of this kernel; the lock of types is held. NULL: no memory. */
static uint64_t *make_hashes(size_t nr)
{
	uint64_t *hashes = trace_plat_alloc((nr + 1) * sizeof(*hashes));

	for (size_t i = 0; hashes && i < nr; i++)
		hashes[i] = hash_event(trace_event_at(i));
	return hashes;
}

static size_t types_bytes(uint32_t nr_numbers)
{
	return sizeof(struct kept_types) + nr_numbers * sizeof(struct kept_number);
}

static struct kept_types *types_alloc(const struct kept_note *note, uint32_t nr_types)
{
	uint32_t nr = 1;
	struct kept_types *types;

	for (uint32_t i = 0; i < nr_types; i++) {
		if (note->types[i].type >= nr)
			nr = note->types[i].type + 1u;
	}
	types = trace_plat_alloc(types_bytes(nr));
	if (!types)
		return NULL;
	types->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		types->numbers[i].plain_bytes = UINT16_MAX;
	types->numbers[0].is_there = true; /* of types that were unknown before */
	return types;
}

struct kept_types *trace_kept_types_make(const struct kept_note *note, bool is_same_build)
{
	uint32_t nr = note->nr_types < KEPT_NR_TYPES ? note->nr_types : KEPT_NR_TYPES;
	struct kept_types *types = types_alloc(note, nr);
	size_t nr_hashes;
	uint64_t *hashes;

	if (!types)
		return NULL;
	types->is_same_build = is_same_build;
	trace_events_lock();
	nr_hashes = trace_nr_events();
	hashes = make_hashes(nr_hashes);
	for (uint32_t i = 0; hashes && i < nr; i++)
		know_number(types, &note->types[i], hashes);
	trace_events_unlock();
	if (hashes) {
		trace_plat_free(hashes, (nr_hashes + 1) * sizeof(*hashes));
		return types;
	}
	trace_kept_types_free(types);
	return NULL;
}

void trace_kept_types_free(struct kept_types *types)
{
	if (types)
		trace_plat_free(types, types_bytes(types->nr));
}

bool trace_kept_types_differ(const struct kept_types *types)
{
	return types->do_differ;
}

/* ---- Events ---- */

static bool has_end(const uint8_t *text, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		if (!text[i])
			return true;
	}
	return false;
}

/* Is the value inside the event, and a text ended there? */
static bool is_field_sound(const struct trace_event *event, const struct trace_event_field *field,
			   const uint8_t *data, uint32_t len)
{
	uint32_t loc, at = field->offset, bytes = field->size;

	if (field->kind != TRACE_FIELD_PLAIN) {
		memcpy(&loc, data + at, sizeof(loc));
		at = (loc & 0xffffu) +
		     (field->kind == TRACE_FIELD_REL_LOC ? field->offset + field->size : 0);
		bytes = loc >> 16;
		if (at > len || bytes > len - at)
			return false;
		return !kept_is_text(field) || has_end(data + at, bytes);
	}
	if (!kept_is_text(field) || (bytes < 2 && event->type != TRACE_TYPE_PRINT))
		return true;
	return has_end(data + at, bytes ? bytes : len - at);
}

static bool is_format(const char *text)
{
	const char *const *at = __start_trace_printk_fmts;

	while (at < __stop_trace_printk_fmts && *at != text)
		at++;
	return text && at < __stop_trace_printk_fmts;
}

/* Does the field, if it is a pointer, point to a text that this kernel has there, too? */
static bool is_known_pointer(const struct kept_types *types, const struct trace_event_field *field,
			     const uint8_t *data)
{
	const char *text;

	if (!is_pointer_to_text(field))
		return true;
	memcpy(&text, data + field->offset, sizeof(text));
	return types->is_same_build && is_format(text);
}

/* trace_kept_is_sound() for an event that is not plain. */
static TRACE_NOINLINE bool is_other_sound(const struct kept_types *types, struct trace_entry *entry,
					  uint32_t len)
{
	const struct kept_number *number = &types->numbers[entry->type];
	const struct trace_event *event = number->checked;

	if (!number->is_there || len < number->bytes)
		return false;
	if (number->to != entry->type)
		entry->type = number->to;
	for (size_t i = 0; event && i < event->nr_fields; i++) {
		if (!is_field_sound(event, &event->fields[i], (const uint8_t *)entry, len))
			return false;
		if (!is_known_pointer(types, &event->fields[i], (const uint8_t *)entry))
			entry->type = 0;
	}
	return true;
}

bool trace_kept_is_sound(void *arg, const void *payload, uint32_t len)
{
	const struct kept_types *types = arg;
	const struct trace_entry *entry = payload;

	if (TRACE_UNLIKELY(len < sizeof(*entry) || entry->type >= types->nr))
		return false;
	if (TRACE_LIKELY(len >= types->numbers[entry->type].plain_bytes))
		return true;
	return is_other_sound(types, (struct trace_entry *)(uintptr_t)payload, len);
}
