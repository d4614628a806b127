/*
 * What stands above the first line of `trace`. See output.h.
 */
#include <trace/ftrace.h>
#include "output.h"

#define PRODUCT "fathom"

static uint32_t online_cpus(void)
{
	uint32_t nr = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		nr += trace_plat_cpu_online(cpu);
	return nr;
}

/* Events in the buffers, and those ever written that were not read. */
static void count(const struct trace_iter *iter, uint64_t *out_entries, uint64_t *out_written)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	*out_entries = buffer ? ring_buffer_entries(buffer) : 0;
	*out_written = *out_entries + (buffer ? ring_buffer_overruns(buffer) : 0);
}

static void print_counts(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t entries, written;

	count(iter, &entries, &written);
	trace_seq_printf(seq,
			 "# entries-in-buffer/entries-written: %llu/%llu   #P:%u\n"
			 "#\n",
			 (unsigned long long)entries, (unsigned long long)written, online_cpus());
}

static void print_columns(struct trace_seq *seq)
{
	trace_seq_puts(seq, "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n"
			    "#              | |         |         |         |\n");
}

static void print_columns_with_state(struct trace_seq *seq)
{
	trace_seq_puts(seq, "#                                _-----=> irqs-off/BH-disabled\n"
			    "#                               / _----=> need-resched\n"
			    "#                              | / _---=> hardirq/softirq\n"
			    "#                              || / _--=> preempt-depth\n"
			    "#                              ||| / _-=> migrate-disable\n"
			    "#                              |||| /     delay\n"
			    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			    "#              | |         |   |||||     |         |\n");
}

void trace_print_latency_summary(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t entries, written;

	count(iter, &entries, &written);
	trace_seq_printf(seq,
			 "# %s latency trace v1.1.5 on " PRODUCT "\n"
			 "# --------------------------------------------------------------------\n"
			 "# latency: %llu us, #%llu/%llu, CPU#%d | (M:preempt VP:0, KP:0, SP:0 "
			 "HP:0 #P:%u)\n",
			 iter->tracer->name, 0ull, (unsigned long long)entries,
			 (unsigned long long)written, 0, online_cpus());
	trace_seq_puts(seq, "#    -----------------\n"
			    "#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)\n"
			    "#    -----------------\n"
			    "#\n");
}

static void print_latency_columns(struct trace_seq *seq)
{
	trace_seq_puts(seq, "#                    _------=> CPU#            \n"
			    "#                   / _-----=> irqs-off/BH-disabled\n"
			    "#                  | / _----=> need-resched    \n"
			    "#                  || / _---=> hardirq/softirq \n"
			    "#                  ||| / _--=> preempt-depth   \n"
			    "#                  |||| / _-=> migrate-disable \n"
			    "#                  ||||| /     delay           \n"
			    "#  cmd     pid     |||||| time  |   caller     \n"
			    "#     \\   /        ||||||  \\    |    /       \n");
}

static void print_default_header(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint32_t options = iter->tr->options;

	if (!(options & TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO)))
		return;
	if (iter->is_latency) {
		if (trace_iter_is_empty(iter))
			return;
		trace_print_latency_summary(iter, seq);
		if (!(options & TRACE_OPT_BIT(TRACE_OPT_VERBOSE)))
			print_latency_columns(seq);
		return;
	}
	if (options & TRACE_OPT_BIT(TRACE_OPT_VERBOSE))
		return;
	print_counts(iter, seq);
	if (options & TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO))
		print_columns_with_state(seq);
	else
		print_columns(seq);
}

void trace_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	trace_seq_printf(seq, "# tracer: %s\n#\n", iter->tracer->name);
	if (ftrace_is_dead())
		trace_seq_puts(seq, "# WARNING: FUNCTION TRACING IS CORRUPTED\n"
				    "#          MAY BE MISSING FUNCTION EVENTS\n");
	if (iter->tracer->print_header)
		iter->tracer->print_header(iter, seq);
	else
		print_default_header(iter, seq);
}
