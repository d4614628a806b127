/*
 * The int3 of a probe, from the trap to the address where the CPU goes on: see
 * <trace/arch_probe.h>.
 *
 * This consumer comes before text poke: as long as a probe is in the table, an int3 at its place is
 * answered, whether it is being written, there, or on its way out. The batch's own action for the
 * int3 is not needed then.
 */
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/kprobe_hit.h>

#include "insn.h"
#include "probe_private.h"

/* Pairs with the store in trace_plat_probe_jump_use(): the code there is written. */
static uintptr_t probe_int3_copy_of(const struct plat_probe *probe)
{
	return trace_plat_ip_unpack(__atomic_load_n(&probe->copy, __ATOMIC_ACQUIRE));
}

static void go_on(const struct trace_breakpoint_hit *hit, const struct ftrace_regs *regs)
{
	trace_arch_frame_store(hit->frame, regs);
}

static void probe_int3_load_regs(const struct trace_breakpoint_hit *hit, uintptr_t rip,
				 struct ftrace_regs *out_regs)
{
	trace_arch_frame_load(hit->frame, out_regs);
	out_regs->rip = rip;
	out_regs->direct = 0;
	out_regs->parent = *(const volatile uintptr_t *)out_regs->rsp;
}

/* Do the instruction without post handlers, and go on behind it. */
static void step(const struct plat_probe *probe, struct ftrace_regs *regs)
{
	if (TRACE_LIKELY(probe->action == PROBE_SLOT) || !trace_probe_emulate(probe, regs))
		regs->rip = probe_int3_copy_of(probe);
}

/* With post handlers. */
static void run_both(struct trace_plat_probe *plat, struct ftrace_regs *regs)
{
	struct plat_probe *probe = trace_probe_of(plat);

	if (!kprobe_hit_begin(plat)) {
		step(probe, regs);
		return;
	}
	if (!kprobe_hit_pre(plat, regs)) {
		if (trace_probe_emulate(probe, regs))
			kprobe_hit_post(plat, regs);
		else if (probe->post_slot)
			regs->rip = trace_plat_ip_unpack(probe->post_slot);
		else
			regs->rip = probe_int3_copy_of(probe);
	}
	kprobe_hit_end();
}

static bool answer_probe(struct trace_plat_probe *plat, const struct trace_breakpoint_hit *hit)
{
	struct ftrace_regs regs;

	probe_int3_load_regs(hit, hit->site, &regs);
	if (TRACE_UNLIKELY(kprobe_hit_has_post(plat)))
		run_both(plat, &regs);
	else if (!kprobe_hit_run(plat, &regs))
		step(trace_probe_of(plat), &regs);
	go_on(hit, &regs);
	return true;
}

/*
 * The int3 at the end of a slot: the instruction is done. The probe may have gone, or be another
 * one by now: then the slot, which stays while a thread is inside, still says where to go on.
 */
static bool answer_slot(const struct trace_breakpoint_hit *hit)
{
	struct trace_plat_probe *plat;
	const struct slot_note *note;
	struct ftrace_regs regs;
	uintptr_t slot, origin;

	note = trace_probe_slot_of(hit->site, &slot);
	if (!note || !note->is_post || hit->site != slot + note->len)
		return false;
	origin = trace_plat_ip_unpack(note->origin);
	*hit->rip = origin + note->len;
	plat = kprobe_hit_find(origin);
	if (!plat || !kprobe_hit_begin(plat))
		return true;
	probe_int3_load_regs(hit, *hit->rip, &regs);
	kprobe_hit_post(plat, &regs);
	kprobe_hit_end();
	go_on(hit, &regs);
	return true;
}

/*
 * The int3 was taken away after this CPU had hit it, and its probe is gone from the table: memory
 * holds the instruction again.
 */
static bool answer_gone(const struct trace_breakpoint_hit *hit)
{
	if (!trace_arch_is_text(hit->site) || *(const volatile uint8_t *)hit->site == INSN_INT3)
		return false;
	*hit->rip = hit->site;
	return true;
}

static bool probe_int3_answer(struct trace_breakpoint_consumer *consumer,
			      const struct trace_breakpoint_hit *hit)
{
	struct trace_plat_probe *plat = kprobe_hit_find(hit->site);

	(void)consumer;
	if (TRACE_LIKELY(plat))
		return answer_probe(plat, hit);
	return answer_slot(hit);
}

/* Restore the bytes behind the first: they are a jump's only while there is one. */
static void restore_probe(const struct plat_probe *probe, uintptr_t addr, uint8_t *bytes,
			  size_t len)
{
	size_t nr = probe->detour ? TRACE_INSN_SIZE : 1;

	for (size_t i = 0; i < nr; i++) {
		uintptr_t at = probe_addr(probe) + i - addr; /* wraps when it lies before */

		if (at < len)
			bytes[at] = probe->original[i];
	}
}

/* Of each probe whose first byte, or whose jump, is among the bytes. */
static void probe_int3_restore(struct trace_breakpoint_consumer *consumer, uintptr_t addr,
			       uint8_t *bytes, size_t len)
{
	(void)consumer;
	for (uintptr_t at = addr - (TRACE_INSN_SIZE - 1); at != addr + len; at++) {
		struct trace_plat_probe *plat = kprobe_hit_find(at);

		if (plat)
			restore_probe(trace_probe_of(plat), addr, bytes, len);
	}
}

static bool answer_last(struct trace_breakpoint_consumer *consumer,
			const struct trace_breakpoint_hit *hit)
{
	(void)consumer;
	return answer_gone(hit);
}

void trace_probe_become_consumer(void)
{
	static struct trace_breakpoint_consumer first = { .priority =
								  TRACE_BREAKPOINT_PRIORITY_PROBE,
							  .answer = probe_int3_answer,
							  .restore = probe_int3_restore };
	/* Behind text poke, which has its own way with an int3 that is not there any more. */
	static struct trace_breakpoint_consumer last = { .priority = TRACE_BREAKPOINT_PRIORITY_GONE,
							 .answer = answer_last };
	static bool is_consumer; /* text lock */

	if (is_consumer)
		return;
	is_consumer = true;
	trace_breakpoint_register(&first);
	trace_breakpoint_register(&last);
}
