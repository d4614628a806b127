/*
 * hits [N]: probes in functions that threads run, N times changed: armed, made jumps, made breakpoints
 * again, removed. 5,000 without N. Each hit is counted, or counted as missed, the functions return
 * what they have returned before, and in the end their code is what it was.
 *
 * A round is one call of mix(). How often a round comes to a place was counted at first; so it is
 * known how many hits there are in so many rounds. Signals come meanwhile, anywhere in a probe, and
 * their handler makes a round of its own.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>
#include <trace/defaults.h>
#include <trace/kprobe.h>
#include <unistd.h>
#include "cpu.h"
#include "mix.h"
#include "process.h"

#define NR_THREADS	3u
#define DEFAULT_CHANGES 5000u
#define NR_PARTS	4u
#define MAX_PLACES	512u
#define MAX_PROBES	64u /* at once */
#define SWITCHES	12u /* with the same probes */
#define JUMP_NS		11000000u
#define LOOK_NS		100000u
#define SEED		0x123456789abcull
#define NR_OUTER	8u
#define MAX_LOOKS	100u
#define TEXT_BYTES	128u

/* ---- The load ---- */

static struct caller {
	_Atomic uint64_t rounds; /* that have ended */
	_Atomic uint64_t by_signal;
	_Atomic uint64_t wrong; /* with another result than expected */
	int cpu;
	pid_t pid;
} __attribute__((aligned(64))) callers[NR_THREADS], *caller_of[PROCESS_CPUS];

static uint64_t expected;
static _Atomic bool has_ended;

static void make_round(_Atomic uint64_t *count, struct caller *caller)
{
	if (mix(SEED) != expected)
		atomic_fetch_add(&caller->wrong, 1);
	atomic_fetch_add(count, 1);
}

static void run_caller(void *arg)
{
	struct caller *caller = arg;

	caller_of[trace_plat_cpu_id()] = caller;
	caller->pid = (pid_t)trace_plat_current_pid();
	while (!atomic_load_explicit(&has_ended, memory_order_relaxed))
		make_round(&caller->rounds, caller);
}

static void on_signal(int signal)
{
	struct caller *caller = caller_of[trace_plat_cpu_id()];

	(void)signal;
	make_round(&caller->by_signal, caller);
}

static void start_threads(void)
{
	memset(callers, 0, sizeof(callers));
	atomic_store(&has_ended, false);
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		callers[i].cpu = cpu_start("caller", run_caller, &callers[i]);
		if (callers[i].cpu < 0)
			die("no thread");
	}
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		while (!atomic_load(&callers[i].rounds))
			trace_plat_pause(LOOK_NS, false);
	}
}

static void send_signals(void)
{
	for (uint32_t i = 0; i < NR_THREADS; i++)
		syscall(SYS_tgkill, getpid(), callers[i].pid, SIGUSR1);
}

/* All rounds of all threads, which have ended. False: one had another result. */
static bool end_threads(uint64_t *out_rounds)
{
	uint64_t wrong = 0;

	atomic_store(&has_ended, true);
	*out_rounds = 0;
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		cpu_join(callers[i].cpu);
		*out_rounds += callers[i].rounds + callers[i].by_signal;
		wrong += callers[i].wrong;
	}
	return !wrong;
}

static uint64_t rounds_so_far(void)
{
	uint64_t rounds = 0;

	for (uint32_t i = 0; i < NR_THREADS; i++)
		rounds += atomic_load(&callers[i].rounds);
	return rounds;
}

/* ---- Places ---- */

static struct place {
	struct kprobe probe;   /* first, for count() */
	struct kprobe beside;  /* with a post handler, so that there is no jump */
	_Atomic uint64_t hits; /* of the first */
	uint64_t a_round;      /* hits in a round */
} places[MAX_PLACES];
static uint32_t nr_places;

static int count(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)regs;
	atomic_fetch_add_explicit(&((struct place *)p)->hits, 1, memory_order_relaxed);
	return 0;
}

static void do_nothing(struct kprobe *p, struct ftrace_regs *regs, uint64_t flags)
{
	(void)p;
	(void)regs;
	(void)flags;
}

static void reset(struct place *place)
{
	const uintptr_t addr = place->probe.addr;

	place->probe = (struct kprobe){ .addr = addr,
					.pre_handler = count,
					.flags = rand() % 2 ? KPROBE_FLAG_ARGS : 0 };
	place->beside = (struct kprobe){ .addr = addr, .post_handler = do_nothing };
	place->hits = 0;
}

static void must(int err, const char *what)
{
	if (err)
		die("%s: %d", what, err);
}

/* A place to which a round comes is one that is used. */
static void add_place(uintptr_t addr)
{
	struct place *place = &places[nr_places];

	if (nr_places == MAX_PLACES)
		die("many places");
	place->probe.addr = addr;
	reset(place);
	must(register_kprobe(&place->probe), "register_kprobe()");
	mix(SEED);
	unregister_kprobe(&place->probe);
	place->a_round = place->hits;
	nr_places += place->a_round != 0;
}

