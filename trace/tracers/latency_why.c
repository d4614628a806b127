/* Sentences of the file `why` about latency tracers. See tracer_why.h. */
#include "latency.h"
#include "tracer_why.h"

static void look_at_maximum(struct trace_why *why)
{
	const struct tracer *tracer = __atomic_load_n(&why->tr->tracer, __ATOMIC_RELAXED);
	uint64_t max_ns = atomic_load(&trace_max_of(why->tr)->latency_ns);
	uint64_t thresh_ns = trace_thresh_ns;

	if (!atomic_load(&trace_latency_of(why->tr)->running))
		return;
	if (thresh_ns)
		trace_why_say(why,
			      "%s keeps only times of %s or more: echo 0 > tracing_thresh for each "
			      "new maximum.",
			      tracer->name, trace_why_time(thresh_ns).text);
	else if (max_ns)
		trace_why_say(why,
			      "%s keeps only a new maximum: tracing_max_latency is %s, and nothing "
			      "longer has come since; echo 0 > tracing_max_latency.",
			      tracer->name, trace_why_time(max_ns).text);
	else
		trace_why_say(why, "%s has not seen a time yet that it could keep.", tracer->name);
	if (!(why->tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_TRACE)))
		trace_why_note(why,
			       "%s records no calls: option function-trace is not set; echo 1 > "
			       "options/function-trace.",
			       tracer->name);
}

const struct trace_why_check trace_latency_whys[] = {
	{ TRACE_WHY_TRACER, look_at_maximum },
	{ .say = NULL },
};
