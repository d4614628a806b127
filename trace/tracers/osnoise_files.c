/*
 * The directory osnoise/ of the global instance, and the feature: see osnoise.h.
 *
 *   cpus                   a list of CPUs
 *   period_us, runtime_us  osnoise reads the clock for runtime_us of each period_us
 *   timerlat_period_us     from one deadline of timerlat to the next
 *   stop_tracing_us        stops at a noise, at a latency of the interrupt, not below it; 0: at none
 *   stop_tracing_total_us  the same with the noise of a runtime, the latency of the thread
 *   print_stack            timerlat writes the interrupt's stack at a latency not below it
 *   options                words, with NO_ in front to switch off
 *   per_cpu/cpuN           timerlat_fd.c
 */
#include <trace/platform.h>
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "fs/fs_tree.h"
#include "instance/event_private.h"
#include "osnoise.h"
#include "text/cpulist.h"
#include "text/str.h"

#define OSNOISE_LIST_MAX 1024u
#define OSNOISE_WORD_MAX 64u

/* ---- Numbers ---- */

struct osnoise_number {
	_Atomic uint64_t *value;
	const _Atomic uint64_t *least, *most; /* other settings that limit it; or NULL: */
	uint64_t min, max;
	const char *too_small, *too_large;
};

static int osnoise_number_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct osnoise_number *number = handle->node->file->about;

	trace_seq_printf(seq, "%llu\n", (unsigned long long)*number->value);
	return 0;
}

/* The mistake in `us`, or NULL. Config lock held. */
static const char *osnoise_number_why(const struct osnoise_number *number, uint64_t us)
{
	if (us < (number->least ? *number->least : number->min))
		return number->too_small;
	if (us > (number->most ? *number->most : number->max))
		return number->too_large;
	return NULL;
}

static int osnoise_number_store(struct trace_handle *handle, char *text)
{
	const struct osnoise_number *number = handle->node->file->about;
	const char *why;
	uint64_t us;
	int err = trace_handle_number(handle, text, &us);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	why = osnoise_number_why(number, us);
	if (!why)
		*number->value = us;
	trace_plat_unlock(&trace_config_lock);
	if (!why)
		return 0;
	trace_handle_blame(handle, text, why);
	return -EINVAL;
}

#define OSNOISE_TOO_LONG "longer than the clock counts"

static const struct osnoise_number osnoise_period = {
	.value = &trace_osnoise_settings.period_us,
	.least = &trace_osnoise_settings.runtime_us,
	.max = OSNOISE_US_MAX,
	.too_small = "shorter than runtime_us",
	.too_large = OSNOISE_TOO_LONG,
};

static const struct osnoise_number osnoise_runtime = {
	.value = &trace_osnoise_settings.runtime_us,
	.most = &trace_osnoise_settings.period_us,
	.min = 1,
	.too_small = "no time at all",
	.too_large = "longer than period_us",
};

static const struct osnoise_number osnoise_timerlat_period = {
	.value = &trace_osnoise_settings.timerlat_period_us,
	.min = TIMERLAT_PERIOD_MIN,
	.max = TIMERLAT_PERIOD_MAX,
	.too_small = "shorter than 100 us",
	.too_large = "longer than 1000000 us",
};

#define OSNOISE_LIMIT(member)                                                                      \
	{                                                                                          \
		.value = &trace_osnoise_settings.member, .max = OSNOISE_US_MAX,                    \
		.too_large = OSNOISE_TOO_LONG                                                      \
	}
static const struct osnoise_number osnoise_stop = OSNOISE_LIMIT(stop_us);
static const struct osnoise_number osnoise_stop_total = OSNOISE_LIMIT(stop_total_us);
static const struct osnoise_number osnoise_print_stack = OSNOISE_LIMIT(print_stack_us);

/* ---- cpus ---- */

static int osnoise_cpus_show(struct trace_handle *handle, struct trace_seq *seq)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	bool *wanted = trace_plat_alloc(nr_cpus * sizeof(*wanted));

	(void)handle;
	if (!wanted)
		return -ENOMEM;
	trace_plat_lock(&trace_config_lock);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		wanted[cpu] = !trace_osnoise_cpus || !trace_osnoise_cpus[cpu].is_out;
	trace_plat_unlock(&trace_config_lock);
	trace_cpulist_show(seq, wanted, nr_cpus);
	trace_seq_putc(seq, '\n');
	trace_plat_free(wanted, nr_cpus * sizeof(*wanted));
	return 0;
}

static void osnoise_take_cpus(void *arg)
{
	const bool *wanted = arg;

	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++)
		trace_osnoise_cpus[cpu].is_out = !wanted[cpu];
}

static int osnoise_set_cpus(bool *wanted)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = trace_osnoise_make_cpus();
	if (!err)
		err = trace_osnoise_change(osnoise_take_cpus, wanted);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int osnoise_cpus_store(struct trace_handle *handle, char *text)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	bool *wanted = trace_plat_alloc(nr_cpus * sizeof(*wanted));
	const char *bad, *why;
	int err = -EINVAL;

	if (!wanted)
		return -ENOMEM;
	bad = trace_cpulist_parse(text, wanted, nr_cpus, &why);
	if (bad)
		trace_handle_blame(handle, bad, why);
	else
		err = osnoise_set_cpus(wanted);
	trace_plat_free(wanted, nr_cpus * sizeof(*wanted));
	return err;
}

