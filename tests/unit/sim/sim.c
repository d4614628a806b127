/*
 * See sim.h. The machine's side - what the headers in include/ ask for - is machine.c.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <kernel/base.h>

#include "sim.h"
#include "sim_priv.h"

#define STACK_BYTES  65536
#define MAX_POINTS   4096
#define MAX_STEPS    20000
#define NR_EVENTS    48
#define NOBODY	     UINT32_MAX
#define TIME_STEP_NS 500000000ull

/* Save the callee's registers and the stack pointer in *from, go on at `to`. */
void sim_switch(void **from, void *to);
__asm__(".text\n"
	".type sim_switch, @function\n"
	"sim_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n"
	"	push %r15\n	mov %rsp, (%rdi)\n	mov %rsi, %rsp\n	pop %r15\n"
	"	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n	"
	"ret\n"
	".size sim_switch, .-sim_switch\n");

/* The steps that may come next. */
struct option {
	uint32_t cpu;
	uint32_t site; /* an NMI runs over it first; NOBODY: none */
	uint64_t wait_ns;
};

/* For a report, which puts it into words: there are millions of events, and one report. */
struct event {
	const char *fmt; /* NULL: `line` */
	uint32_t cpu, number;
	char line[41];
};

/* A choice among several, for sim_all(). */
struct point {
	uint16_t choice;
	uint16_t nr;
};

struct sim sim;

static uint8_t stacks[SIM_CPUS][STACK_BYTES] __attribute__((aligned(64)));

static struct {
	const struct sim_setup *setup;
	void *host_sp;
	struct point path[MAX_POINTS];
	uint32_t nr_points, position;
	uint32_t bound, used; /* deviations */
	uint32_t rate;	      /* random: one step in `rate` deviates; 0: sim_all() */
	uint64_t seed, random;
	uint64_t schedule_nr, steps;
	uint32_t hits_left;
	struct event events[NR_EVENTS];
	uint64_t nr_events;
	bool is_looking; /* inside a step already */
} run;

static jmp_buf panic_jump;
static bool is_panic_wanted;
static char panic_message[256];

/* ---- Reports ---- */

void sim_note(const char *fmt, uint32_t cpu, uint32_t number)
{
	struct event *event = &run.events[run.nr_events++ % NR_EVENTS];

	event->fmt = fmt;
	event->cpu = cpu;
	event->number = number;
}

void sim_note_printed(const char *line)
{
	struct event *event = &run.events[run.nr_events++ % NR_EVENTS];

	event->fmt = NULL;
	strncpy(event->line, line, sizeof(event->line) - 1);
}

static void print_events(void)
{
	uint64_t i = run.nr_events < NR_EVENTS ? 0 : run.nr_events - NR_EVENTS;

	for (; i < run.nr_events; i++) {
		const struct event *event = &run.events[i % NR_EVENTS];

		printf("  ");
		if (event->fmt)
			printf(event->fmt, event->cpu, event->number);
		else
			printf("printed: %s", event->line);
		printf("\n");
	}
}

void sim_fail(const char *fmt, ...)
{
	va_list args;

	printf("FAILED: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n  at step %llu of schedule %llu of \"%s\"", (unsigned long long)run.steps,
	       (unsigned long long)run.schedule_nr, run.setup ? run.setup->name : "alone");
	if (run.rate)
		printf(", seed %llu", (unsigned long long)run.seed);
	printf(", on CPU %u; the last events:\n", sim.now_runs);
	print_events();
	fflush(stdout);
	_Exit(1);
}

static void on_fault(int signal)
{
	(void)signal;
	sim_fail("memory that is not there, or no more, was used");
}

void panic(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(panic_message, sizeof(panic_message), fmt, args);
	va_end(args);
	if (!is_panic_wanted)
		sim_fail("panic: %s", panic_message);
	longjmp(panic_jump, 1);
}

/* ---- Choices ---- */

static uint64_t random_below(uint64_t limit)
{
	run.random ^= run.random << 13;
	run.random ^= run.random >> 7;
	run.random ^= run.random << 17;
	return (run.random >> 11) % limit;
}

static uint32_t choose_random(uint32_t nr)
{
	return random_below(run.rate) ? 0 : (uint32_t)random_below(nr);
}

