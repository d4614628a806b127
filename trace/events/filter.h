/*
 * Filters of trace events: an expression over the fields of an event, such as
 *
 * 	prev_state != 0 && (comm == "sh" || next_comm ~ "kworker*")
 *
 * compiled into tests that a probe runs on each event. docs/event-filters.md has the language.
 *
 * Context:   compiling, freeing - thread. Matching - any, NMI included, preemption off.
 * Ownership: a filter belongs to the caller that compiled it, and does not change. It refers
 *            neither to the type of event nor to the text that it was compiled from.
 */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_event;
struct trace_event_test;
struct trace_filter;

/* A mistake in a filter's text. Words and positions are Linux's. */
struct trace_filter_error {
	const char *why; /* a constant; trace_filter_syntax when there is no further reason */
	/*
	 * Index in the text, for a caret. For a mistake within a comparison, it is the compiler's
	 * position plus 1, which may be one more than the text has characters.
	 */
	size_t pos;
};
extern const char trace_filter_syntax[];

/*
 * Compile `text` for events of the type `event`. Returns 0; -ENOMEM; or with *error filled in
 * -EINVAL, or Linux's error in its place.
 */
int trace_filter_compile(const struct trace_event *event, const char *text,
			 struct trace_filter **out_filter, struct trace_filter_error *error);
/* Free a filter that no context is using any more; NULL is allowed. */
void trace_filter_free(struct trace_filter *filter);
/*
 * Does the event of `len` bytes at `entry` pass? An event too short for a field of the filter does
 * not. The running CPU and thread count as the event's.
 */
bool trace_filter_match(const struct trace_filter *filter, const void *entry, uint32_t len);
/*
 * The first test of an event, in the memory of the filter: see <trace/event_probe.h>. It needs no
 * head, and reads no byte behind the fields of the type.
 */
const struct trace_event_test *trace_filter_first(const struct trace_filter *filter);
/* Does the filter use a field of struct trace_entry, the head of all events? Any context. */
bool trace_filter_needs_head(const struct trace_filter *filter);

#endif
