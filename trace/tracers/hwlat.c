/*
 * The threads of the tracer hwlat, and the tracer itself: see hwlat.h.
 */
#include <trace/event.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "hwlat.h"
#include "instance/max.h"
#include "text/str.h"

#define HWLAT_NAME_LEN 16u

struct hwlat_thread {
	void *handle; /* of the host */
	uint32_t cpu; /* where it stays; with other modes of no meaning */
};

struct hwlat_settings trace_hwlat_settings = {
	.width_us = HWLAT_WIDTH_US,
	.window_us = HWLAT_WINDOW_US,
	.mode = HWLAT_ROUND_ROBIN,
};

static struct {
	struct trace_array *tr;	      /* the instance that it runs in, or NULL */
	struct hwlat_thread *threads; /* room for one of each CPU; NULL while there are none */
	uint32_t nr;
	_Atomic bool is_ending; /* the threads are to end */
	_Atomic uint32_t seqnum;
	uint64_t saved_thresh_ns; /* tracing_thresh from before the start */
	uint64_t last_thresh_ns;  /* tracing_thresh at the end, for the next time */
} hwlat = { .last_thresh_ns = HWLAT_THRESH_NS };

/* ---- In the threads ---- */

/* False: it was not recorded. */
static bool hwlat_write(struct trace_array *tr, const struct hwlat_found *found)
{
	uint32_t seqnum = atomic_fetch_add(&hwlat.seqnum, 1) + 1;
	struct trace_event_buffer fbuffer;
	struct hwlat_entry *entry;

	entry = trace_event_buffer_reserve(&fbuffer, tr, &trace_hwlat_event, sizeof(*entry));
	if (!entry)
		return false;
	entry->duration = found->inner_ns / HWLAT_US_NS;
	entry->outer_duration = found->outer_ns / HWLAT_US_NS;
	entry->nmi_total_ts = found->nmi_ns / HWLAT_US_NS;
	entry->tv_sec = (int64_t)(found->first_ns / HWLAT_S_NS);
	entry->tv_nsec = (int64_t)(found->first_ns % HWLAT_S_NS);
	entry->nmi_count = found->nr_nmis;
	entry->seqnum = seqnum;
	entry->count = found->count;
	trace_event_buffer_commit(&fbuffer, entry);
	return true;
}

static void hwlat_watch_once(struct trace_array *tr)
{
	uint64_t flags = trace_plat_irq_save();
	struct hwlat_found found;

	trace_hwlat_watch(trace_hwlat_settings.width_us * HWLAT_US_NS, &hwlat.is_ending, &found);
	/* One that is found while recording is being switched off has no line, and is no maximum. */
	if (found.count && (hwlat_write(tr, &found) || ring_buffer_record_is_set_on(tr->buffer)))
		trace_max_raise(tr,
				found.inner_ns > found.outer_ns ? found.inner_ns : found.outer_ns);
	trace_plat_irq_restore(flags);
}

/* Is that CPU one to watch? The threads ask without the config lock: a change may be seen late. */
static bool hwlat_wants(const struct trace_array *tr, uint32_t cpu)
{
	return trace_plat_cpu_online(cpu) && !tr->cpus[cpu].is_masked;
}

/* The one after `cpu` that is to be watched; `cpu` itself where there is no other. */
static uint32_t hwlat_next_cpu(const struct trace_array *tr, uint32_t cpu)
{
	uint32_t nr = trace_plat_nr_cpus(), next = cpu;

	do
		next = (next + 1) % nr;
	while (next != cpu && !hwlat_wants(tr, next));
	return next;
}

static bool hwlat_is_ending(void *unused)
{
	(void)unused;
	return hwlat.is_ending;
}

static uint64_t hwlat_sleep_ns(void)
{
	uint64_t window_us = trace_hwlat_settings.window_us,
		 width_us = trace_hwlat_settings.width_us;
	uint64_t ns = window_us > width_us ? (window_us - width_us) * HWLAT_US_NS : 0;

	return ns > HWLAT_SLEEP_NS ? ns : HWLAT_SLEEP_NS;
}

static int hwlat_run(void *arg)
{
	struct hwlat_thread *thread = arg;
	struct trace_array *tr = hwlat.tr;
	uint32_t mode = trace_hwlat_settings.mode;

	if (mode == HWLAT_PER_CPU)
		trace_noise_host->move(thread->cpu);
	while (!hwlat.is_ending) {
		if (mode == HWLAT_ROUND_ROBIN) {
			thread->cpu = hwlat_next_cpu(tr, thread->cpu);
			trace_noise_host->move(thread->cpu);
		}
		hwlat_watch_once(tr);
		trace_noise_host->sleep(hwlat_sleep_ns(), hwlat_is_ending, NULL);
	}
	return 0;
}

