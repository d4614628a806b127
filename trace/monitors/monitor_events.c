/*
 * The trace events of a monitor, rv:event_NAME and rv:error_NAME. Their fields and texts are those
 * of Linux; a monitor has the id only if its instances are threads or values of a field. See
 * monitor.h.
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "monitor_private.h"
#include "print/output.h"
#include "text/str.h"

struct monitor_event_entry {
	struct trace_entry ent;
	uint64_t id;
	char state[MONITOR_WORD_BYTES];
	char event[MONITOR_WORD_BYTES];
	char next_state[MONITOR_WORD_BYTES];
	uint8_t final_state;
	uint8_t unused[3];
} TRACE_ENTRY_ALIGNED;

struct monitor_error_entry {
	struct trace_entry ent;
	uint64_t id;
	char state[MONITOR_WORD_BYTES];
	char event[MONITOR_WORD_BYTES];
} TRACE_ENTRY_ALIGNED;

/* Of a pid only the low half is described, which comes first. */
#define FIELD_PID(entry)                                                                           \
	TRACE_FIELD_INIT("id", "int", entry, id, sizeof(int32_t), sizeof(int32_t), true, false)
#define FIELD_ID(entry) TRACE_FIELD("id", unsigned long long, entry, id)
#define FIELDS_OF_EVENT                                                                            \
	TRACE_FIELD("state", char, monitor_event_entry, state),                                    \
		TRACE_FIELD("event", char, monitor_event_entry, event),                            \
		TRACE_FIELD("next_state", char, monitor_event_entry, next_state),                  \
		TRACE_FIELD("final_state", unsigned char, monitor_event_entry, final_state)
#define FIELDS_OF_ERROR                                                                            \
	TRACE_FIELD("state", char, monitor_error_entry, state),                                    \
		TRACE_FIELD("event", char, monitor_error_entry, event)

static const struct trace_event_field event_fields[] = { FIELDS_OF_EVENT };
static const struct trace_event_field error_fields[] = { FIELDS_OF_ERROR };
static const struct trace_event_field event_pid_fields[] = { FIELD_PID(monitor_event_entry),
							     FIELDS_OF_EVENT };
static const struct trace_event_field error_pid_fields[] = { FIELD_PID(monitor_error_entry),
							     FIELDS_OF_ERROR };
static const struct trace_event_field event_id_fields[] = { FIELD_ID(monitor_event_entry),
							    FIELDS_OF_EVENT };
static const struct trace_event_field error_id_fields[] = { FIELD_ID(monitor_error_entry),
							    FIELDS_OF_ERROR };

#define EVENT_FMT "%s x %s -> %s%s\", "
#define EVENT_ARGS                                                                                 \
	"REC->state, REC->event, REC->next_state, "                                                \
	"__print_symbolic(REC->final_state, { 0, \"\" }, { 1, \" (final)\" })"
#define ERROR_FMT  "event %s not expected in the state %s\", "
#define ERROR_ARGS "REC->event, REC->state"

/* ---- As text ---- */

/* Print the name, and the id, which is at the same place in both. */
static void monitor_events_print_head(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct monitor_event_entry *entry = iter->event.data;
	const struct trace_event_field *first = iter->type->fields;

	trace_seq_printf(seq, "%s: ", trace_iter_name(iter));
	if (first == event_pid_fields || first == error_pid_fields)
		trace_seq_printf(seq, "%d: ", (int)entry->id);
	else if (first == event_id_fields || first == error_id_fields)
		trace_seq_printf(seq, "0x%llx: ", (unsigned long long)entry->id);
}

static void monitor_events_print_event(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct monitor_event_entry *entry = iter->event.data;

	monitor_events_print_head(iter, seq);
	trace_seq_printf(seq, "%s x %s -> %s%s\n", entry->state, entry->event, entry->next_state,
			 entry->final_state ? " (final)" : "");
}

static void print_error(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct monitor_error_entry *entry = iter->event.data;

	monitor_events_print_head(iter, seq);
	trace_seq_printf(seq, "event %s not expected in the state %s\n", entry->event,
			 entry->state);
}

/* ---- The shapes of both events ---- */

struct monitor_shape {
	const struct trace_event_field *fields;
	uint32_t nr_fields;
	const char *print_fmt;
};
#define SHAPE(table, fmt)                                                                          \
	{                                                                                          \
		(table), TRACE_ARRAY_SIZE(table), (fmt)                                            \
	}

