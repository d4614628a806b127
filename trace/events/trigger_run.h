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

/* Nothing is to be done later yet; what could be is not cleared. */
static TRACE_ALWAYS_INLINE struct trace_trigger_hit *
trace_visit_begin(struct trace_trigger_visit *visit, const struct trace_event_file *file,
		  void *entry, uint32_t bytes, uintptr_t caller)
{
	visit->hit = (struct trace_trigger_hit){ file, entry, bytes, caller };
	visit->late.is_more = false;
	return &visit->hit;
}

/* A trigger that is marked: is it to be called now? Otherwise it may be called later. */
bool trace_trigger_is_called_now(struct trace_trigger *trigger,
				 const struct trace_trigger_hit *hit);

/*
 * An event's triggers are a list, which a probe walks while others change it: one that is taken out
 * still points to the next one. Acquire: with the release of trigger_publish().
 */
static TRACE_ALWAYS_INLINE struct trace_trigger *
trace_trigger_next(struct trace_trigger *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

/* Call those that act before the event is recorded; what is to be done later is in hit's visit. */
static TRACE_ALWAYS_INLINE void trace_triggers_run(const struct trace_trigger_hit *hit)
{
	struct trace_trigger *trigger = trace_trigger_next(&hit->file->triggers);

	for (; trigger; trigger = trace_trigger_next(&trigger->next)) {
		if (TRACE_LIKELY(!trigger->marks) || trace_trigger_is_called_now(trigger, hit))
			trigger->func(trigger, hit);
	}
}

#endif
