/*
 * Simulated CPUs, on which sources of arch/ run unchanged: every shared access, every pause and
 * every core sync in them is a step, and between two steps another CPU may run, or an NMI come.
 *
 *   sim_all()     every schedule with up to `bound` deviations. Without one, a CPU runs until it
 *                 waits, then the next does. A deviation is another CPU than that one, an NMI
 *                 that runs over a site, or time that passes.
 *   sim_random()  schedules with any number of them; the seed is printed.
 *
 * Each CPU is a coroutine of one host thread. Interrupts and NMIs are calls on it, from within the
 * step where they come. What a source of arch/ finds instead of the machine: include/.
 *
 * A failure prints what happened, the last events before it, and ends the program with status 1.
 *
 * Context: one thread; the functions below `struct sim_setup` are for code on a simulated CPU.
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arch/cpu_local.h>
#include <trace/compiler.h>

#define SIM_CPUS 4u

typedef void (*sim_fn)(void);

struct trap_frame;

struct sim_setup {
	const char *name;
	uint32_t nr_cpus;
	sim_fn main[SIM_CPUS]; /* NULL, or returned: the CPU waits for interrupts */
	sim_fn start;	       /* before each schedule; optional, as the others */
	sim_fn check;	       /* at every step */
	sim_fn end;	       /* when every main() has returned */
	uint32_t nr_hits;      /* NMIs over sites in a schedule */
	bool may_wait;	       /* time may pass at any step: SIM_WAIT_NS */
};

#define SIM_WAIT_NS 3000000000ull

/* Return how many schedules were tried. */
uint64_t sim_all(const struct sim_setup *setup, uint32_t bound);
uint64_t sim_random(const struct sim_setup *setup, uint64_t nr, uint64_t seed);

/* Run `fn` on CPU 0 alone, without other CPUs: for tests of what takes no turns. */
void sim_alone(sim_fn fn);
/* The same; it has to end in panic(). Returns the message. */
const char *sim_panics(sim_fn fn);

/* Wait for the next interrupt. */
void sim_idle(void);
uint32_t sim_cpu(void);
uint64_t sim_schedule_nr(void);
struct cpu_local *sim_local_of(uint32_t cpu);
void sim_fail(const char *fmt, ...) TRACE_PRINTF(1, 2) __attribute__((noreturn));
#define SIM_CHECK(cond)                                                                            \
	do {                                                                                       \
		if (!(cond))                                                                       \
			sim_fail("%s:%d: not so: %s", __FILE__, __LINE__, #cond);                  \
	} while (0)

/* Lines printed so far, and the last of them. */
uint64_t sim_nr_printed(void);
const char *sim_last_printed(void);

/* Times that `cpu` has serialised. */
uint64_t sim_nr_serialised(uint32_t cpu);
/* Inter-processor interrupts that were sent, by `cpu` and in all. */
uint64_t sim_nr_sent(void);
bool sim_in_nmi(uint32_t cpu);
/* Times that a CPU has halted until the timer's nudge. */
uint64_t sim_nr_naps(void);
/* The clock, in ns; it is the cycle counter, too. */
uint64_t sim_now(void);
void sim_let_pass(uint64_t ns);
/* From here on `cpu` takes no interrupt and no NMI. */
void sim_deafen(uint32_t cpu);

/* ---- Between sim.c and text.c ---- */

/* Let CPUs fetch the text that was written since the last step. */
void sim_text_look(void);
void sim_text_serialise(uint32_t cpu);
/* A CPU that may run over `site` now: would it hit an int3? */
bool sim_text_may_trap(uint32_t cpu, uint32_t site);
uint32_t sim_text_nr_sites(void);
/* It does. */
void sim_text_trap(uint32_t cpu, uint32_t site);

#endif
