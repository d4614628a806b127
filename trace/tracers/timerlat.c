/*
 * The tracer timerlat: its thread sleeps until a deadline. See osnoise.h.
 *
 *   deadline         timer's interrupt            thread
 *      |-- latency, irq --|                          |
 *      |------------- latency, thread --------------|
 *
 * The next deadline is a period behind the last one; those that passed before the thread was done are left
 * out.
 */
#include <trace/tracer.h>
#include "instance/max.h"
#include "osnoise.h"

/* A timer's interrupt may come too early by this: its clock is not quite the one that is read here. */
#define TIMERLAT_EARLY_NS 2000u

static uint64_t timerlat_late_ns(uint64_t deadline_ns)
{
	uint64_t now_ns = trace_plat_clock_ns();

	return now_ns > deadline_ns ? now_ns - deadline_ns : 0;
}

static void timerlat_save_stack(struct osnoise_cpu *cpu)
{
	cpu->nr_ips = 0;
	if (trace_osnoise_settings.print_stack_us)
		cpu->nr_ips = (uint32_t)trace_plat_backtrace((uintptr_t)__builtin_frame_address(0),
							     false, cpu->ips, TRACE_STACK_MAX);
}

static bool timerlat_is_above(uint64_t latency_ns, uint64_t limit_us)
{
	return limit_us && latency_ns / OSNOISE_US_NS >= limit_us;
}

void trace_timerlat_fired(struct osnoise_cpu *cpu)
{
	uint64_t deadline_ns = cpu->deadline_ns;
	struct timerlat_entry entry = { .context = TIMERLAT_IRQ };

	if (trace_plat_clock_ns() + TIMERLAT_EARLY_NS < deadline_ns)
		return; /* it was another timer */
	entry.timer_latency = timerlat_late_ns(deadline_ns);
	cpu->deadline_ns = 0;
	entry.seqnum = ++cpu->seqnum;
	timerlat_save_stack(cpu);
	trace_timerlat_write(&entry);
	if (!timerlat_is_above(entry.timer_latency, trace_osnoise_settings.stop_us))
		return;
	trace_timerlat_write_stack(cpu);
	trace_osnoise_stop();
}

/* The thread is awake, but the interrupt was not told yet. Its latency is the thread's, then. */
static void timerlat_catch_up(struct osnoise_cpu *cpu)
{
	uint64_t flags = trace_plat_irq_save();

	if (cpu->deadline_ns)
		trace_timerlat_fired(cpu);
	trace_plat_irq_restore(flags);
}

void trace_timerlat_awake(struct osnoise_cpu *cpu, uint64_t deadline_ns)
{
	struct timerlat_entry entry = { .context = TIMERLAT_THREAD,
					.timer_latency = timerlat_late_ns(deadline_ns) };

	timerlat_catch_up(cpu);
	entry.seqnum = cpu->seqnum;
	trace_timerlat_write(&entry);
	if (timerlat_is_above(entry.timer_latency, trace_osnoise_settings.print_stack_us))
		trace_timerlat_write_stack(cpu);
	if (timerlat_is_above(entry.timer_latency, trace_osnoise_settings.stop_total_us))
		trace_osnoise_stop();
}

void trace_timerlat_user_returned(struct osnoise_cpu *cpu, uint64_t deadline_ns)
{
	const struct timerlat_entry entry = { .context = TIMERLAT_USER_RETURN,
					      .seqnum = cpu->seqnum,
					      .timer_latency = timerlat_late_ns(deadline_ns) };

	trace_timerlat_write(&entry);
	if (timerlat_is_above(entry.timer_latency, trace_osnoise_settings.stop_total_us))
		trace_osnoise_stop();
}

uint64_t trace_timerlat_next(uint64_t deadline_ns)
{
	uint64_t period_ns = trace_osnoise_settings.timerlat_period_us * OSNOISE_US_NS;
	uint64_t now_ns = trace_plat_clock_ns();

	if (deadline_ns + period_ns > now_ns)
		return deadline_ns + period_ns;
	return now_ns + period_ns - (now_ns - deadline_ns) % period_ns;
}

static void timerlat_run(struct osnoise_cpu *cpu)
{
	uint64_t deadline_ns = trace_plat_clock_ns();

	cpu->seqnum = 0;
	trace_osnoise_sample(cpu, true);
	for (;;) {
		deadline_ns = trace_timerlat_next(deadline_ns);
		cpu->deadline_ns = deadline_ns;
		trace_noise_host->sleep_until(deadline_ns, trace_osnoise_is_ending, NULL);
		if (trace_osnoise_is_ending(NULL))
			break;
		trace_timerlat_awake(cpu, deadline_ns);
	}
	cpu->deadline_ns = 0;
}

static const struct osnoise_kind timerlat_kind = { .tracer = &trace_timerlat,
						   .is_urgent = true,
						   .run = timerlat_run };

static int timerlat_init(struct trace_array *tr)
{
	trace_max_of(tr)->latency_ns = 0;
	return trace_osnoise_begin(&timerlat_kind, tr);
}

static void timerlat_switch_on(struct trace_array *tr)
{
	if (trace_osnoise_begin(&timerlat_kind, tr))
		trace_plat_log("trace: timerlat cannot begin anew");
}

static void timerlat_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	trace_osnoise_print_header(iter, seq,
				   "#                              |||| /            ACTIVATION\n"
				   "#           TASK-PID     CPU#  |||||  TIMESTAMP    ID         "
				   "CONTEXT                    LATENCY\n"
				   "#              | |         |   |||||     |         |           "
				   "  |                             |\n");
}

struct tracer trace_timerlat = {
	.name = "timerlat",
	.init = timerlat_init,
	.reset = trace_osnoise_end,
	.start = timerlat_switch_on,
	.stop = trace_osnoise_end,
	.print_header = timerlat_print_header,
	.instance_bytes = sizeof(struct osnoise_array),
};
