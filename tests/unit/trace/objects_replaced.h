/*
 * Each kind of object comes, is replaced and goes on one CPU while others hit it. The sanitisers
 * watch: memory that is freed while a hit uses it, and words that are published too early. Included
 * by one test file, after objects.h.
 */
#ifndef OBJECTS_REPLACED_H
#define OBJECTS_REPLACED_H

#include <sched.h>

#define REPLACED_CPUS	2u
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

/* What is there by now has been hit. */
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
			first = object_memory();
	}
	if (object_memory() > first + 1) /* a table may have grown */
		fail_msg("%s: %ld allocations are left", object->name, object_memory() - first);
}

HELPER void replaced_while_hit(void **state)
{
	(void)state;
	fake_bind(REPLACED_CPUS);
	fake_on_preempt = replaced_yield;
	replaced_now = &objects[0];
	cpus_start(REPLACED_CPUS, replaced_hit);
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		replaced_object(&objects[i]);
	replaced_now = NULL;
	cpus_join(REPLACED_CPUS);
	fake_on_preempt = NULL;
	assert_int_equal(fake_nr_bugs, 0);
}

#endif
