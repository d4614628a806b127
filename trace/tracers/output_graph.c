/*
 * Lines of function_graph, made of its events:
 *
 *   entry, its return right behind it   func();
 *   entry                               func() {
 *   return                              }            with the name where the entry is not known
 *   anything else                       a comment, or a line as everywhere
 *
 * See output_graph.h.
 */
#include <trace/fmt.h>
#include "function_entry.h"
#include "graph_entry.h"
#include "output_graph.h"
#include "text/str.h"

#define INDENT	  2u
#define MAX_DEPTH 1024u /* limits the indentation; only a damaged event has a larger depth */

static const struct trace_graph_entry *entry_of(const struct ring_event *event)
{
	return event->data;
}

static const struct trace_graph_ret_entry *return_of(const struct ring_event *event)
{
	return event->data;
}

static void print_indent(struct graph_line *line, uint32_t depth)
{
	if (depth > MAX_DEPTH)
		depth = MAX_DEPTH;
	for (uint32_t i = 0; i < depth * INDENT; i++)
		trace_seq_putc(line->seq, ' ');
}

static void output_graph_print_name(struct graph_line *line, uint32_t packed_ip)
{
	trace_print_symbol(line->iter, line->seq, packed_ip, 0);
}

/* ---- Values that a line may show behind the function ---- */

/*
 * The value if it can be a -errno, also one returned as int, whose upper half is not set; else 0.
 */
static int64_t error_of(uint64_t retval)
{
	int64_t value = (int64_t)retval;

	if (retval >> 31 == 1)
		value = (int32_t)(uint32_t)retval;
	return value < 0 && value >= -4095 ? value : 0;
}

/* By its type, if that is known and hex digits were not asked for. */
static bool print_typed(struct graph_line *line, const struct trace_graph_retval_entry *entry,
			const char *equals)
{
	char before[8];

	trace_scnprintf(before, sizeof(before), " %s", equals);
	return trace_call_types && !(line->flags & TRACE_GRAPH_RETVAL_HEX) &&
	       trace_call_types->print_return(line->seq, entry->graph.ip, entry->retval, before);
}

static void print_retval(struct graph_line *line, const struct ring_event *event)
{
	const struct trace_graph_retval_entry *entry = event->data;
	const char *equals = line->flags & TRACE_GRAPH_RETADDR ? "ret=" : "= ";
	int64_t err = error_of(entry->retval);

	if (print_typed(line, entry, equals))
		return;
	if (err && !(line->flags & TRACE_GRAPH_RETVAL_HEX))
		trace_seq_printf(line->seq, " %s%lld", equals, (long long)err);
	else
		trace_seq_printf(line->seq, " %s0x%llx", equals, (unsigned long long)entry->retval);
}

/* Has it a value? What a function of type void leaves in the register is none. */
static bool shows_retval(const struct graph_line *line, const struct ring_event *event)
{
	if (!event || !(line->flags & TRACE_GRAPH_RETVAL) ||
	    return_of(event)->ent.type != TRACE_TYPE_GRAPH_RETVAL)
		return false;
	return !trace_call_types || line->flags & TRACE_GRAPH_RETVAL_HEX ||
	       !trace_call_types->returns_nothing(return_of(event)->ip);
}

static bool shows_retaddr(const struct graph_line *line, const struct ring_event *event)
{
	return (line->flags & TRACE_GRAPH_RETADDR) &&
	       entry_of(event)->ent.type != TRACE_TYPE_GRAPH_ENT;
}

/* Print the text behind `func();` and `func() {`: the caller, and, if there is `ret`, the value. */
static void print_values(struct graph_line *line, const struct ring_event *event,
			 const struct ring_event *ret)
{
	const struct trace_graph_retaddr_entry *entry = event->data;
	bool retaddr = shows_retaddr(line, event), retval = shows_retval(line, ret);

	if (retaddr || retval)
		trace_seq_puts(line->seq, " /*");
	if (retaddr) {
		trace_seq_puts(line->seq, " <-");
		trace_print_symbol(line->iter, line->seq, entry->retaddr,
				   TRACE_IP_OFFSET | TRACE_IP_RETURN);
		if (line->iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_SYM_ADDR))
			trace_seq_printf(line->seq, " <%lx>",
					 (unsigned long)trace_plat_ip_unpack(entry->retaddr));
	}
	if (retval)
		print_retval(line, ret);
	trace_seq_puts(line->seq, retaddr || retval ? " */\n" : "\n");
}

