/*
 * synchronize_preempt() on CPUs that the test plays, one look after the other: who is waited for,
 * who is not, and what the log says.
 *
 * links: kernel/sched/grace.c trace/ops/host_tracepoints.c
 */
#include "unit.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <arch/smp.h>
#include <kernel/time.h>
#include "fast.h"
#include "sched/sched.h"

#define NR_CPUS	  4u
#define MAX_LOOKS 50u
#define ONE_IRQ	  0x00010000u /* what preempt_count is higher by in an interrupt */

struct run_queue run_queues[MAX_CPUS];

static struct cpu_local cpus[NR_CPUS];
static struct thread idle[NR_CPUS], busy[NR_CPUS];
static uint64_t online, now_ns;
static uint32_t nr_looks;
static void (*before_look)(void); /* nr_looks says which: 0 is the first */
static char log_text[1000];

static void be_cpu(uint32_t cpu)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, &cpus[cpu]);
}

uint64_t smp_running_mask(void)
{
	return online;
}

/* An interrupt on every CPU; the caller's own is called. */
void on_each_cpu(void (*fn)(void *arg), void *arg, bool wait)
{
	assert_true(wait);
	if (before_look)
		before_look();
	nr_looks++;
	assert_true(nr_looks < MAX_LOOKS);
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		if (!(online & 1ull << cpu))
			continue;
		be_cpu(cpu);
		cpus[cpu].preempt_count += cpu ? ONE_IRQ : 0;
		fn(arg);
		cpus[cpu].preempt_count -= cpu ? ONE_IRQ : 0;
	}
	be_cpu(0);
}

uint64_t ktime_get_ns(void)
{
	return now_ns;
}

void yield(void)
{
	assert_int_equal(cpus[0].preempt_count, PREEMPT_NO_RESCHED);
}

void kernel_warn(const char *fmt, ...)
{
	size_t len = strlen(log_text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(log_text + len, sizeof(log_text) - len, fmt, args);
	va_end(args);
}

void tracepoint_call_preempt_disable(void)
{
}

void tracepoint_call_preempt_enable(void)
{
}

void preempt_schedule_notrace(void)
{
}

static void run(uint32_t cpu, struct thread *thread, uint32_t inside)
{
	run_queues[cpu].running = thread;
	cpus[cpu].preempt_count = PREEMPT_NO_RESCHED | inside;
}

static int setup(void **state)
{
	(void)state;
	online = (1u << NR_CPUS) - 1;
	now_ns = 5 * NSEC_PER_SEC;
	nr_looks = 0;
	before_look = NULL;
	log_text[0] = '\0';
	memset(run_queues, 0, sizeof(run_queues));
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		run_queues[cpu].cpu = cpu;
		run_queues[cpu].idle = &idle[cpu];
		run_queues[cpu].nr_passes = 7;
		busy[cpu].pid = (int32_t)(100 + cpu);
		cpus[cpu].id = cpu;
		cpus[cpu].kernel_private = &run_queues[cpu];
		run(cpu, &busy[cpu], 0);
	}
	be_cpu(0);
	return 0;
}

/* How many looks it takes. */
static uint32_t looks(void)
{
	nr_looks = 0;
	synchronize_preempt();
	assert_int_equal(cpus[0].preempt_count, PREEMPT_NO_RESCHED);
	return nr_looks;
}

static void test_all_outside(void **state)
{
	(void)state;
	assert_int_equal(looks(), 1);
	online = 1; /* no other CPU is there */
	run(2, &busy[2], 1);
	assert_int_equal(looks(), 0);
}

static uint32_t who, what; /* a CPU, and what it is inside of until the fourth look */

static void leave_at_third(void)
{
	run(who, &busy[who], nr_looks < 3 ? what : 0);
}

