/*
 * The files of monitors: `monitors`, in which users write them, and the directory rv/, which is
 * that of Linux. See fs_file.h, fs_tree.h, monitors/monitor.h.
 *
 *   rv/  available_monitors available_reactors enabled_monitors monitoring_on reacting_on
 *     monitors/NAME/  desc enable hits reactors state
 *
 * A node of a monitor has its number as `arg`, so that a file that is open when the monitor goes
 * finds nothing any more.
 */
#include "fs/fs_tree.h"
#include "monitor_react.h"
#include "text/str.h"
#include "feature/feature.h"
#include "fs/fs_file.h"

/* Ids: the files of rv/, the directory monitors/, then those of each place in the list. */
#define ID_OF_MONITORS 16u
#define IDS_EACH       8u

/* ---- monitors ---- */

static int monitors_next(struct trace_handle *handle, struct trace_seq *seq)
{
	struct trace_monitor *monitor;
	size_t i = 0;

	trace_monitors_lock();
	monitor = trace_monitor_behind(NULL);
	while (monitor && i++ < handle->index)
		monitor = trace_monitor_behind(monitor);
	if (monitor)
		trace_monitor_show_line(monitor, seq);
	trace_monitors_unlock();
	handle->index++;
	return monitor ? 1 : 0;
}

static int monitors_open(struct trace_handle *handle)
{
	int err = 0;

	trace_monitors_lock();
	if (handle->flags & TRACE_FS_TRUNC)
		err = trace_monitors_clear();
	trace_monitors_unlock();
	return err;
}

/* Line by line; those before one that is wrong have taken effect. */
static int monitors_store(struct trace_handle *handle, char *text)
{
	struct expr_error error = { 0 };
	char *line = text;
	int err = 0;

	trace_monitors_lock();
	while (*text && !err) {
		line = text;
		while (*text && *text != '\n')
			text++;
		if (*text)
			*text++ = '\0';
		err = trace_monitors_write(line, &error);
	}
	trace_monitors_unlock();
	if (err && error.why)
		trace_handle_blame(handle, line + error.pos, error.why);
	return err;
}

static const struct trace_file monitors_file = {
	.name = "monitors",
	.root_only = true,
	.mode = TRACE_MODE_WRITE,
	.next = monitors_next,
	.open = monitors_open,
	.store = monitors_store,
};

/* ---- Of all monitors ---- */

/* All names, or in a file that can be written those of monitors that are on. */
static int monitor_names_show(struct trace_handle *handle, struct trace_seq *seq)
{
	bool wants_all = !handle->node->file->store;
	struct trace_monitor *monitor = NULL;

	trace_monitors_lock();
	while ((monitor = trace_monitor_behind(monitor))) {
		if (wants_all || monitor->is_enabled)
			trace_seq_printf(seq, "%s\n", monitor->name);
	}
	trace_monitors_unlock();
	return 0;
}

static const struct trace_file available_monitors_file = {
	.name = "available_monitors",
	.mode = TRACE_MODE_READ,
	.show = monitor_names_show,
};

static int available_reactors_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const struct trace_reactor *reactor = NULL;

	(void)handle;
	while ((reactor = trace_reactor_behind(reactor)))
		trace_seq_printf(seq, "%s\n", reactor->name);
	return 0;
}

static const struct trace_file available_reactors_file = {
	.name = "available_reactors",
	.mode = TRACE_MODE_READ,
	.show = available_reactors_show,
};

static int enabled_monitors_open(struct trace_handle *handle)
{
	struct trace_monitor *monitor = NULL;

	if (!(handle->flags & TRACE_FS_TRUNC))
		return 0;
	trace_monitors_lock();
	while ((monitor = trace_monitor_behind(monitor)))
		(void)trace_monitor_enable(monitor, false);
	trace_monitors_unlock();
	return 0;
}

/* NAME or !NAME. */
static int enable_word(struct trace_handle *handle, const char *word, size_t len)
{
	bool on = *word != '!';
	struct trace_monitor *monitor = trace_monitor_find(word + !on, len - !on);

	if (monitor)
		return trace_monitor_enable(monitor, on);
	trace_handle_blame(handle, word + !on, "there is no such monitor");
	return -EINVAL;
}

