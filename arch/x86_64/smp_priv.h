/* Data and functions that the files smp*.c share. */
#ifndef SMP_PRIV_H
#define SMP_PRIV_H

#include <arch/cpu_local.h>
#include <arch/smp.h>
#include <stdint.h>

#define CPU_BIT(cpu) (1ull << (cpu))

/* A bit for each CPU that is online, set and cleared by that CPU under the hot-plug lock. */
extern _Atomic uint64_t smp_online;
/* A bit for each CPU that is not online any more, but still answers calls that were sent before. */
extern _Atomic uint64_t smp_leaving;

/* smp_hotplug_lock() for a CPU that is not online: interrupts may be off. Not traced. */
void smp_hotplug_lock_raw(void);
/* False: another CPU holds it. Not traced. */
bool smp_hotplug_trylock(void);
bool smp_hotplug_is_held(void);
/*
 * After a reset of `cpu` on its way online, perhaps at the last moment: make it offline, and
 * release the hot-plug lock if it holds that. Boot CPU.
 */
void smp_forget(uint32_t cpu);

/*
 * This CPU is not online any more: run the calls that other CPUs have sent it before they saw that.
 * Interrupts are off, and the hot-plug lock is held, so that no text changes meanwhile.
 */
void smp_serve_last_calls(void);

/* Register the interrupt handlers of smp_sync.c, smp_call.c and smp_nmi.c. Boot CPU. */
void smp_sync_init(void);
void smp_call_init(void);
void smp_nmi_init(void);

/* Send `vector` to the CPUs of `mask`, which are online. Preemption is off. Not traced. */
void smp_send_mask(uint64_t mask, uint8_t vector);

/*
 * Spin until left(arg), the mask of CPUs that have not answered, is 0. Every 10 s each of those is
 * named in the log: "SMP: CPU 3 does not answer (<what>)". Interrupts stay on or off as they are.
 * If they are on, and this is a virtual machine, it may halt for moments. Preemption is off. Not
 * traced.
 */
void smp_wait(uint64_t (*left)(uint64_t arg), uint64_t arg, const char *what);

/* Serialise this CPU, and tell the core syncs that are waiting for it. Not traced. */
void smp_sync_self(void);

/* An AP's first C function, on the stack of the idle thread that upcall_ap_prepare() made. */
void smp_ap_entry(uint64_t cpu) __attribute__((noreturn));

/*
 * The progress of an AP's start. The boot CPU changes STARTING to LEFT_OUT when it has waited long
 * enough.
 */
enum smp_ap_state {
	AP_IDLE,
	AP_STARTING,
	AP_ALIVE,
	AP_LEFT_OUT
};
extern _Atomic uint32_t smp_ap_state; /* of the one being started */

#endif
