/*
 * Tracers: the registry, the switch, functions for tracers about their instance, and the tracer
 * `nop`. See <trace/tracer.h>, array.h.
 */
#include "array.h"
#include "feature/feature.h"
#include "snapshot.h"
#include "text/str.h"

static struct tracer *tracers; /* newest first; guarded by the config lock */
static uint32_t nr_tracers;    /* guarded by the config lock */

struct tracer *tracer_find(const char *name)
{
	struct tracer *tracer = tracers;

	while (tracer && !trace_streq(tracer->name, name))
		tracer = tracer->next;
	return tracer;
}

struct tracer *tracer_next(const struct tracer *tracer)
{
	return tracer ? tracer->next : tracers;
}

/*
 * Give the tracer a number, by which each instance keeps its options, and let features make the
 * files of these options. Config lock held.
 */
static int tracer_enter(struct tracer *tracer)
{
	struct trace_array *tr = NULL;
	int err;

	if (nr_tracers == TRACE_MAX_TRACERS)
		return -ENOSPC;
	tracer->index = nr_tracers;
	while ((tr = trace_array_next(tr)))
		tr->tracer_bits[tracer->index] = tracer->default_bits;
	err = trace_features_tracer_added(tracer);
	if (err)
		return err;
	nr_tracers++;
	tracer->next = tracers;
	tracers = tracer;
	return 0;
}

int register_tracer(struct tracer *tracer)
{
	int err;

	if (!tracer->name || !tracer->init)
		return -EINVAL;
	trace_plat_lock(&trace_config_lock);
	err = tracer_find(tracer->name) ? -EEXIST : tracer_enter(tracer);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int make_data(struct trace_array *tr, const struct tracer *tracer)
{
	struct trace_tracer_data *data = &tr->tracer_data[tracer->index];

	if (data->memory || !tracer->instance_bytes)
		return 0;
	data->bytes = tracer->instance_bytes;
	data->memory = trace_plat_alloc(data->bytes);
	return data->memory ? 0 : -ENOMEM;
}

/* On failure the instance is left with the nop tracer, never between two tracers. */
int tracer_switch(struct trace_array *tr, const char *name)
{
	struct tracer *tracer = tracer_find(name), *old;
	int err = trace_array_expand(tr); /* as on Linux, even when there is no such tracer */

	if (!tracer)
		return -EINVAL;
	/* The tracer that runs already, and nop, can do without a buffer of full size. */
	if (err && tracer != tr->tracer && tracer != &tracer_nop)
		return err;
	if (tracer == tr->tracer)
		return 0;
	if (tr->nr_pipes)
		return -EBUSY; /* they print events of the running tracer */
	if (tracer->uses_snapshot && trace_snapshot_of(tr)->is_claimed)
		return -EBUSY;
	old = tr->tracer;
	if (old->reset)
		old->reset(tr);
	tr->tracer = &tracer_nop;
	trace_array_reset(tr, RING_BUFFER_ALL_CPUS, "a new current_tracer");
	err = trace_features_tracer_changes(tr, old, tracer);
	if (!err)
		err = make_data(tr, tracer);
	if (!err)
		err = tracer->init(tr);
	if (!err)
		tr->tracer = tracer;
	return err;
}

int tracer_settings_changed(struct trace_array *tr)
{
	return tr->tracer->settings_changed ? tr->tracer->settings_changed(tr) : 0;
}

/* ---- Functions for tracers about their instance ---- */

void *tracer_data(const struct trace_array *tr, const struct tracer *tracer)
{
	return tr->tracer_data[tracer->index].memory;
}

bool tracer_option_is_set(const struct trace_array *tr, const struct tracer *tracer, uint32_t bit)
{
	return tracer_option_bits(tr, tracer) & bit;
}

bool trace_option_is_set(const struct trace_array *tr, enum trace_option option)
{
	return tr->options & TRACE_OPT_BIT(option);
}

uint64_t tracing_thresh_ns(void)
{
	return trace_thresh_ns;
}

struct ring_buffer *trace_array_buffer(const struct trace_array *tr)
{
	return tr->buffer;
}

/* ---- nop: no events of its own; its two options show how tracers take or refuse options ---- */

#define NOP_ACCEPT 1u
#define NOP_REFUSE 2u

static const struct tracer_option nop_options[] = {
	{ .name = "test_nop_accept", .bit = NOP_ACCEPT },
	{ .name = "test_nop_refuse", .bit = NOP_REFUSE },
};

static int nop_init(struct trace_array *tr)
{
	(void)tr;
	return 0;
}

static int nop_set_option(struct trace_array *tr, uint32_t bit, bool on)
{
	(void)tr;
	(void)on;
	return bit == NOP_REFUSE ? -EINVAL : 0;
}

struct tracer tracer_nop = {
	.name = "nop",
	.init = nop_init,
	.set_option = nop_set_option,
	.options = nop_options,
	.nr_options = TRACE_ARRAY_SIZE(nop_options),
};