/* A depth, a softirq, softirqs held off; each CPU but the caller's. */
static void test_sections_are_waited_for(void **state)
{
	const uint32_t sections[] = { 1, 3, PREEMPT_SOFTIRQ_ONE, 2 * PREEMPT_SOFTIRQ_ONE, 255 };

	(void)state;
	before_look = leave_at_third;
	for (who = 1; who < NR_CPUS; who++) {
		for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
			what = sections[i];
			assert_int_equal(looks(), 4);
		}
	}
}

/* Each look finds it in a section; between two of them it comes by the scheduler, if it is asked to. */
static void pass_if_asked(void)
{
	if (nr_looks && !(cpus[who].preempt_count & PREEMPT_NO_RESCHED))
		run_queues[who].nr_passes++;
	run(who, &busy[who], 1);
}

static void test_always_inside(void **state)
{
	(void)state;
	before_look = pass_if_asked;
	who = 2;
	assert_int_equal(looks(), 2);
}

/* Only a halt is outside: the idle loop keeps the depth at 1. */
static void idle_until_third(void)
{
	run(2, &idle[2], what);
	run_queues[2].is_halted = who;
	if (nr_looks >= 3) {
		run(2, &idle[2], 1);
		run_queues[2].is_halted = true;
	}
}

static void test_idle(void **state)
{
	(void)state;
	before_look = idle_until_third;
	who = true; /* halted */
	what = 1;
	assert_int_equal(looks(), 1);
	what = 2; /* in a section, in an interrupt that came while it was halted */
	assert_int_equal(looks(), 4);
	what = 1 | PREEMPT_SOFTIRQ_ONE;
	assert_int_equal(looks(), 4);
	who = false; /* on its way to the halt, or away from it */
	what = 1;
	assert_int_equal(looks(), 4);
	what = 0;
	assert_int_equal(looks(), 4);
}

/* A busy thread does not count as halted, whatever the idle thread was doing last. */
static void test_flag_of_idle_is_of_idle(void **state)
{
	(void)state;
	before_look = leave_at_third;
	who = 1;
	what = 1;
	run_queues[1].is_halted = true;
	assert_int_equal(looks(), 4);
}

static void pass_at_second(void)
{
	run(1, &busy[1], 1);
	if (nr_looks == 2)
		run_queues[1].nr_passes++;
}

/* In another section at each look: it has passed the scheduler between them. */
static void test_passes_count(void **state)
{
	(void)state;
	before_look = pass_at_second;
	assert_int_equal(looks(), 3);
}

static void out_one_by_one(void)
{
	run(1, &busy[1], nr_looks != 1);
	run(2, &busy[2], nr_looks != 2);
	run(3, &busy[3], nr_looks != 3);
}

/* Each has to be seen outside once, not all at the same time. */
static void test_once_is_enough(void **state)
{
	(void)state;
	before_look = out_one_by_one;
	assert_int_equal(looks(), 4);
}

static void late(void)
{
	run(1, &busy[1], nr_looks < 5);
	run(3, &busy[3], nr_looks < 3);
	if (nr_looks == 1)
		now_ns += 10 * NSEC_PER_SEC - 1;
	if (nr_looks == 2) {
		assert_string_equal(log_text, "");
		now_ns += 1;
	}
	if (nr_looks == 3)
		now_ns += 10 * NSEC_PER_SEC;
}

/* Every 10 s, those that are inside still. */
static void test_late_cpus_are_named(void **state)
{
	(void)state;
	before_look = late;
	assert_int_equal(looks(), 6); /* the last but one at the same time */
	assert_string_equal(log_text,
			    "sched: CPU 1 has had preemption off for 10 s (thread 101)\n"
			    "sched: CPU 3 has had preemption off for 10 s (thread 103)\n"
			    "sched: CPU 1 has had preemption off for 10 s (thread 101)\n");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_outside),
		TEST(test_sections_are_waited_for),
		TEST(test_always_inside),
		TEST(test_idle),
		TEST(test_flag_of_idle_is_of_idle),
		TEST(test_passes_count),
		TEST(test_once_is_enough),
		TEST(test_late_cpus_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
