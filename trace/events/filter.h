/*
 * Filters of trace events: an expression over the fields of an event, such as
 *
 *	prev_state != 0 && (comm == "sh" || next_comm ~ "kworker*")
 *
 * compiled into tests that a probe runs on each event. docs/event-filters.md has the language.
 *
 * Context:   compiling, freeing - thread. Matching - any, NMI included, preemption off.
 * Ownership: a filter belongs to who compiled it, and does not change. It refers neither to the
 *            type of event nor to the text that it was compiled from.
 */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event;
struct trace_event_test;
struct trace_filter;

/* What is wrong with a text. Words and positions are those of Linux. */
struct trace_filter_error {
	const char *why; /* a constant; trace_filter_syntax: nothing more is known */
	/*
	 * Index in the text, for a caret. Of a mistake within a comparison, it is where the
	 * compiler had come to, plus 1, which may be one more than the text has characters.
	 */
	size_t pos;
};
extern const char trace_filter_syntax[];

/*
 * Compile `text` for events of the type `event`. 0; -ENOMEM; or with *error filled in, -EINVAL or
 * what Linux returns in its place.
 */
int trace_filter_compile(const struct trace_event *event, const char *text,
			 struct trace_filter **out_filter, struct trace_filter_error *error);
/* Nobody may be matching with it any more. NULL does nothing. */
void trace_filter_free(struct trace_filter *filter);
/*
 * Does the event at `entry` pass, of which there are `len` bytes? One that is too short for a field
 * that the filter names does not. The running CPU and thread are taken for those of the event.
 */
bool trace_filter_match(const struct trace_filter *filter, const void *entry, uint32_t len);
/*
 * What an event has to be tested for first, in the memory of the filter: see
 * <trace/event_probe.h>. It needs no head, and looks at no byte behind the fields of the type.
 */
const struct trace_event_test *trace_filter_first(const struct trace_filter *filter);
/* Does it ask for a field of struct trace_entry, the head of all events? Any context. */
bool trace_filter_needs_head(const struct trace_filter *filter);

#endif
