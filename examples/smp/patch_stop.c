/*
 * Code is changed while no other CPU runs: the others wait in the interrupt, and the IRET from it
 * serialises. No CPU ever executes a breakpoint.
 */
#include <stdatomic.h>
#include <trace/arch_host.h>
#include "smp.h"

static _Atomic uint32_t nr_stopped;
static _Atomic bool may_go;
static uint64_t irqs; /* of the CPU that changes code */

void patch_interrupted(void)
{
	nr_stopped++;
	while (!may_go)
		trace_arch_relax();
	nr_stopped--;
}

void trace_arch_stop_others(void)
{
	irqs = trace_plat_irq_save();
	may_go = false;
	interrupt_others();
	while (nr_stopped < smp_nr_cpus - 1)
		trace_arch_relax();
}

void trace_arch_resume_others(void)
{
	may_go = true;
	while (nr_stopped)
		trace_arch_relax();
	trace_plat_irq_restore(irqs);
}

void patch_init(void)
{
}
