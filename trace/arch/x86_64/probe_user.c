/*
 * The targets of detours in a library for hosts in user mode. A signal may come anywhere in here; a
 * kernel has interrupts off meanwhile. Until begin has turned preemption off, the probe exists
 * because this thread is in its detour.
 */
#include <trace/kprobe_hit.h>

#include "probe_private.h"

void trace_probe_detour_hit_user(struct ftrace_regs *regs);

/* Called by probe_detour_user.asm. */
void trace_probe_detour_hit_user(struct ftrace_regs *regs)
{
	uintptr_t back = regs->rip, detour = back - DETOUR_COPY_AT;
	const struct detour_note *note = (const struct detour_note *)(detour + DETOUR_NOTE_AT);
	struct trace_plat_probe *probe = note->probe;
	bool is_moved;

	if (!kprobe_hit_begin(probe))
		return;
	regs->rip = trace_plat_ip_unpack(note->origin);
	is_moved = kprobe_hit_pre(probe, regs);
	kprobe_hit_end();
	if (!is_moved)
		regs->rip = back;
}
