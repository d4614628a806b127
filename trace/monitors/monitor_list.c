/*
 * The list of monitors: making, removing, switching them on and off. See monitor.h.
 *
 * Locking: `list.lock` for all changes. Readers of the directory hold only `list.names_lock`, which
 *          guards the places; a thread that comes or goes only `list.threads_lock`, which guards
 *          places, tables of threads and whether a monitor is enabled. Order: lock, config lock,
 *          arrays lock, names_lock, threads_lock.
 */
#include <trace/platform.h>
#include <trace/thread.h>
#include "monitor_private.h"
#include "events/event_file.h"
#include "instance/array.h"
#include "text/str.h"

static struct {
	struct trace_plat_lock lock;
	struct trace_plat_lock names_lock;
	struct trace_plat_lock threads_lock;
	struct trace_monitor *monitors[MONITORS_MAX]; /* NULL: a free place */
	uint64_t last_number;
	_Atomic uint64_t version;
	_Atomic uint32_t nr_of_threads; /* enabled monitors with a state for each thread */
} monitor_list = { .version = 1 };

void trace_monitors_lock(void)
{
	trace_plat_lock(&monitor_list.lock);
}

void trace_monitors_unlock(void)
{
	trace_plat_unlock(&monitor_list.lock);
}

/* ---- Walking the list ---- */

struct trace_monitor *trace_monitor_behind(const struct trace_monitor *before)
{
	struct trace_monitor *found = NULL;

	for (size_t i = 0; i < MONITORS_MAX; i++) {
		struct trace_monitor *monitor = monitor_list.monitors[i];

		if (monitor && (!before || trace_strcmp(monitor->name, before->name) > 0) &&
		    (!found || trace_strcmp(monitor->name, found->name) < 0))
			found = monitor;
	}
	return found;
}

struct trace_monitor *trace_monitor_find(const char *name, size_t len)
{
	struct trace_monitor *monitor = NULL;

	while ((monitor = trace_monitor_behind(monitor))) {
		if (trace_strlen(monitor->name) == len && memcmp(monitor->name, name, len) == 0)
			break;
	}
	return monitor;
}

struct trace_monitor *trace_monitor_of(uint64_t number)
{
	for (size_t i = 0; i < MONITORS_MAX; i++) {
		if (monitor_list.monitors[i] && monitor_list.monitors[i]->number == number)
			return monitor_list.monitors[i];
	}
	return NULL;
}

uint64_t trace_monitors_version(void)
{
	return monitor_list.version;
}

bool trace_monitor_at(size_t index, char *out_name, uint64_t *out_number, size_t *out_place)
{
	const struct trace_monitor *monitor = NULL;
	size_t place = 0;

	trace_plat_lock(&monitor_list.names_lock);
	for (; place < MONITORS_MAX && !monitor; place++) {
		if (monitor_list.monitors[place] && !index--)
			monitor = monitor_list.monitors[place];
	}
	if (monitor) {
		trace_strcpy(out_name, monitor->name, MONITOR_NAME_BYTES);
		*out_number = monitor->number;
		*out_place = place - 1;
	}
	trace_plat_unlock(&monitor_list.names_lock);
	return monitor;
}

static void put_at(size_t place, struct trace_monitor *monitor)
{
	trace_plat_lock(&monitor_list.names_lock);
	trace_plat_lock(&monitor_list.threads_lock);
	monitor_list.monitors[place] = monitor;
	monitor_list.version++;
	trace_plat_unlock(&monitor_list.threads_lock);
	trace_plat_unlock(&monitor_list.names_lock);
}

/* ---- On and off ---- */

static void add_thread(int32_t pid, struct trace_thread *thread, void *arg)
{
	(void)thread;
	trace_monitor_threads_add(arg, pid);
}

/* From now on it hears of threads that come and go. */
static void monitor_list_set_enabled(struct trace_monitor *monitor, bool on)
{
	trace_plat_lock(&monitor_list.threads_lock);
	monitor->is_enabled = on;
	if (monitor->per == MONITOR_THREAD) {
		monitor_list.nr_of_threads += on ? 1u : -1u;
		if (on)
			trace_plat_each_thread(add_thread, &monitor->threads);
	}
	trace_plat_unlock(&monitor_list.threads_lock);
}

/* Stop watching the first `nr` taps. Config lock held. */
static void unhook(struct trace_monitor *monitor, uint32_t nr)
{
	while (nr--) {
		struct monitor_tap *tap = &monitor->taps[nr];

		trace_event_watch_remove(trace_event_file_find(trace_global_array(), tap->call),
					 &tap->watch);
	}
}

static int hook(struct trace_monitor *monitor)
{
	int err = 0;

	for (uint32_t i = 0; i < monitor->nr_taps && !err; i++) {
		struct monitor_tap *tap = &monitor->taps[i];
		struct trace_event_file *file;

		file = trace_event_file_get(trace_global_array(), tap->call);
		err = file ? trace_event_watch_add(file, &tap->watch) : -ENOMEM;
		if (err)
			unhook(monitor, i);
	}
	return err;
}