static int enabled_monitors_store(struct trace_handle *handle, char *text)
{
	int err = 0;

	trace_monitors_lock();
	while (!err) {
		size_t len = 0;

		while (trace_is_space(*text))
			text++;
		while (text[len] && !trace_is_space(text[len]))
			len++;
		if (!len)
			break;
		err = enable_word(handle, text, len);
		text += len;
	}
	trace_monitors_unlock();
	return err;
}

static const struct trace_file enabled_monitors_file = {
	.name = "enabled_monitors",
	.mode = TRACE_MODE_WRITE,
	.show = monitor_names_show,
	.open = enabled_monitors_open,
	.store = enabled_monitors_store,
};

static int monitor_switch_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const _Atomic bool *is_on = handle->node->file->about;

	trace_seq_printf(seq, "%d\n", *is_on);
	return 0;
}

static int monitor_switch_store(struct trace_handle *handle, char *text)
{
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_monitors_lock();
	if (handle->node->file->about == &trace_monitors_are_on)
		trace_monitors_switch(on);
	else
		trace_monitors_react = on;
	trace_monitors_unlock();
	return 0;
}

#define MONITOR_SWITCH(file, variable)                                                             \
	{                                                                                          \
		.name = (file), .mode = TRACE_MODE_WRITE, .about = &(variable),                    \
		.show = monitor_switch_show, .store = monitor_switch_store                         \
	}
static const struct trace_file monitoring_on_file =
	MONITOR_SWITCH("monitoring_on", trace_monitors_are_on);
static const struct trace_file reacting_on_file =
	MONITOR_SWITCH("reacting_on", trace_monitors_react);

/* ---- Of one monitor ---- */

/* Lock held. NULL: it has gone. */
static struct trace_monitor *monitor_of(const struct trace_handle *handle)
{
	return trace_monitor_of(handle->node->arg);
}

static void show_desc(struct trace_monitor *monitor, struct trace_seq *seq)
{
	if (monitor->desc)
		trace_seq_printf(seq, "%s\n", monitor->desc);
	else
		trace_monitor_show_line(monitor, seq);
}

static void show_enable(struct trace_monitor *monitor, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%d\n", monitor->is_enabled);
}

/* The one in use in brackets. */
static void show_reactors(struct trace_monitor *monitor, struct trace_seq *seq)
{
	const struct trace_reactor *reactor = NULL;

	while ((reactor = trace_reactor_behind(reactor)))
		trace_seq_printf(seq, reactor == monitor->reactor ? "[%s]\n" : "%s\n",
				 reactor->name);
}

/* The text of a file about a monitor. */
typedef void (*show_fn)(struct trace_monitor *monitor, struct trace_seq *seq);
static const struct monitor_texts {
	show_fn desc, enable, hits, reactors, state;
} monitor_texts = { show_desc, show_enable, trace_monitor_show_hits, show_reactors,
		    trace_monitor_show_states };

static int monitor_text_show(struct trace_handle *handle, struct trace_seq *seq)
{
	const show_fn *show = handle->node->file->about;
	struct trace_monitor *monitor;

	trace_monitors_lock();
	monitor = monitor_of(handle);
	if (monitor)
		(*show)(monitor, seq);
	trace_monitors_unlock();
	return monitor ? 0 : -ENODEV;
}

static int monitor_files_enable_store(struct trace_handle *handle, char *text)
{
	struct trace_monitor *monitor;
	bool on;
	int err = trace_handle_switch(handle, text, &on);

	if (err)
		return err;
	trace_monitors_lock();
	monitor = monitor_of(handle);
	err = monitor ? trace_monitor_enable(monitor, on) : -ENODEV;
	trace_monitors_unlock();
	return err;
}

