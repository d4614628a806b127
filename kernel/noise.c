/*
 * Threads for the tracers of noise, and interrupts told to them: the host of <trace/noise.h>. No call
 * sites, because it is told of NMIs.
 */
#include <arch/per_cpu_array.h>
#include <arch/smp.h>
#include <kernel/thread.h>
#include <kernel/softirq.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/upcall.h>
#include <trace/events/irq.h>
#include <trace/events/irq_vectors.h>
#include <trace/noise.h>
#include "kernel_init.h"

#define NOISE_RT_PRIO 95u /* of timerlat's threads, as on Linux */

/* The threads that sleep on a CPU: each CPU's own, so that a wake-up disturbs no other one. */
static struct waitq noise_sleepers[MAX_CPUS];
PER_CPU_ARRAY(noise_sleepers);

/* ---- Threads ---- */

static void *noise_start(const char *name, int (*fn)(void *arg), void *arg)
{
	return thread_create(name, fn, arg, THREAD_SERVICE);
}

static void noise_join(void *thread)
{
	thread_join_wait(thread);
}

static void noise_sleep(uint64_t ns, bool (*done)(void *arg), void *arg)
{
	waitq_wait(&noise_sleepers[cpu_local_read(id)], done, arg, false, ns);
}

/* A sleep until a deadline. */
struct noise_alarm {
	struct timer timer;
	struct waitq *sleepers;
	_Atomic bool has_rung;
	bool (*done)(void *arg);
	void *arg;
};

static void noise_ring(struct timer *timer)
{
	struct noise_alarm *alarm = container_of(timer, struct noise_alarm, timer);

	atomic_store(&alarm->has_rung, true);
	waitq_wake_all(alarm->sleepers);
}

static bool noise_is_over(void *arg)
{
	struct noise_alarm *alarm = arg;

	return atomic_load(&alarm->has_rung) || alarm->done(alarm->arg);
}

static int noise_sleep_by(bool interruptible, uint64_t deadline_ns, bool (*done)(void *arg),
			  void *arg)
{
	struct noise_alarm alarm = { .sleepers = &noise_sleepers[cpu_local_read(id)],
				     .done = done,
				     .arg = arg };
	int err;

	timer_setup(&alarm.timer, noise_ring);
	timer_start(&alarm.timer, deadline_ns);
	err = waitq_wait(alarm.sleepers, noise_is_over, &alarm, interruptible, WAIT_FOREVER);
	timer_cancel_sync(&alarm.timer);
	return err;
}

static void noise_sleep_until(uint64_t deadline_ns, bool (*done)(void *arg), void *arg)
{
	noise_sleep_by(false, deadline_ns, done, arg);
}

static int noise_sleep_user(uint64_t deadline_ns, bool (*done)(void *arg), void *arg)
{
	return noise_sleep_by(true, deadline_ns, done, arg);
}

static bool noise_is_pinned(uint32_t cpu)
{
	return current_thread()->affinity == 1ull << cpu;
}

static void noise_wake(void)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++)
		waitq_wake_all(&noise_sleepers[cpu]);
}

static void noise_urge(void)
{
	thread_set_policy(current_thread(), THREAD_FIFO, NOISE_RT_PRIO);
}

static int noise_move(uint32_t cpu)
{
	int err = thread_set_affinity(current_thread(), 1ull << cpu);

	if (!err)
		yield();
	return err;
}

static void noise_real(uint64_t *out_ns)
{
	*out_ns = ktime_get_real_ns();
}

/* ---- Interrupts: probes of the events that tell of them ---- */

/* The device whose interrupt a CPU serves. */
static const char *noise_devices[MAX_CPUS];
PER_CPU_ARRAY(noise_devices);

void upcall_nmi(bool enters)
{
	trace_noise_nmi(enters);
}

static void noise_timer_entry(void *name, int vector)
{
	trace_noise_irq(true, vector, name);
	trace_noise_timer();
}

static void noise_irq_entry(void *name, int vector)
{
	trace_noise_irq(true, vector, name);
}

static void noise_irq_exit(void *name, int vector)
{
	trace_noise_irq(false, vector, name);
}

static void noise_device_entry(void *data, int irq, const char *name)
{
	(void)data;
	noise_devices[cpu_local_read(id)] = name;
	trace_noise_irq(true, irq, name);
}

static void noise_device_exit(void *data, int irq, int ret)
{
	(void)data;
	(void)ret;
	trace_noise_irq(false, irq, noise_devices[cpu_local_read(id)]);
}

static void noise_softirq_entry(void *data, unsigned int nr)
{
	(void)data;
	trace_noise_softirq(true, (int)nr, softirq_name(nr));
}

static void noise_softirq_exit(void *data, unsigned int nr)
{
	(void)data;
	trace_noise_softirq(false, (int)nr, softirq_name(nr));
}

/* `probe` of the tracepoint `name`. */
#define NOISE_PROBE(name, probe, text)                                                             \
	{                                                                                          \
		&trace_##name##_tracepoint, (tracepoint_probe_fn)(probe),                          \
			(void *)(uintptr_t)(text)                                                  \
	}

static const struct {
	struct tracepoint *tp;
	tracepoint_probe_fn func;
	void *data;
} noise_probes[] = {
	NOISE_PROBE(local_timer_exit, noise_irq_exit, "local_timer"),
	NOISE_PROBE(local_timer_entry, noise_timer_entry, "local_timer"),
	NOISE_PROBE(reschedule_exit, noise_irq_exit, "reschedule"),
	NOISE_PROBE(reschedule_entry, noise_irq_entry, "reschedule"),
	NOISE_PROBE(call_function_exit, noise_irq_exit, "call_function"),
	NOISE_PROBE(call_function_entry, noise_irq_entry, "call_function"),
	NOISE_PROBE(irq_handler_exit, noise_device_exit, NULL),
	NOISE_PROBE(irq_handler_entry, noise_device_entry, NULL),
	NOISE_PROBE(softirq_exit, noise_softirq_exit, NULL),
	NOISE_PROBE(softirq_entry, noise_softirq_entry, NULL),
};
#define NOISE_NR_PROBES (sizeof(noise_probes) / sizeof(noise_probes[0]))

static int noise_change(bool is_add)
{
	struct tracepoint_change changes[NOISE_NR_PROBES];

	for (size_t i = 0; i < NOISE_NR_PROBES; i++)
		changes[i] = (struct tracepoint_change){ .tp = noise_probes[i].tp,
							 .func = noise_probes[i].func,
							 .data = noise_probes[i].data,
							 .prio = TRACEPOINT_DEFAULT_PRIO,
							 .is_add = is_add };
	return tracepoint_change_probes(changes, NOISE_NR_PROBES);
}

static void noise_unlisten(void)
{
	noise_change(false);
}

static int noise_listen(void)
{
	int err = noise_change(true);

	if (err)
		noise_unlisten();
	return err;
}

static const struct trace_noise_host noise_host = {
	.start = noise_start,
	.join = noise_join,
	.sleep = noise_sleep,
	.wake = noise_wake,
	.move = noise_move,
	.real = noise_real,
	.listen = noise_listen,
	.unlisten = noise_unlisten,
	.sleep_until = noise_sleep_until,
	.urge = noise_urge,
	.is_pinned = noise_is_pinned,
	.sleep_user = noise_sleep_user,
};

void noise_init(void)
{
	trace_noise_host_set(&noise_host);
}
