/*
 * The int3 of a probe, from the trap to where the CPU goes on: see <trace/arch_probe.h>.
 *
 * This consumer comes before text poke: as long as a probe is in the table, an int3 at its place is
 * answered, whether it is being written, there, or on its way out. What the batch would do in place
 * of the int3 nobody needs to know then.
 */
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/kprobe_hit.h>

#include "insn.h"
#include "probe_private.h"

static void go_on(const struct trace_breakpoint_hit *hit, const struct ftrace_regs *regs)
{
	trace_arch_frame_store(hit->frame, regs);
}

static void load_regs(const struct trace_breakpoint_hit *hit, uintptr_t rip,
		      struct ftrace_regs *out_regs)
{
	trace_arch_frame_load(hit->frame, out_regs);
	out_regs->rip = rip;
	out_regs->direct = 0;
	out_regs->parent = *(const volatile uintptr_t *)out_regs->rsp;
}

/* Without handlers. */
static void step_missed(const struct probe *probe, const struct trace_breakpoint_hit *hit)
{
	struct ftrace_regs regs;

	if (probe->action == PROBE_SLOT) {
		*hit->rip = trace_plat_ip_unpack(probe->slot);
		return;
	}
	load_regs(hit, hit->site, &regs);
	if (!probe_emulate(probe, &regs))
		regs.rip = trace_plat_ip_unpack(probe->slot);
	go_on(hit, &regs);
}

/* Behind the pre handlers, which may have changed registers. */
static void step(struct trace_plat_probe *plat, struct ftrace_regs *regs)
{
	struct probe *probe = probe_of(plat);
	bool has_post = kprobe_hit_has_post(plat);

	if (probe_emulate(probe, regs)) {
		if (has_post)
			kprobe_hit_post(plat, regs);
		return;
	}
	regs->rip =
		trace_plat_ip_unpack(has_post && probe->post_slot ? probe->post_slot : probe->slot);
}

static bool answer_probe(struct trace_plat_probe *plat, const struct trace_breakpoint_hit *hit)
{
	struct ftrace_regs regs;

	if (TRACE_UNLIKELY(!kprobe_hit_begin(plat))) {
		step_missed(probe_of(plat), hit);
		return true;
	}
	load_regs(hit, hit->site, &regs);
	if (!kprobe_hit_pre(plat, &regs))
		step(plat, &regs);
	kprobe_hit_end();
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

	note = probe_slot_of(hit->site, &slot);
	if (!note || !note->is_post || hit->site != slot + note->len)
		return false;
	origin = trace_plat_ip_unpack(note->origin);
	*hit->rip = origin + note->len;
	plat = kprobe_hit_find(origin);
	if (!plat || !kprobe_hit_begin(plat))
		return true;
	load_regs(hit, *hit->rip, &regs);
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

static bool answer(struct trace_breakpoint_consumer *consumer,
		   const struct trace_breakpoint_hit *hit)
{
	struct trace_plat_probe *plat = kprobe_hit_find(hit->site);

	(void)consumer;
	if (TRACE_LIKELY(plat))
		return answer_probe(plat, hit);
	return answer_slot(hit);
}

/* Of each probe whose first byte, or whose jump, is among the bytes. */
static void restore(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
		    size_t len)
{
	(void)consumer;
	for (size_t i = 0; i < len; i++) {
		struct trace_plat_probe *plat = kprobe_hit_find(addr + i);

		if (plat)
			bytes[i] = probe_of(plat)->original[0];
	}
}

static bool answer_last(struct trace_breakpoint_consumer *consumer,
			const struct trace_breakpoint_hit *hit)
{
	(void)consumer;
	return answer_gone(hit);
}

void probe_become_consumer(void)
{
	static struct trace_breakpoint_consumer first = {
		.priority = TRACE_BREAKPOINT_PRIORITY_PROBE, .answer = answer, .restore = restore
	};
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
