/*
 * Code is changed while all CPUs run it: a breakpoint stands at the site meanwhile, and whoever
 * runs into it is sent on by the library. The others only serialise, three times a batch.
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