enum {
	WITHOUT_ID,
	WITH_PID,
	WITH_ID
};
static const struct monitor_shape event_shapes[] = {
	[WITHOUT_ID] = SHAPE(event_fields, "\"" EVENT_FMT EVENT_ARGS),
	[WITH_PID] = SHAPE(event_pid_fields, "\"%d: " EVENT_FMT "REC->id, " EVENT_ARGS),
	[WITH_ID] = SHAPE(event_id_fields, "\"0x%llx: " EVENT_FMT "REC->id, " EVENT_ARGS),
};
static const struct monitor_shape error_shapes[] = {
	[WITHOUT_ID] = SHAPE(error_fields, "\"" ERROR_FMT ERROR_ARGS),
	[WITH_PID] = SHAPE(error_pid_fields, "\"%d: " ERROR_FMT "REC->id, " ERROR_ARGS),
	[WITH_ID] = SHAPE(error_id_fields, "\"0x%llx: " ERROR_FMT "REC->id, " ERROR_ARGS),
};
static const struct trace_event_functions event_functions = { .trace = monitor_events_print_event };
static const struct trace_event_functions error_functions = { .trace = print_error };

static const struct trace_event_class rv_class = { .system = "rv" };

static void make_call(struct trace_event_call *call, const char *name,
		      const struct monitor_shape *shape, const struct trace_event_functions *funcs)
{
	*call = (struct trace_event_call){ .event_class = &rv_class };
	call->event.name = name;
	call->event.system = rv_class.system;
	call->event.fields = shape->fields;
	call->event.nr_fields = shape->nr_fields;
	call->event.print_fmt = shape->print_fmt;
	call->event.funcs = funcs;
}

int trace_monitor_events_add(struct trace_monitor *monitor)
{
	size_t shape = monitor->per == MONITOR_THREAD  ? WITH_PID
		       : monitor->per == MONITOR_FIELD ? WITH_ID
						       : WITHOUT_ID;
	int err;

	trace_snprintf(monitor->event_name, sizeof(monitor->event_name), "event_%s", monitor->name);
	trace_snprintf(monitor->error_name, sizeof(monitor->error_name), "error_%s", monitor->name);
	make_call(&monitor->event_call, monitor->event_name, &event_shapes[shape],
		  &event_functions);
	make_call(&monitor->error_call, monitor->error_name, &error_shapes[shape],
		  &error_functions);
	err = trace_add_event_call(&monitor->event_call);
	if (err)
		return err;
	err = trace_add_event_call(&monitor->error_call);
	if (err)
		(void)trace_remove_event_call(&monitor->event_call);
	return err;
}

int trace_monitor_events_remove(struct trace_monitor *monitor)
{
	int err = trace_remove_event_call(&monitor->event_call);

	if (err)
		return err;
	err = trace_remove_event_call(&monitor->error_call);
	if (err && trace_add_event_call(&monitor->event_call))
		trace_plat_log("monitors: no memory, rv:%s has gone", monitor->event_name);
	return err;
}

/* ---- Writing ---- */

static bool monitor_events_is_wanted(struct trace_event_call *call)
{
	return trace_atomic_load_acquire(&call->files) != NULL;
}

void trace_monitor_write_step(struct trace_monitor *monitor, uint64_t id, uint32_t state,
			      uint32_t symbol, uint32_t next)
{
	struct monitor_event_entry entry;

	if (TRACE_LIKELY(!monitor_events_is_wanted(&monitor->event_call)))
		return;
	entry.id = id;
	memcpy(entry.state, monitor->states[state], sizeof(entry.state));
	memcpy(entry.event, monitor->symbols[symbol].label, sizeof(entry.event));
	memcpy(entry.next_state, monitor->states[next], sizeof(entry.next_state));
	entry.final_state = !next;
	memset(entry.unused, 0, sizeof(entry.unused));
	trace_event_write(&monitor->event_call, &entry, sizeof(entry), NULL);
}

void trace_monitor_write_error(struct trace_monitor *monitor, uint64_t id, uint32_t state,
			       uint32_t symbol)
{
	struct monitor_error_entry entry;

	if (!monitor_events_is_wanted(&monitor->error_call))
		return;
	entry.id = id;
	memcpy(entry.state, monitor->states[state], sizeof(entry.state));
	memcpy(entry.event, monitor->symbols[symbol].label, sizeof(entry.event));
	trace_event_write(&monitor->error_call, &entry, sizeof(entry), NULL);
}
