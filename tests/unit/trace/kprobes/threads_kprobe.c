/*
 * Kprobes that several threads register, switch and unregister at once, each its own, under TSan:
 * lists and counts stay whole, and each thread finds its probes as it has left them.
 */
#include "unit.h"
#include <pthread.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include <trace/kprobe.h>

#define NR_FUNCS   12u
#define NR_THREADS 3u
#define NR_EACH	   (NR_FUNCS / NR_THREADS)
#define NR_ROUNDS  40u

static struct kprobe probes[NR_FUNCS];
static _Atomic uint32_t nr_wrong;

static int on_hit(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	return 0;
}

static void expect(bool is_right)
{
	if (!is_right)
		atomic_fetch_add(&nr_wrong, 1);
}

/* Half of its functions have the probe at the site, the others behind it. */
static void *change(void *arg)
{
	uint32_t nr = (uint32_t)(uintptr_t)arg;
	struct kprobe *mine[NR_EACH];

	fake_bind(nr);
	for (uint32_t round = 0; round < NR_ROUNDS; round++) {
		for (uint32_t i = 0; i < NR_EACH; i++) {
			uint32_t func = nr - 1 + i * NR_THREADS;

			mine[i] = &probes[func];
			probes[func] = (struct kprobe){ .addr = fake_func(func) + (i % 2 ? 5 : 0),
							.pre_handler = on_hit };
		}
		expect(register_kprobes(mine, NR_EACH) == 0);
		expect(disable_kprobes(mine, NR_EACH) == 0);
		expect(enable_kprobes(mine + 1, NR_EACH - 1) == 0);
		for (uint32_t i = 0; i < NR_EACH; i++)
			expect(!(mine[i]->flags & KPROBE_FLAG_DISABLED) == (i != 0));
		unregister_kprobes(mine, NR_EACH);
		for (uint32_t i = 0; i < NR_EACH; i++)
			expect(!mine[i]->place);
	}
	return NULL;
}

static void several_threads_change_probes(void **state)
{
	pthread_t threads[NR_THREADS];

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_THREADS + 1);
	fake_text_build_many("func_", NR_FUNCS);
	fake_probe_budget = -1;
	ftrace_init();
	for (uint32_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, change, (void *)(uintptr_t)(i + 1));
	for (uint32_t i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nr_wrong, 0);
	while (fake_run_later())
		;
	assert_int_equal(fake_nr_probes, 0);
	assert_int_equal(ftrace_nr_enabled(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_threads_change_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
