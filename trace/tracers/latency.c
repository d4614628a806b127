/*
 * See latency.h.
 */
#include <trace/recursion.h>
#include <trace/thread.h>
#include "function_entry.h"
#include "function_tracer.h"
#include "instance/options.h"
#include "instance/snapshot.h"
#include "instance/stacktrace.h"
#include "latency.h"
#include "latency_entry.h"
#include "ring/ring_fast.h"
#include "text/str.h"

/* Options that are set while a latency tracer runs: it needs overwrite; users want the others. */
#define WANTED_OPTIONS                                                                             \
	(TRACE_OPT_BIT(TRACE_OPT_OVERWRITE) | TRACE_OPT_BIT(TRACE_OPT_LATENCY_FORMAT) |            \
	 TRACE_OPT_BIT(TRACE_OPT_PAUSE_ON_TRACE))

/* ---- Events ---- */

static void latency_write_call(struct trace_array *tr, uintptr_t ip, uintptr_t parent_ip,
			       uint32_t own_depth)
{
	struct ring_buffer *buffer = tr->buffer;
	struct trace_ring_cpu *rc = buffer->cpu[trace_plat_cpu_id()];
	struct trace_func_entry *entry = trace_ring_reserve(rc, sizeof(*entry));

	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_FN, own_depth);
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
	trace_ring_commit(rc, entry);
}

void trace_latency_point(struct trace_latency *lat, uintptr_t ip, uintptr_t parent_ip)
{
	struct trace_array *tr = lat->tr;

	if (tr->options & TRACE_OPT_BIT(TRACE_OPT_DISPLAY_GRAPH))
		trace_latency_graph_point(tr, ip);
	else
		latency_write_call(tr, ip, parent_ip, 0);
}

/* Is the running thread traced, by set_ftrace_pid and set_ftrace_notrace_pid? */
static bool is_thread_traced(const struct trace_array *tr)
{
	return !(trace_plat_current()->ignored_by & tr->pid_mask);
}

/* Called for every traced function; most calls do not belong to a time that is being measured. */
static void latency_function_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	const struct trace_latency *lat = trace_latency_of(tr)->running;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	if (bit < 0)
		return;
	if (TRACE_UNLIKELY(parent_ip == trace_plat_return_hook()))
		parent_ip = trace_function_true_parent(parent_ip, fregs);
	if (lat && lat->records(lat, trace_plat_cpu_id(), trace_latency_traced_count()) &&
	    is_thread_traced(tr))
		latency_write_call(tr, ip, parent_ip, 1);
	trace_recursion_exit(bit);
}

void trace_latency_stack(struct trace_array *tr, uintptr_t ip, bool inclusive)
{
	trace_stacktrace_hook(tr->buffer, (uintptr_t)__builtin_frame_address(0), ip, inclusive);
}

/* ---- Maxima ---- */

bool trace_latency_is_news(const struct trace_array *tr, uint64_t ns)
{
	uint64_t thresh_ns = trace_thresh_ns;

	return thresh_ns ? ns >= thresh_ns : ns > trace_max_of(tr)->latency_ns;
}

void trace_latency_name(struct trace_max *max, const struct trace_sched_thread *thread)
{
	max->pid = thread->pid;
	max->prio = thread->prio;
	max->policy = thread->policy;
	memcpy(max->comm, thread->comm, TRACE_COMM_LEN);
	max->comm[TRACE_COMM_LEN - 1] = '\0';
}

void trace_latency_keep(struct trace_array *tr, const struct trace_max *max)
{
	int err = trace_snapshot_take(tr, max->is_one_cpu ? (int)max->cpu : RING_BUFFER_ALL_CPUS);

	/* In an interrupt that came while an event was written, a single CPU's ring is busy. */
	if (err == -EBUSY && max->is_one_cpu && !trace_snapshot_of(tr)->nr_stopped)
		err = trace_snapshot_take(tr, RING_BUFFER_ALL_CPUS);
	if (err)
		return;
	trace_max_of(tr)->latency_ns = max->latency_ns;
	trace_max_of(tr)->kept = *max;
}

/* ---- Start and stop ---- */

static int latency_start_calls(struct trace_latency *lat, struct trace_array *tr)
{
	int err;

	if (!(tr->options & TRACE_OPT_BIT(TRACE_OPT_FUNCTION_TRACE)))
		return 0;
	lat->is_graph = tr->options & TRACE_OPT_BIT(TRACE_OPT_DISPLAY_GRAPH);
	if (lat->is_graph) {
		err = trace_latency_graph_start(lat, tr);
		lat->has_calls = !err;
		return err;
	}
	err = tracer_register_function(tr, latency_function_call);
	lat->has_calls = !err;
	return err;
}

