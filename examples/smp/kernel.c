/*
 * Changes of code while other CPUs run over it, without a lost call. All threads but the first call
 * work() again and again, and are switched while they do. One ops counts the calls all the time;
 * the first thread registers and unregisters a second one meanwhile, so that the site calls now the
 * trampoline of one, now that of both. In the end calls and counts are compared, and the memory of
 * all trampolines is free again.
 */
#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/defaults.h>
#include <trace/ftrace.h>
#include <trace/heap.h>
#include "smp.h"

#define ROUNDS	   20
#define HEAP_BYTES (1u << 20)

static _Atomic bool has_begun, has_ended;
static _Atomic uint32_t nr_ended;

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	thread_current()->counted++;
}

static void see(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	thread_current()->seen++;
}

static struct ftrace_ops always = { .func = count };
static struct ftrace_ops sometimes = { .func = see };

/* All threads but the first run this. */
void thread_main(void)
{
	struct smp_thread *thread = thread_current();

	while (!has_ended) {
		if (has_begun)
			work(++thread->calls);
	}
	nr_ended++;
	for (;;)
		__asm__ volatile("pause");
}

/* All CPUs but the first begin here. */
void ap_main(uint32_t id)
{
	cpu_init(id);
	timer_start();
	thread_main();
}

/* Until threads were switched inside trampolines, too. */
static bool patch_while_they_run(uint64_t *out_rounds)
{
	uint64_t switches, inside = 0, rounds = 0;

	if (register_ftrace_function(&always))
		return false;
	has_begun = true;
	for (; rounds < ROUNDS || !inside; rounds++) {
		if (register_ftrace_function(&sometimes))
			return false;
		unregister_ftrace_function(&sometimes);
		trace_run_later();
		threads_count(&switches, &inside);
	}
	has_ended = true;
	while (nr_ended < smp_nr_cpus * SMP_NR_THREADS - 1)
		__asm__ volatile("pause");
	*out_rounds = rounds;
	return !unregister_ftrace_function(&always);
}

static void print_sums(uint64_t rounds)
{
	uint64_t calls = 0, counted = 0, seen = 0, switches, inside;
	struct trace_poke_stats stats;

	for (uint32_t i = 0; i < smp_nr_cpus * SMP_NR_THREADS; i++) {
		const struct smp_thread *thread =
			&smp_cpus[i / SMP_NR_THREADS].threads[i % SMP_NR_THREADS];

		calls += thread->calls;
		counted += thread->counted;
		seen += thread->seen;
	}
	trace_plat_poke_stats(&stats);
	threads_count(&switches, &inside);
	print("%llu rounds, %llu sites changed in %llu batches, an int3 hit %llu times",
	      (unsigned long long)rounds, (unsigned long long)stats.sites,
	      (unsigned long long)stats.batches, (unsigned long long)stats.int3_hits);
	print("%llu calls, %llu counted, %llu of them seen by the ops that came and went",
	      (unsigned long long)calls, (unsigned long long)counted, (unsigned long long)seen);
	print("%llu switches of threads, %llu of them in trampolines", (unsigned long long)switches,
	      (unsigned long long)inside);
}

/* ---- Start ---- */

extern const struct trace_symbol symbols[]; /* made from the first link: Makefile */
extern const size_t nr_symbols;
extern char text_end[];

void main(void);

void main(void)
{
	static uint8_t heap[HEAP_BYTES];
	uint64_t rounds;

	machine_init();
	interrupts_init();
	cpu_init(0);
	trace_heap_give(heap, sizeof(heap));
	trace_symbols_set(symbols, nr_symbols, (uintptr_t)text_end);
	ftrace_init();
	patch_init();
	cpus_start();
	timer_start();
	print("%u CPUs", smp_nr_cpus);
	if (patch_while_they_run(&rounds)) {
		print_sums(rounds);
		while (trace_exec_used())
			trace_run_later();
		print("the memory of all trampolines is free");
	}
	power_off();
}