static void find_places(void)
{
	const uintptr_t functions[] = { (uintptr_t)mix,		 (uintptr_t)mix_leaf,
					(uintptr_t)mix_branches, (uintptr_t)mix_calls,
					(uintptr_t)mix_vectors,	 (uintptr_t)mix_sum };
	char text[TEXT_BYTES];
	uintptr_t start;
	size_t bytes;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		trace_plat_symbol(functions[i], text, &start, &bytes);
		for (uintptr_t at = start; at < start + bytes; at++) {
			if (!kprobe_refusal(at, text, sizeof(text)))
				add_place(at);
		}
	}
}

/* Some of the places, none of them next to another one. Returns how many. */
static uint32_t choose(struct place **out_places)
{
	uint32_t nr = 0;

	for (uint32_t i = (uint32_t)rand() % 8; i < nr_places && nr < MAX_PROBES;
	     i += 3 + (uint32_t)rand() % 8) {
		reset(&places[i]);
		out_places[nr++] = &places[i];
	}
	return nr;
}

static void register_all(struct place *const *chosen, uint32_t nr)
{
	struct kprobe *probes[MAX_PROBES];

	for (uint32_t i = 0; i < nr; i++)
		probes[i] = &chosen[i]->probe;
	must(register_kprobes(probes, nr), "register_kprobes()");
}

static void unregister_all(struct place *const *chosen, uint32_t nr)
{
	struct kprobe *probes[MAX_PROBES];

	for (uint32_t i = 0; i < nr; i++)
		probes[i] = &chosen[i]->probe;
	unregister_kprobes(probes, nr);
}

/* Wait until breakpoints have become jumps, where they can be. Returns how many are. */
static uint32_t wait_for_jumps(struct place *const *chosen, uint32_t nr)
{
	uint32_t nr_jumps = 0;

	trace_plat_pause(JUMP_NS, false);
	trace_run_later(); /* threads are led around where the jumps will be */
	trace_run_later(); /* none is there any more */
	for (uint32_t i = 0; i < nr; i++)
		nr_jumps += (chosen[i]->probe.flags & KPROBE_FLAG_OPTIMIZED) != 0;
	return nr_jumps;
}

/* ---- Parts ---- */

static struct {
	uint64_t probes, jumps, rounds, hits, missed;
} seen;

static int report(const char *name, bool ok)
{
	printf("%-6s  %s: %lu probes, %lu jumps, %lu rounds, %lu hits, %lu missed so far\n",
	       ok ? "ok" : "FAILED", name, (unsigned long)seen.probes, (unsigned long)seen.jumps,
	       (unsigned long)seen.rounds, (unsigned long)seen.hits, (unsigned long)seen.missed);
	return ok;
}

/* Every other one gets a second probe that makes it a breakpoint, and loses it again. */
static void switch_beside(struct place *const *chosen, uint32_t nr, bool on)
{
	for (uint32_t i = 0; i < nr; i += 2) {
		if (on)
			must(register_kprobe(&chosen[i]->beside), "register_kprobe()");
		else
			unregister_kprobe(&chosen[i]->beside);
	}
}

/* Breakpoints become jumps, and these breakpoints again, one way or the other. */
static void switch_jumps(struct place *const *chosen, uint32_t nr)
{
	for (uint32_t i = 0; i < SWITCHES; i++) {
		send_signals();
		if (i % 4 == 1)
			switch_beside(chosen, nr, true);
		else if (i % 4 == 2)
			switch_beside(chosen, nr, false);
		else if (i % 4 == 3)
			must(kprobes_set_optimization(i % 8 == 7), "optimization");
		else
			seen.jumps += wait_for_jumps(chosen, nr);
		send_signals();
	}
	must(kprobes_set_optimization(true), "optimization");
}

/* The probes stay all the time, so it is known how many hits there are. */
static int run_stay(uint64_t changes)
{
	struct place *chosen[MAX_PROBES];
	uint64_t before = seen.jumps;
	bool ok = true;

	for (uint64_t done = 0; done < changes && ok;) {
		uint32_t nr = choose(chosen);
		uint64_t rounds;

		register_all(chosen, nr);
		start_threads();
		switch_jumps(chosen, nr);
		ok = end_threads(&rounds);
		unregister_all(chosen, nr);
		for (uint32_t i = 0; i < nr; i++) {
			ok = ok && chosen[i]->hits + chosen[i]->probe.nmissed ==
					   rounds * chosen[i]->a_round;
			seen.hits += chosen[i]->hits;
			seen.missed += chosen[i]->probe.nmissed;
		}
		seen.probes += nr;
		seen.rounds += rounds;
		done += nr * SWITCHES;
	}
	return report("by breakpoints and by jumps no hit is lost", ok && seen.jumps != before);
}

/*
 * The probes come and go. Rounds that began and ended while one was there have all their hits, and
 * others may have some: each thread may have begun one before, and not have ended the last one.
 */
