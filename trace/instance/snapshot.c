/*
 * See snapshot.h; and tracing_snapshot() and the like of <trace/trace.h> for the host's code.
 */
#include <trace/trace.h>
#include "printk.h"
#include "snapshot.h"
#include "why.h"
#include "text/str.h"

#define TAKE_TRIES 100

/*
 * Twins do not share nested disables, so CPUs left out by tracing_cpumask are disabled here, too.
 */
static void mask_cpus(struct trace_array *tr, struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (tr->cpus[cpu].is_masked)
			ring_buffer_record_disable_cpu(buffer, cpu);
	}
}

static int make_twin(struct trace_array *tr)
{
	struct ring_buffer *twin;

	if (trace_snapshot_of(tr)->buffer)
		return 0;
	if (tr->kept)
		return -EOPNOTSUPP;
	twin = ring_buffer_alloc_twin(tr->buffer);
	if (!twin)
		return -ENOMEM;
	mask_cpus(tr, twin);
	trace_snapshot_of(tr)->buffer = twin;
	return 0;
}

/* The read lock is held, because sub-buffers and so the pages of readers may change their size. */
static int change_size(struct trace_array *tr, int (*change)(struct ring_buffer *buffer))
{
	int err;

	trace_plat_lock(&tr->read_lock);
	err = change(trace_snapshot_of(tr)->buffer);
	trace_plat_unlock(&tr->read_lock);
	return err;
}

int trace_snapshot_alloc(struct trace_array *tr)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);
	int err;

	if (snapshot->has_room)
		return 0;
	err = trace_array_expand(tr);
	if (!err)
		err = make_twin(tr);
	if (!err)
		err = change_size(tr, ring_buffer_fit);
	if (!err) {
		snapshot->start_ts = tr->start_ts;
		snapshot->has_room = true;
	}
	return err;
}

/* Takes the lock, so that no exchange that has read has_room before is still running. */
static void forget_snapshot(struct trace_snapshot *snapshot)
{
	uint64_t flags = trace_snapshot_lock(snapshot);

	snapshot->has_room = false;
	trace_snapshot_unlock(snapshot, flags);
}

int trace_snapshot_free(struct trace_array *tr)
{
	int err;

	if (!trace_snapshot_of(tr)->has_room)
		return 0;
	trace_snapshot_pause(tr); /* the other buffer stays the other one, also if this fails */
	err = change_size(tr, ring_buffer_slim);
	if (!err)
		forget_snapshot(trace_snapshot_of(tr));
	trace_snapshot_resume(tr);
	return err;
}

int trace_snapshot_follow(struct trace_array *tr, const struct tracer *old,
			  const struct tracer *next)
{
	if (next->uses_snapshot)
		return trace_snapshot_alloc(tr);
	if (old->uses_snapshot)
		trace_snapshot_free(tr);
	return 0;
}

static int exchange_cpu(struct trace_array *tr, uint32_t cpu)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);
	uint64_t start = tr->start_ts, snapshot_start = snapshot->start_ts;
	int err = ring_buffer_swap_cpu(tr->buffer, snapshot->buffer, cpu);

	if (err)
		return err;
	/* Each of the two buffers has events of both now: both begin at the earlier time. */
	if (snapshot_start < start)
		tr->start_ts = snapshot_start;
	else
		snapshot->start_ts = start;
	return 0;
}

static int snapshot_exchange(struct trace_array *tr, int cpu)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);
	struct ring_buffer *buffer = tr->buffer;
	uint64_t start = tr->start_ts;

	if (!snapshot->has_room)
		return -EINVAL;
	if (snapshot->nr_stopped)
		return -EBUSY;
	if (cpu != RING_BUFFER_ALL_CPUS)
		return exchange_cpu(tr, (uint32_t)cpu);
	tr->start_ts = snapshot->start_ts;
	snapshot->start_ts = start;
	tr->buffer = snapshot->buffer;
	snapshot->buffer = buffer;
	/* Release: a reader of this count sees records go into the buffer that was put there. */
	atomic_fetch_add_explicit(&snapshot->nr_taken, 1, memory_order_release);
	return 0;
}

/* The lock is held. */
static int exchange_now(struct trace_array *tr, int cpu)
{
	int err = snapshot_exchange(tr, cpu);

	if (!err)
		trace_snapshot_of(tr)->taken_ns = trace_plat_clock_ns();
	return err;
}

