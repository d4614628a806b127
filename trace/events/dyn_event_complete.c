/*
 * Completion: possible words at the end of a line that defines an event. See <trace/dyn_events.h>.
 */
#include <trace/platform.h>
#include "dyn_event.h"
#include "instance/array.h"
#include "text/str.h"

void trace_dyn_event_offer(const struct dyn_event_completion *completion, const char *at,
			   const struct trace_dyn_event_word *word)
{
	struct trace_dyn_event_word offered = *word;
	size_t len = trace_strlen(at);

	if (trace_strnlen(word->text, len) < len || memcmp(word->text, at, len) != 0)
		return;
	offered.from = (size_t)(at - completion->line);
	offered.goes_on |= completion->goes_on;
	completion->found(&offered, completion->arg);
}

void trace_dyn_event_complete(const char *line, trace_dyn_event_word_fn found, void *arg)
{
	struct dyn_event_completion completion = { .line = line, .found = found, .arg = arg };
	const struct dyn_event_kind *kind;

	trace_plat_lock(&trace_config_lock);
	kind = trace_dyn_event_kind_of(line);
	if (kind && kind->complete)
		kind->complete(&completion);
	trace_plat_unlock(&trace_config_lock);
}
