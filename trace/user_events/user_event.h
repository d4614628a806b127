/*
 * User events, inside: see <trace/user_events.h>.
 *
 *   user_event.c        the list of them: making, references, removal; lines `u:` of dynamic_events
 *   user_event_parse.c  fields of a definition, and their texts
 *   user_event_write.c  an event written by a program: what is wrong with it, its line in `trace`
 *   user_event_files.c  user_events_data, user_events_status
 *
 * Context:   thread; printing - any.
 * Locking:   the config lock; references are counted without it, but get one only with it.
 * Ownership: an event belongs to the list of dyn_event.h.
 */
#ifndef USER_EVENT_H
#define USER_EVENT_H

#include <stdatomic.h>
#include <trace/trace_events.h>
#include <trace/user_events.h>
#include "events/dyn_event.h"
#include "expr/expr_cursor.h"

struct trace_user_event {
	_Atomic uint32_t nr_refs;
	_Atomic bool is_on;
	bool is_kept;	    /* a sweep has found it in use */
	uint32_t flags;	    /* TRACE_USER_EVENT_* */
	uint32_t min_bytes; /* of its fields, without struct trace_entry */
	bool has_data;	    /* some are described by words: they are checked when it is written */
	struct trace_event_call call;
	struct dyn_event dyn;
	const char *
		name; /* as registered; with MULTI_FORMAT that of the event has a number behind it */
	size_t bytes; /* of the whole allocation, with the fields and texts behind it */
};

static inline struct trace_user_event *user_event_of_call(const struct trace_event_call *call)
{
	return (struct trace_user_event *)((char *)(uintptr_t)call -
					   offsetof(struct trace_user_event, call));
}

/* ---- user_event.c ---- */

extern const struct dyn_event_kind trace_user_event_kinds[];
extern struct trace_event_guard trace_user_event_guard;
/*
 * Find the event of a definition, or make it. It has one reference more. 0 or -errno, with a mistake in *error. Config lock
 * held.
 */
int trace_user_event_make(const char *definition, uint32_t flags,
			  struct trace_user_event **out_event, struct dyn_event_error *error);

/* ---- user_event_parse.c ---- */

/* A field, as written. */
struct user_field {
	struct expr_word type; /* without the words in front, and without brackets */
	struct expr_word name;
	uint8_t kind; /* enum trace_field_kind */
	bool is_unsigned, is_struct;
	uint32_t size, element_size;
};

/*
 * Take the next field off *text. 1; 0: there is none; -EINVAL after blaming.
 */
int trace_user_field_next(const char **text, struct user_field *out, struct dyn_event_error *error);
/* Bytes of the texts of a field, NULs included. */
size_t trace_user_field_bytes(const struct user_field *field);
/* Describe it, with its texts at `text`. Returns the place behind them. The memory is zeroed. */
char *trace_user_field_fill(const struct user_field *field, uint32_t offset,
			    struct trace_event_field *out, char *text);
/* Is the written one that field? */
bool trace_user_field_is(const struct user_field *field, const struct trace_event_field *own);
/* Write it as listed: `unsigned int a`, `char[20] b`, `struct s c 20`. */
void trace_user_field_show(const struct trace_event_field *field, struct trace_seq *seq);
/* Most bytes of the print fmt of a field, without its name, and how often that is in it. */
#define USER_FIELD_FMT_BYTES 32u
#define USER_FIELD_FMT_NAMES 2u
void trace_user_fields_fmt(const struct trace_event *event, struct trace_seq *seq);

/* ---- user_event_write.c ---- */

/*
 * Write an event with these values. The bytes; -EBADF: it is not on; -EINVAL: they are too few; -E2BIG: too many;
 * -EFAULT: a word describes bytes that are not there, or a text without an end; -ENOMEM.
 */
int64_t trace_user_event_write(struct trace_user_event *event, const void *values, size_t bytes);
extern const struct trace_event_functions trace_user_event_functions;

#endif
