/*
 * The events ftrace:osnoise and ftrace:timerlat, in Linux's format, and writing them; and the events
 * osnoise:*. See osnoise.h.
 */
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "instance/max.h"
#include "instance/stacktrace.h"
#include "osnoise.h"
#include "print/output.h"
#include "text/str.h"

#define CREATE_TRACE_POINTS
#include <trace/events/osnoise.h>

/* ---- Writing ---- */

/*
 * Write the event of `bytes` bytes at `from`, behind its head. `ns` may be the instance's maximum: not if
 * recording is being switched off, because no line would have it.
 */
static TRACE_ALWAYS_INLINE void osnoise_write_to(struct trace_array *tr,
						 const struct trace_event *event, const void *from,
						 size_t bytes, uint64_t ns)
{
	const size_t head = sizeof(struct trace_entry);
	struct trace_event_buffer fbuffer;
	unsigned char *entry = trace_event_buffer_reserve(&fbuffer, tr, event, bytes);

	if (entry) {
		__builtin_memcpy(entry + head, (const unsigned char *)from + head, bytes - head);
		trace_event_buffer_commit(&fbuffer, entry);
	}
	if (entry || ring_buffer_record_is_set_on(tr->buffer))
		trace_max_raise(tr, ns);
}

void trace_osnoise_write(const struct osnoise_entry *from, uint64_t max_ns)
{
	const struct osnoise_array *array;

	for (array = trace_osnoise_arrays(); array; array = array->next)
		osnoise_write_to(array->tr, &trace_osnoise_event, from, sizeof(*from), max_ns);
}

void trace_timerlat_write(const struct timerlat_entry *from)
{
	const struct osnoise_array *array;

	for (array = trace_osnoise_arrays(); array; array = array->next)
		osnoise_write_to(array->tr, &trace_timerlat_event, from, sizeof(*from),
				 from->timer_latency);
}

void trace_timerlat_write_stack(const struct osnoise_cpu *cpu)
{
	const struct osnoise_array *array;

	for (array = trace_osnoise_arrays(); array; array = array->next)
		trace_stacktrace_saved(array->tr->buffer, cpu->ips, cpu->nr_ips);
}

/* ---- Text ---- */

#define RATIO	  10000000u /* 100 %, with five digits behind the point */
#define RATIO_ONE 100000u

static void osnoise_event_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct osnoise_entry entry;
	uint64_t ratio = 0;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	if (entry.runtime > entry.noise)
		ratio = (entry.runtime - entry.noise) * RATIO / entry.runtime;
	trace_seq_printf(seq, "%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u\n",
			 (unsigned long long)entry.runtime, (unsigned long long)entry.noise,
			 (unsigned long long)(ratio / RATIO_ONE),
			 (unsigned long long)(ratio % RATIO_ONE),
			 (unsigned long long)entry.max_sample, entry.hw_count, entry.nmi_count,
			 entry.irq_count, entry.softirq_count, entry.thread_count);
}

static void osnoise_event_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct osnoise_entry entry;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	trace_seq_printf(seq, "%llu %llu %llu %u %u %u %u %u\n", (unsigned long long)entry.runtime,
			 (unsigned long long)entry.noise, (unsigned long long)entry.max_sample,
			 entry.hw_count, entry.nmi_count, entry.irq_count, entry.softirq_count,
			 entry.thread_count);
}

static const char *const timerlat_contexts[] = {
	[TIMERLAT_IRQ] = "irq",
	[TIMERLAT_THREAD] = "thread",
	[TIMERLAT_USER_RETURN] = "user-ret",
};

static void timerlat_event_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct timerlat_entry entry;
	bool is_known;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	is_known = (uint32_t)entry.context <= TIMERLAT_USER_RETURN;
	trace_seq_printf(seq, "#%-5u context %6s timer_latency %9llu ns\n", entry.seqnum,
			 is_known ? timerlat_contexts[entry.context] : "?",
			 (unsigned long long)entry.timer_latency);
}

