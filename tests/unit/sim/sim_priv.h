/* Functions that sim.c, machine.c and text.c share. */
#ifndef SIM_PRIV_H
#define SIM_PRIV_H

#include "sim.h"

/* Not the CPU's number, so that neither can be taken for the other. */
#define SIM_APIC_ID(cpu) (2 * (cpu) + 1)

enum sim_state {
	SIM_RUNS,
	SIM_SPINS,  /* until memory changes */
	SIM_IDLES,  /* until an interrupt comes */
	SIM_HALTED, /* for good */
};

struct sim_cpu {
	struct cpu_local local;
	void *sp; /* while another CPU runs */
	enum sim_state state;
	uint64_t seen; /* sim.version when it began to spin */
	bool irqs_off, in_service, in_nmi, nmi_pending, is_deaf;
	bool is_nudged;	  /* a timer interrupt will end its sleep */
	uint32_t hit;	  /* site that its next NMI runs over; UINT32_MAX: none */
	uint64_t pending; /* bit n: interrupt vector 192 + n was sent to it */
	uint64_t nr_serialised;
	uint64_t cr2, cr3;
};

extern struct sim {
	struct sim_cpu cpus[SIM_CPUS];
	uint32_t now_runs;
	uint64_t version; /* of memory */
	uint64_t now_ns;
	uint64_t nr_sent;
} sim;

/* For the report of a failure: what happened, a constant with up to two %u; and what was printed. */
void sim_note(const char *fmt, uint32_t cpu, uint32_t number);
void sim_note_printed(const char *line);
/* Run what came in for the CPU that runs. */
void sim_deliver(struct sim_cpu *cpu);
/* A step of a CPU that can do nothing by itself. */
void sim_wait_as(enum sim_state state);
/* Call `fn` as an NMI. */
void sim_run_nmi(struct sim_cpu *cpu, void (*fn)(struct trap_frame *regs));

#endif
