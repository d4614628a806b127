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
#include "monitor_react.h"
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

static struct trace_monitor *alloc_monitor(const struct expr_word *name, const char *text)
{
	struct trace_monitor *monitor = trace_plat_alloc(sizeof(*monitor));

	if (!monitor)
		return NULL;
	trace_monitor_copy_word(monitor->name, name);
	monitor->text_bytes = trace_strlen(text) + 1;
	monitor->text = trace_plat_alloc(monitor->text_bytes);
	if (!monitor->text) {
		free_monitor(monitor);
		return NULL;
	}
	memcpy(monitor->text, text, monitor->text_bytes);
	return monitor;
}

/*
 * Make a monitor of the text at the cursor. The name is checked, and so is that there is room at
 * `place`.
 */
static int make_at(size_t place, const struct expr_word *name, const struct expr_cursor *text,
		   const char *desc)
{
	struct trace_monitor *monitor = alloc_monitor(name, text->at);
	int err;

	if (!monitor)
		return -ENOMEM;
	monitor->desc = desc;
	err = trace_monitor_parse(monitor, (size_t)(text->at - text->text), text->error);
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

static int monitor_list_make(struct expr_cursor *text)
{
	const struct expr_word name = trace_monitor_take_name(text);
	size_t place = find_room();

	if (!name.len)
		return trace_expr_refuse(text, -EINVAL, "a name is expected", name.at);
	if (*text->at && !trace_is_space(*text->at))
		return trace_expr_refuse(text, -EINVAL, "a blank is expected", text->at);
	if (name.len > MONITOR_NAME_BYTES - 1)
		return trace_expr_refuse(text, -EINVAL, "the name is too long", name.at);
	if (trace_monitor_find(name.at, name.len))
		return trace_expr_refuse(text, -EEXIST, "there is such a monitor already", name.at);
	if (place == MONITORS_MAX)
		return trace_expr_refuse(text, -ENOSPC, "there are too many monitors", name.at);
	return make_at(place, &name, text, NULL);
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

static int define(struct expr_cursor *text)
{
	const char *name = text->at;
	struct trace_monitor *monitor;
	int err = monitor_list_make(text);

	if (err)
		return err;
	monitor = trace_monitor_find(name, (size_t)(text->at - name));
	if (!monitor->wants_enable)
		return 0;
	err = trace_monitor_enable(monitor, true);
	if (err)
		(void)remove_monitor(monitor);
	return err;
}

/* A name alone, or the line as it is listed. */
static int undefine(struct expr_cursor *text)
{
	const char *name = text->at;
	struct trace_monitor *monitor;
	int err;

	while (*text->at && !trace_is_space(*text->at))
		text->at++;
	monitor = trace_monitor_find(name, (size_t)(text->at - name));
	if (!monitor)
		return trace_expr_refuse(text, -ENOENT, "there is no such monitor", name);
	if (*text->at && !trace_streq(text->at, monitor->text))
		return trace_expr_refuse(text, -EINVAL, "the monitor is another one", text->at);
	if (monitor->desc)
		return trace_expr_refuse(text, -EPERM, "this one stays", name);
	err = remove_monitor(monitor);
	return err == -EBUSY ? trace_expr_refuse(text, err, "its events are in use", name) : err;
}

int trace_monitors_write(char *line, struct expr_error *error)
{
	struct expr_cursor text = { .text = line, .at = trace_strip(line), .error = error };

	*error = (struct expr_error){ 0 };
	if (!*text.at || *text.at == '#')
		return 0;
	if (trace_expr_take(&text, "!m:") || trace_expr_take(&text, "!") ||
	    trace_expr_take(&text, "-:"))
		return undefine(&text);
	if (trace_expr_take(&text, "m:"))
		return define(&text);
	return trace_expr_refuse(&text, -EINVAL, "m:NAME, -:NAME or !NAME is expected", text.at);
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
	{ "wrs", "woken thread runs soon: within 2 ms",
	  " per=thread waits -wakeup=sched_waking[pid](reset(x))-> woken"
	  " -in=sched_switch[next_pid](x < 2ms)-> waits -back=sched_switch[next_pid]-> waits;"
	  " woken -wakeup-> woken -left=sched_switch[prev_pid]{prev_state == 0}-> waits;"
	  " woken -slept=sched_switch[prev_pid]{prev_state != 0}(reset(x))-> woken;"
	  " waits -left|slept-> waits" },
	{ "wwnr", "wakeup while not running per-task testing model.",
	  " per=thread not_running -switch_in=sched_switch[next_pid]-> running"
	  " -switch_out=sched_switch[prev_pid]-> not_running;"
	  " not_running -wakeup=sched_waking[pid]-> not_running" },
};

/* One whose events this host does not have is left out. */
int trace_monitors_init(void)
{
	struct expr_error error;
	int err = 0;

	trace_monitors_lock();
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(own) && err != -ENOMEM; i++) {
		const struct expr_word name = { own[i].name, trace_strlen(own[i].name) };
		const struct expr_cursor text = { .text = own[i].text,
						  .at = own[i].text,
						  .error = &error };

		err = make_at(find_room(), &name, &text, own[i].desc);
	}
	trace_monitors_unlock();
	return err == -ENOMEM ? err : 0;
}