/* The choice of this schedule: the path as far as it goes, then always the first. */
static uint32_t choose_next(uint32_t nr)
{
	struct point *point = &run.path[run.position];

	if (run.position == run.nr_points) {
		if (run.nr_points == MAX_POINTS)
			sim_fail("too many choices in a schedule");
		*point = (struct point){ .nr = (uint16_t)nr };
		run.nr_points++;
	}
	if (point->nr != nr)
		sim_fail("the same schedule went another way");
	run.position++;
	run.used += point->choice != 0;
	return point->choice;
}

/* Step to the next path; false when there is none. */
static bool next_path(void)
{
	while (run.nr_points) {
		struct point *last = &run.path[run.nr_points - 1];

		if (++last->choice < last->nr)
			return true;
		run.nr_points--;
	}
	return false;
}

static bool takes_interrupt(const struct sim_cpu *cpu)
{
	if (cpu->is_deaf)
		return false;
	return (cpu->nmi_pending && !cpu->in_nmi) ||
	       (cpu->pending && !cpu->irqs_off && !cpu->in_service);
}

static bool can_run(const struct sim_cpu *cpu)
{
	if (takes_interrupt(cpu))
		return true;
	return cpu->state == SIM_RUNS || (cpu->state == SIM_SPINS && cpu->seen != sim.version);
}

/* No deviation is left: what comes next is what list_options() has first. */
static bool is_settled(void)
{
	return !run.rate && run.used == run.bound;
}

/* All that can come next, or the first of it; what happens without a deviation is first. */
static uint32_t list_options(struct option *options)
{
	uint32_t nr_cpus = run.setup->nr_cpus, nr = 0;

	for (uint32_t i = 0; i < nr_cpus; i++) {
		uint32_t cpu = (sim.now_runs + i) % nr_cpus;

		if (!can_run(&sim.cpus[cpu]))
			continue;
		options[nr++] = (struct option){ .cpu = cpu, .site = NOBODY };
		if (is_settled())
			return nr;
	}
	if (!nr)
		return 0;
	if (run.setup->may_wait)
		options[nr++] = (struct option){ sim.now_runs, NOBODY, SIM_WAIT_NS };
	if (!run.hits_left)
		return nr;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		for (uint32_t site = 0; site < sim_text_nr_sites(); site++)
			if (!sim.cpus[cpu].in_nmi && sim_text_may_trap(cpu, site))
				options[nr++] = (struct option){ .cpu = cpu, .site = site };
	return nr;
}

/* No CPU can do anything until time has passed. */
static void wait_for_time(void)
{
	sim.now_ns += TIME_STEP_NS;
	sim.version++;
}

static bool is_over(void)
{
	for (uint32_t i = 0; i < run.setup->nr_cpus; i++)
		if (sim.cpus[i].state != SIM_IDLES && sim.cpus[i].state != SIM_HALTED)
			return false;
	return true;
}

/* Let another CPU run, or go back to sim_all() when none has anything to do. */
static void switch_to(uint32_t cpu)
{
	struct sim_cpu *from = &sim.cpus[sim.now_runs];

	if (cpu == sim.now_runs)
		return;
	sim.now_runs = cpu;
	sim_note("CPU %u runs", cpu, 0);
	sim_switch(&from->sp, sim.cpus[cpu].sp);
}

static struct option next_option(void)
{
	struct option options[SIM_CPUS * 8];
	uint32_t nr, choice;

	while (!(nr = list_options(options))) {
		if (is_over())
			return (struct option){ .cpu = NOBODY };
		wait_for_time();
	}
	if (nr == 1)
		return options[0];
	choice = run.rate ? choose_random(nr) : choose_next(nr);
	return options[choice];
}

static void take_option(void)
{
	struct option option = next_option();

	if (option.cpu == NOBODY) {
		sim_switch(&sim.cpus[sim.now_runs].sp, run.host_sp);
		return;
	}
	sim.now_ns += option.wait_ns;
	if (option.wait_ns)
		sim_note("time passes", 0, 0);
	if (option.site != NOBODY) {
		run.hits_left--;
		sim.cpus[option.cpu].hit = option.site;
	}
	switch_to(option.cpu);
}

