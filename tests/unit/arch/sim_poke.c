/*
 * A batch of text_poke.c against other CPUs: what they may have fetched, NMIs over the sites at any
 * moment, handlers that are late, a CPU that comes online meanwhile. See sim/sim_text.h for what is
 * looked at before every step.
 *
 * links: trace/arch/x86_64/text_poke.c trace/arch/x86_64/text_write.c
 * links: trace/arch/x86_64/breakpoint.c
 * links: arch/x86_64/smp_sync.c arch/x86_64/smp_ap.c
 */
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include "smp_priv.h"
#include "irq_stats.h"
#include "sim.h"
#include "sim_text.h"

/* Calls of other CPUs are not simulated. */
void smp_serve_last_calls(void)
{
}

#define LATE_CPU 2u
#define SEED	 20260131u
#define PAGE	 4096ul

static uint32_t nr_sites;
static bool tcg, has_foreign;
static bool others_are_there; /* the late CPU has come */

/* Two places for the pokes, in turns: one that a batch is done with cannot be read any more. */
static uint8_t pages[2][PAGE] __attribute__((aligned(4096)));
static uint32_t nr_batches;

static struct trace_poke *pokes_begin(enum sim_insn from, enum sim_insn to)
{
	struct trace_poke *pokes = (struct trace_poke *)(void *)pages[nr_batches++ % 2];

	mprotect(pokes, PAGE, PROT_READ | PROT_WRITE);
	for (uint32_t i = 0; i < nr_sites; i++) {
		pokes[i].site = (uint32_t)sim_site(i);
		sim_insn_make(i, from, pokes[i].old_insn);
		sim_insn_make(i, to, pokes[i].new_insn);
	}
	return pokes;
}

static void change(enum sim_insn from, enum sim_insn to)
{
	struct trace_poke *pokes = pokes_begin(from, to);
	struct trace_poke_stats before, after;
	struct trace_poke_error error;
	uint64_t sent = sim_nr_sent(), online;

	trace_plat_poke_stats(&before);
	sim_text_changes(to);
	SIM_CHECK(text_poke_begin(pokes, nr_sites, &error) == 0);
	sim_text_check_armed();
	online = smp_online_mask();
	for (int i = 0; i < 3; i++)
		sim_step();
	SIM_CHECK(smp_online_mask() == online); /* none comes half-way */
	text_poke_finish();
	mprotect(pokes, PAGE, PROT_NONE);
	sim_text_changed();
	trace_plat_poke_stats(&after);
	SIM_CHECK(after.syncs - before.syncs == 3);
	SIM_CHECK(after.batches - before.batches == 1);
	SIM_CHECK(after.sites - before.sites == nr_sites);
	SIM_CHECK(!sim_view_is_open());
	/* One message to each other CPU, or one to all of them, for each sync. */
	if (smp_online_mask() != 1)
		SIM_CHECK(sim_nr_sent() - sent == 3);
}

static void start(void)
{
	sim_text_reset(SIM_NOP, nr_sites < SIM_TRACKED ? nr_sites : SIM_TRACKED, tcg);
	if (has_foreign)
		sim_text_add_foreign();
	sim_is_emulator = tcg;
	smp_sync_init();
	smp_online = 1;
	others_are_there = false;
	sim_text_cpu_runs(0);
}

static void start_two(void)
{
	start();
	smp_online = 3;
	sim_text_cpu_runs(1);
}

/* To a call, to another call, and off again. */
static void poker(void)
{
	change(SIM_NOP, SIM_CALL_A);
	change(SIM_CALL_A, SIM_CALL_B);
	change(SIM_CALL_B, SIM_NOP);
}

static void poker_once(void)
{
	change(SIM_NOP, SIM_CALL_A);
}

static void poker_back(void)
{
	change(SIM_NOP, SIM_CALL_A);
	change(SIM_CALL_A, SIM_JMP);
}

static void late_main(void)
{
	smp_ap_entry(LATE_CPU);
}

void upcall_ap_main(uint32_t cpu)
{
	SIM_CHECK(sim_cpu() == cpu && smp_cpu_online(cpu) && sim_irqs_disabled());
	sim_text_cpu_runs(cpu);
	others_are_there = true;
	sim_irq_restore(RFLAGS_IF);
	for (;;)
		sim_idle();
}

/* Every handler has counted what it did. */
static void end(void)
{
	struct trace_poke_stats stats;
	static struct trace_poke_stats before;

	trace_plat_poke_stats(&stats);
	SIM_CHECK(stats.int3_hits - before.int3_hits == sim_text_nr_traps());
	if (!has_foreign)
		SIM_CHECK(stats.emulated + stats.stale - before.emulated - before.stale ==
			  sim_text_nr_traps());
	if (!tcg)
		SIM_CHECK(stats.stale == before.stale);
	before = stats;
}

static void end_late(void)
{
	end();
	SIM_CHECK(others_are_there && smp_online == 7);
}

static void start_late(void)
{
	start_two();
	smp_ap_state = AP_STARTING;
}

static void one_site(bool is_tcg, bool foreign)
{
	nr_sites = 1;
	tcg = is_tcg;
	has_foreign = foreign;
}

