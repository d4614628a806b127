/*
 * Stopping by NMI, and the tests' calls by NMI (tests/kernel/nmi_call.c), on simulated CPUs: NMIs that come late or never, functions that
 * run longer than the caller's patience, several callers, several panics at once.
 *
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <arch/apic.h>
#include "sim.h"

/* Their state is put back between schedules. */
#include "../../../arch/x86_64/smp_nmi.c"
#include "../../kernel/nmi_call.c"

#define SEED 20260131u

/* One call, on its caller's stack. */
struct call {
	bool is_live;
	uint64_t began, ended; /* CPUs */
};

static bool is_sampled;		       /* an NMI is the profiler's */
static uint32_t nr_inside, nr_entered; /* NMIs that the tracer knows of */

void upcall_nmi(bool enters)
{
	nr_entered += enters;
	nr_inside += enters ? 1 : UINT32_MAX;
}

bool sample_nmi(const struct trap_frame *regs)
{
	(void)regs;
	return is_sampled;
}

static bool is_slow; /* the function outlives its caller's patience */

static void called(const struct trap_frame *regs, void *arg)
{
	struct call *call = arg;

	SIM_CHECK(sim_in_nmi(sim_cpu()) && regs->vector == TRAP_NMI);
	SIM_CHECK(call->is_live && !(call->began & CPU_BIT(sim_cpu())));
	call->began |= CPU_BIT(sim_cpu());
	if (is_slow)
		sim_let_pass(SIM_WAIT_NS);
	sim_step();
	sim_step();
	SIM_CHECK(call->is_live);
	call->ended |= CPU_BIT(sim_cpu());
	sim_wrote(true);
}

static void start(void)
{
	nmi_call.busy = 0;
	nmi_call.target = NOBODY;
	stop.owner = NOBODY;
	stop.stopped = 0;
	memset(stop.frames, 0, sizeof(stop.frames));
	nr_strays = 0;
	smp_online = 7;
	smp_nmi_init();
}

static struct call call_all(uint32_t *out_nr)
{
	struct call call = { .is_live = true };

	*out_nr = nmi_call_others(called, &call);
	call.is_live = false;
	SIM_CHECK(call.began == call.ended);
	SIM_CHECK(!(call.began & CPU_BIT(sim_cpu())));
	SIM_CHECK(*out_nr == (uint32_t)__builtin_popcountll(call.began));
	return call;
}

/* When no time passes, everybody has to answer. */
static void caller(void)
{
	uint32_t nr;

	call_all(&nr);
	SIM_CHECK(nr == 2);
}

static void impatient_caller(void)
{
	uint32_t nr;

	call_all(&nr);
	call_all(&nr);
}

static void nothing_is_left(void)
{
	SIM_CHECK(nmi_call.target == NOBODY && !nmi_call.busy);
}

static void test_call(void **state)
{
	const struct sim_setup setup = { .name = "two callers",
					 .nr_cpus = 3,
					 .main = { caller, caller },
					 .start = start,
					 .end = nothing_is_left };

	(void)state;
	is_slow = false;
	assert_true(sim_all(&setup, 3) > 1000);
}

static void test_call_out_of_patience(void **state)
{
	const struct sim_setup setup = { .name = "callers without patience",
					 .nr_cpus = 3,
					 .main = { impatient_caller },
					 .start = start,
					 .end = nothing_is_left,
					 .may_wait = true };
	const struct sim_setup both = { .name = "two callers without patience",
					.nr_cpus = 3,
					.main = { impatient_caller, impatient_caller },
					.start = start,
					.end = nothing_is_left,
					.may_wait = true };

	(void)state;
	is_slow = false;
	assert_true(sim_all(&setup, 3) > 1000);
	is_slow = true;
	assert_true(sim_all(&setup, 3) > 1000);
	sim_random(&both, 20000, SEED);
}

static void call_with_deaf(void)
{
	uint64_t before = sim_now();
	struct call call;
	uint32_t nr;

	sim_deafen(1);
	call = call_all(&nr);
	SIM_CHECK(nr == 1 && call.began == CPU_BIT(2));
	SIM_CHECK(sim_now() - before >= CALL_NS && sim_now() - before < 2 * CALL_NS);
}

