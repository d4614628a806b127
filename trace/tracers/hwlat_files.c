/*
 * The directory hwlat_detector/ of the global instance, and the feature: see hwlat.h.
 *
 *   width   microseconds of watching in each window; not more than the window
 *   window  microseconds from one time of watching to the next
 *   mode    none, round-robin, per-cpu
 */
#include <trace/platform.h>
#include "feature/feature.h"
#include "fs/fs_file.h"
#include "fs/fs_tree.h"
#include "hwlat.h"
#include "instance/event_private.h"
#include "text/str.h"

#define HWLAT_WORD_MAX 64u
#define HWLAT_US_MAX   (UINT64_MAX / HWLAT_US_NS)

/* ---- width, window ---- */

static int hwlat_width_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%llu\n", (unsigned long long)trace_hwlat_settings.width_us);
	return 0;
}

static int hwlat_window_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	trace_seq_printf(seq, "%llu\n", (unsigned long long)trace_hwlat_settings.window_us);
	return 0;
}

static int hwlat_refuse(struct trace_handle *handle, const char *at, const char *why)
{
	trace_handle_blame(handle, at, why);
	return -EINVAL;
}

static int hwlat_width_store(struct trace_handle *handle, char *text)
{
	uint64_t us;
	int err = trace_handle_number(handle, text, &us);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	if (us > trace_hwlat_settings.window_us)
		err = hwlat_refuse(handle, text, "longer than the window");
	else
		trace_hwlat_settings.width_us = us;
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int hwlat_window_store(struct trace_handle *handle, char *text)
{
	uint64_t us;
	int err = trace_handle_number(handle, text, &us);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	if (us < trace_hwlat_settings.width_us)
		err = hwlat_refuse(handle, text, "shorter than the width");
	else if (us > HWLAT_US_MAX)
		err = hwlat_refuse(handle, text, "longer than the clock counts");
	else
		trace_hwlat_settings.window_us = us;
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* ---- mode ---- */

static const char *const hwlat_modes[HWLAT_NR_MODES] = {
	[HWLAT_NONE] = "none",
	[HWLAT_ROUND_ROBIN] = "round-robin",
	[HWLAT_PER_CPU] = "per-cpu",
};

static int hwlat_mode_show(struct trace_handle *handle, struct trace_seq *seq)
{
	(void)handle;
	for (uint32_t i = 0; i < HWLAT_NR_MODES; i++)
		trace_seq_printf(seq, trace_hwlat_settings.mode == i ? "%s[%s]" : "%s%s",
				 i ? " " : "", hwlat_modes[i]);
	trace_seq_putc(seq, '\n');
	return 0;
}

static int hwlat_mode_store(struct trace_handle *handle, char *text)
{
	const char *word = trace_strip(text);
	uint32_t mode = 0;
	int err;

	while (mode < HWLAT_NR_MODES && !trace_streq(word, hwlat_modes[mode]))
		mode++;
	if (mode == HWLAT_NR_MODES)
		return hwlat_refuse(handle, word, "no mode: none, round-robin or per-cpu");
	trace_plat_lock(&trace_config_lock);
	err = trace_hwlat_set_mode((enum hwlat_mode)mode);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* ---- The directory ---- */

#define HWLAT_FILE(word)                                                                           \
	{                                                                                          \
		.name = #word, .log_name = "hwlat_detector/" #word, .mode = TRACE_MODE_WRITE,      \
		.show = hwlat_##word##_show, .store = hwlat_##word##_store,                        \
		.store_max = HWLAT_WORD_MAX                                                        \
	}

static const struct trace_file hwlat_files[] = {
	HWLAT_FILE(mode),
	HWLAT_FILE(width),
	HWLAT_FILE(window),
};

static int hwlat_fill(struct trace_node *dir)
{
	return trace_dir_fill(dir, hwlat_files, TRACE_ARRAY_SIZE(hwlat_files), 0);
}

static const struct trace_dir hwlat_dir = { .fill = hwlat_fill };

static const struct trace_file_table hwlat_table = {
	.dir = &hwlat_dir,
	.dir_name = "hwlat_detector",
	.is_dir_root_only = true,
	.dir_ids = TRACE_ARRAY_SIZE(hwlat_files),
};

static struct trace_files hwlat_table_entry = { .table = &hwlat_table };

/* ---- The feature ---- */

const struct trace_noise_host *trace_noise_host;

void trace_noise_host_set(const struct trace_noise_host *host)
{
	trace_noise_host = host;
}

static bool hwlat_is_there(void)
{
	return trace_noise_host;
}

static int hwlat_feature_init(void)
{
	static struct trace_event *const events[] = { &trace_hwlat_event };
	int err;

	if (!trace_noise_host)
		return 0;
	err = trace_hwlat_watch_init();
	if (!err)
		err = trace_events_register(events, TRACE_ARRAY_SIZE(events));
	if (!err)
		err = register_tracer(&trace_hwlat);
	if (!err)
		trace_files_register(&hwlat_table_entry);
	return err;
}

const struct trace_feature trace_feature_hwlat = {
	.name = "hwlat",
	.is_there = hwlat_is_there,
	.init = hwlat_feature_init,
	.cpus_change = trace_hwlat_cpus_change,
};
