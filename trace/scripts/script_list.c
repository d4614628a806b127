/* Names of probes that match a pattern: see <trace/script.h>. */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "instance/event_private.h"
#include "ops/ftrace_private.h"
#include "probes/probe_uprobe.h"
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

static bool script_list_events(const char *pattern, size_t first, size_t *at, struct trace_seq *seq)
{
	bool is_full = false;

	trace_events_lock();
	for (; !is_full && *at - first < trace_nr_events(); *at += !is_full) {
		const struct trace_event *event = trace_event_at(*at - first);
		char name[2 * TRACE_SYM_LEN];

		trace_snprintf(name, sizeof(name), "tracepoint:%s:%s", event->system, event->name);
		is_full = trace_event_is_switched(event) && !script_list_one(pattern, name, seq);
	}
	trace_events_unlock();
	return is_full;
}

/* ---- Names that come by calls ---- */

struct script_list {
	const char *pattern;
	const char *kind; /* with a colon */
	struct trace_seq *seq;
	size_t nr, *at; /* visited; index of the next one that is to be written */
	bool is_full;
};

static void script_list_visit(struct script_list *list, const char *name)
{
	char text[PROBE_PATH_MAX + TRACE_SYM_LEN + 16];

	if (list->nr++ < *list->at || list->is_full)
		return;
	trace_snprintf(text, sizeof(text), "%s%s", list->kind, name);
	list->is_full = !script_list_one(list->pattern, text, list->seq);
	*list->at += !list->is_full;
}

static void script_list_tracepoint(struct tracepoint *tp, void *arg)
{
	script_list_visit(arg, tp->name);
}

static void script_list_symbol(const char *name, void *arg)
{
	script_list_visit(arg, name);
}

static bool script_list_marker(const struct probe_marker *marker, void *arg)
{
	char name[2 * TRACE_SYM_LEN];

	trace_snprintf(name, sizeof(name), "%s:%s", marker->provider, marker->name);
	script_list_visit(arg, name);
	return true;
}

/* Functions or markers of the file in `uprobe:PATH:PATTERN`, `usdt:PATH:PATTERN`. */
static void script_list_program(struct script_list *list)
{
	struct expr_word rest = trace_expr_whole(list->pattern), kind = expr_take_until(&rest, ":");
	char path[PROBE_PATH_MAX], prefix[PROBE_PATH_MAX + 16];
	bool is_markers = trace_expr_is(&kind, "usdt");
	struct uprobe_file *file;

	rest = expr_behind(&rest, rest.len != 0);
	rest = expr_take_until(&rest, ":");
	if ((!is_markers && !trace_expr_is(&kind, "uprobe") &&
	     !trace_expr_is(&kind, "uretprobe")) ||
	    !trace_expr_copy(path, sizeof(path), &rest) || uprobe_file_get(path, &file))
		return;
	trace_snprintf(prefix, sizeof(prefix), "%.*s:%s:", (int)kind.len, kind.at, path);
	list->kind = prefix;
	if (is_markers)
		(void)trace_probe_marker_each(file, script_list_marker, list);
	else
		(void)trace_probe_elf_each(file, script_list_symbol, list);
	uprobe_file_put(file);
}

bool trace_script_list(const char *pattern, size_t *at, struct trace_seq *seq)
{
	size_t nr_functions = ftrace_nr_records();
	struct script_list list = { pattern, "rawtracepoint:", seq, 0, at, false };

	if ((*at < nr_functions && script_list_functions(pattern, at, seq)) ||
	    script_list_events(pattern, nr_functions, at, seq))
		return true;
	list.nr = nr_functions + trace_nr_events();
	for_each_kernel_tracepoint(script_list_tracepoint, &list);
	if (!list.is_full)
		script_list_program(&list);
	return list.is_full;
}
