/*
 * flips [N]: N call sites are changed, many at a time, while threads run over them, and every call
 * is counted. 1,000,000 without N.
 *
 * For two thirds of them the library's batches are used directly, on small functions whose sites
 * fall on every offset in a cache line. The sites are switched between a call of A, a call of B,
 * and (in the second part) a NOP. A counts in one word of the caller, B in the next: while the
 * sites are A or B, each call must have been counted exactly once. In the third part an ops counts
 * calls of a traced function while a tracer comes and goes beside it.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/arch_text.h>
#include <trace/defaults.h>
#include <trace/fs.h>
#include <trace/ftrace.h>
#include "process.h"
#include "target.h"

#define NR_FUNCS      200u
#define FUNC_BYTES    27ul
#define NR_THREADS    3u
#define DEFAULT_FLIPS 1000000u
#define LOOK_NS	      100000u
#define NR_PARTS      3u
/* In the third part the tracer comes and goes once for this many flips. */
#define FLIPS_A_SWITCH 500u

enum kind {
	KIND_NOP,
	KIND_A,
	KIND_B
};

struct counts {
	uint64_t a;    /* counted by flips_a */
	uint64_t b;    /* counted by flips_b */
	uint64_t made; /* calls that the thread has made */
	int cpu;
} __attribute__((aligned(64)));

/* A function is a NOP of five bytes, which is the site, and a return: 27 bytes with padding. */
__asm__(".pushsection .text\n"
	".balign 64\n"
	"flips_funcs:\n"
	".rept 200\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	ret\n"
	"	.skip 21, 0xcc\n"
	".endr\n"
	"flips_a:\n"
	"	incq (%rdi)\n"
	"	ret\n"
	"flips_b:\n"
	"	incq 8(%rdi)\n"
	"	ret\n"
	".popsection\n");
extern const char flips_funcs[], flips_a[], flips_b[];

static struct counts counts[NR_THREADS];
static uint64_t nr_counted[PROCESS_CPUS]; /* by an ops */
static _Atomic bool has_ended;
static enum kind kinds[NR_FUNCS];

static uintptr_t func(uint32_t i)
{
	return (uintptr_t)flips_funcs + i * FUNC_BYTES;
}

/* ---- The load ---- */

static void call_funcs(void *arg)
{
	struct counts *mine = arg;

	while (!atomic_load_explicit(&has_ended, memory_order_relaxed)) {
		for (uint32_t i = 0; i < NR_FUNCS; i++) {
			((void (*)(struct counts *))func(i))(mine);
			mine->made++;
		}
	}
}

static void call_target(void *arg)
{
	struct counts *mine = arg;

	while (!atomic_load_explicit(&has_ended, memory_order_relaxed))
		mine->made = target(mine->made);
}

/* Start the threads that call `fn`, and wait until each has made a call. */
static void start_threads(void (*fn)(void *arg))
{
	memset(counts, 0, sizeof(counts));
	memset(nr_counted, 0, sizeof(nr_counted));
	atomic_store(&has_ended, false);
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		counts[i].cpu = cpu_start("caller", fn, &counts[i]);
		if (counts[i].cpu < 0)
			die("no thread");
	}
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		while (!*(volatile uint64_t *)&counts[i].made)
			trace_plat_pause(LOOK_NS, false);
	}
}

/*
 * End the threads. Gives the number of calls that they have made, and of those that were counted.
 */
static void end_threads(uint64_t *out_made, uint64_t *out_counted)
{
	atomic_store(&has_ended, true);
	*out_made = *out_counted = 0;
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		cpu_join(counts[i].cpu);
		*out_made += counts[i].made;
		*out_counted += counts[i].a + counts[i].b + nr_counted[counts[i].cpu];
	}
}

/* ---- Batches ---- */

static void make_insn(uintptr_t site, enum kind kind, uint8_t *out_insn)
{
	if (kind == KIND_NOP)
		trace_plat_insn_nop(out_insn);
	else
		trace_plat_insn_call(site, (uintptr_t)(kind == KIND_A ? flips_a : flips_b),
				     out_insn);
}