static void stop_calls(struct trace_latency *lat, struct trace_array *tr)
{
	if (lat->has_calls && lat->is_graph)
		trace_latency_graph_stop(lat, tr);
	else if (lat->has_calls)
		tracer_unregister_function(tr);
	lat->has_calls = false;
}

static void latency_set_options(struct trace_array *tr, uint64_t options)
{
	for (unsigned int i = 0; i < TRACE_NR_OPTIONS; i++) {
		if (WANTED_OPTIONS & TRACE_OPT_BIT(i))
			trace_option_apply(tr, (enum trace_option)i, options & TRACE_OPT_BIT(i));
	}
}

/*
 * Forget the maximum and its events. Snapshots are paused, so that a probe that runs meanwhile
 * cannot make a new maximum that is then forgotten in part.
 */
static void forget_maximum(struct trace_array *tr)
{
	trace_snapshot_pause(tr);
	trace_array_reset(tr, RING_BUFFER_ALL_CPUS, "tracing_on");
	trace_array_reset_snapshot(tr, RING_BUFFER_ALL_CPUS);
	trace_max_of(tr)->latency_ns = 0;
	trace_max_of(tr)->kept = (struct trace_max){ 0 };
	trace_snapshot_resume(tr);
}

/* The snapshot stays, as on Linux. */
void trace_latency_reset(struct trace_array *tr)
{
	struct trace_latency *lat = trace_latency_of(tr)->running;

	lat->is_on = false;
	lat->stop_listening();
	tracepoint_synchronize_unregister();
	stop_calls(lat, tr);
	lat->tr = NULL;
	trace_latency_of(tr)->running = NULL;
	latency_set_options(tr, lat->saved_options);
}

int trace_latency_start(struct trace_latency *lat, struct trace_array *tr)
{
	int err;

	if (lat->tr)
		return -EBUSY;
	lat->saved_options = tr->options;
	lat->tr = tr;
	trace_latency_of(tr)->running = lat;
	err = latency_start_calls(lat, tr);
	if (err) {
		lat->tr = NULL;
		trace_latency_of(tr)->running = NULL;
		return err;
	}
	latency_set_options(tr, WANTED_OPTIONS);
	forget_maximum(tr);
	lat->is_on = ring_buffer_record_is_set_on(tr->buffer);
	err = lat->listen();
	if (err)
		trace_latency_reset(tr);
	return err;
}

void trace_latency_switch_on(struct trace_array *tr)
{
	struct trace_latency *lat = trace_latency_of(tr)->running;

	lat->is_on = true;
}

void trace_latency_switch_off(struct trace_array *tr)
{
	struct trace_latency *lat = trace_latency_of(tr)->running;

	lat->is_on = false;
}

/*
 * An option could not be changed, and is set back by the caller afterwards: start the calls of the
 * old setting again. If that fails for want of memory, no calls are recorded.
 */
static void restore_calls(struct trace_latency *lat, struct trace_array *tr, uint32_t option)
{
	tr->options ^= TRACE_OPT_BIT(option);
	(void)latency_start_calls(lat, tr);
	tr->options ^= TRACE_OPT_BIT(option);
}

int trace_latency_option(struct trace_array *tr, uint32_t option, bool on)
{
	struct trace_latency *lat = trace_latency_of(tr)->running;
	int err;

	if (option == TRACE_OPT_OVERWRITE && !on)
		return -EINVAL; /* without overwrite the end of a long time could be dropped */
	if (option != TRACE_OPT_FUNCTION_TRACE && option != TRACE_OPT_DISPLAY_GRAPH)
		return 0;
	stop_calls(lat, tr);
	if (option == TRACE_OPT_DISPLAY_GRAPH)
		forget_maximum(tr); /* its events cannot be shown in the other form */
	err = latency_start_calls(lat, tr);
	if (err)
		restore_calls(lat, tr, option);
	return err;
}

int trace_latency_init(void)
{
	struct tracer *const tracers[] = { &tracer_wakeup, &tracer_wakeup_rt, &tracer_irqsoff,
					   &tracer_preemptoff, &tracer_preemptirqsoff };
	int err = trace_latency_events_init();

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(tracers) && !err; i++)
		err = register_tracer(tracers[i]);
	return err;
}
