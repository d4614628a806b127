/*
 * Calls of probed functions against probes that come and go, under TSan: each exit finds the data of
 * its entry, no handler is called after unregister, memory for data is never given twice, and calls
 * return to their callers.
 *
 * links: trace/kprobes/fprobe.c trace/kprobes/kretprobe.c trace/kprobes/kretprobe_hit.c trace/kprobes/kretprobe_list.c trace/kprobes/kretprobe_table.c trace/kprobes/return_probe.c trace/graph/fgraph.c trace/graph/fgraph_stack.c trace/ops/ftrace_*.c trace/ops/tracepoint.c trace/ops/host_tracepoints.c trace/text/fmt.c trace/text/fmt_spec.c trace/text/glob.c trace/text/str.c
 */
#include "unit.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"
#include <trace/kretprobe.h>

#define NR_FUNCS     50u
#define NR_CPUS	     3u
#define NR_FPROBES   3u
#define NR_KRETPROBE 40u
#define FIRST_PID    100
#define NR_MS	     500 /* longer where threads have hardly run */
#define DEPTH	     3u
#define CALLER(n)    (FAKE_TEXT + 0x100000 + (n))

static struct fprobe fps[NR_FPROBES];
static struct kretprobe rps[NR_KRETPROBE], *all[NR_KRETPROBE];
static _Atomic bool may_be_called[NR_FPROBES], kretprobes_may_be_called;
static _Atomic uint64_t nr_entries, nr_exits, nr_returns, nr_wrong;
static _Atomic bool stop;

/* Who has entered, where: the same at the exit. */
static void fill(uint64_t *data, size_t bytes, uint64_t word)
{
	for (size_t i = 0; i < bytes / 8; i++)
		data[i] = word + i;
}

static void check(const uint64_t *data, size_t bytes, uint64_t word)
{
	for (size_t i = 0; i < bytes / 8; i++) {
		if (data[i] != word + i)
			atomic_fetch_add(&nr_wrong, 1);
	}
}

static uint64_t word_of(uintptr_t ip, uintptr_t ret)
{
	return ip << 20 ^ ret << 8 ^ fake_this->id;
}

static int on_entry(struct fprobe *fp, uintptr_t ip, uintptr_t ret, struct ftrace_regs *regs,
		    void *data)
{
	(void)regs;
	if (!atomic_load(&may_be_called[fp - fps]))
		atomic_fetch_add(&nr_wrong, 1);
	if (fp->exit_handler)
		fill(data, fp->entry_data_size, word_of(ip, ret));
	return atomic_fetch_add(&nr_entries, 1) % 5 == 0;
}

static void on_exit_of(struct fprobe *fp, uintptr_t ip, uintptr_t ret, struct ftrace_regs *regs,
		       void *data)
{
	(void)regs;
	if (!atomic_load(&may_be_called[fp - fps]))
		atomic_fetch_add(&nr_wrong, 1);
	check(data, fp->entry_data_size, word_of(ip, ret));
	atomic_fetch_add(&nr_exits, 1);
}

static int on_call(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)regs;
	fill(ri->data, ri->rp->data_size, word_of(ri->rp->kp.addr, ri->ret_addr));
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)regs;
	if (!atomic_load(&kretprobes_may_be_called))
		atomic_fetch_add(&nr_wrong, 1);
	if (ri->rp->entry_handler)
		check(ri->data, ri->rp->data_size, word_of(ri->rp->kp.addr, ri->ret_addr));
	atomic_fetch_add(&nr_returns, 1);
	return 0;
}

/*
 * No thread runs while its stack and its shadow stack are looked at, as on a real host. Calls can
 * be stopped between any entries and returns.
 */
static pthread_rwlock_t running;

static void stop_or_continue(void)
{
	static bool is_stopped;

	if (is_stopped)
		pthread_rwlock_unlock(&running);
	else
		pthread_rwlock_wrlock(&running);
	is_stopped = !is_stopped;
}

static void set_up_stops(void)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&running, &attr);
	fake_on_each_thread = fake_on_each_stack = stop_or_continue;
}

