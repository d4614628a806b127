/*
 * The core sync on simulated CPUs: what it promises, with several at once, with a CPU that comes
 * online meanwhile, with one that is silent.
 *
 * links: arch/x86_64/smp_sync.c arch/x86_64/smp_ap.c
 */
#include "unit.h"
#include <string.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include "irq_stats.h"
#include "sim.h"
#include "smp_priv.h"

/* Calls of other CPUs are not simulated. */
void smp_serve_last_calls(void)
{
}

#define LATE_CPU 3u
#define SEED	 20260131u

static bool is_late_there;
static uint64_t printed;

static void start(void)
{
	smp_sync_init();
	smp_online = 7;
	cpu_features.hypervisor = false;
	is_late_there = false;
	printed = sim_nr_printed();
	memset(irq_stats, 0, sizeof(irq_stats));
}

/* Every CPU that is online before serialises between call and return. */
static void sync_once(void)
{
	uint64_t online = smp_online_mask(), before[SIM_CPUS];

	for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++)
		before[cpu] = sim_nr_serialised(cpu);
	smp_sync_cores();
	for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++)
		if (online & CPU_BIT(cpu))
			SIM_CHECK(sim_nr_serialised(cpu) > before[cpu]);
}

static void sync_twice(void)
{
	sync_once();
	sync_once();
}

static void nothing_printed(void)
{
	SIM_CHECK(sim_nr_printed() == printed);
}

static void test_promise(void **state)
{
	const struct sim_setup one = { .name = "one sync",
				       .nr_cpus = 3,
				       .main = { sync_twice },
				       .start = start,
				       .end = nothing_printed };
	const struct sim_setup three = { .name = "three syncs at once",
					 .nr_cpus = 3,
					 .main = { sync_once, sync_once, sync_once },
					 .start = start,
					 .end = nothing_printed };
	const struct sim_setup many = { .name = "many syncs at once",
					.nr_cpus = 3,
					.main = { sync_twice, sync_twice, sync_twice },
					.start = start,
					.end = nothing_printed };

	(void)state;
	assert_true(sim_all(&one, 3) > 100);
	assert_true(sim_all(&three, 3) > 1000);
	sim_random(&many, 20000, SEED);
}

/* The messages: one to all when all are asked, else one to each. No interrupt is counted twice. */
static void count_messages(void)
{
	uint64_t sent = sim_nr_sent();

	smp_sync_cores();
	SIM_CHECK(sim_nr_sent() - sent == 1);
	SIM_CHECK(irq_stats[1].counts[SMP_IRQ_SYNC] == 1 &&
		  irq_stats[2].counts[SMP_IRQ_SYNC] == 1 && irq_stats[0].counts[SMP_IRQ_SYNC] == 0);
	smp_send_mask(CPU_BIT(1), APIC_VECTOR_SYNC);
	SIM_CHECK(sim_nr_sent() - sent == 2);
	smp_send_mask(CPU_BIT(2), APIC_VECTOR_SYNC);
	SIM_CHECK(sim_nr_sent() - sent == 3);
	smp_send_mask(0, APIC_VECTOR_SYNC);
	SIM_CHECK(sim_nr_sent() - sent == 3);
	sim_step();
}

static void all_were_reached(void)
{
	SIM_CHECK(irq_stats[1].counts[SMP_IRQ_SYNC] == 2 && irq_stats[2].counts[SMP_IRQ_SYNC] == 2);
	nothing_printed();
}

static void count_partly(void)
{
	uint64_t sent = sim_nr_sent();

	smp_send_mask(CPU_BIT(1) | CPU_BIT(2), APIC_VECTOR_SYNC);
	SIM_CHECK(sim_nr_sent() - sent == 2);
}

static void start_four(void)
{
	start();
	smp_online = 15;
}

static void the_fourth_was_not_asked(void)
{
	SIM_CHECK(irq_stats[1].counts[SMP_IRQ_SYNC] == 1 &&
		  irq_stats[2].counts[SMP_IRQ_SYNC] == 1 && irq_stats[3].counts[SMP_IRQ_SYNC] == 0);
}