/* `(name=value, ...)` if the event has it and it is asked for; else `()`. */
static void print_call(struct graph_line *line, const struct trace_graph_entry *entry)
{
	output_graph_print_name(line, entry->ip);
	if (entry->ent.type == TRACE_TYPE_GRAPH_ARGS_ENT && trace_call_types &&
	    (line->flags & TRACE_GRAPH_ARGS))
		trace_call_types->print_args(line->iter, line->seq, entry->ip,
					     offsetof(struct trace_graph_args_entry, args));
	else
		trace_seq_puts(line->seq, "()");
}

/* ---- Interrupts that are not to be shown ---- */

/* Is this entry inside an interrupt that is not to be shown, or does it begin one? */
static bool hides_entry(struct graph_line *line, const struct trace_graph_entry *entry)
{
	struct trace_iter_graph *state = line->state;

	if (line->flags & TRACE_GRAPH_IRQS)
		return false;
	if (!state->in_irq && trace_plat_is_irq_entry(entry->ip)) {
		state->in_irq = true;
		state->irq_depth = entry->depth;
	}
	return state->in_irq;
}

/*
 * Is this return inside an interrupt that is not shown? Such an interrupt ends with the return of
 * the function that began it; or, if that event was lost, with a return further out.
 */
static bool hides_return(struct graph_line *line, const struct trace_graph_ret_entry *ret)
{
	struct trace_iter_graph *state = line->state;

	if ((line->flags & TRACE_GRAPH_IRQS) || !state->in_irq)
		return false;
	state->in_irq = ret->depth > state->irq_depth;
	return true;
}

/* ---- Entries ---- */

static void remember(struct trace_iter_graph *state, uint32_t depth, uint32_t packed_ip)
{
	if (depth < TRACE_ITER_GRAPH_DEPTH)
		state->open[depth] = packed_ip;
}

static bool is_return(uint16_t type)
{
	return type == TRACE_TYPE_GRAPH_RET || type == TRACE_TYPE_GRAPH_RETVAL;
}

/*
 * Has the function at `packed_ip` called nothing that was recorded? Then `out_ret` is its return.
 * The current event may have moved afterwards.
 */
static bool find_leaf(struct graph_line *line, uint32_t packed_ip, struct ring_event *out_ret)
{
	const struct trace_entry *next;

	if (!trace_iter_peek(line->iter, out_ret) || out_ret->lost)
		return false;
	next = out_ret->data;
	return is_return(next->type) && next->pid == line->ent.pid &&
	       return_of(out_ret)->ip == packed_ip;
}

static void print_leaf(struct graph_line *line, const struct ring_event *event,
		       const struct ring_event *ret)
{
	const struct trace_graph_entry *entry = entry_of(event);

	line->state->comment_depth = (int32_t)entry->depth - 1;
	remember(line->state, entry->depth, 0);
	trace_graph_print_duration(line, return_of(ret)->duration_ns);
	print_indent(line, entry->depth);
	print_call(line, entry);
	trace_seq_putc(line->seq, ';');
	print_values(line, event, ret);
	trace_graph_print_arrow(line, entry->ip, false);
}

static void print_nested(struct graph_line *line, const struct ring_event *event)
{
	const struct trace_graph_entry *entry = entry_of(event);

	line->state->comment_depth = (int32_t)entry->depth;
	remember(line->state, entry->depth, entry->ip);
	trace_graph_print_no_duration(line);
	print_indent(line, entry->depth);
	print_call(line, entry);
	trace_seq_puts(line->seq, " {");
	print_values(line, event, NULL);
}

