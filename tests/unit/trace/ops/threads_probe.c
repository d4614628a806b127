/*
 * Probes against setting and taking away, under TSan: a count is used up exactly, whoever counts
 * down; no probe is called after unregister; words of functions that stay are not lost.
 *
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include <trace/ftrace_probe.h>

#define NR_FUNCS 20u
#define NR_CPUS	 3u
#define COUNT	 200u
#define ROUNDS	 3
#define PARENT	 (FAKE_TEXT + 0x100000)

static struct trace_array *const tr = (struct trace_array *)0x1000; /* only compared */
static _Atomic uint64_t acted, seen, late;
static _Atomic bool may_be_called, stop;

static void counted(const struct ftrace_probe_hit *hit, const struct ftrace_probe_ops *ops)
{
	if (!atomic_load(&may_be_called))
		atomic_fetch_add(&late, 1);
	atomic_fetch_add(&seen, 1);
	if (ftrace_probe_take(hit, ops))
		atomic_fetch_add(&acted, 1);
}

static const struct ftrace_probe_ops probe_ops = {
	.name = "counted",
	.func = counted,
	.is_counted = true,
};

static void *call_all(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	struct ftrace_regs fregs = { 0 };

	fake_bind(cpu);
	while (!atomic_load(&stop)) {
		for (uint32_t i = 0; i < NR_FUNCS; i++)
			trace_ops_list_func(fake_func(i), PARENT, NULL, &fregs);
	}
	return NULL;
}

static void wait_until_used_up(uint64_t want)
{
	while (atomic_load(&acted) < want)
		usleep(50);
	usleep(200); /* one too many would come now */
}

/* f1 and f10 to f19 have the probe; f5 comes and goes meanwhile. */
static void one_round(void)
{
	atomic_store(&acted, 0);
	atomic_store(&may_be_called, true);
	assert_int_equal(register_ftrace_function_probe("f1*", tr, &probe_ops, COUNT), 0);
	assert_int_equal(register_ftrace_function_probe("f1*", tr, &probe_ops, COUNT), -EINVAL);
	assert_int_equal(register_ftrace_function_probe("f5", tr, &probe_ops, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(unregister_ftrace_function_probe_func("f5", tr, &probe_ops), 0);
		assert_int_equal(register_ftrace_function_probe("f5", tr, &probe_ops, 0), 0);
	}
	wait_until_used_up(11 * COUNT);
	assert_int_equal(acted, 11 * COUNT);
	assert_int_equal(unregister_ftrace_function_probe_func("*", tr, &probe_ops), 0);
	atomic_store(&may_be_called, false);
}

static void exact_counts(void **state)
{
	pthread_t threads[NR_CPUS];
	long out;

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS + 1);
	fake_bind(NR_CPUS);
	fake_text_build_many("f", NR_FUNCS);
	ftrace_init();
	out = fake_alloc_out;
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		assert_int_equal(
			pthread_create(&threads[cpu], NULL, call_all, (void *)(uintptr_t)cpu), 0);
	for (int i = 0; i < ROUNDS; i++)
		one_round();
	atomic_store(&stop, true);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	assert_true(seen > 11 * COUNT * ROUNDS);
	assert_int_equal(late, 0);
	assert_int_equal(fake_alloc_out, out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
