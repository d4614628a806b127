/*
 * Code that is changed while other CPUs run over it, and no call is lost. All CPUs but the first
 * call work() again and again. One ops counts the calls all the time; the first CPU registers and
 * unregisters a second one meanwhile, so that the site calls now the trampoline of one, now that of
 * both. In the end calls and counts are compared.
 */
#include <stdatomic.h>
#include <trace/defaults.h>
#include <trace/ftrace.h>
#include "smp.h"

#define ROUNDS 20

static _Atomic bool has_begun, has_ended;
static _Atomic uint32_t nr_ended;
static uint64_t nr_seen[MAX_CPUS]; /* calls that the second ops has seen */

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	THIS_CPU(counted)++;
}

static void see(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_seen[THIS_CPU(id)]++;
}

static struct ftrace_ops always = { .func = count };
static struct ftrace_ops sometimes = { .func = see };

/*
 * All CPUs but the first run this. trace_quiescent() tells the library that this CPU is using
 * nothing of it at the moment, which it waits for before it frees memory.
 */
void ap_main(uint32_t id)
{
	cpu_init(id);
	while (!has_ended) {
		if (has_begun) {
			THIS_CPU(calls)++;
			work(THIS_CPU(calls));
		}
		trace_quiescent();
	}
	nr_ended++;
	for (;;)
		trace_quiescent();
}

static void patch_while_they_run(void)
{
	struct trace_poke_stats stats;
	uint64_t calls = 0, counted = 0, seen = 0;

	if (register_ftrace_function(&always))
		return;
	has_begun = true;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (register_ftrace_function(&sometimes))
			return;
		unregister_ftrace_function(&sometimes);
		trace_run_later();
	}
	has_ended = true;
	while (nr_ended < smp_nr_cpus - 1)
		__asm__ volatile("pause");

	for (uint32_t i = 0; i < smp_nr_cpus; i++) {
		calls += smp_cpus[i].calls;
		counted += smp_cpus[i].counted;
		seen += nr_seen[i];
	}
	trace_plat_poke_stats(&stats);
	print("%llu sites changed in %llu batches, an int3 hit %llu times",
	      (unsigned long long)stats.sites, (unsigned long long)stats.batches,
	      (unsigned long long)stats.int3_hits);
	print("%llu calls, %llu counted, %llu of them seen by the ops that came and went",
	      (unsigned long long)calls, (unsigned long long)counted, (unsigned long long)seen);
}

/* ---- Start ---- */

extern const struct trace_symbol symbols[]; /* made from the first link: Makefile */
extern const size_t nr_symbols;
extern char text_end[];

void main(void);

void main(void)
{
	machine_init();
	interrupts_init();
	cpu_init(0);
	trace_symbols_set(symbols, nr_symbols, (uintptr_t)text_end);
	ftrace_init();
	cpus_start();
	patch_init();
	print("%u CPUs", smp_nr_cpus);
	patch_while_they_run();
	power_off();
}
