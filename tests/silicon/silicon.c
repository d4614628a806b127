/*
 * trace/arch/x86_64/text_poke.c, unchanged, on the processors of this machine: threads of a process
 * for CPUs, SIGTRAP for #BP, the kernel's core-sync barrier for the sync IPI.
 *
 * Threads call functions that begin with a site. The sites are switched between a call of A, a call
 * of B, and (in the second part) a NOP. A counts in one word of the caller, B in the next. While
 * the sites are A or B, each call must have been counted exactly once.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace/arch_host.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>
#include <ucontext.h>
#include "text.h"

#define NR_FUNCS   200u
#define FUNC_BYTES 27ul /* sites fall on every offset in a cache line, across lines too */
#define FUNCS_AT   (SILICON_TEXT + 0x1000)
#define NR_THREADS 3u
#define PART_NS	   3000000000ull

enum kind {
	KIND_NOP,
	KIND_A,
	KIND_B
};

struct counts {
	uint64_t a;
	uint64_t b;
	uint64_t made;
} __attribute__((aligned(64)));

static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t code_a[] = { 0x48, 0xff, 0x07, 0xc3 };	  /* inc qword [rdi]; ret */
static const uint8_t code_b[] = { 0x48, 0xff, 0x47, 0x08, 0xc3 }; /* inc qword [rdi + 8]; ret */

static struct counts counts[NR_THREADS];
static _Atomic bool stop;
static enum kind kinds[NR_FUNCS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static uintptr_t func(uint32_t i)
{
	return FUNCS_AT + i * FUNC_BYTES;
}

/*
 * On its own stack, so that the interrupted one can be pushed on. The barrier does not wait for us,
 * so whole batches may have come and gone: then run the site again.
 */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *saved = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t rip = (uintptr_t)saved[REG_RIP], rsp = (uintptr_t)saved[REG_RSP];

	(void)signal;
	(void)info;
	if (!trace_arch_is_text(rip - 1))
		panic("int3 at %lx", rip - 1);
	if (!trace_breakpoint_dispatch(&rip, &rsp, NULL))
		rip--;
	saved[REG_RIP] = (greg_t)rip;
	saved[REG_RSP] = (greg_t)rsp;
}

static void use_trap_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL))
		panic("no signal stack");
}

static void *caller(void *arg)
{
	struct counts *mine = arg;

	use_trap_stack();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		for (uint32_t i = 0; i < NR_FUNCS; i++) {
			((void (*)(struct counts *))func(i))(mine);
			mine->made++;
		}
	}
	return NULL;
}

static void make_insn(uintptr_t site, enum kind kind, uint8_t *out_insn)
{
	if (kind == KIND_NOP)
		trace_plat_insn_nop(out_insn);
	else
		trace_plat_insn_call(site, SILICON_TEXT + (kind == KIND_A ? 0x100 : 0x200),
				     out_insn);
}

static void switch_random(uint32_t nr_kinds, enum kind first_kind)
{
	struct trace_poke pokes[NR_FUNCS];
	struct trace_poke_error error;
	size_t nr = 0;

	for (uint32_t i = 0; i < NR_FUNCS; i++) {
		enum kind kind = first_kind + (enum kind)((uint32_t)rand() % nr_kinds);

		if (kind == kinds[i] || rand() % 3 == 0)
			continue;
		pokes[nr].site = trace_plat_ip_pack(func(i));
		make_insn(func(i), kinds[i], pokes[nr].old_insn);
		make_insn(func(i), kind, pokes[nr].new_insn);
		kinds[i] = kind;
		nr++;
	}
	if (nr && text_poke_batch(pokes, nr, &error))
		panic("mismatch at %lx", (unsigned long)error.site);
}

static void make_functions(void)
{
	memcpy(trace_arch_view_of(SILICON_TEXT + 0x100), code_a, sizeof(code_a));
	memcpy(trace_arch_view_of(SILICON_TEXT + 0x200), code_b, sizeof(code_b));
	for (uint32_t i = 0; i < NR_FUNCS; i++)
		memcpy(trace_arch_view_of(func(i)), nop, sizeof(nop));
}

/* Batches of random sites for a while; returns how many calls were made and how many counted. */
static void run_part(uint32_t nr_kinds, enum kind first_kind, uint64_t *made, uint64_t *counted)
{
	pthread_t threads[NR_THREADS];
	uint64_t end = now_ns() + PART_NS;

	memset(counts, 0, sizeof(counts));
	atomic_store(&stop, false);
	for (uint32_t i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, caller, &counts[i]))
			panic("no thread");
	while (now_ns() < end)
		switch_random(nr_kinds, first_kind);
	atomic_store(&stop, true);
	*made = *counted = 0;
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		*made += counts[i].made;
		*counted += counts[i].a + counts[i].b;
	}
}

static bool is_whole(void)
{
	for (uint32_t i = 0; i < NR_FUNCS; i++) {
		uint8_t insn[TRACE_INSN_SIZE];

		make_insn(func(i), kinds[i], insn);
		if (memcmp(insn, (const void *)func(i), sizeof(insn)))
			return false;
	}
	return true;
}

static int report(const char *name, bool ok)
{
	struct trace_poke_stats stats;

	trace_plat_poke_stats(&stats);
	ok = ok && stats.syncs == 3 * stats.batches;
	printf("%-6s  %s: %lu batches, %lu sites, %lu int3, %lu late\n", ok ? "ok" : "FAILED", name,
	       (unsigned long)stats.batches, (unsigned long)stats.sites,
	       (unsigned long)stats.int3_hits, (unsigned long)stats.stale);
	return ok;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_trap,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	uint64_t made, counted;
	int passed = 0;

	if (!text_map()) {
		puts("this kernel has no core-sync barrier: skipped\n0 passed, 0 failed");
		return 0;
	}
	make_functions();
	use_trap_stack();
	sigaction(SIGTRAP, &action, NULL);
	for (uint32_t i = 0; i < 40; i++) /* until no site is a NOP */
		switch_random(2, KIND_A);
	run_part(2, KIND_A, &made, &counted);
	passed += report("no call is lost between A and B", made == counted && made && is_whole());
	run_part(3, KIND_NOP, &made, &counted);
	passed += report("on and off", counted < made && counted && is_whole());
	printf("%d passed, %d failed\n", passed, 2 - passed);
	return passed != 2;
}
