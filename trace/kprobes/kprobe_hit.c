/*
 * A CPU has come to a probe: calling its handlers. See <trace/kprobe_hit.h>.
 *
 * Nothing here may be probed: the host's trace_plat_probe_refusal() sees to that.
 */
#include <trace/recursion.h>
#include "kprobe_private.h"

/* Pairs with the stores that link a probe: it is seen whole. */
static TRACE_ALWAYS_INLINE struct kprobe *load(struct kprobe *_Atomic const *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

static TRACE_ALWAYS_INLINE bool is_enabled(const struct kprobe *p)
{
	return !(__atomic_load_n(&p->flags, __ATOMIC_RELAXED) & KPROBE_FLAG_DISABLED);
}

static TRACE_ALWAYS_INLINE bool kprobe_call_pre(struct kprobe_place *place,
						struct ftrace_regs *fregs)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (TRACE_LIKELY(is_enabled(p)) && p->pre_handler && p->pre_handler(p, fregs))
			return true;
	}
	return false;
}

static TRACE_NOINLINE void kprobe_call_post(struct kprobe_place *place, struct ftrace_regs *fregs)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (is_enabled(p) && p->post_handler)
			p->post_handler(p, fregs, 0);
	}
}

static TRACE_NOINLINE void count_missed(struct kprobe_place *place)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (is_enabled(p))
			atomic_fetch_add_explicit(&p->nmissed, 1, memory_order_relaxed);
	}
}

static TRACE_ALWAYS_INLINE bool wants_post(const struct kprobe_place *place)
{
	return atomic_load_explicit(&place->wants_post, memory_order_relaxed);
}

/* ---- Breakpoints and jumps ---- */

static TRACE_ALWAYS_INLINE struct kprobe_place *place_of(struct trace_plat_probe *probe)
{
	return (struct kprobe_place *)probe;
}

struct trace_plat_probe *kprobe_hit_find(uintptr_t addr)
{
	struct kprobe_place *place = kprobe_place_find(addr);

	return place && !place->is_site ? &place->code : NULL;
}

bool kprobe_hit_begin(struct trace_plat_probe *probe)
{
	trace_plat_preempt_disable();
	if (TRACE_LIKELY(trace_plat_recursion_set(TRACE_RECURSION_PROBE)))
		return true;
	count_missed(place_of(probe));
	trace_plat_preempt_enable();
	return false;
}

void kprobe_hit_end(void)
{
	trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
	trace_plat_preempt_enable();
}

bool kprobe_hit_pre(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	return kprobe_call_pre(place_of(probe), fregs);
}

void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	kprobe_call_post(place_of(probe), fregs);
}

bool kprobe_hit_has_post(const struct trace_plat_probe *probe)
{
	return wants_post((const struct kprobe_place *)probe);
}

/* ---- Call sites ---- */

/*
 * Handlers see the instruction pointer at the site; fregs has the address behind it, which is where
 * the function goes on.
 */
static TRACE_ALWAYS_INLINE void call_handlers(struct kprobe_place *place, struct ftrace_regs *fregs,
					      uintptr_t ip)
{
	ftrace_regs_set_instruction_pointer(fregs, ip);
	if (TRACE_UNLIKELY(kprobe_call_pre(place, fregs)))
		return;
	ftrace_regs_set_instruction_pointer(fregs, ip + TRACE_INSN_SIZE);
	if (TRACE_UNLIKELY(wants_post(place)))
		kprobe_call_post(place, fregs);
}

/* A place that moves from one ops to the other is called by both for a moment: one counts. */
static void site_hit(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	struct kprobe_place *place;

	(void)parent_ip;
	trace_plat_preempt_disable();
	place = kprobe_place_find(ip);
	if (TRACE_LIKELY(place) &&
	    TRACE_LIKELY(atomic_load_explicit(&place->ops, memory_order_relaxed) == ops)) {
		if (TRACE_LIKELY(trace_plat_recursion_set(TRACE_RECURSION_PROBE))) {
			call_handlers(place, fregs, ip);
			trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
		} else {
			count_missed(place);
		}
	}
	trace_plat_preempt_enable();
}

struct ftrace_ops kprobe_ops_plain = { .func = site_hit };
struct ftrace_ops kprobe_ops_regs = { .func = site_hit, .flags = FTRACE_OPS_FL_SAVE_REGS };