static int monitor_list_start(struct trace_monitor *monitor)
{
	int err = trace_monitor_memory_make(monitor);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	err = hook(monitor);
	trace_plat_unlock(&trace_config_lock);
	if (err) {
		tracepoint_synchronize_unregister(); /* some of it may have been hooked */
		trace_monitor_memory_free(monitor);
		return err;
	}
	monitor_list_set_enabled(monitor, true);
	atomic_store_explicit(&monitor->is_running, trace_monitors_are_on, memory_order_release);
	return 0;
}

/* The memory stays, for who wants to read what has happened. */
static void monitor_list_stop(struct trace_monitor *monitor)
{
	monitor->is_running = false;
	monitor_list_set_enabled(monitor, false);
	trace_plat_lock(&trace_config_lock);
	unhook(monitor, monitor->nr_taps);
	trace_plat_unlock(&trace_config_lock);
	tracepoint_synchronize_unregister();
}

int trace_monitor_enable(struct trace_monitor *monitor, bool on)
{
	if (monitor->is_enabled == on)
		return 0;
	if (on)
		return monitor_list_start(monitor);
	monitor_list_stop(monitor);
	return 0;
}

void trace_monitors_switch(bool on)
{
	struct trace_monitor *monitor = NULL;

	trace_monitors_are_on = on;
	while ((monitor = trace_monitor_behind(monitor))) {
		if (!monitor->is_enabled)
			continue;
		if (on && !monitor->is_running)
			trace_monitor_forget(monitor);
		monitor->is_running = on;
	}
}

int trace_monitor_set_reactor(struct trace_monitor *monitor, const struct trace_reactor *reactor)
{
	int err = 0;

	if (reactor->prepare) {
		trace_plat_lock(&trace_config_lock);
		err = reactor->prepare(trace_global_array());
		trace_plat_unlock(&trace_config_lock);
	}
	if (!err)
		monitor->reactor = reactor;
	return err;
}

/* ---- Threads that come and go ---- */

static void each_table(int32_t pid, void (*change)(struct monitor_threads *threads, int32_t pid))
{
	if (!monitor_list.nr_of_threads)
		return;
	trace_plat_lock(&monitor_list.threads_lock);
	for (size_t i = 0; i < MONITORS_MAX; i++) {
		struct trace_monitor *monitor = monitor_list.monitors[i];

		if (monitor && monitor->is_enabled && monitor->per == MONITOR_THREAD)
			change(&monitor->threads, pid);
	}
	trace_plat_unlock(&monitor_list.threads_lock);
}

void trace_monitors_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread)
{
	(void)parent_pid;
	(void)thread;
	each_table(pid, trace_monitor_threads_add);
}

void trace_monitors_thread_exited(int32_t pid, struct trace_thread *thread)
{
	(void)thread;
	each_table(pid, trace_monitor_threads_remove);
}

/* ---- Making and removing ---- */

static void free_monitor(struct trace_monitor *monitor)
{
	trace_monitor_memory_free(monitor);
	trace_monitor_parse_free(monitor);
	if (monitor->text)
		trace_plat_free(monitor->text, monitor->text_bytes);
	trace_plat_free(monitor, sizeof(*monitor));
}

static struct trace_monitor *alloc_monitor(const char *name, size_t len, const char *text)
{
	struct trace_monitor *monitor = trace_plat_alloc(sizeof(*monitor));

	if (!monitor)
		return NULL;
	memcpy(monitor->name, name, len);
	monitor->text_bytes = trace_strlen(text) + 1;
	monitor->text = trace_plat_alloc(monitor->text_bytes);
	if (!monitor->text) {
		free_monitor(monitor);
		return NULL;
	}
	memcpy(monitor->text, text, monitor->text_bytes);
	return monitor;
}

static int monitor_list_blame(struct monitor_error *error, const char *at, const char *why, int err)
{
	error->at = at;
	error->why = why;
	return err;
}

/* The name is checked, and so is that there is room at `place`. */
static int make_at(size_t place, const char *name, const char *text, const char *desc,
		   struct monitor_error *error)
{
	struct trace_monitor *monitor = alloc_monitor(name, trace_monitor_word_len(name), text);
	int err;

	if (!monitor)
		return -ENOMEM;
	monitor->desc = desc;
	err = trace_monitor_parse(monitor, error);
	if (error->at)
		error->at = text + (error->at - monitor->text);
	if (!err)
		err = trace_monitor_set_reactor(monitor, monitor->reactor);
	if (!err)
		err = trace_monitor_events_add(monitor);
	if (err) {
		free_monitor(monitor);
		return err;
	}
	monitor->number = ++monitor_list.last_number;
	put_at(place, monitor);
	return 0;
}

static size_t find_room(void)
{
	size_t place = 0;

	while (place < MONITORS_MAX && monitor_list.monitors[place])
		place++;
	return place;
}

