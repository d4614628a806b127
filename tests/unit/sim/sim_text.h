/*
 * Text of the simulated machine, and what its CPUs may have fetched of it.
 *
 * A CPU that may run over a site takes each of its bytes, on its own, from any time since it last
 * serialised: whatever memory held since then, it may execute. This is looked at for every CPU
 * before every step, for an NMI may run over any site at any moment. Never may there be
 *
 *   a mix       a first byte and a tail that belong to no instruction the site has or shall have
 *   a stranger  an int3 that trace_breakpoint_dispatch() has no answer to, or answers by doing anything but
 *               what the site shall hold
 *
 * `tcg`: the CPUs are those of QEMU's emulator. They see each write at once; but when an int3 is
 * overwritten, each of them may go on executing it until the byte is written once more.
 *
 * The first NR_TRACKED sites are followed like this; one more, SITE_FOREIGN, holds an int3 that is
 * free, and CPUs run over that too.
 */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_TRACKED	 2u
#define SIM_SITE_FOREIGN 2u
#define SIM_MAX_SITES	 700u
#define SIM_MIDDLE	 2u /* byte of a site: with a probe, the NOP stands for two instructions */

/* The instructions that a site can hold. */
enum sim_insn {
	SIM_NOP,
	SIM_CALL_A,
	SIM_CALL_B,
	SIM_JMP,
	SIM_PROBED, /* the NOP with an int3 of a probe in place of its first byte */
};

/* All text as `insn`, and nothing else was ever there. The CPUs run over the first `nr_tracked`. */
void sim_text_reset(enum sim_insn insn, uint32_t nr_tracked, bool tcg);
/* Add an int3 without an owner; before each schedule. */
void sim_text_add_foreign(void);

uintptr_t sim_site(uint32_t index);
uintptr_t sim_text_end(void);
void sim_insn_make(uint32_t site, enum sim_insn insn, uint8_t *out_insn);
bool sim_site_holds(uint32_t index, enum sim_insn insn);
/* Write to it without help. */
void sim_site_damage(uint32_t index, uint32_t byte, uint8_t value);

/* The tracked sites begin to change to `to`. */
void sim_text_changes(enum sim_insn to);
/* Every CPU that runs over the tracked sites hits the int3, in every case. */
void sim_text_check_armed(void);
/* They hold `to`, and no CPU can execute anything else. */
void sim_text_changed(void);

/* `cpu` runs code that has sites, from now on. */
void sim_text_cpu_runs(uint32_t cpu);
/* It runs none until the next sim_text_cpu_runs(). */
void sim_text_cpu_stops(uint32_t cpu);
/* A thread on it is between the two instructions of the first site, and will go on there; or not. */
void sim_text_cpu_stands(uint32_t cpu, bool stands);

/* The answer of trace_arch_is_emulated(). */
extern bool sim_is_emulator;

/* Is the view there: between open and close? */
bool sim_view_is_open(void);
/* Longest stretch of writes with interrupts off since the last reset; writes in all. */
uint32_t sim_text_longest_stretch(void);
uint64_t sim_text_nr_writes(void);
/* int3s executed in this schedule. */
uint64_t sim_text_nr_traps(void);

#endif
