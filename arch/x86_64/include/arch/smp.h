/*
 * The other CPUs (APs, application processors): starting them, calling functions on them, stopping
 * them.
 *
 * CPUs are numbered 0 .. smp_nr_cpus() - 1 without holes; 0 is the boot CPU. smp_nr_cpus() is the
 * number of CPUs that exist, and is fixed by smp_init(). A CPU that never answered, or that the
 * limit of smp_init() leaves out, has a number and stays offline.
 *
 * Coming online, against text patching: before it is online a CPU runs code that has no call sites
 * (notrace). It then takes the hot-plug lock, with interrupts off, sets its bit in the online mask,
 * executes arch_sync_core(), and drops the lock. A text poke batch holds the same lock from its
 * first int3 to its last sync:
 *
 *   batch first:  the CPU waits outside; it serialises after the last write.
 *   CPU first:    the batch sees its bit, so each of its syncs asks this CPU too.
 *
 * Going offline: when the scheduler has emptied a CPU, upcall_ap_main() returns there. The CPU takes
 * the hot-plug lock, clears its bit in the online mask, answers the calls of CPUs that had seen the
 * bit, drops the lock and halts in code without call sites. Until then it takes part in each sync; from
 * then on text may change without it, as before its start. smp_start_cpu() resets it.
 *
 * Context:   thread, interrupts on, for functions that wait for other CPUs (asserted); senders that
 *            do not wait - any. The calls that run on the other side - interrupt, so they may not
 *            sleep.
 * Locking:   the hot-plug lock spins. Threads take it with interrupts on, so that they go on
 *            answering other CPUs while they wait for it.
 */
#ifndef ARCH_SMP_H
#define ARCH_SMP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/*
 * Number the CPUs that the firmware lists (MADT), at most MAX_CPUS, the boot CPU first. At most
 * `max_cpus` of them, the boot CPU included, will be online.
 */
void smp_init(unsigned long max_cpus);
/*
 * Start the other CPUs, one after the other; each ends in upcall_ap_main(cpu) with interrupts off.
 * Those that do not answer are reported and left out. Returns the number online. Boot CPU, thread
 * context or before threads, interrupts on or off.
 */
uint32_t smp_start_all(void);

/*
 * Start a CPU that is smp_cpu_gone(), or was never online. 0 when it is online; -EIO, with a message in
 * the log. Thread on the boot CPU; one caller at a time.
 */
int smp_start_cpu(uint32_t cpu);

/* Any context. */
uint32_t smp_nr_cpus(void);
uint32_t smp_nr_online(void);
bool smp_cpu_online(uint32_t cpu);
uint64_t smp_online_mask(void); /* bit n: CPU n */
/* It runs no code any more but the halt at its end, and may be started again. */
bool smp_cpu_gone(uint32_t cpu);
/* The CPUs that run code with call sites: those that are online, and those that answer their last calls. */
uint64_t smp_running_mask(void);

/* No CPU comes online or goes offline between the two. Thread context, interrupts on. Not traced. */
void smp_hotplug_lock(void);
void smp_hotplug_unlock(void);

/*
 * Call fn(arg), interrupts off, on every online CPU, this one too. Returns when all are done if
 * `wait`, otherwise perhaps before.
 */
void on_each_cpu(void (*fn)(void *arg), void *arg, bool wait);
/* The same on the CPUs of `mask`, a bit each, without this one; those that are offline are left out. */
void smp_call_function_many(uint64_t mask, void (*fn)(void *arg), void *arg, bool wait);
/* Call fn(arg), interrupts off, on one CPU, and wait until it is done. -ENODEV: it is offline. */
int smp_call_function_single(uint32_t cpu, void (*fn)(void *arg), void *arg);

/*
 * Every online CPU, this one too, executes arch_sync_core() between call and return. A CPU that
 * does not answer for 10 s is named in the log, and waited for all the same.
 */
void smp_sync_cores(void);

/* Let CPU `cpu`, if it is online, call upcall_reschedule() in an interrupt. Any context. */
void smp_send_reschedule(uint32_t cpu);

/*
 * Stop all other CPUs, for good, by NMI, and keep the registers they had; for panics. Interrupts
 * stay off on this CPU. Waits for at most 5 s. Any context. If several CPUs call it, it returns on
 * one, and the others stop too.
 */
void smp_stop_others_nmi(void);
/* Registers of a CPU that smp_stop_others_nmi() stopped; NULL when it did not answer. */
const struct trap_frame *smp_stopped_frame(uint32_t cpu);

/* Kinds of interrupts that each CPU counts, for the command `irqs` of the shell. */
enum smp_irq_kind {
	SMP_IRQ_TIMER,
	SMP_IRQ_RESCHEDULE,
	SMP_IRQ_CALL,
	SMP_IRQ_SYNC,
	SMP_IRQ_NMI,
	SMP_IRQ_UART,
	SMP_IRQ_DEVICE, /* of PCI */
	SMP_IRQ_SPURIOUS,
	SMP_IRQ_NR_KINDS
};
const char *smp_irq_name(enum smp_irq_kind kind);
uint64_t smp_irq_count(uint32_t cpu, enum smp_irq_kind kind);

#endif
