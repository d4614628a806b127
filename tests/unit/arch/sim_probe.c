/*
 * A probe of one byte that comes and goes by batches of text_poke.c, while other CPUs run over it:
 * its consumer answers each int3 that they hit, and no CPU reads the int3 as part of the code. It
 * becomes a jump, over two instructions, and back, while a thread may stand between the two.
 *
 * links: trace/arch/x86_64/text_poke.c trace/arch/x86_64/text_write.c
 * links: trace/arch/x86_64/breakpoint.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <stdatomic.h>
#include <string.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/base.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>
#include "sim.h"
#include "smp_priv.h"
#include "sim_text.h"

#define SEED 20260131u

static bool tcg;
static _Atomic bool is_known; /* the probe is in its consumer's table */
static bool has_jump;	      /* the consumer goes on behind all that the jump takes the place of */
static _Atomic bool has_left; /* the thread in the middle */
static uint8_t nop[TRACE_INSN_SIZE], probed[TRACE_INSN_SIZE];
static uintptr_t target; /* of the jump */

/* ---- The consumer: the probed NOP is done, wherever it is in the life of the probe ---- */

static bool answer(struct trace_breakpoint_consumer *consumer,
		   const struct trace_breakpoint_hit *hit)
{
	(void)consumer;
	if (!atomic_load(&is_known) || hit->site != sim_site(0))
		return false;
	*hit->rip = has_jump ? target : hit->site + TRACE_INSN_SIZE;
	return true;
}

static void restore(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
		    size_t len)
{
	(void)consumer;
	for (size_t i = 0; i < (has_jump ? TRACE_INSN_SIZE : 1); i++) {
		if (atomic_load(&is_known) && sim_site(0) + i - addr < len)
			bytes[sim_site(0) + i - addr] = nop[i];
	}
}

static struct trace_breakpoint_consumer consumer = { .priority = TRACE_BREAKPOINT_PRIORITY_PROBE,
						     .answer = answer,
						     .restore = restore };

/* ---- Batches ---- */

static struct trace_poke poke_of(bool arm)
{
	struct trace_poke poke = { .site = (uint32_t)sim_site(0), .len = 1, .is_probe = true };

	/* The bytes behind the first one do not matter. */
	memset(poke.old_insn, 0x77, sizeof(poke.old_insn));
	memset(poke.new_insn, 0x77, sizeof(poke.new_insn));
	poke.old_insn[0] = arm ? nop[0] : probed[0];
	poke.new_insn[0] = arm ? probed[0] : nop[0];
	return poke;
}

static void change(bool arm)
{
	struct trace_poke_stats before, after;
	struct trace_poke poke = poke_of(arm);
	struct trace_poke_error error;

	trace_plat_poke_stats(&before);
	sim_text_changes(arm ? SIM_PROBED : SIM_NOP);
	SIM_CHECK(text_poke_batch(&poke, 1, &error) == 0);
	sim_text_changed();
	trace_plat_poke_stats(&after);
	SIM_CHECK(after.syncs - before.syncs == 3);
	SIM_CHECK(sim_site_holds(0, arm ? SIM_PROBED : SIM_NOP));
}

/* From the int3 to the jump, or back. */
static void change_to(enum sim_insn from, enum sim_insn to)
{
	struct trace_poke poke = { .site = (uint32_t)sim_site(0), .is_probe = true };
	struct trace_poke_error error;

	sim_insn_make(0, from, poke.old_insn);
	sim_insn_make(0, to, poke.new_insn);
	SIM_CHECK(text_poke_batch(&poke, 1, &error) == 0);
	has_jump = to == SIM_JMP;
	sim_text_changed();
	SIM_CHECK(sim_site_holds(0, to));
}

/* As kprobe_jump.c does it; see there. */
static void jump_and_back(void)
{
	atomic_store(&is_known, true);
	change(true);
	sim_text_changes(SIM_JMP);
	has_jump = true;
	while (!atomic_load(&has_left))
		arch_cpu_relax();
	change_to(SIM_PROBED, SIM_JMP);
	sim_text_changes(SIM_PROBED);
	change_to(SIM_JMP, SIM_PROBED);
	change(false);
	trace_breakpoint_forget();
	atomic_store(&is_known, false);
}