static int monitor_list_make(const char *name, const char *text, const char *desc,
			     struct monitor_error *error)
{
	size_t len = trace_monitor_word_len(name), place = find_room();

	if (!len || name + len > text)
		return monitor_list_blame(error, name, "a name is expected", -EINVAL);
	if (name[len] && !trace_is_space(name[len]))
		return monitor_list_blame(error, name + len, "a blank is expected", -EINVAL);
	if (len > MONITOR_NAME_BYTES - 1)
		return monitor_list_blame(error, name, "the name is too long", -EINVAL);
	if (trace_monitor_find(name, len))
		return monitor_list_blame(error, name, "there is such a monitor already", -EEXIST);
	if (place == MONITORS_MAX)
		return monitor_list_blame(error, name, "there are too many monitors", -ENOSPC);
	return make_at(place, name, text, desc, error);
}

static int remove_monitor(struct trace_monitor *monitor)
{
	int err;

	trace_monitor_enable(monitor, false);
	err = trace_monitor_events_remove(monitor);
	if (err)
		return err;
	for (size_t i = 0; i < MONITORS_MAX; i++) {
		if (monitor_list.monitors[i] == monitor)
			put_at(i, NULL);
	}
	free_monitor(monitor);
	return 0;
}

/* ---- Lines of `monitors` ---- */

static int define(char *name, struct monitor_error *error)
{
	char *text = name + trace_monitor_word_len(name);
	struct trace_monitor *monitor;
	int err = monitor_list_make(name, text, NULL, error);

	if (err)
		return err;
	monitor = trace_monitor_find(name, (size_t)(text - name));
	if (!monitor->wants_enable)
		return 0;
	err = trace_monitor_enable(monitor, true);
	if (err)
		(void)remove_monitor(monitor);
	return err;
}

/* `name` alone, or the line as it is listed. */
static int undefine(char *name, struct monitor_error *error)
{
	size_t len = 0;
	struct trace_monitor *monitor;
	int err;

	while (name[len] && !trace_is_space(name[len]))
		len++;
	monitor = trace_monitor_find(name, len);
	if (!monitor)
		return monitor_list_blame(error, name, "there is no such monitor", -ENOENT);
	if (name[len] && !trace_streq(name + len, monitor->text))
		return monitor_list_blame(error, name + len, "the monitor is another one", -EINVAL);
	if (monitor->desc)
		return monitor_list_blame(error, name, "this one stays", -EPERM);
	err = remove_monitor(monitor);
	return err == -EBUSY ? monitor_list_blame(error, name, "its events are in use", err) : err;
}

int trace_monitors_write(char *text, struct monitor_error *error)
{
	*error = (struct monitor_error){ 0 };
	text = trace_strip(text);
	if (!*text || *text == '#')
		return 0;
	if (*text == '!')
		return undefine(text + (trace_str_starts(text, "!m:") ? 3 : 1), error);
	if (trace_str_starts(text, "-:"))
		return undefine(text + 2, error);
	if (trace_str_starts(text, "m:"))
		return define(text + 2, error);
	return monitor_list_blame(error, text, "m:NAME, -:NAME or !NAME is expected", -EINVAL);
}

int trace_monitors_clear(void)
{
	struct trace_monitor *monitor = NULL, *next = trace_monitor_behind(NULL);
	int err = 0, one;

	while ((monitor = next)) {
		next = trace_monitor_behind(monitor);
		one = monitor->desc ? 0 : remove_monitor(monitor);
		err = err ? err : one;
	}
	return err;
}

/* ---- Monitors that come with trace/ ---- */

static const struct {
	const char *name, *desc, *text;
} own[] = {
	{ "swnl", "switch while no lock is held: per-cpu, spin locks",
	  " per=cpu none -taken=lock:lock_acquired-> one -taken-> two -taken-> three -taken-> four"
	  " -taken-> five -taken-> six -given=lock:lock_release-> five -given-> four"
	  " -given-> three -given-> two -given-> one -given-> none;"
	  " -switch=sched_switch-> one -switch-> one" },
	{ "wip", "wakeup in preemptive per-cpu testing monitor.",
	  " per=cpu preemptive -preempt_disable-> non_preemptive -preempt_enable-> preemptive;"
	  " non_preemptive -sched_waking-> non_preemptive" },
	{ "wwnr", "wakeup while not running per-task testing model.",
	  " per=thread not_running -switch_in=sched_switch[next_pid]-> running"
	  " -switch_out=sched_switch[prev_pid]-> not_running;"
	  " not_running -wakeup=sched_waking[pid]-> not_running" },
};

/* One whose events this host does not have is left out. */
int trace_monitors_init(void)
{
	struct monitor_error error;
	int err = 0;

	trace_monitors_lock();
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(own) && err != -ENOMEM; i++) {
		error = (struct monitor_error){ 0 };
		err = make_at(find_room(), own[i].name, own[i].text, own[i].desc, &error);
	}
	trace_monitors_unlock();
	return err == -ENOMEM ? err : 0;
}
