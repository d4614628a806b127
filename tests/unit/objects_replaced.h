/*
 * Each kind of object comes, is replaced and goes on one CPU while others hit it, and while one more
 * changes other settings of the same events and reads the lists. The sanitisers watch: memory that
 * is freed while a hit uses it, words that are published too early, what is changed without its
 * lock. Included by one test file, after objects.h.
 */
#ifndef OBJECTS_REPLACED_H
#define OBJECTS_REPLACED_H

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define REPLACED_CPUS	2u	      /* that hit */
#define REPLACED_OTHER	REPLACED_CPUS /* that changes something else */
#define REPLACED_ALL	(REPLACED_CPUS + 1)
#define REPLACED_ROUNDS unit_rounds(10)

static const struct object *_Atomic replaced_now; /* NULL: all end */
static _Atomic uint32_t replaced_nr_hits;

/* A CPU is stopped inside a section now and then. */
static void replaced_yield(void)
{
	static _Thread_local uint32_t nr;

	if (++nr % 3 == 0)
		sched_yield();
}

static void *replaced_hit(void *arg)
{
	uint32_t cpu = cpu_begin(arg);
	const struct object *object;

	fake_run((int32_t)cpu);
	for (uint32_t round = 0; (object = replaced_now); round++) {
		object->hit(cpu, round);
		atomic_fetch_add_explicit(&replaced_nr_hits, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Relaxed: a hit must not happen before a change, in the eyes of the sanitiser, because it was counted. */
static uint32_t replaced_hits(void)
{
	return atomic_load_explicit(&replaced_nr_hits, memory_order_relaxed);
}

/* ---- The CPU that changes something else ---- */

/* held for a round of its changes */
static pthread_mutex_t replaced_others = PTHREAD_MUTEX_INITIALIZER;

/* Each node is held as long as it is needed: directories change meanwhile. */
static struct trace_node *replaced_find(const char *path)
{
	struct trace_node *node = trace_fs_root(), *child;

	while (node && *path) {
		size_t len = strcspn(path, "/");

		child = trace_fs_lookup(node, path, len);
		trace_fs_put(node);
		node = child;
		path += len + (path[len] == '/');
	}
	return node;
}

/* Read to the end, or write `text`, unless NULL. That the file is not there, or says no, is no matter. */
static void replaced_use(const char *path, const char *text)
{
	unsigned int flags = text ? TRACE_FS_WRITE | TRACE_FS_APPEND : TRACE_FS_READ;
	struct trace_node *node = replaced_find(path);
	struct trace_handle *handle;
	char buf[4096];
	uint64_t pos = 0;

	if (!node)
		return;
	if (!trace_fs_open(node, flags, &handle)) {
		if (text)
			(void)trace_fs_write(handle, text, strlen(text), &pos);
		else
			while (trace_fs_read(handle, buf, sizeof(buf), &pos) > 0)
				;
		(void)trace_fs_close(handle);
	}
	trace_fs_put(node);
}

/* In the end all is as before. No row of `objects` has the trigger. */
static void replaced_change_others(void)
{
	static const struct object_line changes[] = {
		{ "1", FULL "enable" },
		{ "used >= 0", FULL "filter" },
		{ "disable_event:yard:yard_numbers", FULL "trigger" },
		{ "yield", "set_ftrace_notrace" },
		{ NULL, "monitors" },
		{ NULL, "rv/monitors/one/hits" },
		{ NULL, "rv/monitors/two/state" },
		{ "nop", "rv/monitors/one/reactors" },
		{ NULL, "dynamic_events" },
		{ NULL, FULL "trigger" },
		{ NULL, FULL "hist" },
		{ NULL, "show_event_triggers" },
		{ NULL, "show_event_filters" },
		{ NULL, "enabled_functions" },
		{ "!yield", "set_ftrace_notrace" },
		{ "!disable_event:yard:yard_numbers", FULL "trigger" },
		{ "0", FULL "filter" },
		{ "0", FULL "enable" },
	};

	pthread_mutex_lock(&replaced_others);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		replaced_use(changes[i].path, changes[i].text);
	pthread_mutex_unlock(&replaced_others);
	usleep(100); /* who waits for the mutex gets it */
}

/* ---- The CPUs ---- */

static void *replaced_run(void *arg)
{
	if ((uintptr_t)arg < REPLACED_CPUS)
		return replaced_hit(arg);
	(void)cpu_begin(arg);
	while (replaced_now)
		replaced_change_others();
	return NULL;
}

static long replaced_memory(void)
{
	long nr;

	pthread_mutex_lock(&replaced_others);
	nr = object_memory();
	pthread_mutex_unlock(&replaced_others);
	return nr;
}

/* Every probe that is there by now has been hit. */
static void replaced_wait(void)
{
	uint32_t before = replaced_hits();

	while (replaced_hits() - before < REPLACED_CPUS + 1)
		sched_yield();
}

/* One line after the other, or each when the one before has been hit. */
static void replaced_one(const struct object *object, bool waits)
{
	for (uint32_t i = 0; i < object_nr_lines(object); i++) {
		int err = object_write(&object->lines[i]);

		if (err)
			fail_msg("%s: %s: %d\n%s", object->name, object->lines[i].text, err,
				 cat("error_log"));
		if (waits)
			replaced_wait();
	}
}

/* Each time as much is left: nothing. */
static void replaced_object(const struct object *object)
{
	long first = 0;

	for (int round = 0; round < REPLACED_ROUNDS; round++) {
		replaced_now = object;
		replaced_wait();
		replaced_one(object, round % 2);
		if (round == 1)
			first = replaced_memory();
	}
	if (replaced_memory() > first + 1) /* a table may have grown */
		fail_msg("%s: %ld allocations are left", object->name, replaced_memory() - first);
}

HELPER void replaced_while_hit(void **state)
{
	(void)state;
	fake_bind(REPLACED_ALL);
	fake_on_preempt = replaced_yield;
	replaced_now = &objects[0];
	cpus_start(REPLACED_ALL, replaced_run);
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		replaced_object(&objects[i]);
	replaced_now = NULL;
	cpus_join(REPLACED_ALL);
	fake_on_preempt = NULL;
	assert_int_equal(fake_nr_bugs, 0);
}

#endif
