/*
 * <arch/cpu_local.h> of the simulated machine: the same struct, of the simulated CPU that runs.
 */
#ifndef SIM_ARCH_CPU_LOCAL_H
#define SIM_ARCH_CPU_LOCAL_H

#include_next <arch/cpu_local.h>

/* Of the CPU that runs. */
struct cpu_local *sim_local(void);

#undef cpu_local_read
#undef cpu_local_write
#define cpu_local_read(field)	       (((volatile struct cpu_local *)sim_local())->field)
#define cpu_local_write(field, value)  (((volatile struct cpu_local *)sim_local())->field = (value))
#define cpu_local_add32(offset, delta) (*(uint32_t *)((char *)sim_local() + (offset)) += (delta))

#endif
