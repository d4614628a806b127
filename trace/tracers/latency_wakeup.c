/*
 * wakeup, wakeup_rt: the longest time from a thread's wakeup to the moment its CPU switches to it.
 * See latency.h.
 *
 * One wakeup is followed at a time: that of the most urgent thread; a more urgent one takes its
 * place. `wakeup` follows every thread that is more urgent than the one that wakes it, `wakeup_rt`
 * real-time threads only.
 *
 *   sched_wakeup, sched_wakeup_new: wakee, cpu, start --> calls on `cpu` are recorded -->
 *   sched_switch: to wakee
 *
 * Locking: trace_max_lock() guards changes of `wakeup`. Callbacks read it without the lock, so a
 *          call too many or too few may be recorded while it changes.
 */
#include "latency.h"
#include "latency_entry.h"
#include "ring/ring_fast.h"
#include "text/str.h"

static struct {
	bool is_rt;
	struct trace_thread *_Atomic wakee; /* NULL: none is followed */
	_Atomic uint32_t cpu;		    /* the CPU on which it is to run */
	_Atomic int32_t prio;
	_Atomic uint64_t start_ts;
} wakeup;

static struct trace_latency wakeup_latency;

static bool wakeup_records(const struct trace_latency *lat, uint32_t cpu, uint32_t preempt_count)
{
	(void)lat;
	(void)preempt_count;
	return wakeup.wakee && wakeup.cpu == cpu;
}

static uint64_t wakeup_start_ts(uint32_t cpu)
{
	(void)cpu;
	return wakeup.start_ts;
}

/* Write the event of a switch or a wakeup. Interrupts are off. */
static void write_ctx(struct trace_array *tr, uint16_t type, const struct trace_sched_thread *prev,
		      const struct trace_sched_thread *next)
{
	struct ring_buffer *buffer = tr->buffer;
	struct trace_ring_cpu *rc = buffer->cpu[trace_plat_cpu_id()];
	struct trace_ctx_entry *entry = trace_ring_reserve(rc, sizeof(*entry));

	if (!entry)
		return;
	trace_entry_init(&entry->ent, type, 0);
	entry->prev_pid = prev->pid;
	entry->next_pid = next->pid;
	entry->next_cpu = (int32_t)next->cpu;
	entry->prev_prio = (uint8_t)prev->prio;
	entry->prev_state = (uint8_t)prev->state;
	entry->next_prio = (uint8_t)next->prio;
	entry->next_state = (uint8_t)next->state;
	trace_ring_commit(rc, entry);
}

static bool wakeup_is_wanted(const struct trace_sched_thread *waker,
			     const struct trace_sched_thread *wakee)
{
	if (wakeup.is_rt && wakee->prio >= TRACE_PRIO_REAL_TIME)
		return false;
	if (wakee->prio >= waker->prio)
		return false;
	return !wakeup.wakee || wakee->prio < wakeup.prio;
}

static void wakeup_follow(struct trace_array *tr, const struct trace_sched_thread *waker,
			  const struct trace_sched_thread *wakee)
{
	wakeup.start_ts = trace_latency_now(tr);
	wakeup.prio = wakee->prio;
	wakeup.cpu = wakee->cpu;
	wakeup.wakee = wakee->thread;
	write_ctx(tr, TRACE_TYPE_WAKE, waker, wakee);
	trace_latency_stack(tr, waker->ip, true);
	trace_latency_point(&wakeup_latency, waker->ip, waker->parent_ip);
}

static void wakeup_probe_wakeup(void *data, const struct trace_sched_thread *waker,
				const struct trace_sched_thread *wakee)
{
	struct trace_array *tr = wakeup_latency.tr;
	uint64_t flags;

	(void)data;
	if (!trace_latency_is_recording(&wakeup_latency) || !wakeup_is_wanted(waker, wakee))
		return;
	flags = trace_max_lock();
	if (wakeup_is_wanted(waker, wakee))
		wakeup_follow(tr, waker, wakee);
	trace_max_unlock(flags);
}

