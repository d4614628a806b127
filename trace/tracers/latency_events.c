/*
 * The types of switches and wakeups of threads, as latency tracers record them. See
 * latency_entry.h, <trace/event.h>.
 */
#include <trace/trace_seq.h>
#include "function_entry.h"
#include "graph_entry.h"
#include "instance/event_private.h"
#include "latency_entry.h"
#include "print/output.h"
#include "text/str.h"

static void ctx_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_ctx_entry *entry = iter->event.data;
	char comm[TRACE_COMM_LEN];

	trace_cmdlines_find(entry->next_pid, !iter->is_dump, comm);
	trace_seq_printf(seq, " %7d:%3d:%c %s [%03d] %7d:%3d:%c %s\n", entry->prev_pid,
			 entry->prev_prio, entry->prev_state,
			 entry->ent.type == TRACE_TYPE_WAKE ? "  +" : "==>", entry->next_cpu,
			 entry->next_pid, entry->next_prio, entry->next_state, comm);
}

/* In the order in which raw, hex and bin show them. */
static const struct trace_event_field ctx_fields[] = {
	TRACE_FIELD("prev_pid", unsigned int, trace_ctx_entry, prev_pid),
	TRACE_FIELD("prev_prio", unsigned char, trace_ctx_entry, prev_prio),
	TRACE_FIELD("prev_state", char, trace_ctx_entry, prev_state),
	TRACE_FIELD("next_cpu", unsigned int, trace_ctx_entry, next_cpu),
	TRACE_FIELD("next_pid", unsigned int, trace_ctx_entry, next_pid),
	TRACE_FIELD("next_prio", unsigned char, trace_ctx_entry, next_prio),
	TRACE_FIELD("next_state", char, trace_ctx_entry, next_state),
};

/* A print fmt has no %c that tools know, so each letter is printed as a symbol. */
#define CTX_LETTERS                                                                                \
	"{ 68, \"D\" }, { 73, \"I\" }, { 82, \"R\" }, { 83, \"S\" }, { 84, \"T\" }, "              \
	"{ 88, \"X\" }, { 90, \"Z\" }"
#define CTX_STATE(field)     "__print_symbolic(REC->" field ", " CTX_LETTERS ")"
#define CTX_THREAD(side)     "REC->" side "_pid, REC->" side "_prio, " CTX_STATE(side "_state")
#define CTX_ARGUMENTS	     CTX_THREAD("prev") ", " CTX_THREAD("next") ", REC->next_cpu"
#define CTX_PRINT_FMT(arrow) "\"%u:%u:%s " arrow " %u:%u:%s [%03u]\", " CTX_ARGUMENTS

static struct trace_event ctx_event = {
	.name = "context_switch",
	.system = "ftrace",
	.type = TRACE_TYPE_CTX,
	.fields = ctx_fields,
	.nr_fields = TRACE_ARRAY_SIZE(ctx_fields),
	.print_fmt = CTX_PRINT_FMT(" ==>"),
	.funcs = &(const struct trace_event_functions){ .trace = ctx_text },
};

/* The event as raw and hex show it: a wakeup has a mark where a switch has the state. */
static struct trace_ctx_entry with_mark(const struct trace_iter *iter)
{
	struct trace_ctx_entry entry = *(const struct trace_ctx_entry *)iter->event.data;

	entry.prev_state = '+';
	return entry;
}

static void wake_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct trace_ctx_entry entry = with_mark(iter);

	trace_fields_raw(iter->type, &entry, sizeof(entry), seq);
}

static void wake_hex(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct trace_ctx_entry entry = with_mark(iter);

	trace_fields_hex(iter->type, &entry, sizeof(entry), seq);
}

static struct trace_event wake_event = {
	.name = "wakeup",
	.system = "ftrace",
	.type = TRACE_TYPE_WAKE,
	.fields = ctx_fields,
	.nr_fields = TRACE_ARRAY_SIZE(ctx_fields),
	.print_fmt = CTX_PRINT_FMT(" ==+"),
	.funcs =
		&(const struct trace_event_functions){
			.trace = ctx_text,
			.raw = wake_raw,
			.hex = wake_hex,
		},
};

int trace_latency_events_init(void)
{
	static struct trace_event *const events[] = { &ctx_event, &wake_event };
	int err = trace_function_events_init(); /* calls while the time is measured */

	if (!err)
		err = trace_graph_events_init(); /* with display-graph */
	return err ? err : trace_events_register(events, TRACE_ARRAY_SIZE(events));
}