static void test_messages(void **state)
{
	const struct sim_setup setup = { .name = "messages",
					 .nr_cpus = 3,
					 .main = { count_messages },
					 .start = start,
					 .end = all_were_reached };

	const struct sim_setup partly = { .name = "messages to some",
					  .nr_cpus = 4,
					  .main = { count_partly },
					  .start = start_four,
					  .end = the_fourth_was_not_asked };

	(void)state;
	sim_all(&setup, 0);
	sim_all(&partly, 0);
}

static void sync_alone(void)
{
	uint64_t before = sim_nr_serialised(0), sent = sim_nr_sent();

	smp_online = 1;
	sim_irq_disable(); /* without a CPU to wait for that is no harm */
	smp_sync_cores();
	assert_int_equal(sim_nr_serialised(0), before + 1);
	assert_int_equal(sim_nr_sent(), sent);
	smp_hotplug_lock();
	smp_hotplug_unlock();
}

static void sync_irqs_off(void)
{
	smp_online = 3;
	sim_irq_disable();
	smp_sync_cores();
}

static void hotplug_irqs_off(void)
{
	smp_online = 3;
	sim_irq_disable();
	smp_hotplug_lock();
}

static void test_interrupts_off(void **state)
{
	(void)state;
	sim_alone(sync_alone);
	assert_non_null(strstr(sim_panics(sync_irqs_off), "assertion failed"));
	assert_non_null(strstr(sim_panics(hotplug_irqs_off), "assertion failed"));
}

/* ---- A CPU comes online ---- */

static void late_main(void)
{
	smp_ap_entry(LATE_CPU);
}

void upcall_ap_main(uint32_t cpu)
{
	SIM_CHECK(cpu == LATE_CPU && smp_cpu_online(cpu) && smp_ap_state == AP_ALIVE);
	SIM_CHECK(sim_nr_serialised(cpu) > 0);
	is_late_there = true;
	sim_irq_restore(RFLAGS_IF);
	for (;;)
		sim_idle();
}

static void start_late(void)
{
	start();
	smp_ap_state = AP_STARTING;
}

static void late_is_there(void)
{
	SIM_CHECK(is_late_there && smp_online == 15 && smp_ap_state == AP_ALIVE);
	nothing_printed();
}

/* While it is held no CPU comes online; afterwards one does. */
static void hold_hotplug(void)
{
	uint64_t online;

	smp_hotplug_lock();
	online = smp_online_mask();
	for (int i = 0; i < 3; i++)
		sync_once();
	SIM_CHECK(smp_online_mask() == online);
	smp_hotplug_unlock();
}

static void test_late(void **state)
{
	const struct sim_setup hold = { .name = "the list of CPUs is held",
					.nr_cpus = 4,
					.main = { hold_hotplug, hold_hotplug, NULL, late_main },
					.start = start_late,
					.end = late_is_there };
	const struct sim_setup sync = { .name = "a sync while a CPU comes",
					.nr_cpus = 4,
					.main = { sync_twice, NULL, NULL, late_main },
					.start = start_late,
					.end = late_is_there };

	(void)state;
	assert_true(sim_all(&hold, 2) > 1000);
	assert_true(sim_all(&sync, 2) > 1000);
}

static bool late_has_stopped, is_held;

/* Reset in the middle of its last step: with the lock, and online already. */
static void late_stops(void)
{
	smp_hotplug_lock_raw();
	atomic_fetch_or(&smp_online, CPU_BIT(LATE_CPU));
	late_has_stopped = true;
}

/* Afterwards neither the lock nor a sync waits for it; the lock of another CPU stays that CPU's. */
static void forget_late(void)
{
	while (!late_has_stopped)
		sim_step();
	smp_forget(LATE_CPU);
	SIM_CHECK(smp_online == 7);
	smp_hotplug_lock();
	is_held = true;
	smp_forget(LATE_CPU);
	sync_once();
	is_held = false;
	smp_hotplug_unlock();
}

