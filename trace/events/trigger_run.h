/*
 * Calling the triggers of an event: the inline half of trigger.h, for event_write.c.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef TRACE_TRIGGER_RUN_H
#define TRACE_TRIGGER_RUN_H

#include <trace/compiler.h>
#include "event_file.h"
#include "trigger.h"

/* Begin a visit: without late work yet. Room for late work is not cleared. */
static TRACE_ALWAYS_INLINE struct trace_trigger_hit *
trace_visit_begin(struct trace_trigger_visit *visit, const struct trace_event_file *file,
		  void *entry, uint32_t bytes, uintptr_t caller)
{
	visit->hit = (struct trace_trigger_hit){ file, entry, bytes, caller };
	visit->late.is_more = false;
	return &visit->hit;
}

/* Is a marked trigger to be called now? Otherwise it may be called later. */
bool trace_trigger_is_called_now(struct trace_trigger *trigger,
				 const struct trace_trigger_hit *hit);

/*
 * The next trigger of a list. A probe walks it while others change it: a trigger taken out still
 * points to the next one. Acquire: with the release of trigger_publish().
 */
static TRACE_ALWAYS_INLINE struct trace_trigger *
trace_trigger_next(struct trace_trigger *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

/* Call the triggers that act before the record; late work is in hit's visit. */
static TRACE_ALWAYS_INLINE void trace_triggers_run(const struct trace_trigger_hit *hit)
{
	struct trace_trigger *trigger = trace_trigger_next(&hit->file->triggers);

	for (; trigger; trigger = trace_trigger_next(&trigger->next)) {
		if (TRACE_LIKELY(!trigger->marks) || trace_trigger_is_called_now(trigger, hit))
			trigger->func(trigger, hit);
	}
}

#endif
