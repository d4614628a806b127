/*
 * The kernel's inline platform on the simulated machine. Packing an address is where text_poke.c
 * stands between taking the batch and reading its pokes: another CPU may run there.
 */
#ifndef SIM_TRACE_PLAT_INLINE_H
#define SIM_TRACE_PLAT_INLINE_H

#include_next <trace_plat_inline.h>
#include <stdatomic.h>

void sim_preempt_add(uint32_t delta);
uint64_t sim_irq_save(void);
void sim_irq_restore(uint64_t flags);

#define trace_plat_preempt_disable() sim_preempt_add(1)
#define trace_plat_preempt_enable()  sim_preempt_add(-1u)
#define trace_plat_irq_save	     sim_irq_save
#define trace_plat_irq_restore	     sim_irq_restore
#define trace_plat_ip_pack(ip)	     (sim_step(), (uint32_t)(ip))

#endif
