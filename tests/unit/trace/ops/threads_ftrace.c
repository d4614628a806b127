/*
 * The list function against registering, unregistering and new filters, under TSan: no ops is
 * called after unregister has returned, none sees a function that its filter never held, no probe runs a
 * func after it was replaced, and none reads memory that is gone.
 *
 * links: trace/ops/ftrace_*.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"

#define NR_FUNCS  300u
#define NR_PROBES 3u
#define NR_OPS	  3u
#define NR_MS	  500 /* longer while an ops was never called */
#define PARENT	  (FAKE_TEXT + 0x100000)

struct user {
	struct ftrace_ops ops;
	_Atomic bool may_be_called;
	_Atomic uint64_t calls;
	_Atomic uint64_t late;	     /* calls after unregister */
	_Atomic uint64_t wrong;	     /* calls of functions that are never in a filter */
	_Atomic(ftrace_func_t) only; /* NULL: one or the other */
	_Atomic uint64_t old;	     /* calls of another func than that */
};

static struct user users[NR_OPS];
static _Atomic bool stop;

static void look(uintptr_t ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct user *user = ops->private;

	/* Registers are never missing for one that needs them. */
	if (ops->flags & FTRACE_OPS_FL_SAVE_REGS && !fregs->is_full)
		atomic_fetch_add(&user->wrong, 1);
	atomic_fetch_add(&user->calls, 1);
	if (!atomic_load(&user->may_be_called))
		atomic_fetch_add(&user->late, 1);
	/* Filters hold functions 0 to 99 only: the rest would be "all functions". */
	if (ip >= fake_func(100))
		atomic_fetch_add(&user->wrong, 1);
}

static void callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs);

static void other(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	struct user *user = ops->private;

	(void)parent_ip;
	if (atomic_load(&user->only) == callback)
		atomic_fetch_add(&user->old, 1);
	look(ip, ops, fregs);
}

static void callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	struct user *user = ops->private;

	(void)parent_ip;
	if (atomic_load(&user->only) == other)
		atomic_fetch_add(&user->old, 1);
	look(ip, ops, fregs);
}

static void change_func(struct user *user)
{
	ftrace_func_t func = user->ops.func == callback ? other : callback;

	atomic_store(&user->only, NULL);
	assert_int_equal(ftrace_ops_set_func(&user->ops, func), 0);
	atomic_store(&user->only, func);
}

static void *probe(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	unsigned int seed = cpu;
	struct ftrace_regs fregs = { 0 };

	fake_bind(cpu);
	while (!atomic_load(&stop)) {
		uint32_t func = (uint32_t)rand_r(&seed) % NR_FUNCS;

		fregs.is_full = func & 1;
		(fregs.is_full ? trace_ops_list_regs_func
			       : trace_ops_list_func)(fake_func(func), PARENT, NULL, &fregs);
	}
	return NULL;
}

static void change_filter(struct user *user)
{
	uintptr_t ips[20];

	for (uint32_t i = 0; i < 20; i++)
		ips[i] = fake_func((uint32_t)rand() % 100);
	assert_int_equal(
		ftrace_set_filter_ips(&user->ops, ips, 1 + (size_t)rand() % 20, false, true), 0);
}

static void step(struct user *user)
{
	if (rand() % 3) {
		change_filter(user);
	} else if (rand() % 2) {
		change_func(user);
	} else if (user->ops.flags & FTRACE_OPS_FL_ENABLED) {
		assert_int_equal(unregister_ftrace_function(&user->ops), 0);
		atomic_store(&user->may_be_called, false);
		if (rand() % 4 == 0) {
			ftrace_free_filter(&user->ops);
			change_filter(user);
		}
	} else {
		atomic_store(&user->may_be_called, true);
		fake_trampoline_budget = rand() % 2 - 1; /* to wait for one waits for all */
		assert_int_equal(register_ftrace_function(&user->ops), 0);
	}
}

static bool are_all_called(void)
{
	for (uint32_t i = 0; i < NR_OPS; i++)
		if (users[i].calls == 0)
			return false;
	return true;
}

static void test_probes_and_changes(void **state)
{
	pthread_t probes[NR_PROBES];
	uint64_t begin = unit_now_ms();

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_PROBES + 1);
	fake_text_build_many("func_", NR_FUNCS);
	ftrace_init();
	for (uint32_t i = 0; i < NR_OPS; i++) {
		users[i].ops = (struct ftrace_ops){ .func = callback, .private = &users[i] };
		users[i].ops.flags = i == 1 ? FTRACE_OPS_FL_SAVE_REGS : 0;
		change_filter(&users[i]);
	}
	for (uint32_t i = 0; i < NR_PROBES; i++)
		pthread_create(&probes[i], NULL, probe, (void *)(uintptr_t)(i + 1));
	while (!unit_is_over(begin, NR_MS) || !are_all_called())
		step(&users[(uint32_t)rand() % NR_OPS]);
	atomic_store(&stop, true);
	for (uint32_t i = 0; i < NR_PROBES; i++)
		pthread_join(probes[i], NULL);
	for (uint32_t i = 0; i < NR_OPS; i++) {
		assert_int_equal(users[i].late, 0);
		assert_int_equal(users[i].wrong, 0);
		assert_int_equal(users[i].old, 0);
		unregister_ftrace_function(&users[i].ops);
		ftrace_free_filter(&users[i].ops);
	}
}

/* ---- Two threads that add to one filter ---- */

#define NR_ADDED 40u

static struct ftrace_ops shared;

/* Functions 0, 2, 4 and so on, or 1, 3, 5. */
static void *add_to_filter(void *arg)
{
	uint32_t first = (uint32_t)(uintptr_t)arg;
	uint64_t nr_failed = 0;
	char name[32];

	fake_bind(first);
	for (uint32_t func = first; func < NR_ADDED; func += 2) {
		size_t len = (size_t)snprintf(name, sizeof(name), "func_%u", func);

		nr_failed += (func & 2 ? ftrace_set_filter(&shared, name, len, false)
				       : ftrace_set_filter_ip(&shared, fake_func(func), false,
							      false)) != 0;
	}
	return (void *)nr_failed;
}

static void test_both_have_added(void **state)
{
	pthread_t threads[2];
	void *nr_failed;

	(void)state;
	for (uint32_t round = 0; round < 20; round++) {
		for (uintptr_t i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, add_to_filter, (void *)i);
		for (uint32_t i = 0; i < 2; i++) {
			pthread_join(threads[i], &nr_failed);
			assert_null(nr_failed);
		}
		assert_int_equal(shared.func_hash->filter_hash->nr, NR_ADDED);
		ftrace_free_filter(&shared);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probes_and_changes),
		cmocka_unit_test(test_both_have_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