static void output_graph_print_entry(struct graph_line *line)
{
	struct ring_event *event = &line->iter->event;
	const struct trace_graph_entry *entry = entry_of(event);
	struct ring_event ret;
	bool is_leaf;

	if (hides_entry(line, entry))
		return;
	is_leaf = find_leaf(line, entry->ip, &ret);
	entry = entry_of(event);
	trace_graph_print_switch(line);
	trace_graph_print_arrow(line, entry->ip, true);
	trace_graph_print_context(line);
	if (!is_leaf) {
		print_nested(line, event);
		return;
	}
	print_leaf(line, event, &ret);
	trace_iter_skip(line->iter);
}

/* ---- Returns ---- */

/*
 * Is this the return of the entry that was seen at its depth? The entry is forgotten then. True
 * also for a depth that is too large to be remembered.
 */
static bool closes(struct trace_iter_graph *state, const struct trace_graph_ret_entry *ret)
{
	bool matches = true;

	if (ret->depth < TRACE_ITER_GRAPH_DEPTH) {
		matches = state->open[ret->depth] == ret->ip;
		state->open[ret->depth] = 0;
	}
	return matches;
}

static void output_graph_print_return(struct graph_line *line)
{
	const struct ring_event *event = &line->iter->event;
	const struct trace_graph_ret_entry *ret = return_of(event);
	bool retval = shows_retval(line, event);
	bool named;

	if (hides_return(line, ret))
		return;
	line->state->comment_depth = (int32_t)ret->depth - 1;
	named = !closes(line->state, ret) || retval || (line->flags & TRACE_GRAPH_TAIL);
	trace_graph_print_switch(line);
	trace_graph_print_context(line);
	trace_graph_print_duration(line, ret->duration_ns);
	print_indent(line, ret->depth);
	trace_seq_putc(line->seq, '}');
	if (named) {
		trace_seq_puts(line->seq, " /* ");
		output_graph_print_name(line, ret->ip);
		if (retval)
			print_retval(line, event);
		trace_seq_puts(line->seq, " */");
	}
	trace_seq_putc(line->seq, '\n');
	if (line->flags & TRACE_GRAPH_OVERRUN)
		trace_seq_printf(line->seq, " (Overruns: %u)\n", ret->overrun);
	trace_graph_print_arrow(line, ret->ip, false);
}

/* ---- Everything else ---- */

static bool print_comment(struct graph_line *line)
{
	const struct trace_event *type = line->iter->type;
	int32_t depth = line->state->comment_depth;

	if (!type)
		return false;
	trace_graph_print_switch(line);
	trace_graph_print_context(line);
	trace_graph_print_no_duration(line);
	if (depth > 0)
		print_indent(line, (uint32_t)depth + 1);
	trace_seq_puts(line->seq, "/* ");
	if (type->funcs->message)
		type->funcs->message(line->iter, line->seq);
	else if (type->funcs->trace)
		type->funcs->trace(line->iter, line->seq);
	else
		trace_fields_text(line->iter, line->seq);
	if (line->seq->len && line->seq->buf[line->seq->len - 1] == '\n')
		line->seq->len--;
	trace_seq_puts(line->seq, " */\n");
	return true;
}

bool trace_graph_print_line(struct trace_iter *iter, struct trace_seq *seq, uint32_t flags)
{
	struct graph_line line = {
		.iter = iter,
		.seq = seq,
		.state = &iter->cpus[iter->event.cpu - iter->first_cpu].graph,
		.flags = flags,
		.cpu = iter->event.cpu,
		.ts = iter->event.ts,
		.ent = *trace_iter_entry(iter),
	};

	switch (line.ent.type) {
	case TRACE_TYPE_GRAPH_ENT:
	case TRACE_TYPE_GRAPH_RETADDR_ENT:
	case TRACE_TYPE_GRAPH_ARGS_ENT:
		output_graph_print_entry(&line);
		return true;
	case TRACE_TYPE_GRAPH_RET:
	case TRACE_TYPE_GRAPH_RETVAL:
		output_graph_print_return(&line);
		return true;
	case TRACE_TYPE_FN:
	case TRACE_TYPE_STACK:
		return false;
	default:
		return print_comment(&line);
	}
}
