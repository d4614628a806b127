/*
 * The event profile:sample: its fields and text. See sample.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "print/output.h"
#include "sample.h"
#include "text/str.h"

static const struct trace_event_field sample_fields[] = {
	TRACE_FIELD("ip", unsigned long, sample_entry, ip),
	TRACE_FIELD("period", unsigned int, sample_entry, period),
	TRACE_FIELD("context", unsigned char, sample_entry, context),
	TRACE_FIELD("irqs_off", unsigned char, sample_entry, irqs_off),
};

static const char *const sample_contexts[SAMPLE_NR_CONTEXTS] = {
	[SAMPLE_KERNEL] = "kernel", [SAMPLE_USER] = "user",	  [SAMPLE_IDLE] = "idle",
	[SAMPLE_IRQ] = "irq",	    [SAMPLE_SOFTIRQ] = "softirq",
};

const char *const trace_sample_clocks[TRACE_SAMPLE_NR_CLOCKS] = {
	[TRACE_SAMPLE_TIMER] = "timer",
	[TRACE_SAMPLE_NMI] = "nmi",
};

static void sample_print(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct sample_entry entry;
	bool is_known;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	is_known = entry.context < SAMPLE_NR_CONTEXTS;
	trace_seq_printf(seq, "sample: %s ip=", is_known ? sample_contexts[entry.context] : "?");
	if (entry.context == SAMPLE_USER)
		trace_seq_printf(seq, "0x%llx", (unsigned long long)entry.ip);
	else
		trace_print_symbol(iter, seq, trace_plat_ip_pack((uintptr_t)entry.ip),
				   TRACE_IP_OFFSET);
	trace_seq_printf(seq, " period=%u%s\n", entry.period, entry.irqs_off ? " irqs-off" : "");
}

static const struct trace_event_functions sample_funcs = { .trace = sample_print };

/* A sample of a program has no stack in the kernel. */
static uintptr_t sample_place(const void *entry)
{
	const struct sample_entry *sample = entry;

	return sample->context == SAMPLE_USER ? 0 : (uintptr_t)sample->ip;
}

/* Its users change: without a tracepoint, there is nothing else to switch. */
static void sample_used(struct trace_event_call *call)
{
	(void)call;
	trace_sample_apply();
}

static const struct trace_event_class sample_class = {
	.system = "profile",
	.place = sample_place,
	.user_stack = trace_sample_user_stack,
	.used = sample_used,
	.ignore_enable = true, /* it is a load of its own */
};

struct trace_event_call trace_sample_call = {
	.event = {
		.name = "sample",
		.system = "profile",
		.nr_fields = TRACE_ARRAY_SIZE(sample_fields),
		.fields = sample_fields,
		.print_fmt = "\"%s ip=%pS period=%u%s\", __print_symbolic(REC->context, "
			     "{ 0, \"kernel\" }, { 1, \"user\" }, { 2, \"idle\" }, "
			     "{ 3, \"irq\" }, { 4, \"softirq\" }), (void *)REC->ip, "
			     "REC->period, REC->irqs_off ? \" irqs-off\" : \"\"",
		.funcs = &sample_funcs,
	},
	.event_class = &sample_class,
};
