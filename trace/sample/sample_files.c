/*
 * The directory profile/ of each instance: see sample.h.
 *
 *   on           0 or 1: the event profile:sample, which events/ switches as well
 *   frequency    samples a second, of each CPU
 *   cpus         a list of CPUs
 *   pids         threads, as in set_event_pid; none: all
 *   clock        timer, or nmi
 *   max_percent  limit of the time that sampling takes
 *   stats        for each CPU samples, hits that came too late, hits that the limit left out
 */
#include <trace/platform.h>
#include "events/event_file.h"
#include "fs/fs_file.h"
#include "fs/fs_pids.h"
#include "fs/fs_tree.h"
#include "sample.h"
#include "text/cpulist.h"
#include "text/str.h"

#define SAMPLE_LIST_MAX 1024u
#define SAMPLE_WORD_MAX 24u

/* ---- on ---- */

static const struct trace_event_choice sample_choice = { .call = &trace_sample_call };

static int sample_on_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_plat_lock(&trace_config_lock);
	trace_seq_printf(seq, "%s\n", trace_events_state(handle->tr, &sample_choice));
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int sample_on_store(struct trace_handle *handle, char *text)
{
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = trace_events_switch(handle->tr, &sample_choice, on);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* ---- frequency, max_percent ---- */

static int sample_frequency_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%u\n", trace_sample_of(handle->tr)->hz);
	return 0;
}

static int sample_percent_show(struct trace_handle *handle, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%u\n", trace_sample_of(handle->tr)->percent);
	return 0;
}

/* The number in `text`, of 1 to `max`. */
static int sample_number(struct trace_handle *handle, const char *text, uint64_t max,
			 const char *why, uint32_t *out)
{
	uint64_t value;
	int err = trace_handle_number(handle, text, &value);

	if (!err && (!value || value > max)) {
		trace_handle_blame(handle, text, why);
		err = -EINVAL;
	}
	*out = err ? 0 : (uint32_t)value;
	return err;
}

static int sample_frequency_store(struct trace_handle *handle, char *text)
{
	struct sample_array *sample = trace_sample_of(handle->tr);
	uint32_t hz;
	int err = sample_number(handle, text, SAMPLE_HZ_MAX,
				"not a frequency of 1 to 100000 samples a second", &hz);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	trace_sample_set_rate(sample, hz, sample->percent);
	trace_sample_apply();
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int sample_percent_store(struct trace_handle *handle, char *text)
{
	struct sample_array *sample = trace_sample_of(handle->tr);
	uint32_t percent;
	int err = sample_number(handle, text, 100, "not a percentage of 1 to 100", &percent);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	trace_sample_set_rate(sample, sample->hz, percent);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

/* ---- cpus ---- */

static int sample_cpus_show(struct trace_handle *handle, struct trace_seq *seq)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	bool *wanted = trace_plat_alloc(nr_cpus * sizeof(*wanted));

	if (!wanted)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		wanted[cpu] = !trace_sample_of(handle->tr)->cpus[cpu].is_out;
	trace_cpulist_show(seq, wanted, nr_cpus);
	trace_seq_putc(seq, '\n');
	trace_plat_free(wanted, nr_cpus * sizeof(*wanted));
	return 0;
}

static void sample_set_cpus(const struct sample_array *sample, const bool *wanted, uint32_t nr_cpus)
{
	trace_plat_lock(&trace_config_lock);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		sample->cpus[cpu].is_out = !wanted[cpu];
	trace_sample_apply();
	trace_plat_unlock(&trace_config_lock);
}

static int sample_cpus_store(struct trace_handle *handle, char *text)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	bool *wanted = trace_plat_alloc(nr_cpus * sizeof(*wanted));
	const char *bad, *why;

	if (!wanted)
		return -ENOMEM;
	bad = trace_cpulist_parse(text, wanted, nr_cpus, &why);
	if (bad)
		trace_handle_blame(handle, bad, why);
	else
		sample_set_cpus(trace_sample_of(handle->tr), wanted, nr_cpus);
	trace_plat_free(wanted, nr_cpus * sizeof(*wanted));
	return bad ? -EINVAL : 0;
}

/* ---- pids ---- */

void trace_sample_free_pids(struct trace_pids *pids)
{
	if (!pids)
		return;
	trace_pids_clear(pids);
	trace_plat_free(pids, sizeof(*pids));
}

/* Sample the threads of `pids`, which belongs to the instance from now on; NULL: all. Config lock held. */
static void sample_set_pids(struct sample_array *sample, struct trace_pids *pids)
{
	struct trace_pids *old = atomic_exchange(&sample->pids, pids);

	if (!old)
		return;
	trace_plat_synchronize_preempt(); /* hits may still look at it */
	trace_sample_free_pids(old);
}

