/* Shared declarations of the files of synthetic events. See synth_event.h. */
#ifndef SYNTH_PRIVATE_H
#define SYNTH_PRIVATE_H

#include <stddef.h>
#include "expr/expr_cursor.h"
#include "synth_event.h"

/* ---- synth_parse.c ---- */

/* A field as written: `unsigned int a`, `char a[16]`, `char[16] a`. */
struct synth_parsed {
	/* Type without `unsigned`; array if it stands behind the name. */
	struct expr_word type, name, array;
	bool is_unsigned; /* `unsigned` stood in front */
	uint8_t kind;	  /* enum synth_kind */
	uint16_t size;	  /* as in struct synth_field */
	bool is_signed;
};

/*
 * Parse the next field of *text, which goes on behind it. Returns 1; 0 when there is none; -EINVAL
 * after blaming.
 */
int trace_synth_parse_field(const char **text, struct dyn_event_error *error,
			    struct synth_parsed *out);
/* Blame `at`, in error_log as a mistake of synthetic events. Returns -EINVAL. */
int trace_synth_refuse(struct dyn_event_error *error, const char *at, const char *why);

/* ---- synth_text.c ---- */

void trace_synth_print(const struct trace_iter *iter, struct trace_seq *seq);
/* Most bytes of the print fmt of a field, without its names. */
#define SYNTH_FMT_BYTES 96u
#define SYNTH_FMT_NAMES 4u /* most occurrences of the field's name in its print fmt */
/* Write the event's print fmt, and a NUL. */
void trace_synth_print_fmt(const struct synth_event *event, char *to, size_t size);

/* The synthetic event of a type. */
static inline const struct synth_event *synth_event_of(const struct trace_event *type)
{
	return (const struct synth_event *)((const char *)type->call -
					    offsetof(struct synth_event, call));
}

#endif