/* ---- Who reads the code meanwhile ---- */

/* The right contents of the site: one of the two, whole, and never the old after the new. */
static void reader(void)
{
	uint8_t old_insn[TRACE_INSN_SIZE], new_insn[TRACE_INSN_SIZE], found[TRACE_INSN_SIZE + 1];
	bool was_new = false;

	sim_insn_make(0, SIM_NOP, old_insn);
	sim_insn_make(0, SIM_CALL_A, new_insn);
	for (int i = 0; i < 3; i++) {
		bool is_new;

		SIM_CHECK(trace_text_meant(sim_site(0), found, sizeof(found)));
		is_new = memcmp(found, new_insn, sizeof(new_insn)) == 0;
		SIM_CHECK(is_new || (!was_new && !memcmp(found, old_insn, sizeof(old_insn))));
		SIM_CHECK(found[TRACE_INSN_SIZE] == 0x90);
		was_new = is_new;
	}
}

/* ---- Tests ---- */

/* Text poke becomes a consumer of breakpoints at its first batch: not within a schedule. */
static void first_batch(void)
{
	nr_sites = 1;
	start();
	poker_once();
}

static int group_setup(void **state)
{
	(void)state;
	sim_alone(first_batch);
	return 0;
}

static void test_reader(void **state)
{
	const struct sim_setup setup = { .name = "a reader of the code",
					 .nr_cpus = 2,
					 .main = { poker_once, reader },
					 .start = start_two,
					 .end = end };

	(void)state;
	one_site(false, false);
	assert_true(sim_all(&setup, 2) > 1000);
}

static void test_two_cpus(void **state)
{
	const struct sim_setup setup = { .name = "one batch, two CPUs",
					 .nr_cpus = 2,
					 .main = { poker_once },
					 .start = start_two,
					 .end = end,
					 .nr_hits = 2 };

	(void)state;
	one_site(false, false);
	assert_true(sim_all(&setup, 3) > 1000);
}

static void test_two_batches(void **state)
{
	const struct sim_setup setup = { .name = "two batches, two CPUs",
					 .nr_cpus = 2,
					 .main = { poker_back },
					 .start = start_two,
					 .end = end,
					 .nr_hits = 1 };

	(void)state;
	one_site(false, false);
	assert_true(sim_all(&setup, 2) > 1000);
}

/* With int3s of no consumer: their handlers look at the batch too, whenever they like. */
static void test_foreign(void **state)
{
	const struct sim_setup setup = { .name = "int3s of nobody",
					 .nr_cpus = 2,
					 .main = { poker_back },
					 .start = start_two,
					 .end = end,
					 .nr_hits = 1 };

	(void)state;
	one_site(false, true);
	assert_true(sim_all(&setup, 2) > 1000);
}

static void test_tcg(void **state)
{
	const struct sim_setup setup = { .name = "an emulator's CPUs",
					 .nr_cpus = 2,
					 .main = { poker_back },
					 .start = start_two,
					 .end = end,
					 .nr_hits = 1 };

	(void)state;
	one_site(true, false);
	assert_true(sim_all(&setup, 2) > 1000);
}

static void test_late_cpu(void **state)
{
	const struct sim_setup setup = { .name = "a CPU comes online",
					 .nr_cpus = 3,
					 .main = { poker_once, NULL, late_main },
					 .start = start_late,
					 .end = end_late };

	(void)state;
	one_site(false, false);
	assert_true(sim_all(&setup, 3) > 1000);
}

static void test_one_cpu(void **state)
{
	const struct sim_setup setup = { .name = "one CPU",
					 .nr_cpus = 1,
					 .main = { poker },
					 .start = start,
					 .end = end,
					 .nr_hits = 2 };

	(void)state;
	one_site(false, false);
	assert_true(sim_all(&setup, 2) > 100);
}

static void random_runs(bool is_tcg, bool foreign, uint64_t nr, uint64_t seed)
{
	const struct sim_setup setup = { .name = is_tcg ? "random, an emulator" : "random",
					 .nr_cpus = 3,
					 .main = { poker, NULL, late_main },
					 .start = start_late,
					 .end = end_late,
					 .nr_hits = 12 };

	nr_sites = 2;
	tcg = is_tcg;
	has_foreign = foreign;
	sim_random(&setup, nr, seed);
}

/* SIM_SEED and SIM_SCHEDULES in the environment: other ones, or more. */
static void test_random(void **state)
{
	const char *seed = getenv("SIM_SEED"), *nr = getenv("SIM_SCHEDULES");
	uint64_t first = seed ? strtoull(seed, NULL, 0) : SEED;
	uint64_t many = nr ? strtoull(nr, NULL, 0) : 4000;

	(void)state;
	random_runs(false, false, many, first);
	random_runs(false, true, many, first + 1);
	random_runs(true, false, many, first + 2);
	random_runs(true, true, many, first + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_cpus), cmocka_unit_test(test_two_batches),
		cmocka_unit_test(test_foreign),	 cmocka_unit_test(test_tcg),
		cmocka_unit_test(test_late_cpu), cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_reader),	 cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
