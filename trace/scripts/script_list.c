/* Names of probes that match a pattern: see <trace/script.h>. */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "instance/event_private.h"
#include "ops/ftrace_private.h"
#include "script.h"
#include "text/str.h"

/* Is `name` of the `kind`s wanted? Writes it and a newline, or says that there is no room. */
static bool script_list_one(const char *pattern, const char *name, struct trace_seq *seq)
{
	size_t len = seq->len;

	if (!trace_glob_match(pattern, name))
		return true;
	trace_seq_printf(seq, "%s\n", name);
	if (!seq->overflowed)
		return true;
	seq->len = len;
	seq->overflowed = false;
	return false;
}

static bool script_list_functions(const char *pattern, size_t *at, struct trace_seq *seq)
{
	for (; *at < ftrace_nr_records(); ++*at) {
		char name[TRACE_SYM_LEN + 16] = "kprobe:";
		uintptr_t start;
		size_t size;

		if (trace_plat_symbol(trace_plat_ip_unpack(ftrace_record_at(*at)->ip),
				      name + trace_strlen(name), &start, &size) &&
		    !script_list_one(pattern, name, seq))
			return true;
	}
	return false;
}

bool trace_script_list(const char *pattern, size_t *at, struct trace_seq *seq)
{
	size_t nr_functions = ftrace_nr_records();
	bool is_full = *at < nr_functions && script_list_functions(pattern, at, seq);

	trace_events_lock();
	for (; !is_full && *at - nr_functions < trace_nr_events(); *at += !is_full) {
		const struct trace_event *event = trace_event_at(*at - nr_functions);
		char name[2 * TRACE_SYM_LEN];

		trace_snprintf(name, sizeof(name), "tracepoint:%s:%s", event->system, event->name);
		is_full = trace_event_is_switched(event) && !script_list_one(pattern, name, seq);
	}
	trace_events_unlock();
	return is_full;
}
