/*
 * Typed names: the meaning of a word in an expression, as a place, a size and a class of comparisons. A
 * front end finds words by functions of its own, which end in a struct expr_value; those of events
 * by trace_expr_find_in_event().
 *
 * Context: thread.
 */
#ifndef TRACE_EXPR_VALUE_H
#define TRACE_EXPR_VALUE_H

#include <trace/event.h>
#include "expr.h"
#include "expr_cursor.h"

enum expr_class {
	EXPR_CLASS_NUMBER,
	EXPR_CLASS_ADDRESS, /* trace_plat_ip_pack() */
	EXPR_CLASS_CPU,	    /* the running CPU */
	EXPR_CLASS_SET,	    /* a set of CPUs */
	EXPR_CLASS_TEXT,
	EXPR_CLASS_STACK, /* addresses of callers */
	EXPR_CLASS_OTHER, /* comparisons with it are always false */
};

struct expr_value {
	enum expr_class class;
	enum expr_place place;
	uint32_t offset;
	uint32_t size; /* bytes */
	bool is_signed;
	const struct trace_event_field *field; /* it is this one; or NULL */
};

/* A word that is no field. */
struct expr_named {
	const char *name;
	struct expr_value value;
};

/* The names that a front end lets an expression about an event have. */
struct expr_names {
	const struct trace_event *event;
	const struct expr_named *words; /* that are no fields */
	uint32_t nr_words;
};

/*
 * Find a name: a field of the event, one of the words, or a field of struct trace_entry, as the
 * `format` file has it; the first of them, in this order. Returns false when there is none such.
 */
bool trace_expr_find_in_event(const struct expr_names *names, const struct expr_word *name,
			      struct expr_value *out_value);

#endif