void sim_step(void)
{
	if (!run.setup || run.is_looking)
		return;
	if (++run.steps > MAX_STEPS)
		sim_fail("a schedule without end");
	run.is_looking = true;
	sim_text_look();
	if (run.setup->check)
		run.setup->check();
	run.is_looking = false;
	take_option();
	sim_deliver(&sim.cpus[sim.now_runs]);
}

/* A step at which this CPU has nothing to do by itself. */
void sim_wait_as(enum sim_state state)
{
	struct sim_cpu *cpu = &sim.cpus[sim.now_runs];

	if (!run.setup) {
		if (++run.steps > MAX_STEPS)
			sim_fail("it waits, and there is nobody else");
		return;
	}
	cpu->state = state;
	cpu->seen = sim.version;
	take_option();
	cpu->state = SIM_RUNS;
	sim_deliver(cpu);
}

/* ---- Schedules ---- */

static void cpu_begin(void)
{
	sim_fn fn = run.setup->main[sim.now_runs];

	sim_deliver(&sim.cpus[sim.now_runs]);
	if (fn)
		fn();
	for (;;)
		sim_wait_as(SIM_IDLES);
}

static void prepare_cpu(uint32_t cpu)
{
	void **sp = (void **)(void *)(stacks[cpu] + STACK_BYTES - 64);

	sim.cpus[cpu] = (struct sim_cpu){ .hit = NOBODY };
	sim.cpus[cpu].local.id = cpu;
	sim.cpus[cpu].local.apic_id = SIM_APIC_ID(cpu);
	*--sp = NULL; /* aligned as at a function's entry */
	*--sp = (void *)cpu_begin;
	sp -= 6;
	memset(sp, 0, 6 * sizeof(*sp));
	sim.cpus[cpu].sp = sp;
}

static void run_schedule(const struct sim_setup *setup)
{
	run.setup = NULL; /* no steps in start() */
	run.schedule_nr++;
	run.steps = run.nr_events = run.used = run.position = 0;
	run.hits_left = setup->nr_hits;
	sim.now_runs = 0;
	for (uint32_t i = 0; i < SIM_CPUS; i++)
		prepare_cpu(i);
	if (setup->start)
		setup->start();
	run.setup = setup;
	sim_switch(&run.host_sp, sim.cpus[0].sp);
	run.setup = NULL;
	for (uint32_t i = 0; i < setup->nr_cpus; i++)
		if (sim.cpus[i].local.preempt_count)
			sim_fail("CPU %u: preemption stays off", i);
	if (setup->end)
		setup->end();
}

uint64_t sim_all(const struct sim_setup *setup, uint32_t bound)
{
	signal(SIGSEGV, on_fault);
	run.rate = run.nr_points = 0;
	run.schedule_nr = 0;
	run.bound = bound;
	do
		run_schedule(setup);
	while (next_path());
	printf("%s: %llu schedules, up to %u deviations\n", setup->name,
	       (unsigned long long)run.schedule_nr, bound);
	return run.schedule_nr;
}

uint64_t sim_random(const struct sim_setup *setup, uint64_t nr, uint64_t seed)
{
	static const uint32_t rates[] = { 2, 6, 20 };

	signal(SIGSEGV, on_fault);
	run.seed = seed;
	run.random = seed * 0x9e3779b97f4a7c15ull + 1;
	run.schedule_nr = 0;
	while (run.schedule_nr < nr) {
		run.rate = rates[run.schedule_nr % 3];
		run_schedule(setup);
	}
	printf("%s: %llu schedules of seed %llu\n", setup->name, (unsigned long long)nr,
	       (unsigned long long)seed);
	return nr;
}

void sim_alone(sim_fn fn)
{
	run.setup = NULL;
	run.rate = 0;
	run.steps = 0;
	sim.now_runs = 0;
	for (uint32_t i = 0; i < SIM_CPUS; i++)
		prepare_cpu(i);
	fn();
}

const char *sim_panics(sim_fn fn)
{
	is_panic_wanted = true;
	if (!setjmp(panic_jump)) {
		sim_alone(fn);
		sim_fail("no panic");
	}
	is_panic_wanted = false;
	return panic_message;
}

uint64_t sim_schedule_nr(void)
{
	return run.schedule_nr;
}
