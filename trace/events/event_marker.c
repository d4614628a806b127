/*
 * Triggers of the event ftrace:print. See event_marker.h. Triggers see a copy of the event on the
 * scratch pad of the CPU: the one in the ring already belongs to readers, and ends with a newline.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "event_marker.h"
#include "event_scratch.h"
#include "trigger_run.h"
#include "instance/entry.h"
#include "instance/event_private.h"
#include "print/output.h"
#include "text/str.h"

#define OWN_DEPTH 1u /* preemption is off while triggers are called */
#define TEXT_MAX  (RING_MAX_PAYLOAD - sizeof(struct trace_print_entry) - 1) /* NUL */

/* Call the triggers. Stacks begin with the caller of marker_written(), as if that were a probe. */
static TRACE_NOINLINE void marker_call_triggers(const struct trace_event_file *file, void *entry,
						uint32_t bytes)
{
	struct trace_trigger_visit visit;
	struct trace_trigger_hit *hit = trace_visit_begin(&visit, file, entry, bytes,
							  (uintptr_t)__builtin_return_address(0));

	trace_triggers_call(hit);
	if (visit.late.is_more)
		trace_triggers_call_late(hit);
}

static void marker_written(struct trace_array *tr, uintptr_t ip, const char *text, size_t len)
{
	const struct trace_event_file *file = trace_events_of(tr)->marker;
	struct trace_print_entry *entry;

	if (!(trace_event_flags(&file->front) & TRACE_EVENT_TRIGGERS))
		return;
	if (len && text[len - 1] == '\n')
		len--;
	if (len > TEXT_MAX)
		len = TEXT_MAX;
	trace_plat_preempt_disable();
	entry = trace_event_scratch_get();
	if (entry) {
		trace_entry_init(&entry->ent, file->type, file->own_depth);
		entry->ip = trace_plat_ip_pack(ip);
		memcpy(entry->text, text, len);
		entry->text[len] = '\0';
		marker_call_triggers(file, entry, (uint32_t)(sizeof(*entry) + len + 1));
		trace_event_scratch_put();
	} else {
		atomic_fetch_add(&trace_events_of(tr)->nr_unseen, 1);
	}
	trace_plat_preempt_enable();
}

void trace_event_marker_init(void)
{
	trace_event_front_init(&trace_marker_call);
	trace_events_lock();
	trace_marker_call.event.call = &trace_marker_call;
	trace_events_unlock();
}

/* Release: a writer that finds the function finds the file. */
void trace_event_marker_begin(struct trace_event_file *file)
{
	file->own_depth = OWN_DEPTH;
	trace_events_of(file->tr)->marker = file;
	atomic_store_explicit(&file->tr->marker_written, marker_written, memory_order_release);
}
