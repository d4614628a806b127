/*
 * A batch of text_stop.c against other CPUs, on a host that stops them by an interrupt: none of
 * them may execute what it fetched before, or a mix, when it goes on. See sim/sim_text.h.
 *
 * links: trace/arch/x86_64/text_stop.c trace/arch/x86_64/text_write.c
 * links: trace/arch/x86_64/breakpoint.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <stdatomic.h>
#include <string.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/trap.h>
#include <kernel/base.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include "sim.h"
#include "sim_text.h"

#define VECTOR_STOP 200u
#define SEED	    20260131u
#define MANY	    600u /* more than one stretch of writes */

static uint32_t nr_sites, nr_cpus;
static struct trace_poke pokes[SIM_MAX_SITES];

/* ---- The host: who is interrupted waits until the stop with its number is over ---- */

static struct {
	_Atomic uint32_t nr;	  /* of the last stop */
	_Atomic uint32_t nr_over; /* of the last that is over */
	_Atomic uint32_t nr_waiting;
	uint64_t irqs;
	bool is_on;
} stop;

static void on_stop(struct trap_frame *regs)
{
	uint32_t nr = atomic_load(&stop.nr);

	(void)regs;
	sim_text_cpu_stops(sim_cpu());
	apic_eoi();
	atomic_fetch_add(&stop.nr_waiting, 1);
	while (atomic_load(&stop.nr_over) < nr)
		sim_relax();
	sim_serialise();
	sim_text_cpu_runs(sim_cpu());
}

void trace_arch_stop_others(void)
{
	stop.irqs = sim_irq_save();
	atomic_store(&stop.nr_waiting, 0);
	atomic_fetch_add(&stop.nr, 1);
	if (nr_cpus > 1)
		apic_send_ipi_others(VECTOR_STOP);
	while (atomic_load(&stop.nr_waiting) < nr_cpus - 1)
		sim_relax();
	sim_text_cpu_stops(sim_cpu());
	stop.is_on = true;
}

/* As if it ran over all sites at once: what it has fetched is looked at. */
void trace_arch_resume_others(void)
{
	stop.is_on = false;
	sim_text_cpu_runs(sim_cpu());
	atomic_store(&stop.nr_over, atomic_load(&stop.nr));
	sim_irq_restore(stop.irqs);
}

/* ---- Batches ---- */

static void change(enum sim_insn from, enum sim_insn to)
{
	struct trace_poke_stats before, after;
	struct trace_poke_error error;

	for (uint32_t i = 0; i < nr_sites; i++) {
		pokes[i].site = (uint32_t)sim_site(i);
		sim_insn_make(i, from, pokes[i].old_insn);
		sim_insn_make(i, to, pokes[i].new_insn);
		pokes[i].len = from == SIM_PROBED || to == SIM_PROBED;
		if (pokes[i].len)
			pokes[i].new_insn[4] ^= 0xff; /* not a byte that changes */
	}
	trace_plat_poke_stats(&before);
	sim_text_changes(to);
	SIM_CHECK(text_poke_batch(pokes, nr_sites, &error) == 0);
	sim_text_changed();
	trace_plat_poke_stats(&after);
	SIM_CHECK(after.batches - before.batches == 1 && after.syncs - before.syncs == 1);
	SIM_CHECK(after.sites - before.sites == nr_sites && after.int3_hits == 0);
	SIM_CHECK(!sim_view_is_open() && !stop.is_on && !sim_irqs_disabled());
	for (uint32_t i = 0; i < nr_sites; i++)
		SIM_CHECK(sim_site_holds(i, to));
}

static void poker(void)
{
	change(SIM_NOP, SIM_CALL_A);
	change(SIM_CALL_A, SIM_CALL_B);
	change(SIM_CALL_B, SIM_JMP);
	change(SIM_JMP, SIM_NOP);
	change(SIM_NOP, SIM_PROBED);
	change(SIM_PROBED, SIM_NOP);
}

static void start(void)
{
	sim_text_reset(SIM_NOP, nr_sites < SIM_TRACKED ? nr_sites : SIM_TRACKED, false);
	memset(&stop, 0, sizeof(stop));
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		sim_text_cpu_runs(cpu);
}

static void end(void)
{
	SIM_CHECK(sim_text_nr_writes() == 6 * nr_sites && sim_text_nr_traps() == 0);
}

static struct sim_setup setup_of(const char *name, uint32_t cpus, uint32_t sites)
{
	nr_cpus = cpus;
	nr_sites = sites;
	return (struct sim_setup){
		.name = name, .nr_cpus = cpus, .main = { poker }, .start = start, .end = end
	};
}

static void test_every_order(void **state)
{
	const struct sim_setup setup = setup_of("others stand still", 2, 1);

	(void)state;
	assert_true(sim_all(&setup, 3) > 1000);
}

static void test_random(void **state)
{
	const struct sim_setup setup = setup_of("others stand still, random", 3, 2);

	(void)state;
	sim_random(&setup, 4000, SEED);
}

static void test_one_cpu(void **state)
{
	const struct sim_setup setup = setup_of("nobody else", 1, MANY);

	(void)state;
	assert_true(sim_all(&setup, 0) == 1);
	assert_int_equal(sim_text_longest_stretch(), 256);
}

/* One byte is wrong: nothing is written, no CPU was stopped, and the next batch finds no lock. */
static void refuse(void)
{
	struct trace_poke_error error;

	start();
	sim_insn_make(0, SIM_NOP, pokes[0].old_insn);
	sim_insn_make(0, SIM_CALL_A, pokes[0].new_insn);
	pokes[0].site = (uint32_t)sim_site(0);
	pokes[0].len = 0;
	sim_site_damage(0, 3, 0x77);
	assert_int_equal(text_poke_batch(pokes, 1, &error), -EINVAL);
	assert_true(error.site == sim_site(0) && error.found[3] == 0x77);
	assert_int_equal(sim_text_nr_writes(), 0);
	assert_int_equal(stop.nr, 0);
	sim_site_damage(0, 3, 0);
	sim_text_changes(SIM_CALL_A);
	assert_int_equal(text_poke_batch(pokes, 1, &error), 0);
	assert_true(sim_site_holds(0, SIM_CALL_A) && stop.nr == 1);
}

static void test_refusal(void **state)
{
	(void)state;
	nr_cpus = nr_sites = 1;
	sim_alone(refuse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_refusal),
	};

	arch_irq_register(VECTOR_STOP, on_stop);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
