/*
 * Code is changed while no other CPU runs: the others wait in the interrupt, and serialise before they leave it. No CPU
 * ever executes a breakpoint.
 */
#include <stdatomic.h>
#include <trace/arch_host.h>
#include "smp.h"

static _Atomic uint32_t nr_stopped;
static _Atomic bool may_go;
static uint64_t irqs; /* of the CPU that changes code */

/* The IRET at the end would be too late: what runs before it may have been fetched already. */
static void stand_still(void *arg)
{
	(void)arg;
	nr_stopped++;
	while (!may_go)
		trace_arch_relax();
	trace_arch_serialise();
}

void trace_arch_stop_others(void)
{
	irqs = trace_plat_irq_save();
	may_go = false;
	nr_stopped = 0;
	call_begin(stand_still, NULL);
	while (nr_stopped < smp_nr_cpus - 1)
		trace_arch_relax();
}

void trace_arch_resume_others(void)
{
	may_go = true;
	call_end();
	trace_plat_irq_restore(irqs);
}

void patch_init(void)
{
}