/* It was between the two instructions before there was a probe, and goes on some time. */
static void stand_in_the_middle(void)
{
	sim_text_cpu_stands(1, true);
	for (int i = 0; i < 3; i++)
		arch_cpu_relax();
	sim_text_cpu_stands(1, false);
	atomic_store(&has_left, true);
}

static void arm_and_disarm(void)
{
	atomic_store(&is_known, true);
	change(true);
	change(false);
	trace_breakpoint_forget();
	atomic_store(&is_known, false);
}

/* The code reads as if there were no probe. */
static void reader(void)
{
	for (int i = 0; i < 3; i++) {
		uint8_t found[TRACE_INSN_SIZE + 1];

		SIM_CHECK(trace_text_meant(sim_site(0), found, sizeof(found)));
		SIM_CHECK(memcmp(found, nop, sizeof(nop)) == 0);
	}
}

static void start(void)
{
	sim_text_reset(SIM_NOP, 1, tcg);
	sim_is_emulator = tcg;
	smp_sync_init();
	smp_online = 1;
	atomic_store(&is_known, false);
	atomic_store(&has_left, false);
	has_jump = false;
	sim_text_cpu_runs(0);
}

static void start_two(void)
{
	start();
	smp_online = 3;
	sim_text_cpu_runs(1);
}

/* Consumers come before the first schedule. */
static void prepare(void)
{
	uint8_t jmp[TRACE_INSN_SIZE];
	int32_t offset;

	sim_insn_make(0, SIM_NOP, nop);
	sim_insn_make(0, SIM_PROBED, probed);
	sim_insn_make(0, SIM_JMP, jmp);
	memcpy(&offset, jmp + 1, sizeof(offset));
	target = sim_site(0) + TRACE_INSN_SIZE + (uintptr_t)(intptr_t)offset;
	start();
	trace_breakpoint_register(&consumer);
	arm_and_disarm();
}

static int group_setup(void **state)
{
	(void)state;
	sim_alone(prepare);
	return 0;
}

/* ---- Tests ---- */

static void test_hits(void **state)
{
	const struct sim_setup setup = { .name = "a probe comes and goes",
					 .nr_cpus = 2,
					 .main = { arm_and_disarm },
					 .start = start_two,
					 .nr_hits = 1 };

	(void)state;
	tcg = false;
	assert_true(sim_all(&setup, 3) > 1000);
	sim_random(&setup, 4000, SEED);
	tcg = true;
	assert_true(sim_all(&setup, 3) > 1000);
}

static void test_jump(void **state)
{
	const struct sim_setup setup = { .name = "a probe becomes a jump",
					 .nr_cpus = 2,
					 .main = { jump_and_back, stand_in_the_middle },
					 .start = start_two,
					 .nr_hits = 1 };

	(void)state;
	tcg = false;
	assert_true(sim_all(&setup, 2) > 1000);
	sim_random(&setup, 4000, SEED);
	tcg = true;
	assert_true(sim_all(&setup, 2) > 1000);
}

static void test_reader(void **state)
{
	const struct sim_setup setup = { .name = "a reader beside a probe",
					 .nr_cpus = 2,
					 .main = { arm_and_disarm, reader },
					 .start = start };

	(void)state;
	tcg = false;
	assert_true(sim_all(&setup, 2) > 1000);
}

static void refuse(void)
{
	struct trace_poke poke = poke_of(true);
	struct trace_poke_error error;

	sim_text_reset(SIM_NOP, 0, false);
	sim_site_damage(0, 4, 0x99); /* not a byte that changes */
	assert_int_equal(text_poke_batch(&poke, 1, &error), 0);
	assert_int_equal(text_poke_batch(&poke, 1, &error), -EINVAL);
	assert_true(error.site == sim_site(0) && error.found[0] == probed[0]);
	/* Another's: what it stands for is what was to be there. */
	atomic_store(&is_known, true);
	assert_int_equal(text_poke_batch(&poke, 1, &error), -EBUSY);
	atomic_store(&is_known, false);
	poke = poke_of(false);
	assert_int_equal(text_poke_batch(&poke, 1, &error), 0);
	assert_true(*(const uint8_t *)sim_site(0) == nop[0]);
	assert_true(*(const uint8_t *)(sim_site(0) + 4) == 0x99);
}

static void test_refusals(void **state)
{
	(void)state;
	tcg = false;
	sim_alone(refuse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