int trace_snapshot_take(struct trace_array *tr, int cpu)
{
	uint64_t flags;
	int err;

	if (trace_plat_preempt_count() & TRACE_NMI_MASK)
		return -EBUSY; /* we may have interrupted the holder of the lock */
	flags = trace_snapshot_lock(trace_snapshot_of(tr));
	err = trace_snapshot_of(tr)->is_claimed ? -EBUSY : exchange_now(tr, cpu);
	trace_snapshot_unlock(trace_snapshot_of(tr), flags);
	return err;
}

struct take {
	struct trace_array *tr;
	int cpu;
	int err;
};

static void take_here(void *arg)
{
	struct take *take = arg;

	take->err = trace_snapshot_take(take->tr, take->cpu);
}

int trace_snapshot_take_on(struct trace_array *tr, uint32_t cpu)
{
	struct take take = { .tr = tr, .cpu = (int)cpu };
	int err, tries = TAKE_TRIES;

	/* take_here() may have interrupted a writer, which is done when it is called again. */
	do
		err = trace_plat_on_cpu(cpu, take_here, &take);
	while (!err && take.err == -EBUSY && --tries);
	return err ? err : take.err;
}

/* ---- From code ---- */

static void complain(struct trace_array *tr, const char *text)
{
	(void)trace_write_text(tr, (uintptr_t)tracing_snapshot_instance, text, trace_strlen(text));
}

/* Can one be taken here? */
static bool is_possible(struct trace_array *tr)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_SNAPSHOT };

	if (trace_plat_preempt_count() & TRACE_NMI_MASK) {
		complain(tr, "*** SNAPSHOT CALLED FROM NMI CONTEXT ***\n");
		complain(tr, "*** snapshot is being ignored        ***\n");
		return false;
	}
	if (!trace_snapshot_of(tr)->has_room) {
		complain(tr, "*** SNAPSHOT NOT ALLOCATED ***\n");
		complain(tr, "*** stopping trace here!   ***\n");
		trace_array_off(tr, &from);
		return false;
	}
	if (tr->tracer->uses_snapshot) {
		complain(tr, "*** LATENCY TRACER ACTIVE ***\n");
		complain(tr, "*** Can not use snapshot (sorry) ***\n");
		return false;
	}
	return true;
}

void tracing_snapshot_instance(struct trace_array *tr)
{
	if (is_possible(tr))
		(void)trace_snapshot_take(tr, RING_BUFFER_ALL_CPUS);
}

/* The lock is held. Exchanging once more would take the event out again. */
static bool has_event(const struct trace_array *tr, const struct trace_snapshot_wish *wish)
{
	return trace_snapshot_nr_taken(tr) != wish->nr_taken &&
	       ring_buffer_has_last(trace_snapshot_of(tr)->buffer);
}

void trace_snapshot_take_if(struct trace_array *tr, const struct trace_snapshot_wish *wish)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);
	uint64_t flags;

	if (!is_possible(tr))
		return;
	flags = trace_snapshot_lock(snapshot);
	if (!snapshot->nr_stopped && wish->is_wanted(wish) && !has_event(tr, wish))
		(void)exchange_now(tr, RING_BUFFER_ALL_CPUS);
	trace_snapshot_unlock(snapshot, flags);
}

int trace_snapshot_claim(struct trace_array *tr)
{
	int err;

	if (trace_snapshot_of(tr)->is_claimed || tr->tracer->uses_snapshot)
		return -EBUSY;
	err = trace_snapshot_alloc(tr);
	if (!err)
		trace_snapshot_of(tr)->is_claimed = true;
	return err;
}

void trace_snapshot_release(struct trace_array *tr)
{
	trace_snapshot_of(tr)->is_claimed = false;
}

void tracing_snapshot(void)
{
	struct trace_array *tr = trace_global_array();

	if (tr)
		tracing_snapshot_instance(tr);
}

int tracing_alloc_snapshot(void)
{
	struct trace_array *tr = trace_global_array();
	int err;

	if (!tr)
		return -ENODEV;
	trace_plat_lock(&trace_config_lock);
	err = trace_snapshot_alloc(tr);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

void tracing_snapshot_alloc(void)
{
	if (!tracing_alloc_snapshot())
		tracing_snapshot();
}

/* ---- why ---- */

/* With a latency tracer `trace` shows the snapshot itself, so no events are missing. */
static void say_taken(struct trace_why *why)
{
	uint64_t then = trace_snapshot_of(why->tr)->taken_ns;

	if (then && trace_snapshot_of(why->tr)->has_room && !why->tr->tracer->uses_snapshot)
		trace_why_note(
			why, "What was recorded until %s ago is in `snapshot`: one was taken then.",
			trace_why_ago(why, then).text);
}

const struct trace_why_check trace_snapshot_whys[] = {
	{ TRACE_WHY_EMPTIED, say_taken },
	{ .say = NULL },
};
