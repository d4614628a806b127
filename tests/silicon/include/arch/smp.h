/* <arch/smp.h> of a user process. */
#ifndef ARCH_SMP_H
#define ARCH_SMP_H

static inline void smp_hotplug_lock(void)
{
}

static inline void smp_hotplug_unlock(void)
{
}

/* Every running thread of this process executes a serialising instruction. */
void smp_sync_cores(void);

#endif