/* ---- Begin and end. Config lock held. ---- */

static void hwlat_end_threads(void)
{
	if (!hwlat.threads)
		return;
	hwlat.is_ending = true;
	trace_noise_host->wake();
	while (hwlat.nr)
		trace_noise_host->join(hwlat.threads[--hwlat.nr].handle);
	trace_plat_free(hwlat.threads, trace_plat_nr_cpus() * sizeof(*hwlat.threads));
	hwlat.threads = NULL;
}

static int hwlat_add_thread(uint32_t cpu, const char *name)
{
	struct hwlat_thread *thread = &hwlat.threads[hwlat.nr];

	thread->cpu = cpu;
	thread->handle = trace_noise_host->start(name, hwlat_run, thread);
	if (!thread->handle)
		return -ENOMEM;
	hwlat.nr++;
	return 0;
}

static int hwlat_add_cpus(void)
{
	char name[HWLAT_NAME_LEN];
	int err = 0;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus() && !err; cpu++) {
		if (!hwlat_wants(hwlat.tr, cpu))
			continue;
		trace_snprintf(name, sizeof(name), "hwlatd/%u", cpu);
		err = hwlat_add_thread(cpu, name);
	}
	return err;
}

/* 0, or -ENOMEM: there are no threads then. */
static int hwlat_begin_threads(void)
{
	int err;

	hwlat.threads = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*hwlat.threads));
	if (!hwlat.threads)
		return -ENOMEM;
	hwlat.is_ending = false;
	if (trace_hwlat_settings.mode == HWLAT_PER_CPU)
		err = hwlat_add_cpus();
	else
		err = hwlat_add_thread(trace_plat_nr_cpus() - 1, "hwlatd");
	if (err)
		hwlat_end_threads();
	return err;
}

int trace_hwlat_set_mode(enum hwlat_mode mode)
{
	bool runs = hwlat.threads;

	hwlat_end_threads();
	trace_hwlat_settings.mode = mode;
	return runs ? hwlat_begin_threads() : 0;
}

void trace_hwlat_cpus_change(bool is_done)
{
	static bool was_running;

	if (!is_done) {
		was_running = hwlat.threads;
		hwlat_end_threads();
	} else if (was_running && hwlat_begin_threads()) {
		trace_plat_log("trace: no memory for the threads of hwlat");
	}
}

/* tracing_thresh is one for all instances: their tracers are told. */
static void hwlat_set_thresh(uint64_t ns)
{
	struct trace_array *tr = NULL;

	trace_thresh_ns = ns;
	while ((tr = trace_array_next(tr)))
		(void)tracer_settings_changed(tr);
}

static void hwlat_leave(void)
{
	hwlat.last_thresh_ns = trace_thresh_ns;
	hwlat_set_thresh(hwlat.saved_thresh_ns);
	hwlat.tr = NULL;
}

static int hwlat_init(struct trace_array *tr)
{
	int err = 0;

	if (hwlat.tr)
		return -EBUSY;
	hwlat.tr = tr;
	hwlat.seqnum = 0;
	trace_max_of(tr)->latency_ns = 0;
	hwlat.saved_thresh_ns = trace_thresh_ns;
	if (!hwlat.saved_thresh_ns)
		hwlat_set_thresh(hwlat.last_thresh_ns);
	if (ring_buffer_record_is_set_on(tr->buffer))
		err = hwlat_begin_threads();
	if (err)
		hwlat_leave();
	return err;
}

static void hwlat_reset(struct trace_array *tr)
{
	(void)tr;
	hwlat_end_threads();
	hwlat_leave();
}

static void hwlat_switch_on(struct trace_array *tr)
{
	(void)tr;
	if (!hwlat.threads && hwlat_begin_threads())
		trace_plat_log("trace: no memory for the threads of hwlat");
}

static void hwlat_switch_off(struct trace_array *tr)
{
	(void)tr;
	hwlat_end_threads();
}

struct tracer trace_hwlat = {
	.name = "hwlat",
	.init = hwlat_init,
	.reset = hwlat_reset,
	.start = hwlat_switch_on,
	.stop = hwlat_switch_off,
};
