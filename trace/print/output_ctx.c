/*
 * Switches and wakeups of threads, as latency tracers record them. See output.h.
 */
#include "output.h"

static char ctx_mark(const struct trace_ctx_entry *entry)
{
	return entry->ent.type == TRACE_TYPE_WAKE ? '+' : (char)entry->prev_state;
}

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

static void ctx_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_ctx_entry *entry = iter->event.data;

	trace_seq_printf(seq, "%d %d %c %d %d %d %c\n", entry->prev_pid, entry->prev_prio,
			 ctx_mark(entry), entry->next_cpu, entry->next_pid, entry->next_prio,
			 entry->next_state);
}

static void ctx_hex(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_ctx_entry *entry = iter->event.data;

	trace_seq_hex(seq, (uint32_t)entry->prev_pid, sizeof(int32_t));
	trace_seq_hex(seq, entry->prev_prio, 1);
	trace_seq_hex(seq, (uint8_t)ctx_mark(entry), 1);
	trace_seq_hex(seq, (uint32_t)entry->next_cpu, sizeof(uint32_t));
	trace_seq_hex(seq, (uint32_t)entry->next_pid, sizeof(int32_t));
	trace_seq_hex(seq, entry->next_prio, 1);
	trace_seq_hex(seq, entry->next_state, 1);
}

static void ctx_binary(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_ctx_entry *entry = iter->event.data;

	trace_seq_write(seq, &entry->prev_pid, sizeof(entry->prev_pid));
	trace_seq_write(seq, &entry->prev_prio, 1);
	trace_seq_write(seq, &entry->prev_state, 1);
	trace_seq_write(seq, &entry->next_cpu, sizeof(entry->next_cpu));
	trace_seq_write(seq, &entry->next_pid, sizeof(entry->next_pid));
	trace_seq_write(seq, &entry->next_prio, 1);
	trace_seq_write(seq, &entry->next_state, 1);
}

const struct trace_event_format trace_ctx_format = {
	.text = ctx_text,
	.raw = ctx_raw,
	.hex = ctx_hex,
	.binary = ctx_binary,
};
