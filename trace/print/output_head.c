/* The header of `trace`, above its first line. See output.h. */
#include <trace/fmt.h>
#include <trace/ftrace.h>
#include <trace/host_tracepoints.h>
#include "output.h"
#include "text/str.h"

static uint32_t online_cpus(void)
{
	uint32_t nr = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		nr += trace_plat_cpu_online(cpu);
	return nr;
}

static void print_counts(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t entries, written;

	trace_iter_count(iter, &entries, &written);
	trace_seq_printf(seq,
			 "# entries-in-buffer/entries-written: %llu/%llu   #P:%u\n"
			 "#\n",
			 (unsigned long long)entries, (unsigned long long)written, online_cpus());
}

static void print_columns(struct trace_seq *seq, bool has_tgid)
{
	trace_seq_printf(seq,
			 "#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n"
			 "#              | |      %s   |         |         |\n",
			 has_tgid ? "   TGID   " : "", has_tgid ? "     |    " : "");
}

static void print_columns_with_state(struct trace_seq *seq, bool has_tgid)
{
	static const char *const marks[] = {
		"  _-----=> irqs-off/BH-disabled", " / _----=> need-resched",
		"| / _---=> hardirq/softirq",	   "|| / _--=> preempt-depth",
		"||| / _-=> migrate-disable",	   "|||| /     delay",
	};

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(marks); i++)
		trace_seq_printf(seq, "#                              %s%s\n",
				 has_tgid ? "          " : "", marks[i]);
	trace_seq_printf(seq,
			 "#           TASK-PID    %s CPU#  |||||  TIMESTAMP  FUNCTION\n"
			 "#              | |      %s   |   |||||     |         |\n",
			 has_tgid ? "   TGID   " : "", has_tgid ? "     |    " : "");
}

#define NS_PER_US	1000u
#define RT_PRIO_HIGHEST 99

/* `# | task: ...`: the thread that had the maximum latency. */
static void print_task(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_max *max = &iter->max;
	bool is_rt = max->prio < TRACE_PRIO_REAL_TIME;

	trace_seq_printf(seq,
			 "#    -----------------\n"
			 "#    | task: %.16s-%d (uid:0 nice:0 policy:%u rt_prio:%d)\n"
			 "#    -----------------\n",
			 max->comm, max->pid, max->policy,
			 max->latency_ns && is_rt ? RT_PRIO_HIGHEST - max->prio : 0);
}

static void print_places(const struct trace_iter *iter, struct trace_seq *seq)
{
	if (!iter->max.started_at)
		return;
	trace_seq_puts(seq, "#  => started at: ");
	trace_print_ip(iter, seq, trace_plat_ip_pack(iter->max.started_at));
	trace_seq_puts(seq, "\n#  => ended at:   ");
	trace_print_ip(iter, seq, trace_plat_ip_pack(iter->max.ended_at));
	trace_seq_puts(seq, "\n#\n");
}

void trace_print_latency_summary(const struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t entries, written;

	trace_iter_count(iter, &entries, &written);
	trace_seq_printf(seq,
			 "# %s latency trace v1.1.5 on " TRACE_PRODUCT "\n"
			 "# --------------------------------------------------------------------\n"
			 "# latency: %llu us, #%llu/%llu, CPU#%d | (M:preempt VP:0, KP:0, SP:0 "
			 "HP:0 #P:%u)\n",
			 iter->tracer->name, (unsigned long long)(iter->max.latency_ns / NS_PER_US),
			 (unsigned long long)entries, (unsigned long long)written,
			 (int)iter->max.cpu, online_cpus());
	print_task(iter, seq);
	print_places(iter, seq);
	trace_seq_puts(seq, "#\n");
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

void trace_print_default_header(struct trace_iter *iter, struct trace_seq *seq)
{
	uint64_t options = iter->tr->options;

	if (!(options & TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO)))
		return;
	if (iter->is_latency) {
		if (trace_iter_shows_nothing(iter))
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
		print_columns_with_state(seq, options & TRACE_OPT_BIT(TRACE_OPT_RECORD_TGID));
	else
		print_columns(seq, options & TRACE_OPT_BIT(TRACE_OPT_RECORD_TGID));
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
		trace_print_default_header(iter, seq);
}
