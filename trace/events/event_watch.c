/* Watches of events. See event_watch.h. */
#include "event_file.h"
#include "event_filter.h"
#include "event_watch.h"
#include "instance/entry.h"

/* Acquire: with the release of trace_event_watch_add(). */
static struct trace_event_watch *watch_next_of(struct trace_event_watch *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

static TRACE_NOINLINE void event_watch_call_all(struct trace_event_watch *watch,
						const struct trace_event_hit *hit, void *entry)
{
	trace_entry_init(entry, hit->file->type, hit->file->own_depth);
	for (; watch; watch = watch_next_of(&watch->next))
		watch->func(watch, hit);
}

void trace_event_watches_call(const struct trace_event_file *file, void *entry, uint32_t bytes,
			      uintptr_t caller)
{
	const struct trace_event_hit hit = { file, entry, bytes, caller };
	struct trace_event_watch *watch = watch_next_of(&file->watches);

	if (TRACE_LIKELY(watch && watch->ignores_head && !watch_next_of(&watch->next)))
		watch->func(watch, &hit);
	else
		event_watch_call_all(watch, &hit, entry);
}

int trace_event_watch_add(struct trace_event_file *file, struct trace_event_watch *watch)
{
	struct trace_event_watch *_Atomic *link = &file->watches;
	int err = trace_event_soft_get(file);

	if (err)
		return err;
	while (*link)
		link = &(*link)->next;
	watch->next = NULL;
	atomic_store_explicit(link, watch, memory_order_release);
	trace_event_flag(file, TRACE_EVENT_WATCHED, true);
	trace_event_flag_early(file);
	trace_event_filter_set_test(file);
	return 0;
}

/* Its `next` stays, for probes that are just walking the list. */
void trace_event_watch_remove(struct trace_event_file *file, struct trace_event_watch *watch)
{
	struct trace_event_watch *_Atomic *link = &file->watches;

	while (*link != watch)
		link = &(*link)->next;
	atomic_store_explicit(link, watch->next, memory_order_release);
	if (!file->watches)
		trace_event_flag(file, TRACE_EVENT_WATCHED, false);
	trace_event_flag_early(file);
	trace_event_filter_set_test(file);
	trace_event_soft_put(file);
}
