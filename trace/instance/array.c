/*
 * See array.h; and tracing_on() and the like of <trace/trace.h> for the host's code.
 */
#include <trace/ftrace.h>
#include <trace/trace.h>
#include "array.h"
#include "kept.h"
#include "ops/ftrace_private.h"
#include "snapshot.h"
#include "stacktrace.h"
#include "text/str.h"

_Atomic uint64_t trace_thresh_ns;

struct trace_plat_lock trace_config_lock;
struct trace_plat_lock trace_arrays_lock;

struct trace_array trace_global = {
	.options = TRACE_OPTIONS_DEFAULT,
	.wanted_bytes = TRACE_BUF_SIZE_DEFAULT,
	.tracer = &tracer_nop,
	.clock = &trace_clocks[0],
	.buffer_percent = TRACE_BUFFER_PERCENT_DEFAULT,
};

struct trace_array *trace_global_array(void)
{
	return trace_global.buffer ? &trace_global : NULL;
}

struct trace_array *trace_array_next(const struct trace_array *tr)
{
	return tr ? tr->next : trace_global_array();
}

void trace_set_boot_size(size_t bytes)
{
	trace_global.wanted_bytes = bytes;
}

/* Give a ring to each CPU of the instance that is there and has none. 0 or -ENOMEM. */
static int add_rings(const struct trace_array *tr, struct ring_buffer *buffer)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus() && !err; cpu++) {
		if (tr->cpus[cpu].is_there)
			err = ring_buffer_add_cpu(buffer, cpu);
	}
	return err;
}

static struct ring_buffer *make_buffer(const struct trace_array *tr, size_t bytes)
{
	bool overwrite = tr->options & TRACE_OPT_BIT(TRACE_OPT_OVERWRITE);
	struct ring_buffer *buffer = ring_buffer_alloc(
		bytes, RING_BUFFER_NO_CPUS | (overwrite ? RING_BUFFER_OVERWRITE : 0));

	if (buffer && add_rings(tr, buffer)) {
		ring_buffer_free(buffer);
		buffer = NULL;
	}
	return buffer;
}

/* For the global instance the host says which CPUs are there, for others the global one does. */
static bool is_cpu_there(const struct trace_array *tr, uint32_t cpu)
{
	return trace_array_is_global(tr) ? trace_plat_cpu_online(cpu)
					 : trace_global.cpus[cpu].is_there;
}

static size_t array_cpus_bytes(const struct trace_array *tr)
{
	return trace_plat_nr_cpus() * sizeof(*tr->cpus);
}

static int make_cpus(struct trace_array *tr)
{
	tr->cpus = trace_plat_alloc(array_cpus_bytes(tr));
	if (!tr->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		tr->cpus[cpu].is_there = is_cpu_there(tr, cpu);
	return 0;
}

int trace_array_init_buffer(struct trace_array *tr, struct ring_buffer *buffer)
{
	int err = make_cpus(tr);

	if (!err) {
		tr->user_stack_bit = trace_userstack_take_bit();
		tr->buffer = buffer;
	}
	return err;
}

int trace_array_init(struct trace_array *tr, size_t bytes)
{
	struct ring_buffer *buffer;
	int err = make_cpus(tr);

	if (err)
		return err;
	buffer = make_buffer(tr, bytes);
	if (!buffer) {
		trace_plat_free(tr->cpus, array_cpus_bytes(tr));
		tr->cpus = NULL;
		return -ENOMEM;
	}
	tr->user_stack_bit = trace_userstack_take_bit();
	tr->buffer = buffer; /* from here on trace_global_array() finds the global one */
	return 0;
}

int trace_arrays_add_cpu(uint32_t cpu)
{
	struct trace_array *tr = NULL;
	int err, first_err = 0;

	while ((tr = trace_array_next(tr))) {
		tr->cpus[cpu].is_there = true;
		err = ring_buffer_add_cpu(tr->buffer, cpu);
		if (err && !first_err)
			first_err = err;
	}
	return first_err;
}

void trace_array_release(struct trace_array *tr)
{
	ring_buffer_free(tr->buffer); /* and its twin */
	trace_plat_free(tr->cpus, array_cpus_bytes(tr));
	for (uint32_t i = 0; i < TRACE_MAX_TRACERS; i++) {
		if (tr->tracer_data[i].memory)
			trace_plat_free(tr->tracer_data[i].memory, tr->tracer_data[i].bytes);
	}
}

/* Tracing is dead: stop recording, so that what was recorded stays to be read. Any context. */
static void arrays_off(void)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_DAMAGE };
	struct trace_array *tr = trace_global_array();

	/* No lock is needed: an instance that is removed is freed only after a grace period. */
	trace_plat_preempt_disable();
	for (; tr; tr = tr->next)
		trace_array_off(tr, &from);
	trace_plat_preempt_enable();
}