static void take_hotplug(void)
{
	while (!late_has_stopped)
		sim_step();
	smp_hotplug_lock();
	SIM_CHECK(!is_held);
	smp_hotplug_unlock();
}

static void start_stopping(void)
{
	start();
	late_has_stopped = is_held = false;
}

static void test_reset_on_the_way(void **state)
{
	const struct sim_setup setup = { .name = "a CPU is reset as it comes online",
					 .nr_cpus = 4,
					 .main = { forget_late, take_hotplug, NULL, late_stops },
					 .start = start_stopping,
					 .end = nothing_printed };

	(void)state;
	sim_random(&setup, 2000, SEED);
}

static void start_left_out(void)
{
	start();
	smp_ap_state = AP_LEFT_OUT;
}

static void nobody_came(void)
{
	SIM_CHECK(!is_late_there && smp_online == 7 && smp_ap_state == AP_LEFT_OUT);
	SIM_CHECK(!smp_cpu_online(LATE_CPU) && !smp_cpu_online(MAX_CPUS) && smp_cpu_online(2));
}

static void test_left_out(void **state)
{
	const struct sim_setup setup = { .name = "a CPU that was given up comes",
					 .nr_cpus = 4,
					 .main = { NULL, NULL, NULL, late_main },
					 .start = start_left_out,
					 .end = nobody_came };

	(void)state;
	sim_all(&setup, 2);
}

/* ---- A CPU that is silent ---- */

static uint32_t spins;

/* CPUs 1 and 3 are missing, `arg` times. */
static uint64_t left_for_a_while(uint64_t arg)
{
	return spins++ < arg ? CPU_BIT(1) | CPU_BIT(3) : 0;
}

static uint64_t left_while_time_passes(uint64_t arg)
{
	sim_let_pass(1000000000ull);
	return spins++ < arg ? CPU_BIT(1) | CPU_BIT(3) : 0;
}

static void wait_loudly(void)
{
	uint64_t before = sim_nr_printed();

	spins = 0;
	smp_wait(left_while_time_passes, 9, "test");
	assert_int_equal(sim_nr_printed(), before);
	spins = 0;
	smp_wait(left_while_time_passes, 12, "test");
	assert_int_equal(sim_nr_printed(), before + 2);
	assert_string_equal(sim_last_printed(), "SMP: CPU 3 does not answer (test)");
	spins = 0;
	smp_wait(left_while_time_passes, 25, "test");
	assert_int_equal(sim_nr_printed(), before + 2 + 4);
}

/* A guest halts, after it has looked often enough; not with interrupts off. */
static void wait_as_guest(void)
{
	uint64_t naps = sim_nr_naps();

	cpu_features.hypervisor = true;
	spins = 0;
	smp_wait(left_for_a_while, 3000, "test");
	assert_int_equal(sim_nr_naps(), naps);
	spins = 0;
	smp_wait(left_for_a_while, 3001, "test");
	assert_int_equal(sim_nr_naps(), naps + 1);
	assert_false(sim_irqs_disabled());
	spins = 0;
	sim_irq_disable();
	smp_wait(left_for_a_while, 4000, "test");
	assert_int_equal(sim_nr_naps(), naps + 1);
	cpu_features.hypervisor = false;
	sim_irq_restore(RFLAGS_IF);
	spins = 0;
	smp_wait(left_for_a_while, 4000, "test");
	assert_int_equal(sim_nr_naps(), naps + 1);
}

static void test_silence(void **state)
{
	(void)state;
	sim_alone(wait_loudly);
	sim_alone(wait_as_guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promise),		 cmocka_unit_test(test_messages),
		cmocka_unit_test(test_interrupts_off),	 cmocka_unit_test(test_late),
		cmocka_unit_test(test_reset_on_the_way), cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