static void timerlat_event_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct timerlat_entry entry;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	trace_seq_printf(seq, "%u %d %llu\n", entry.seqnum, entry.context,
			 (unsigned long long)entry.timer_latency);
}

void trace_osnoise_print_header(struct trace_iter *iter, struct trace_seq *seq, const char *columns)
{
	const uint32_t wanted =
		TRACE_OPT_BIT(TRACE_OPT_CONTEXT_INFO) | TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO);
	const uint64_t options = iter->tr->options;

	if (iter->is_latency || (options & wanted) != wanted ||
	    options & TRACE_OPT_BIT(TRACE_OPT_VERBOSE)) {
		trace_print_default_header(iter, seq);
		return;
	}
	trace_seq_puts(seq, "#                                _-----=> irqs-off\n"
			    "#                               / _----=> need-resched\n"
			    "#                              | / _---=> hardirq/softirq\n"
			    "#                              || / _--=> preempt-depth\n"
			    "#                              ||| / _-=> migrate-disable\n");
	trace_seq_puts(seq, columns);
}

/* ---- The types. Those of fields are named as in Linux's format. ---- */

#define OSNOISE_FIELD(entry, c_type, sign, member)                                                 \
	TRACE_FIELD_INIT(#member, c_type, entry, member, TRACE_SIZEOF_MEMBER(entry, member),       \
			 TRACE_SIZEOF_MEMBER(entry, member), sign, false)

static const struct trace_event_field osnoise_event_fields[] = {
	OSNOISE_FIELD(osnoise_entry, "u64", false, noise),
	OSNOISE_FIELD(osnoise_entry, "u64", false, runtime),
	OSNOISE_FIELD(osnoise_entry, "u64", false, max_sample),
	OSNOISE_FIELD(osnoise_entry, "unsigned int", false, hw_count),
	OSNOISE_FIELD(osnoise_entry, "unsigned int", false, nmi_count),
	OSNOISE_FIELD(osnoise_entry, "unsigned int", false, irq_count),
	OSNOISE_FIELD(osnoise_entry, "unsigned int", false, softirq_count),
	OSNOISE_FIELD(osnoise_entry, "unsigned int", false, thread_count),
};

struct trace_event trace_osnoise_event = {
	.name = "osnoise",
	.system = "ftrace",
	.type = TRACE_TYPE_OSNOISE,
	.fields = osnoise_event_fields,
	.nr_fields = TRACE_ARRAY_SIZE(osnoise_event_fields),
	.print_fmt = "\"noise:%llu\\tmax_sample:%llu\\thw:%u\\tnmi:%u\\tirq:%u\\tsoftirq:%u"
		     "\\tthread:%u\\n\", REC->noise, REC->max_sample, REC->hw_count, "
		     "REC->nmi_count, REC->irq_count, REC->softirq_count, REC->thread_count",
	.funcs = &(const struct trace_event_functions){ .trace = osnoise_event_text,
							.raw = osnoise_event_raw },
};

static const struct trace_event_field timerlat_event_fields[] = {
	OSNOISE_FIELD(timerlat_entry, "unsigned int", false, seqnum),
	OSNOISE_FIELD(timerlat_entry, "int", true, context),
	OSNOISE_FIELD(timerlat_entry, "u64", false, timer_latency),
};

struct trace_event trace_timerlat_event = {
	.name = "timerlat",
	.system = "ftrace",
	.type = TRACE_TYPE_TIMERLAT,
	.fields = timerlat_event_fields,
	.nr_fields = TRACE_ARRAY_SIZE(timerlat_event_fields),
	.print_fmt = "\"seq:%u\\tcontext:%d\\ttimer_latency:%llu\\n\", REC->seqnum, "
		     "REC->context, REC->timer_latency",
	.funcs = &(const struct trace_event_functions){ .trace = timerlat_event_text,
							.raw = timerlat_event_raw },
};
