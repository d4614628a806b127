/*
 * Defaults of the machine half of probes, see <trace/arch_host.h>: as those of default.c, and for a
 * host whose entry for #BP hands out no registers.
 */
#include <trace/arch_host.h>
#include <trace/arch_probe.h>

TRACE_DEFAULT int trace_plat_probe_create(struct trace_plat_probe *probe, uintptr_t addr,
					  bool with_post)
{
	return trace_probe_create(probe, addr, with_post);
}

TRACE_DEFAULT int trace_plat_probe_jump_create(struct trace_plat_probe *probe, size_t bytes)
{
	return trace_probe_jump_create(probe, bytes);
}

TRACE_DEFAULT void trace_plat_probe_destroy(struct trace_plat_probe *probe)
{
	trace_probe_destroy(probe);
}

TRACE_DEFAULT int trace_arch_call_cpus(void (*fn)(void *arg), void *arg)
{
	(void)fn;
	(void)arg;
	return -ENODEV;
}

TRACE_DEFAULT bool trace_arch_has_frames(void)
{
	return false;
}

/* These two are not called then. */
TRACE_DEFAULT void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs)
{
	(void)frame;
	(void)out_regs;
	trace_arch_broken("registers at a breakpoint are not known");
}

TRACE_DEFAULT void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs)
{
	(void)frame;
	(void)regs;
	trace_arch_broken("registers at a breakpoint are not known");
}
