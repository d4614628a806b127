/*
 * The columns of function_graph's lines and the header above them. See output_graph.h.
 */
#include <trace/fmt.h>
#include "output_graph.h"
#include "text/str.h"

#define PROC_WIDTH 14u /* width of the column `comm-pid` */
#define COMM_SHOWN 7u  /* characters of a thread's name that are shown */
#define US_WIDTH   7u  /* digits of a duration */

static bool graph_columns_has_option(const struct graph_line *line, enum trace_option option)
{
	return line->iter->tr->options & TRACE_OPT_BIT(option);
}

static void repeat(struct trace_seq *seq, char c, size_t times)
{
	while (times--)
		trace_seq_putc(seq, c);
}

/*
 * ---- Columns in front of the function ----
 *
 * The state is shown if the option latency-format is set. A dump after a crash has its other lines
 * in latency format whatever the option is, but these lines, as on Linux, without state.
 */

static void print_abs_time(struct graph_line *line)
{
	uint64_t us = line->ts / 1000;

	trace_seq_dec(line->seq, us / 1000000, 5, ' ');
	trace_seq_putc(line->seq, '.');
	trace_seq_dec(line->seq, us % 1000000, 6, '0');
	trace_seq_puts(line->seq, " |  ");
}

static void print_rel_time(struct graph_line *line)
{
	trace_seq_dec(line->seq, (line->ts - line->iter->start_ts) / 1000, 9, ' ');
	trace_seq_puts(line->seq, " us |  ");
}

/* The column is as wide as the highest CPU number. */
static void print_cpu(struct graph_line *line)
{
	unsigned int width = 1;

	for (uint32_t last = trace_plat_nr_cpus() - 1; last > 9; last /= 10)
		width++;
	trace_seq_putc(line->seq, ' ');
	trace_seq_dec(line->seq, line->cpu, width, ' ');
	trace_seq_puts(line->seq, ") ");
}

/* `comm-pid`, in the middle of its column. */
static void print_proc(struct graph_line *line, int32_t pid)
{
	char text[TRACE_COMM_LEN + 16];
	size_t len, spaces;

	len = trace_scnprintf(text, sizeof(text), "%.*s-%d", (int)COMM_SHOWN,
			      trace_iter_comm_of(line->iter, pid), pid);
	spaces = len < PROC_WIDTH ? PROC_WIDTH - len : 0;
	repeat(line->seq, ' ', spaces / 2);
	trace_seq_write(line->seq, text, len);
	repeat(line->seq, ' ', spaces - spaces / 2);
}

void trace_graph_print_context(struct graph_line *line)
{
	if (!graph_columns_has_option(line, TRACE_OPT_CONTEXT_INFO))
		return;
	if (line->flags & TRACE_GRAPH_ABSTIME)
		print_abs_time(line);
	if (line->flags & TRACE_GRAPH_RELTIME)
		print_rel_time(line);
	if (line->flags & TRACE_GRAPH_CPU)
		print_cpu(line);
	if (line->flags & TRACE_GRAPH_PROC) {
		print_proc(line, line->ent.pid);
		trace_seq_puts(line->seq, " | ");
	}
	if (graph_columns_has_option(line, TRACE_OPT_LATENCY_FORMAT)) {
		trace_seq_putc(line->seq, ' ');
		trace_print_state(&line->ent, line->seq);
		trace_seq_puts(line->seq, " | ");
	}
}

void trace_graph_print_switch(struct graph_line *line)
{
	static const char rule[] = " ------------------------------------------\n";
	struct trace_iter_graph *state = line->state;
	int32_t before = state->pid;

	if (state->has_pid && before == line->ent.pid)
		return;
	state->pid = line->ent.pid;
	if (!state->has_pid) {
		state->has_pid = true;
		return;
	}
	trace_seq_puts(line->seq, rule);
	print_cpu(line);
	print_proc(line, before);
	trace_seq_puts(line->seq, " => ");
	print_proc(line, line->ent.pid);
	trace_seq_putc(line->seq, '\n');
	trace_seq_puts(line->seq, rule);
	trace_seq_putc(line->seq, '\n');
}

/* ---- Duration ---- */

static bool has_duration(const struct graph_line *line)
{
	return (line->flags & TRACE_GRAPH_DURATION) &&
	       graph_columns_has_option(line, TRACE_OPT_CONTEXT_INFO);
}

