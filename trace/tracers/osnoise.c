/*
 * The threads of the tracers osnoise and timerlat, and the instances that they run in: see osnoise.h.
 */
#include <trace/fmt.h>
#include "instance/printk.h"
#include "osnoise.h"
#include "text/str.h"

#define OSNOISE_NAME_LEN 16u
#define OSNOISE_LINE	 48u

struct osnoise_thread {
	void *handle; /* of the host */
	uint32_t cpu;
};

struct osnoise_settings trace_osnoise_settings = {
	.period_us = OSNOISE_PERIOD_US,
	.runtime_us = OSNOISE_PERIOD_US,
	.timerlat_period_us = TIMERLAT_PERIOD_US,
	.options = OSNOISE_DEFAULT_OPTIONS,
};

static struct {
	const struct osnoise_kind *kind; /* the tracer that runs; while there are arrays */
	struct osnoise_array *arrays;
	struct osnoise_thread *threads; /* room for one of each CPU */
	uint32_t nr;
	bool is_listening;	/* interruptions are counted, with or without threads */
	_Atomic bool is_ending; /* the threads are to end */
} osnoise;

const struct osnoise_array *trace_osnoise_arrays(void)
{
	return osnoise.arrays;
}

bool trace_osnoise_is_ending(void *unused)
{
	(void)unused;
	return atomic_load_explicit(&osnoise.is_ending, memory_order_relaxed);
}

bool trace_osnoise_is_bare(const struct tracer *tracer)
{
	return osnoise.arrays && osnoise.kind->tracer == tracer && !osnoise.is_ending &&
	       !trace_osnoise_has(OSNOISE_WORKLOAD);
}

bool trace_osnoise_is_recording(void)
{
	for (const struct osnoise_array *array = osnoise.arrays; array; array = array->next) {
		if (ring_buffer_record_is_set_on(array->tr->buffer))
			return true;
	}
	return false;
}

void trace_osnoise_stop(void)
{
	const struct trace_off_from from = { .by = TRACE_OFF_BY_NOISE,
					     .name = osnoise.kind->tracer->name };
	char line[OSNOISE_LINE];
	uint32_t cpu = trace_plat_cpu_id();
	int len = trace_snprintf(line, sizeof(line), "stop tracing hit on cpu %u\n", cpu);

	for (const struct osnoise_array *array = osnoise.arrays; array; array = array->next) {
		(void)trace_write_text(array->tr, (uintptr_t)trace_osnoise_stop, line, (size_t)len);
		trace_array_off(array->tr, &from);
	}
	if (trace_osnoise_has(OSNOISE_PANIC_ON_STOP))
		trace_plat_panic("tracer hit stop condition on CPU %u", cpu);
}

/* ---- The threads. Config lock held, but in them. ---- */

static int osnoise_thread(void *arg)
{
	const struct osnoise_thread *thread = arg;
	struct osnoise_cpu *cpu = &trace_osnoise_cpus[thread->cpu];

	if (trace_noise_host->move(thread->cpu))
		return 0;
	if (osnoise.kind->is_urgent)
		trace_noise_host->urge();
	cpu->workload = trace_plat_current();
	osnoise.kind->run(cpu);
	trace_osnoise_sample(cpu, false);
	cpu->workload = NULL;
	return 0;
}

static void osnoise_end_threads(void)
{
	osnoise.is_ending = true;
	if (osnoise.nr)
		trace_noise_host->wake();
	while (osnoise.nr)
		trace_noise_host->join(osnoise.threads[--osnoise.nr].handle);
	trace_timerlat_fd_end();
	if (osnoise.threads)
		trace_plat_free(osnoise.threads, trace_plat_nr_cpus() * sizeof(*osnoise.threads));
	osnoise.threads = NULL;
	if (osnoise.is_listening)
		trace_osnoise_unlisten();
	osnoise.is_listening = false;
}