static void test_call_deaf(void **state)
{
	const struct sim_setup setup = { .name = "a CPU that takes no NMI",
					 .nr_cpus = 3,
					 .main = { call_with_deaf },
					 .start = start,
					 .end = nothing_is_left };

	(void)state;
	is_slow = false;
	assert_true(sim_all(&setup, 1) > 10);
}

/* ---- NMIs without a sender ---- */

static void send_strays(void)
{
	for (uint32_t i = 0; i < 1000; i++) {
		struct trap_frame regs = { .vector = TRAP_NMI };

		nmi_handler(&regs);
	}
}

static void test_strays(void **state)
{
	uint64_t before = sim_nr_printed();
	uint64_t counted = irq_stats[0].counts[SMP_IRQ_NMI];

	(void)state;
	start();
	nr_entered = nr_inside = 0;
	sim_alone(send_strays);
	assert_int_equal(sim_nr_printed() - before, 10); /* 1, 2, 4 ... 512 */
	assert_string_equal(sim_last_printed(), "NMI: CPU 0 got one that nobody sent (512 so far)");
	assert_int_equal(irq_stats[0].counts[SMP_IRQ_NMI] - counted, 1000);
	is_sampled = true;
	sim_alone(send_strays);
	is_sampled = false;
	assert_int_equal(sim_nr_printed() - before, 10);
	assert_int_equal(nr_entered, 2000);
	assert_int_equal(nr_inside, 0);
}

/* ---- Stopping ---- */

static uint32_t nr_stoppers;

static void start_stop(void)
{
	start();
	nr_stoppers = 0;
}

static void stopper(void)
{
	uint64_t before = sim_now(), sent;
	uint32_t own = sim_cpu();

	smp_stop_others_nmi();
	nr_stoppers++;
	SIM_CHECK(sim_now() - before < STOP_NS); /* it waits no longer than it has to */
	SIM_CHECK(sim_irqs_disabled());
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		const struct trap_frame *regs = smp_stopped_frame(cpu);

		SIM_CHECK(cpu == own ? !regs : regs && regs->rip == 0x1000 + cpu);
	}
	SIM_CHECK(!smp_stopped_frame(MAX_CPUS) && !smp_stopped_frame(MAX_CPUS - 1));
	sent = sim_nr_sent();
	smp_stop_others_nmi(); /* a panic inside the panic */
	SIM_CHECK(sim_nr_sent() == sent);
	apic_send_nmi(sim_local_of(own)->apic_id); /* from outside: it goes on */
	sim_step();
}

static void one_stopped(void)
{
	SIM_CHECK(nr_stoppers == 1 && __builtin_popcountll(stop.stopped) == 2);
}

static void test_stop(void **state)
{
	const struct sim_setup setup = { .name = "two panics",
					 .nr_cpus = 3,
					 .main = { stopper, stopper },
					 .start = start_stop,
					 .end = one_stopped };

	(void)state;
	assert_true(sim_all(&setup, 3) > 100);
}

static void stop_deaf(void)
{
	uint64_t before = sim_now();

	sim_deafen(1);
	smp_stop_others_nmi();
	SIM_CHECK(!smp_stopped_frame(1) && smp_stopped_frame(2));
	SIM_CHECK(sim_now() - before >= STOP_NS && sim_now() - before < 2 * STOP_NS);
}

static void test_stop_deaf(void **state)
{
	const struct sim_setup setup = { .name = "a CPU that does not stop",
					 .nr_cpus = 3,
					 .main = { stop_deaf },
					 .start = start_stop };

	(void)state;
	assert_true(sim_all(&setup, 1) > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),	  cmocka_unit_test(test_call_out_of_patience),
		cmocka_unit_test(test_call_deaf), cmocka_unit_test(test_strays),
		cmocka_unit_test(test_stop),	  cmocka_unit_test(test_stop_deaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
