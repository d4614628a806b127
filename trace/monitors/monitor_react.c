/*
 * Reactions to violations. Names are Linux's where Linux has such a reactor. See monitor.h.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "monitor_react.h"
#include "instance/array.h"
#include "feature/list.h"
#include "text/str.h"

#define PLACE_BYTES 256
#define TIMES_BYTES (8 + MONITOR_CLOCKS_MAX * (MONITOR_WORD_BYTES + 24))
#define LINE_BYTES  (PLACE_BYTES + TIMES_BYTES + 160)

static struct trace_reactor_table *reactor_tables;

void trace_reactors_register(struct trace_reactor_table *table)
{
	TRACE_LIST_ADD(reactor_tables, table);
}

const struct trace_reactor *trace_reactor_behind(const struct trace_reactor *before)
{
	const struct trace_reactor *found = NULL;

	for (const struct trace_reactor_table *at = reactor_tables; at; at = at->next) {
		for (const struct trace_reactor *r = at->reactors; r->name; r++) {
			if ((!before || trace_strcmp(r->name, before->name) > 0) &&
			    (!found || trace_strcmp(r->name, found->name) < 0))
				found = r;
		}
	}
	return found;
}

static bool monitor_react_is_name(const char *text, const char *name, size_t len)
{
	return text && trace_strlen(text) == len && memcmp(text, name, len) == 0;
}

const struct trace_reactor *trace_reactor_find(const char *name, size_t len)
{
	const struct trace_reactor *reactor = NULL;

	while ((reactor = trace_reactor_behind(reactor))) {
		if (monitor_react_is_name(reactor->name, name, len) ||
		    monitor_react_is_name(reactor->alias, name, len))
			break;
	}
	return reactor;
}

/* ---- Reactors ---- */

/* `a+0x12 < b+0x5`: where it happened, and who called that. */
static void monitor_react_print_place(const struct trace_violation *violation, char *text,
				      size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < violation->nr_ips && len < size; i++)
		len += (size_t)trace_snprintf(text + len, size - len, "%s%pB", i ? " < " : ", at ",
					      (void *)trace_plat_ip_unpack(violation->ips[i]));
}

/* ` with x=5012345ns`: the clocks, if there are some. */
static void monitor_react_print_times(const struct trace_violation *violation, char *text,
				      size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < violation->nr_clocks; i++)
		len += (size_t)trace_snprintf(text + len, size - len, "%s%s=%lluns",
					      i ? "," : " with ", violation->clocks[i],
					      (unsigned long long)violation->times[i]);
}

/* The sentence is Linux's up to the name of the state. */
static void print_violation(const struct trace_violation *violation, char *text, size_t size)
{
	char place[PLACE_BYTES], times[TIMES_BYTES];

	monitor_react_print_place(violation, place, sizeof(place));
	monitor_react_print_times(violation, times, sizeof(times));
	trace_snprintf(text, size,
		       "rv: monitor %s does not allow event %s on state %s%s: %s-%d, CPU %u%s",
		       violation->monitor, violation->event, violation->state, times,
		       violation->comm, violation->pid, violation->cpu, place);
}

static void react_printk(struct trace_array *tr, const struct trace_violation *violation)
{
	char text[LINE_BYTES];

	(void)tr;
	print_violation(violation, text, sizeof(text));
	trace_plat_log("%s", text);
}

static void react_panic(struct trace_array *tr, const struct trace_violation *violation)
{
	char text[LINE_BYTES];

	(void)tr;
	print_violation(violation, text, sizeof(text));
	trace_plat_panic("%s", text);
}

static void react_traceoff(struct trace_array *tr, const struct trace_violation *violation)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_MONITOR,
					     .name = violation->monitor };

	(void)trace_array_off(tr, &from);
}

const struct trace_reactor trace_reactors[] = {
	{ .name = "nop" },
	{ .name = "panic", .react = react_panic },
	{ .name = "printk", .alias = "print", .react = react_printk },
	{ .name = "traceoff", .react = react_traceoff },
	{ .name = NULL },
};