static int osnoise_add_thread(uint32_t cpu)
{
	struct osnoise_thread *thread = &osnoise.threads[osnoise.nr];
	char name[OSNOISE_NAME_LEN];

	trace_snprintf(name, sizeof(name), "%s/%u", osnoise.kind->tracer->name, cpu);
	thread->cpu = cpu;
	thread->handle = trace_noise_host->start(name, osnoise_thread, thread);
	if (!thread->handle)
		return -ENOMEM;
	osnoise.nr++;
	return 0;
}

bool trace_osnoise_wants(uint32_t cpu)
{
	return trace_plat_cpu_online(cpu) && !trace_osnoise_cpus[cpu].is_out;
}

static int osnoise_add_threads(void)
{
	int err = 0;

	osnoise.threads = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*osnoise.threads));
	if (!osnoise.threads)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus() && !err; cpu++) {
		if (trace_osnoise_wants(cpu))
			err = osnoise_add_thread(cpu);
	}
	return err;
}

/* Without threads the noise of any thread counts, all the time. */
static void osnoise_sample_all(void)
{
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		if (trace_osnoise_wants(cpu))
			trace_osnoise_sample(&trace_osnoise_cpus[cpu], true);
	}
}

/* 0; or an error, and there are no threads. */
static int osnoise_begin_threads(void)
{
	int err;

	if (!osnoise.arrays)
		return 0;
	osnoise.is_ending = false;
	err = trace_osnoise_listen();
	if (err)
		return err;
	osnoise.is_listening = true;
	if (trace_osnoise_has(OSNOISE_WORKLOAD))
		err = osnoise_add_threads();
	else
		osnoise_sample_all();
	if (err)
		osnoise_end_threads();
	return err;
}

int trace_osnoise_change(void (*change)(void *arg), void *arg)
{
	osnoise_end_threads();
	change(arg);
	return osnoise_begin_threads();
}

void trace_osnoise_cpus_change(bool is_done)
{
	if (!is_done)
		osnoise_end_threads();
	else if (osnoise_begin_threads())
		trace_plat_log("trace: no memory for the threads of %s",
			       osnoise.kind->tracer->name);
}

/* ---- Instances. Config lock held. ---- */

int trace_osnoise_make_cpus(void)
{
	if (!trace_osnoise_cpus)
		trace_osnoise_cpus =
			trace_plat_alloc(trace_plat_nr_cpus() * sizeof(struct osnoise_cpu));
	return trace_osnoise_cpus ? 0 : -ENOMEM;
}

static struct osnoise_array *osnoise_array_of(struct trace_array *tr)
{
	return tracer_data(tr, osnoise.kind->tracer);
}

static struct osnoise_array **osnoise_place_of(const struct trace_array *tr)
{
	struct osnoise_array **place = &osnoise.arrays;

	while (*place && (*place)->tr != tr)
		place = &(*place)->next;
	return place;
}

static void osnoise_link(void *arg)
{
	struct osnoise_array *array = osnoise_array_of(arg);

	*array = (struct osnoise_array){ .tr = arg, .next = osnoise.arrays };
	osnoise.arrays = array;
}

static void osnoise_unlink(void *arg)
{
	struct osnoise_array **place = osnoise_place_of(arg);

	if (*place)
		*place = (*place)->next;
}

int trace_osnoise_begin(const struct osnoise_kind *kind, struct trace_array *tr)
{
	int err;

	if (osnoise.arrays && osnoise.kind != kind)
		return -EBUSY;
	if (*osnoise_place_of(tr))
		return 0;
	err = trace_osnoise_make_cpus();
	if (err)
		return err;
	osnoise.kind = kind;
	err = trace_osnoise_change(osnoise_link, tr);
	if (err && trace_osnoise_change(osnoise_unlink, tr))
		trace_plat_log("trace: no memory for the threads of %s", kind->tracer->name);
	return err;
}

void trace_osnoise_end(struct trace_array *tr)
{
	if (*osnoise_place_of(tr) && trace_osnoise_change(osnoise_unlink, tr))
		trace_plat_log("trace: no memory for the threads of %s",
			       osnoise.kind->tracer->name);
}