/* A mark for a long time, and microseconds with so many decimals that there are seven digits. */
void trace_graph_print_duration(struct graph_line *line, uint64_t ns)
{
	bool has_mark = line->flags & TRACE_GRAPH_OVERHEAD;
	size_t start, len, digits;
	char fraction[4];

	if (!has_duration(line))
		return;
	trace_seq_putc(line->seq, has_mark ? trace_delay_mark(ns) : ' ');
	trace_seq_putc(line->seq, ' ');
	start = line->seq->len;
	trace_seq_dec(line->seq, ns / 1000, 0, ' ');
	len = line->seq->len - start;
	if (len < US_WIDTH) {
		digits = US_WIDTH - len < 3 ? US_WIDTH - len : 3;
		trace_scnprintf(fraction, sizeof(fraction), "%03u", (unsigned int)(ns % 1000));
		trace_seq_putc(line->seq, '.');
		trace_seq_write(line->seq, fraction, digits);
		len += 1 + digits;
	}
	trace_seq_puts(line->seq, " us ");
	if (len < US_WIDTH + 1)
		repeat(line->seq, ' ', US_WIDTH + 1 - len);
	trace_seq_puts(line->seq, "|  ");
}

void trace_graph_print_no_duration(struct graph_line *line)
{
	if (has_duration(line))
		trace_seq_puts(line->seq, "              |  ");
}

void trace_graph_print_arrow(struct graph_line *line, uint32_t packed_ip, bool is_entry)
{
	if (!trace_plat_is_irq_entry(packed_ip))
		return;
	trace_graph_print_context(line);
	if (has_duration(line))
		trace_seq_puts(line->seq, "  ");
	trace_seq_puts(line->seq, is_entry ? "==========>" : "<==========");
	if (has_duration(line))
		trace_seq_puts(line->seq, " |");
	trace_seq_putc(line->seq, '\n');
}

/* ---- Header ---- */

/* The two lines of a column in the header, and its width, by which the columns behind it move. */
struct column {
	uint32_t flag;
	uint8_t width;
	const char *title;
	const char *marks;
};

static const struct column front[] = {
	{ TRACE_GRAPH_ABSTIME, 16, "     TIME       ", "      |         " },
	{ TRACE_GRAPH_RELTIME, 16, "   REL TIME     ", "      |         " },
	{ TRACE_GRAPH_CPU, 4, " CPU", " |  " },
	{ TRACE_GRAPH_PROC, 17, "  TASK/PID       ", "   |    |        " },
};

static void print_state_head(struct trace_seq *seq, uint32_t flags)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off        \n", " / _----=> need-resched    \n",
		"| / _---=> hardirq/softirq \n", "|| / _--=> preempt-depth   \n",
		"||| /                      \n",
	};
	size_t width = 0;

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(front); i++)
		width += flags & front[i].flag ? front[i].width : 0;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(lines); i++) {
		trace_seq_putc(seq, '#');
		repeat(seq, ' ', width);
		trace_seq_puts(seq, lines[i]);
	}
}

static void print_column_head(struct trace_seq *seq, uint32_t flags, bool is_latency, bool marks)
{
	trace_seq_putc(seq, '#');
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(front); i++) {
		if (flags & front[i].flag)
			trace_seq_puts(seq, marks ? front[i].marks : front[i].title);
	}
	if (is_latency)
		trace_seq_puts(seq, "||||   ");
	if (flags & TRACE_GRAPH_DURATION)
		trace_seq_puts(seq, marks ? "   |   |      " : "  DURATION   ");
	trace_seq_puts(seq, marks ? "               |   |   |   |\n"
				  : "               FUNCTION CALLS\n");
}

void trace_graph_print_header(struct trace_iter *iter, struct trace_seq *seq, uint32_t flags)
{
	bool is_latency = iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_LATENCY_FORMAT);

	if (!(iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO)))
		return;
	if (is_latency) {
		if (trace_iter_shows_nothing(iter))
			return;
		trace_print_latency_summary(iter, seq);
		print_state_head(seq, flags);
	}
	print_column_head(seq, flags, is_latency, false);
	print_column_head(seq, flags, is_latency, true);
}