static int sample_pids_open(struct trace_handle *handle)
{
	const unsigned int clear = TRACE_FS_WRITE | TRACE_FS_TRUNC;

	if ((handle->flags & clear) != clear)
		return 0;
	trace_plat_lock(&trace_config_lock);
	sample_set_pids(trace_sample_of(handle->tr), NULL);
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

static int sample_pids_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_pids *pids;
	size_t i = 0;

	trace_plat_lock(&trace_config_lock);
	pids = trace_sample_of(handle->tr)->pids;
	/* The smallest from `index` on: the set may change between two reads. */
	while (pids && i < pids->nr && (size_t)pids->pids[i] < handle->index)
		i++;
	if (pids && i < pids->nr) {
		trace_seq_printf(seq, "%d\n", pids->pids[i]);
		handle->index = (size_t)pids->pids[i] + 1;
	}
	trace_plat_unlock(&trace_config_lock);
	return seq->len ? 1 : 0;
}

/* All numbers of one write or none. Config lock held. */
static int sample_change_pids(struct trace_handle *handle, struct trace_pids *wanted, char *text)
{
	struct sample_array *sample = trace_sample_of(handle->tr);
	int err = sample->pids ? trace_pids_copy(wanted, sample->pids) : 0;

	if (!err)
		err = trace_pids_parse(handle, wanted, text);
	if (err)
		return err;
	if (wanted->nr) {
		sample_set_pids(sample, wanted);
		return 0;
	}
	sample_set_pids(sample, NULL);
	trace_sample_free_pids(wanted);
	return 0;
}

static int sample_pids_store(struct trace_handle *handle, char *text)
{
	struct trace_pids *wanted = trace_plat_alloc(sizeof(*wanted));
	int err;

	if (!wanted)
		return -ENOMEM;
	trace_plat_lock(&trace_config_lock);
	err = sample_change_pids(handle, wanted, text);
	trace_plat_unlock(&trace_config_lock);
	if (err)
		trace_sample_free_pids(wanted);
	return err;
}

/* ---- clock ---- */

static int sample_clock_show(struct trace_handle *handle, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < TRACE_SAMPLE_NR_CLOCKS; i++)
		trace_seq_printf(seq, trace_sample_of(handle->tr)->clock == i ? "%s[%s]" : "%s%s",
				 i ? " " : "", trace_sample_clocks[i]);
	trace_seq_putc(seq, '\n');
	return 0;
}

static int sample_clock_store(struct trace_handle *handle, char *text)
{
	char *word = trace_strip(text);
	uint32_t clock = 0;
	const char *why;

	while (clock < TRACE_SAMPLE_NR_CLOCKS && !trace_streq(word, trace_sample_clocks[clock]))
		clock++;
	why = clock == TRACE_SAMPLE_NR_CLOCKS ? "there is no such clock"
					      : trace_sample_host->lacks(clock);
	if (why) {
		trace_handle_blame(handle, word, why);
		return clock == TRACE_SAMPLE_NR_CLOCKS ? -EINVAL : -ENODEV;
	}
	trace_plat_lock(&trace_config_lock);
	trace_sample_of(handle->tr)->clock = clock;
	trace_sample_apply();
	trace_plat_unlock(&trace_config_lock);
	return 0;
}

/* ---- stats ---- */

static int sample_stats_next(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct sample_cpu *cpu = trace_sample_of(handle->tr)->cpus;
	uint32_t i = (uint32_t)handle->index++;

	if (i >= trace_plat_nr_cpus())
		return 0;
	cpu += i;
	trace_seq_printf(seq, "cpu%u: samples %llu lost %llu throttled %llu\n", i,
			 (unsigned long long)cpu->nr, (unsigned long long)cpu->lost,
			 (unsigned long long)cpu->throttled);
	return 1;
}

/* ---- The directory ---- */

#define SAMPLE_FILE(word)                                                                          \
	{                                                                                          \
		.name = #word, .log_name = "profile/" #word, .mode = TRACE_MODE_WRITE,             \
		.show = sample_##word##_show, .store = sample_##word##_store,                      \
		.store_max = SAMPLE_LIST_MAX                                                       \
	}

static const struct trace_file sample_files[] = {
	SAMPLE_FILE(clock),
	SAMPLE_FILE(cpus),
	SAMPLE_FILE(frequency),
	{ .name = "max_percent",
	  .log_name = "profile/max_percent",
	  .mode = TRACE_MODE_WRITE,
	  .show = sample_percent_show,
	  .store = sample_percent_store,
	  .store_max = SAMPLE_WORD_MAX },
	SAMPLE_FILE(on),
	{ .name = "pids",
	  .log_name = "profile/pids",
	  .mode = TRACE_MODE_WRITE,
	  .open = sample_pids_open,
	  .next = sample_pids_next,
	  .store = sample_pids_store,
	  .store_max = TRACE_PIDS_MAX },
	{ .name = "stats", .mode = TRACE_MODE_READ, .next = sample_stats_next },
};

static int fill_sample(struct trace_node *dir)
{
	return trace_dir_fill(dir, sample_files, TRACE_ARRAY_SIZE(sample_files), 0);
}

static const struct trace_dir sample_dir = { .fill = fill_sample };

static const struct trace_file_table sample_table = {
	.dir = &sample_dir,
	.dir_name = "profile",
	.dir_ids = TRACE_ARRAY_SIZE(sample_files),
};

static struct trace_files sample_table_entry = { .table = &sample_table };

void trace_sample_files_init(void)
{
	trace_files_register(&sample_table_entry);
}
