/*
 * The other CPUs: starting them, asking things of them, stopping them.
 *
 * Numbers: CPUs are numbered 0 .. smp_nr_cpus() - 1 without holes; 0 is the boot CPU. smp_nr_cpus()
 * is what exists, fixed by smp_init(); one that never answered, or is more than may run, stays
 * offline.
 *
 * Coming online, against text patching: before it is online a CPU runs code that has no call sites
 * (notrace). It then takes the hot-plug lock, with interrupts off, sets its bit in the online mask,
 * executes arch_sync_core(), and drops the lock. A text poke batch holds the same lock from its
 * first int3 to its last sync:
 *
 *   batch first:  the CPU waits outside; it serialises after the last write.
 *   CPU first:    the batch sees its bit, so each of its syncs asks this CPU too.
 *
 * Context:   thread, interrupts on, for what waits for other CPUs (asserted); senders that do not
 *            wait - any. The calls that run on the other side - interrupt, so they may not sleep.
 * Locking:   the hot-plug lock is a spinning one, taken with interrupts on and served meanwhile.
 */
#ifndef ARCH_SMP_H
#define ARCH_SMP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/*
 * Number the CPUs of the MADT, the boot CPU always and first; at most MAX_CPUS, of which `max_cpus`
 * will be started.
 */
void smp_init(unsigned long max_cpus);
/*
 * Start the other CPUs, one after the other; each ends in upcall_ap_main(cpu) with interrupts off.
 * Those that do not answer are reported and left out. Returns the number online. Boot CPU, thread
 * context or before threads, interrupts on or off.
 */
uint32_t smp_start_all(void);

/* Any context. */
uint32_t smp_nr_cpus(void);
uint32_t smp_nr_online(void);
bool smp_cpu_online(uint32_t cpu);
uint64_t smp_online_mask(void); /* bit n: CPU n */

/* No CPU comes online between the two. Thread context. */
void smp_hotplug_lock(void);
void smp_hotplug_unlock(void);

/* fn(arg), interrupts off, on every online CPU, this one too; `wait`: until all are done. */
void smp_call_all(void (*fn)(void *arg), void *arg, bool wait);
/* The same on one CPU, and wait. -ENODEV when it is not online. */
int smp_call_one(uint32_t cpu, void (*fn)(void *arg), void *arg);

/*
 * Every other online CPU executes arch_sync_core() between call and return, and so does this one.
 * CPUs that are silent for long are named in the log; it keeps waiting.
 */
void smp_sync_cores(void);

/* CPU `cpu` shall look at its need-resched flag: calls upcall_reschedule() there. Any context. */
void smp_send_reschedule(uint32_t cpu);

/*
 * Stop all other CPUs, for good, by NMI: used by panic. The registers they had are kept.
 * Waits for at most five seconds. Any context; of several callers one returns, the others stop too.
 */
void smp_stop_others_nmi(void);
/* Registers of a CPU that smp_stop_others_nmi() stopped; NULL when it did not answer. */
const struct trap_frame *smp_stopped_frame(uint32_t cpu);
/*
 * fn(regs, arg) in NMI context on each other online CPU, one after the other. Returns the number
 * that ran it: each has two seconds to begin, and no CPU begins after that. Thread or irq context.
 */
uint32_t smp_nmi_call_others(void (*fn)(const struct trap_frame *regs, void *arg), void *arg);

/* Interrupts of each kind that this CPU took, for `irqs`. */
enum smp_irq_kind {
	SMP_IRQ_TIMER,
	SMP_IRQ_RESCHEDULE,
	SMP_IRQ_CALL,
	SMP_IRQ_SYNC,
	SMP_IRQ_NMI,
	SMP_IRQ_UART,
	SMP_IRQ_SPURIOUS,
	SMP_IRQ_NR_KINDS
};
const char *smp_irq_name(enum smp_irq_kind kind);
uint64_t smp_irq_count(uint32_t cpu, enum smp_irq_kind kind);

#endif
