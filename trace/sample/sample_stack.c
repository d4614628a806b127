/*
 * Stacks of programs behind samples: each program's is read when it goes on, once for all samples since it
 * came into the kernel. So an NMI has it, too, and pages that are not there are made. See sample.h.
 */
#include <trace/platform.h>
#include <trace/trace.h>
#include "events/event_file.h"
#include "instance/entry.h"
#include "instance/stacktrace.h"
#include "sample.h"

static uint32_t sample_bits_given;

uint32_t trace_sample_take_bit(void)
{
	return 1u << (sample_bits_given++ % TRACE_SAMPLE_BITS);
}

void trace_sample_user_stack(const struct trace_event_file *file)
{
	const struct sample_array *sample = trace_sample_of(file->tr);
	const struct trace_sample_due due = { .clock = sample->clock, .bits = sample->bit };

	if (trace_sample_host->at_return)
		trace_sample_host->at_return(&due);
	else
		trace_userstack_write(file->tr, file->own_depth);
}

/* It counts as much as a sample against the limit of their time. */
static void sample_stack_write(const struct trace_event_file *file, uint32_t tgid,
			       const uint64_t *callers)
{
	struct sample_cpu *cpu = &trace_sample_of(file->tr)->cpus[trace_plat_cpu_id()];

	trace_userstack_record(file->tr->buffer, tgid, callers, 1);
	trace_plat_local_add(&cpu->debt_ns, cpu->cost_ns);
}

void trace_sample_return(uint32_t bits)
{
	uint64_t callers[TRACE_USER_STACK_MAX] = { 0 };
	const struct trace_event_file *file;
	uint32_t tgid;

	if (!trace_userstack_get(&tgid, callers))
		return;
	trace_plat_preempt_disable();
	file = trace_atomic_load_acquire(&trace_sample_call.files);
	for (; file; file = atomic_load_explicit(&file->next_of_call, memory_order_acquire)) {
		if (trace_sample_of(file->tr)->bit & bits)
			sample_stack_write(file, tgid, callers);
	}
	trace_plat_preempt_enable();
}
