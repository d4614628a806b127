/*
 * The small files of tracefs that hold settings of an instance. See fs_file.h.
 */
#include "fs_file.h"
#include "instance/array.h"
#include "instance/cpumask.h"
#include "text/str.h"

#define WORD_MAX   64u /* option, clock */
#define TRACER_MAX 100u

/* ---- current_tracer, available_tracers ---- */

static int available_tracers_show(struct trace_handle *handle, struct trace_seq *seq)
{
	struct tracer *tracer = NULL;

	(void)handle;
	while ((tracer = tracer_next(tracer)))
		trace_seq_printf(seq, "%s%c", tracer->name, tracer->next ? ' ' : '\n');
	return 0;
}

static int current_tracer_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_seq_printf(seq, "%s\n", handle->tr->tracer->name);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int current_tracer_store(struct trace_handle *handle, char *text)
{
	const char *name = trace_strip(text);
	int err;

	trace_plat_lock(&trace_config_lock);
	err = tracer_switch(handle->tr, name);
	if (err == -EINVAL && !tracer_find(name))
		trace_handle_blame(handle, name, "no such tracer");
	else if (err == -EBUSY)
		trace_handle_blame(handle, name, "the tracer is in use, or a trace_pipe is open");
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* ---- tracing_on ---- */

static int tracing_on_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%d\n", ring_buffer_record_is_set_on(handle->tr->buffer));
	return 0;
}

static int tracing_on_store(struct trace_handle *handle, char *text)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	trace_array_switch(handle->tr, value != 0, TRACE_OFF_BY_USER);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

/* ---- trace_clock ---- */

static int trace_clock_show(struct trace_handle *handle, struct trace_seq *seq)
{
	for (size_t i = 0; i < trace_nr_clocks; i++) {
		bool is_current = handle->tr->clock == &trace_clocks[i];

		trace_seq_printf(seq, "%s%s%s%s", i ? " " : "", is_current ? "[" : "",
				 trace_clocks[i].name, is_current ? "]" : "");
	}
	trace_seq_putc(seq, '\n');
	return 0;
}

static int trace_clock_store(struct trace_handle *handle, char *text)
{
	const char *name = trace_strip(text);
	const struct trace_clock *clock = trace_clock_find(name);

	if (!clock) {
		trace_handle_blame(handle, name, "no such clock");
		return -EINVAL;
	}
	trace_plat_lock(&trace_config_lock);
	trace_array_set_clock(handle->tr, clock);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

/* ---- tracing_cpumask ---- */

static int tracing_cpumask_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_cpumask_show(handle->tr, seq);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int tracing_cpumask_store(struct trace_handle *handle, char *text)
{
	const char *mask = trace_strip(text), *at = mask;
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_cpumask_set(handle->tr, mask);
	trace_plat_unlock(&trace_config_lock);
	while (*at == ',' || (*at >= '0' && *at <= '9') ||
	       ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'f'))
		at++;
	if (err == -EINVAL)
		trace_handle_blame(handle, at,
				   "not a mask: groups of hexadecimal digits, with commas between");
	else if (err == -EOVERFLOW)
		trace_handle_blame(handle, mask, "more CPUs than there are");
	return err;
}

/* ---- tracing_thresh: microseconds; for tracers that measure how long something takes ---- */

static int tracing_thresh_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	return trace_show_us(seq, trace_thresh_ns);
}

static int tracing_thresh_store(struct trace_handle *handle, char *text)
{
	struct trace_array *tr = NULL;
	int err = trace_handle_us(handle, text, &trace_thresh_ns);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	while ((tr = trace_array_next(tr)))
		(void)tracer_settings_changed(tr);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static const struct trace_file available_tracers_file = {
	.name = "available_tracers",
	.mode = TRACE_MODE_READ,
	.show = available_tracers_show,
};

static const struct trace_file current_tracer_file = {
	.name = "current_tracer",
	.mode = TRACE_MODE_WRITE,
	.show = current_tracer_show,
	.store = current_tracer_store,
	.store_max = TRACER_MAX,
};

static const struct trace_file tracing_on_file = {
	.name = "tracing_on",
	.mode = TRACE_MODE_WRITE,
	.show = tracing_on_show,
	.store = tracing_on_store,
	.store_max = WORD_MAX,
};

static const struct trace_file trace_clock_file = {
	.name = "trace_clock",
	.mode = TRACE_MODE_WRITE,
	.show = trace_clock_show,
	.store = trace_clock_store,
	.store_max = WORD_MAX,
};

static const struct trace_file tracing_cpumask_file = {
	.name = "tracing_cpumask",
	.mode = TRACE_MODE_WRITE,
	.show = tracing_cpumask_show,
	.store = tracing_cpumask_store,
};

static const struct trace_file tracing_thresh_file = {
	.name = "tracing_thresh",
	.mode = TRACE_MODE_WRITE,
	.root_only = true,
	.show = tracing_thresh_show,
	.store = tracing_thresh_store,
	.store_max = WORD_MAX,
};

static const struct trace_file *const fs_config_files[] = {
	&available_tracers_file, &current_tracer_file,	&tracing_on_file,
	&trace_clock_file,	 &tracing_cpumask_file, &tracing_thresh_file,
};

const struct trace_file_table trace_config_files = { .files = fs_config_files,
						     .nr = TRACE_ARRAY_SIZE(fs_config_files) };