/* Change each site with a chance of a third or so, in one batch. Returns how many were changed. */
static size_t switch_random(uint32_t nr_kinds, enum kind first_kind)
{
	struct trace_poke pokes[NR_FUNCS];
	struct trace_poke_error error;
	size_t nr = 0;

	for (uint32_t i = 0; i < NR_FUNCS; i++) {
		enum kind kind = first_kind + (enum kind)((uint32_t)rand() % nr_kinds);

		if (kind == kinds[i] || rand() % 3 == 0)
			continue;
		pokes[nr] = (struct trace_poke){ .site = trace_plat_ip_pack(func(i)) };
		make_insn(func(i), kinds[i], pokes[nr].old_insn);
		make_insn(func(i), kind, pokes[nr].new_insn);
		kinds[i] = kind;
		nr++;
	}
	if (nr && text_poke_batch(pokes, nr, &error))
		die("mismatch at %lx", (unsigned long)error.site);
	return nr;
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

/* ---- A tracer beside an ops ---- */

static void count(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_counted[trace_plat_cpu_id()]++;
}

static void say(void *arg, const char *text, size_t len)
{
	(void)arg;
	fwrite(text, 1, len, stdout);
}

static void command(const char *line)
{
	int err = trace_fs_command(line, say, NULL, NULL);

	if (err)
		die("%s: %d", line, err);
}

/* ---- Parts ---- */

static int report(const char *name, bool ok)
{
	struct trace_poke_stats stats;

	trace_plat_poke_stats(&stats);
	ok = ok && stats.syncs == 3 * stats.batches;
	printf("%-6s  %s: %lu batches, %lu sites, %lu int3, %lu late so far\n",
	       ok ? "ok" : "FAILED", name, (unsigned long)stats.batches, (unsigned long)stats.sites,
	       (unsigned long)stats.int3_hits, (unsigned long)stats.stale);
	return ok;
}

static void run_batches(uint32_t nr_kinds, enum kind first_kind, uint64_t flips, uint64_t *out_made,
			uint64_t *out_counted)
{
	uint64_t done = 0;

	start_threads(call_funcs);
	while (done < flips)
		done += switch_random(nr_kinds, first_kind);
	end_threads(out_made, out_counted);
}

static int run_between_two(uint64_t flips)
{
	uint64_t made, counted;

	for (uint32_t i = 0; i < 40; i++) /* until no site is a NOP */
		switch_random(2, KIND_A);
	run_batches(2, KIND_A, flips, &made, &counted);
	return report("no call is lost between A and B", made == counted && made && is_whole());
}

static int run_on_and_off(uint64_t flips)
{
	uint64_t made, counted;

	run_batches(3, KIND_NOP, flips, &made, &counted);
	return report("on and off", counted < made && counted && is_whole());
}

static int run_beside_tracer(uint64_t flips)
{
	static struct ftrace_ops counter = { .func = count };
	uint64_t made, counted;

	if (register_ftrace_function(&counter))
		die("no ops");
	start_threads(call_target);
	for (uint64_t done = 0; done < flips; done += FLIPS_A_SWITCH) {
		command("echo function > current_tracer");
		command("echo nop > current_tracer");
		trace_run_later();
	}
	end_threads(&made, &counted);
	return report("no call is lost beside a tracer that comes and goes",
		      made == counted && made && !unregister_ftrace_function(&counter));
}

int main(int argc, char **argv)
{
	uint64_t flips = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_FLIPS;
	int passed;

	if (!process_start()) {
		puts("this kernel has no core-sync barrier: skipped\n0 passed, 0 failed");
		return 0;
	}
	passed = run_between_two(flips / NR_PARTS);
	passed += run_on_and_off(flips / NR_PARTS);
	passed += run_beside_tracer(flips / NR_PARTS);
	printf("%d passed, %d failed\n", passed, (int)NR_PARTS - passed);
	return passed != (int)NR_PARTS;
}
