/*
 * Code is changed while all CPUs run it. Meanwhile there is a breakpoint at the site, and the
 * library sends a CPU that runs into it to where it should go. The other CPUs only have to
 * serialise, three times a batch.
 */
#include <stdatomic.h>
#include <trace/arch_text.h>
#include "cpu.h"
#include "smp.h"

static _Atomic uint32_t nr_interrupted;

void patch_interrupted(void)
{
	nr_interrupted++;
}

void smp_sync(void)
{
	nr_interrupted = 0;
	interrupt_others();
	while (nr_interrupted < smp_nr_cpus - 1)
		__asm__ volatile("pause");
}

void patch_init(void)
{
	text_poke_selftest();
}
