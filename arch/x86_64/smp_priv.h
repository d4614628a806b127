/*
 * What the files smp*.c share.
 */
#ifndef SMP_PRIV_H
#define SMP_PRIV_H

#include <arch/cpu_local.h>
#include <arch/smp.h>
#include <stdint.h>

#define CPU_BIT(cpu) (1ull << (cpu))

/* Bits of CPUs that are online. Bits are set by their CPU, under the hot-plug lock. */
extern _Atomic uint64_t smp_online;

/* smp_hotplug_lock() without its preemption rules. Not traced. */
void smp_hotplug_lock_raw(void);
/*
 * `cpu` was reset on its way online, perhaps in the middle of the last step: it is not online, and
 * no longer holds the lock. Boot CPU.
 */
void smp_forget(uint32_t cpu);

/* Register the handlers: each module's own vectors. Boot CPU, from smp_init(). */
void smp_sync_init(void);
void smp_call_init(void);
void smp_nmi_init(void);

/* `vector` to every CPU of `mask`, which are online. Preemption off. Not traced. */
void smp_send_mask(uint64_t mask, uint8_t vector);

/*
 * Spin until `left(arg)`, the CPUs still missing, is 0. Every 10 s each of those is named: "SMP:
 * CPU 3 does not answer (<what>)". Interrupts stay as they are; if they are on, they are served,
 * and a guest may halt for moments. Preemption is off. Not traced.
 */
void smp_wait(uint64_t (*left)(uint64_t arg), uint64_t arg, const char *what);

/* Serialise this CPU and say so to the syncs in progress. Not traced. */
void smp_sync_self(void);

/* An AP's first C function, on the stack upcall_ap_prepare() chose. */
void smp_ap_entry(uint64_t cpu) __attribute__((noreturn));
void smp_ap_come_online(uint32_t cpu);

/* Where an AP is; the boot CPU moves STARTING to LEFT_OUT when it has waited enough. */
enum smp_ap_state {
	AP_IDLE,
	AP_STARTING,
	AP_ALIVE,
	AP_LEFT_OUT
};
extern _Atomic uint32_t smp_ap_state; /* of the one being started */

#endif