static bool come_and_go(bool wants_jumps)
{
	struct place *chosen[MAX_PROBES];
	uint32_t nr = choose(chosen);
	uint64_t before = rounds_so_far(), begin, end, behind;
	bool ok = true;

	register_all(chosen, nr);
	begin = rounds_so_far();
	if (wants_jumps)
		seen.jumps += wait_for_jumps(chosen, nr);
	else
		trace_plat_pause((uint64_t)rand() % JUMP_NS / 8, false);
	end = rounds_so_far();
	unregister_all(chosen, nr);
	behind = rounds_so_far();
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t hits = chosen[i]->hits + chosen[i]->probe.nmissed;

		ok = ok && hits <= (behind - before + NR_THREADS) * chosen[i]->a_round &&
		     hits + NR_THREADS * chosen[i]->a_round >= (end - begin) * chosen[i]->a_round;
		seen.hits += chosen[i]->hits;
		seen.missed += chosen[i]->probe.nmissed;
	}
	seen.probes += nr;
	return ok;
}

static int run_come_and_go(uint64_t changes)
{
	uint64_t rounds, first = seen.probes;
	bool ok = true;

	start_threads();
	for (uint32_t i = 0; seen.probes - first < changes && ok; i++) {
		ok = come_and_go(i % 4 == 0);
		trace_run_later(); /* memory of slots and trampolines */
	}
	ok = end_threads(&rounds) && ok;
	seen.rounds += rounds;
	return report("probes come and go", ok);
}

/* ---- A probe in a probe ---- */

static int count_and_call(struct kprobe *p, struct ftrace_regs *regs)
{
	mix_leaf(SEED);
	return count(p, regs);
}

static bool is_in_leaf(const struct place *place)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	return trace_plat_symbol(place->probe.addr, name, &start, &bytes) &&
	       start == (uintptr_t)mix_leaf;
}

/* How often a round calls mix_leaf(): as often as it comes to its first place. */
static uint64_t leaf_calls(void)
{
	for (uint32_t i = 0; i < nr_places; i++) {
		if (places[i].probe.addr == (uintptr_t)mix_leaf)
			return places[i].a_round;
	}
	die("mix_leaf() has no place");
}

/* The round hits `inner`, and it is missed whenever a handler of `outer` comes to it. */
static bool miss_inside(const struct place *outer, struct place *inner)
{
	bool ok;

	reset(inner);
	must(register_kprobe(&inner->probe), "register_kprobe()");
	ok = mix(SEED) == expected && inner->hits == inner->a_round &&
	     inner->probe.nmissed * leaf_calls() == inner->a_round * outer->a_round;
	unregister_kprobe(&inner->probe);
	seen.rounds++;
	seen.probes++;
	seen.hits += inner->hits;
	seen.missed += inner->probe.nmissed;
	return ok;
}

static bool call_inside(struct place *outer)
{
	bool ok = true;

	reset(outer);
	outer->probe.pre_handler = count_and_call;
	register_all(&outer, 1);
	seen.jumps += wait_for_jumps(&outer, 1);
	for (uint32_t i = 0; i < nr_places; i++) {
		if (is_in_leaf(&places[i]))
			ok = miss_inside(outer, &places[i]) && ok;
	}
	unregister_all(&outer, 1);
	return ok;
}

static int run_inside(void)
{
	bool ok = true;

	for (uint32_t i = 0; i < nr_places; i += nr_places / NR_OUTER) {
		if (!is_in_leaf(&places[i]))
			ok = call_inside(&places[i]) && ok;
	}
	return report("a probe that is hit in a handler is missed, and counted so", ok);
}

/* ---- The text ---- */

static char *text_before;
static size_t exec_before;

static void keep_text(void)
{
	size_t bytes = process_text.end - process_text.start;

	text_before = malloc(bytes);
	if (!text_before)
		die("no memory");
	memcpy(text_before, (const void *)process_text.start, bytes);
	exec_before = trace_exec_used();
}

/* All memory for code is free again, and all of the text is as it was. */
static int check_text(void)
{
	for (uint32_t i = 0; i < MAX_LOOKS && trace_exec_used() != exec_before; i++) {
		trace_plat_pause(JUMP_NS, false);
		trace_run_later();
	}
	return report("all code is what it was",
		      trace_exec_used() == exec_before &&
			      !memcmp(text_before, (const void *)process_text.start,
				      process_text.end - process_text.start));
}

int main(int argc, char **argv)
{
	uint64_t changes = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_CHANGES;
	int passed;

	if (!process_start()) {
		puts("this kernel has no core-sync barrier: skipped\n0 passed, 0 failed");
		return 0;
	}
	must(cpu_on_signal(SIGUSR1, on_signal), "SIGUSR1");
	expected = mix(SEED);
	keep_text();
	find_places();
	printf("%u instructions\n", nr_places);
	passed = run_stay(changes / 2);
	passed += run_come_and_go(changes / 2);
	passed += run_inside();
	passed += check_text();
	printf("%d passed, %d failed\n", passed, (int)NR_PARTS - passed);
	return passed != (int)NR_PARTS;
}