static int reactors_store(struct trace_handle *handle, char *text)
{
	char *word = trace_strip(text);
	const struct trace_reactor *reactor = trace_reactor_find(word, trace_strlen(word));
	struct trace_monitor *monitor;
	int err;

	if (!reactor) {
		trace_handle_blame(handle, word, "there is no such reactor");
		return -EINVAL;
	}
	trace_monitors_lock();
	monitor = monitor_of(handle);
	err = monitor ? trace_monitor_set_reactor(monitor, reactor) : -ENODEV;
	trace_monitors_unlock();
	return err;
}

#define MONITOR_TEXT(file) .name = #file, .show = monitor_text_show, .about = &monitor_texts.file
static const struct trace_file files_of_one[] = {
	{ MONITOR_TEXT(desc), .mode = TRACE_MODE_READ },
	{ MONITOR_TEXT(enable), .mode = TRACE_MODE_WRITE, .store = monitor_files_enable_store },
	{ MONITOR_TEXT(hits), .mode = TRACE_MODE_READ },
	{ MONITOR_TEXT(reactors), .mode = TRACE_MODE_WRITE, .store = reactors_store },
	{ MONITOR_TEXT(state), .mode = TRACE_MODE_READ },
};

/* ---- The directories ---- */

static int fill_monitor(struct trace_node *dir)
{
	return trace_dir_fill(dir, files_of_one, TRACE_ARRAY_SIZE(files_of_one), dir->arg);
}

static const struct trace_dir monitor_dir = { .fill = fill_monitor };

/* Others may come meanwhile; the version tells, and all are looked at again. */
static int fill_monitors(struct trace_node *dir)
{
	char *names =
		trace_dir_begin(dir, MONITORS_MAX, (size_t)MONITORS_MAX * MONITOR_NAME_BYTES, 1);
	uint64_t number;
	size_t place;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < MONITORS_MAX && trace_monitor_at(i, names, &number, &place); i++) {
		struct trace_node *node;

		node = trace_node_add_lazy_dir(dir->tree, dir, names, &monitor_dir, 0);
		node->arg = number;
		node->id = dir->id + 1 + place * IDS_EACH;
		names += MONITOR_NAME_BYTES;
	}
	return 0;
}

static const struct trace_dir monitors_dir = { .fill = fill_monitors,
					       .version = trace_monitors_version };

static const struct trace_file *const monitor_files_of_all[] = {
	&available_monitors_file, &available_reactors_file, &enabled_monitors_file,
	&monitoring_on_file,	  &reacting_on_file,
};

static int fill_rv(struct trace_node *dir)
{
	struct trace_node *node;

	if (!trace_dir_begin(dir, TRACE_ARRAY_SIZE(monitor_files_of_all) + 1, 0, 1))
		return -ENOMEM;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(monitor_files_of_all); i++)
		trace_node_add_file(dir, monitor_files_of_all[i]->name, monitor_files_of_all[i], 0);
	node = trace_node_add_lazy_dir(dir->tree, dir, "monitors", &monitors_dir, 0);
	node->id = dir->id + ID_OF_MONITORS;
	node->arg = 0;
	return 0;
}

static const struct trace_dir rv_dir = { .fill = fill_rv };

static const struct trace_file *const monitor_files[] = { &monitors_file };

static const struct trace_file_table trace_monitor_files = {
	.files = monitor_files,
	.nr = TRACE_ARRAY_SIZE(monitor_files),
	.dir = &rv_dir,
	.dir_name = "rv",
	.is_dir_root_only = true,
	.dir_ids = ID_OF_MONITORS + 1 + MONITORS_MAX * IDS_EACH,
};

/* ---- The feature ---- */

static struct trace_files monitor_file_entry = { .table = &trace_monitor_files };
static struct trace_reactor_table monitor_reactors = { .reactors = trace_reactors };

static int monitors_init(void)
{
	trace_files_register(&monitor_file_entry);
	trace_reactors_register(&monitor_reactors);
	return trace_monitors_init();
}

const struct trace_feature trace_feature_monitors = {
	.name = "monitors",
	.init = monitors_init,
	.thread_created = trace_monitors_thread_created,
	.thread_exited = trace_monitors_thread_exited,
};