static void call(uint32_t func, uint32_t depth, unsigned int *seed)
{
	uintptr_t caller = CALLER(func + depth), slot = caller;
	struct ftrace_regs fregs = { .parent = caller, .slot = &slot };

	pthread_rwlock_rdlock(&running);
	trace_ops_list_func(fake_func(func), caller, NULL, &fregs);
	pthread_rwlock_unlock(&running);
	if (depth)
		call((uint32_t)rand_r(seed) % NR_FUNCS, depth - 1, seed);
	pthread_rwlock_rdlock(&running);
	while (slot == FAKE_RETURN_HOOK)
		trace_graph_return(&slot);
	pthread_rwlock_unlock(&running);
	if (slot != caller)
		atomic_fetch_add(&nr_wrong, 1);
}

static void *call_all(void *arg)
{
	uint32_t cpu = (uint32_t)(uintptr_t)arg;
	unsigned int seed = cpu;

	fake_bind(cpu);
	fake_run(FIRST_PID + (int32_t)cpu);
	while (!atomic_load(&stop))
		call((uint32_t)rand_r(&seed) % NR_FUNCS, DEPTH, &seed);
	return NULL;
}

static void change_fprobe(uint32_t i)
{
	struct fprobe *fp = &fps[i];

	if (!fp->is_registered) {
		atomic_store(&may_be_called[i], true);
		assert_int_equal(register_fprobe(fp, i ? "func_*" : "func_1*", NULL), 0);
	} else if (rand() % 2) {
		assert_int_equal(disable_fprobe(fp), 0);
		atomic_store(&may_be_called[i], false);
		atomic_store(&may_be_called[i], true);
		assert_int_equal(enable_fprobe(fp), 0);
	} else {
		assert_int_equal(unregister_fprobe(fp), 0);
		atomic_store(&may_be_called[i], false);
	}
}

static void change_kretprobes(void)
{
	uint32_t first = (uint32_t)rand() % NR_KRETPROBE;
	uint32_t nr = (uint32_t)rand() % (NR_KRETPROBE - first + 1);

	if (rand() % 4 == 0) {
		unregister_kretprobes(all, NR_KRETPROBE);
		atomic_store(&kretprobes_may_be_called, false);
	} else if (rand() % 2) {
		unregister_kretprobes(all + first, nr);
	} else {
		atomic_store(&kretprobes_may_be_called, true);
		for (uint32_t i = first; i < first + nr; i++) {
			if (!rps[i].is_registered)
				assert_int_equal(register_kretprobe(&rps[i]), 0);
		}
	}
}

static bool has_enough(void)
{
	return nr_entries > 1000 && nr_exits > 1000 && nr_returns > 1000;
}

static void probes_and_calls(void **state)
{
	static const size_t sizes[NR_FPROBES] = { 0, 24, 64 };
	uint64_t begin = unit_now_ms();
	pthread_t threads[NR_CPUS];

	(void)state;
	fake_reset();
	fake_set_nr_cpus(NR_CPUS + 1);
	fake_text_build_many("func_", NR_FUNCS);
	ftrace_init();
	for (uint32_t i = 0; i < NR_FPROBES; i++)
		fps[i] = (struct fprobe){ .entry_handler = on_entry,
					  .exit_handler = i ? on_exit_of : NULL,
					  .entry_data_size = sizes[i],
					  .nr_maxactive = 4 };
	for (uint32_t i = 0; i < NR_KRETPROBE; i++) {
		rps[i] = (struct kretprobe){ .kp = { .addr = fake_func(i % 30) },
					     .handler = on_return,
					     .entry_handler = i % 2 ? on_call : NULL,
					     .data_size = i % 3 * 16,
					     .maxactive = 4 };
		all[i] = &rps[i];
	}
	for (uint32_t i = 1; i <= NR_CPUS; i++)
		fake_thread_add(FIRST_PID + (int32_t)i, "caller");
	set_up_stops();
	for (uint32_t i = 0; i < NR_CPUS; i++)
		pthread_create(&threads[i], NULL, call_all, (void *)(uintptr_t)(i + 1));
	while (!unit_is_over(begin, NR_MS) || !has_enough()) {
		change_fprobe((uint32_t)rand() % NR_FPROBES);
		change_kretprobes();
	}
	atomic_store(&stop, true);
	for (uint32_t i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < NR_FPROBES; i++)
		unregister_fprobe(&fps[i]);
	unregister_kretprobes(all, NR_KRETPROBE);
	assert_int_equal(nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_and_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
