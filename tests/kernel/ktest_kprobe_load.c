/*
 * Probes that come and go at random instructions, by breakpoints and jumps, while threads on all CPUs
 * run the functions: results as ever, and the code as before.
 */
#include "ktest_kprobe.h"
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/ftrace.h>

#define LOAD_THREADS 4u
#define LOAD_ROUNDS  6u /* of each function two; `torture kprobes` has more */

static struct {
	uint64_t sorted, worked; /* what the functions return */
	_Atomic bool is_over;
	_Atomic uint64_t nr_calls, nr_hits;
} load;

/* Returns how many results were wrong. */
static int kprobe_load_thread(void *arg)
{
	int nr_wrong = 0;

	(void)arg;
	while (!atomic_load(&load.is_over)) {
		uint64_t start_ns = ktime_get_ns();

		nr_wrong += kprobe_sort(KPROBE_ROUNDS) != load.sorted;
		nr_wrong += kprobe_work(KPROBE_ROUNDS) != load.worked;
		atomic_fetch_add(&load.nr_calls, 1);
		ktest_rest(start_ns);
	}
	return nr_wrong;
}

static TRACE_NOTRACE int kprobe_load_hit(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	atomic_fetch_add(&load.nr_hits, 1);
	return 0;
}

static uint32_t kprobe_random(void)
{
	static uint32_t state = 20260131;

	state = state * 1664525 + 1013904223;
	return state >> 16;
}

/* Some of the function's instructions, at random, for a while that is long enough for jumps or not. */
static void kprobe_load_round(uintptr_t func)
{
	size_t nr = kprobe_fill(func), nr_chosen = 0;

	for (size_t i = 0; i < nr; i++) {
		kprobe_probes[i].pre_handler = kprobe_load_hit;
		if (kprobe_random() % 2)
			kprobe_probes[i].flags = KPROBE_FLAG_ARGS;
		if (kprobe_random() % 4 == 0)
			kprobe_probes[i].post_handler = kprobe_count_post;
		if (kprobe_random() % 3 == 0)
			kprobe_pointers[nr_chosen++] = &kprobe_probes[i];
	}
	KTEST_CHECK(!register_kprobes(kprobe_pointers, nr_chosen));
	thread_sleep_ns(kprobe_random() % 30 * NSEC_PER_MSEC);
	if (nr_chosen > 2 && kprobe_random() % 2) {
		unregister_kprobes(kprobe_pointers, nr_chosen / 2);
		thread_sleep_ns(kprobe_random() % 20 * NSEC_PER_MSEC);
	}
	unregister_kprobes(kprobe_pointers, nr_chosen);
}

static int kprobe_load_main(void *arg)
{
	static uint8_t before[2][1024];
	uint64_t (*const funcs[])(uint64_t nr) = { kprobe_sort, kprobe_work };

	(void)arg;
	memcpy(before[0], (const void *)kprobe_sort, sizeof(before[0]));
	memcpy(before[1], (const void *)kprobe_work, sizeof(before[1]));
	for (uint32_t i = 0; i < LOAD_ROUNDS; i++) {
		kprobe_load_round(i % 3 == 2 ? (uintptr_t)kprobe_leaf : (uintptr_t)funcs[i % 3]);
		for (size_t n = 0; n < 2; n++)
			KTEST_CHECK(!memcmp(before[n], (const void *)funcs[n], sizeof(before[n])));
	}
	atomic_store(&load.is_over, true);
	return 0;
}

/* The first thread is the one that probes the others. */
static int kprobe_load_either(void *arg)
{
	_Atomic uint32_t *nr = arg;

	return atomic_fetch_add(nr, 1) ? kprobe_load_thread(NULL) : kprobe_load_main(NULL);
}

static void test_kprobe_under_load(void)
{
	_Atomic uint32_t nr = 0;

	load.sorted = kprobe_sort(KPROBE_ROUNDS);
	load.worked = kprobe_work(KPROBE_ROUNDS);
	atomic_store(&load.is_over, false);
	atomic_store(&load.nr_calls, 0);
	atomic_store(&load.nr_hits, 0);
	KTEST_CHECK(ktest_threads(LOAD_THREADS + 1, kprobe_load_either, &nr) == 0);
	KTEST_CHECK(atomic_load(&load.nr_calls) > LOAD_ROUNDS);
	KTEST_CHECK(atomic_load(&load.nr_hits) > LOAD_ROUNDS);
	thread_sleep_ns(100 * NSEC_PER_MSEC); /* what threads were inside of is freed */
	KTEST_CHECK(!ftrace_is_dead());
}

const struct ktest ktest_kprobe_load[] = {
	{ "kprobe_under_load", test_kprobe_under_load },
	{ 0 },
};