/* ---- options ---- */

static const char *const osnoise_words[OSNOISE_NR_OPTIONS] = {
	[OSNOISE_DEFAULTS] = "DEFAULTS",
	[OSNOISE_WORKLOAD] = "OSNOISE_WORKLOAD",
	[OSNOISE_PANIC_ON_STOP] = "PANIC_ON_STOP",
	[OSNOISE_PREEMPT_DISABLE] = "OSNOISE_PREEMPT_DISABLE",
	[OSNOISE_IRQ_DISABLE] = "OSNOISE_IRQ_DISABLE",
};

static int osnoise_options_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	for (uint32_t i = 0; i < OSNOISE_NR_OPTIONS; i++)
		trace_seq_printf(seq, "%s%s%s", i ? " " : "",
				 trace_osnoise_has((enum osnoise_option)i) ? "" : "NO_",
				 osnoise_words[i]);
	trace_seq_putc(seq, '\n');
	return 0;
}

static void osnoise_take_options(void *arg)
{
	trace_osnoise_settings.options = *(const uint32_t *)arg;
}

static int osnoise_set_option(uint32_t option, bool on)
{
	uint32_t options;
	int err;

	trace_plat_lock(&trace_config_lock);
	options = trace_osnoise_settings.options & ~(1u << option);
	if (option == OSNOISE_DEFAULTS)
		options = OSNOISE_DEFAULT_OPTIONS;
	else if (on)
		options |= 1u << option;
	err = trace_osnoise_change(osnoise_take_options, &options);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int osnoise_options_store(struct trace_handle *handle, char *text)
{
	const char *word = trace_strip(text), *name = word;
	bool on = !trace_str_starts(word, "NO_");
	uint32_t option = 0;

	if (!on)
		name += 3;
	while (option < OSNOISE_NR_OPTIONS && !trace_streq(name, osnoise_words[option]))
		option++;
	if (option < OSNOISE_NR_OPTIONS && (on || option != OSNOISE_DEFAULTS))
		return osnoise_set_option(option, on);
	trace_handle_blame(handle, word, "no option of osnoise: read the file for all there are");
	return -EINVAL;
}

/* ---- The directory ---- */

#define OSNOISE_NUMBER(word, number)                                                               \
	{                                                                                          \
		.name = word, .log_name = "osnoise/" word, .mode = TRACE_MODE_WRITE,               \
		.show = osnoise_number_show, .store = osnoise_number_store,                        \
		.store_max = OSNOISE_WORD_MAX, .about = &(number)                                  \
	}
#define OSNOISE_FILE(word, max)                                                                    \
	{                                                                                          \
		.name = #word, .log_name = "osnoise/" #word, .mode = TRACE_MODE_WRITE,             \
		.show = osnoise_##word##_show, .store = osnoise_##word##_store, .store_max = (max) \
	}

static const struct trace_file osnoise_files[] = {
	OSNOISE_FILE(cpus, OSNOISE_LIST_MAX),
	OSNOISE_FILE(options, OSNOISE_WORD_MAX),
	OSNOISE_NUMBER("period_us", osnoise_period),
	OSNOISE_NUMBER("print_stack", osnoise_print_stack),
	OSNOISE_NUMBER("runtime_us", osnoise_runtime),
	OSNOISE_NUMBER("stop_tracing_total_us", osnoise_stop_total),
	OSNOISE_NUMBER("stop_tracing_us", osnoise_stop),
	OSNOISE_NUMBER("timerlat_period_us", osnoise_timerlat_period),
};

static int osnoise_fill(struct trace_node *dir)
{
	const struct trace_dir *per_cpu = trace_timerlat_fd_dir();

	if (!trace_dir_begin(dir, TRACE_ARRAY_SIZE(osnoise_files) + 1, 0, 1))
		return -ENOMEM;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(osnoise_files); i++)
		trace_node_add_file(dir, osnoise_files[i].name, &osnoise_files[i], 0);
	if (per_cpu) /* the last: ids of its children are behind its own */
		trace_node_add_lazy_dir(dir->tree, dir, "per_cpu", per_cpu, 0);
	return 0;
}

static const struct trace_dir osnoise_dir = { .fill = osnoise_fill };

static const struct trace_file_table osnoise_table = {
	.dir = &osnoise_dir,
	.dir_name = "osnoise",
	.is_dir_root_only = true,
	.dir_ids = TRACE_ARRAY_SIZE(osnoise_files) + 1 + TIMERLAT_FD_IDS,
};

static struct trace_files osnoise_table_entry = { .table = &osnoise_table };

/* ---- The feature ---- */

static bool osnoise_is_there(void)
{
	return trace_noise_host && trace_noise_host->listen;
}

static int osnoise_feature_init(void)
{
	static struct trace_event *const events[] = { &trace_osnoise_event, &trace_timerlat_event };
	int err;

	if (!osnoise_is_there())
		return 0;
	err = trace_events_register(events, TRACE_ARRAY_SIZE(events));
	if (!err)
		err = register_tracer(&trace_osnoise);
	if (!err)
		err = register_tracer(&trace_timerlat);
	if (!err)
		trace_files_register(&osnoise_table_entry);
	return err;
}

const struct trace_feature trace_feature_osnoise = {
	.name = "osnoise",
	.is_there = osnoise_is_there,
	.init = osnoise_feature_init,
	.cpus_change = trace_osnoise_cpus_change,
};