static void arrived(struct trace_array *tr, const struct trace_sched_thread *prev,
		    const struct trace_sched_thread *next)
{
	struct trace_max max = { .start_ts = wakeup.start_ts, .cpu = trace_plat_cpu_id() };

	trace_latency_point(&wakeup_latency, prev->ip, prev->parent_ip);
	write_ctx(tr, TRACE_TYPE_CTX, prev, next);
	trace_latency_stack(tr, prev->ip, true);
	wakeup.wakee = NULL; /* calls from here on are ours and not recorded */
	max.latency_ns = trace_latency_now(tr) - wakeup.start_ts;
	if (trace_latency_is_news(tr, max.latency_ns)) {
		trace_latency_name(&max, next);
		trace_latency_keep(tr, &max);
	}
}

static void wakeup_probe_switch(void *data, const struct trace_sched_thread *prev,
				const struct trace_sched_thread *next)
{
	struct trace_array *tr = wakeup_latency.tr;
	uint64_t flags;

	(void)data;
	if (next->thread != wakeup.wakee)
		return;
	flags = trace_max_lock();
	if (next->thread != wakeup.wakee)
		;
	else if (trace_latency_is_recording(&wakeup_latency))
		arrived(tr, prev, next);
	else
		wakeup.wakee = NULL;
	trace_max_unlock(flags);
}

/* The thread that is followed was moved to another CPU before it could run. */
static void wakeup_probe_migrate(void *data, const struct trace_sched_thread *thread,
				 uint32_t orig_cpu)
{
	(void)data;
	(void)orig_cpu;
	if (thread->thread == wakeup.wakee)
		wakeup.cpu = thread->cpu;
}

static void wakeup_stop_listening(void)
{
	unregister_trace_sched_wakeup_new(wakeup_probe_wakeup, NULL);
	unregister_trace_sched_wakeup(wakeup_probe_wakeup, NULL);
	unregister_trace_sched_migrate_task(wakeup_probe_migrate, NULL);
	unregister_trace_sched_switch(wakeup_probe_switch, NULL);
}

/* Probes that end a time are registered first, so that no time begins whose end is not seen. */
static int wakeup_listen(void)
{
	int err = register_trace_sched_switch(wakeup_probe_switch, NULL);

	if (!err)
		err = register_trace_sched_migrate_task(wakeup_probe_migrate, NULL);
	if (!err)
		err = register_trace_sched_wakeup(wakeup_probe_wakeup, NULL);
	if (!err)
		err = register_trace_sched_wakeup_new(wakeup_probe_wakeup, NULL);
	if (err)
		wakeup_stop_listening();
	return err;
}

static int wakeup_start(struct trace_array *tr, bool is_rt)
{
	if (wakeup_latency.tr)
		return -EBUSY;
	wakeup.is_rt = is_rt;
	wakeup.wakee = NULL;
	wakeup_latency.records = wakeup_records;
	wakeup_latency.start_ts = wakeup_start_ts;
	wakeup_latency.listen = wakeup_listen;
	wakeup_latency.stop_listening = wakeup_stop_listening;
	return trace_latency_start(&wakeup_latency, tr);
}

static int wakeup_init(struct trace_array *tr)
{
	return wakeup_start(tr, false);
}

static int wakeup_rt_init(struct trace_array *tr)
{
	return wakeup_start(tr, true);
}

struct tracer tracer_wakeup = {
	.name = "wakeup",
	.init = wakeup_init,
	.reset = trace_latency_reset,
	TRACE_LATENCY_MEMBERS,
};

struct tracer tracer_wakeup_rt = {
	.name = "wakeup_rt",
	.init = wakeup_rt_init,
	.reset = trace_latency_reset,
	TRACE_LATENCY_MEMBERS,
};