int trace_arrays_init(void)
{
	int err = trace_array_init(&trace_global, TRACE_BUF_SIZE_MINIMAL);

	ftrace_when_killed(arrays_off);
	return err ? err : register_tracer(&tracer_nop);
}

/* A size that no ring can have is reported as -ENOMEM, as on Linux, not as -EINVAL. */
static int resize(struct trace_array *tr, size_t bytes, int cpu)
{
	int err = ring_buffer_resize(tr->buffer, bytes, cpu);

	/* A CPU that came when memory was short has no ring; with this size it may get one. */
	if (!err)
		(void)add_rings(tr, tr->buffer);
	return err == -EINVAL ? -ENOMEM : err;
}

int trace_array_expand(struct trace_array *tr)
{
	int err;

	if (tr->is_expanded)
		return 0;
	err = resize(tr, tr->wanted_bytes, RING_BUFFER_ALL_CPUS);
	if (!err)
		tr->is_expanded = true;
	return err;
}

int trace_array_resize(struct trace_array *tr, size_t bytes, int cpu)
{
	int err = resize(tr, bytes, cpu);

	/* The user has chosen a size, so the first use does not expand the buffer any more. */
	if (!err)
		tr->is_expanded = true;
	return err;
}

/* `by` NULL: there was nothing in it. */
static void note_emptied(struct trace_array *tr, const char *by)
{
	tr->emptied_ns = trace_plat_clock_ns();
	if (by)
		tr->emptied_by = by;
}

void trace_array_note_emptied(struct trace_array *tr, const char *by)
{
	note_emptied(tr, ring_buffer_entries(tr->buffer) ? by : NULL);
}

int trace_array_set_subbuf_order(struct trace_array *tr, int order)
{
	const char *by;
	uint64_t now;
	int err;

	if (order == ring_buffer_subbuf_order_get(tr->buffer))
		return 0;
	now = ring_buffer_time_stamp(tr->buffer);
	by = ring_buffer_entries(tr->buffer) ? "a new buffer_subbuf_size_kb" : NULL;
	trace_plat_lock(&tr->read_lock); /* no reader is at an event */
	err = ring_buffer_subbuf_order_set(tr->buffer, order);
	trace_plat_unlock(&tr->read_lock);
	if (!err) {
		tr->start_ts = now;
		trace_snapshot_of(tr)->start_ts = now;
		note_emptied(tr, by);
	}
	return err;
}

static void reset(struct ring_buffer *buffer, int cpu, _Atomic uint64_t *start_ts)
{
	if (cpu != RING_BUFFER_ALL_CPUS) {
		ring_buffer_reset_cpu(buffer, (uint32_t)cpu); /* others keep older events */
		return;
	}
	/* Taken before: CPUs that are emptied first record again while others are being emptied. */
	*start_ts = ring_buffer_time_stamp(buffer);
	ring_buffer_reset(buffer);
}

void trace_array_reset(struct trace_array *tr, int cpu, const char *by)
{
	trace_snapshot_pause(tr);	 /* else an exchange could come between two CPUs */
	trace_plat_lock(&tr->read_lock); /* no consuming reader is between peek and consume */
	trace_array_note_emptied(tr, by);
	reset(tr->buffer, cpu, &tr->start_ts);
	trace_plat_unlock(&tr->read_lock);
	trace_snapshot_resume(tr);
	if (cpu == RING_BUFFER_ALL_CPUS)
		trace_kept_begin(tr);
}

void trace_array_reset_snapshot(struct trace_array *tr, int cpu)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);

	if (!snapshot->has_room)
		return;
	trace_snapshot_pause(tr);
	reset(snapshot->buffer, cpu, &snapshot->start_ts);
	trace_snapshot_resume(tr);
}

void trace_array_switch(struct trace_array *tr, bool on, enum trace_off_by by)
{
	const struct trace_off_from from = { .by = by };

	if (on == ring_buffer_record_is_set_on(tr->buffer))
		return;
	if (on) {
		trace_kept_begin(tr);
		if (tr->tracer->start)
			tr->tracer->start(tr); /* may empty the buffer, so it comes first */
		trace_array_on(tr);
		return;
	}
	trace_array_off(tr, &from);
	if (tr->tracer->stop)
		tr->tracer->stop(tr);
	trace_plat_wake(&tr->pipe_wait);
}

void tracing_on(void)
{
	struct trace_array *tr = trace_global_array();

	if (tr)
		trace_array_on(tr);
}

void tracing_off(void)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_CODE,
					     .ip = (uintptr_t)__builtin_return_address(0) };
	struct trace_array *tr = trace_global_array();

	if (tr)
		trace_array_off(tr, &from);
}

bool tracing_is_on(void)
{
	struct ring_buffer *buffer = trace_global.buffer;

	return buffer && ring_buffer_record_is_set_on(buffer);
}
