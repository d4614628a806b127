/*
 * Code is changed while all CPUs run it. Meanwhile there is a breakpoint at the site, and the
 * library sends a CPU that runs into it to where it should go. The other CPUs only have to
 * serialise, three times a batch.
 */
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include "smp.h"

static void serialise(void *arg)
{
	(void)arg;
	trace_arch_serialise();
}

void trace_arch_sync_cores(void)
{
	call_begin(serialise, NULL);
	serialise(NULL);
	call_end();
}

void patch_init(void)
{
	text_poke_selftest();
}
