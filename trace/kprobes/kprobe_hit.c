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

/* Is it enabled, and has it the flags of `needs`? */
static TRACE_ALWAYS_INLINE bool is_called(const struct kprobe *p, uint32_t needs)
{
	uint32_t flags = __atomic_load_n(&p->flags, __ATOMIC_RELAXED);

	return (flags & (KPROBE_FLAG_DISABLED | needs)) == needs;
}

static TRACE_ALWAYS_INLINE int kprobe_call_one(struct kprobe *p, struct ftrace_regs *fregs)
{
	return p->pre_handler(p, fregs);
}

static TRACE_ALWAYS_INLINE bool kprobe_call_pre(struct kprobe_place *place,
						struct ftrace_regs *fregs, uint32_t needs)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (TRACE_LIKELY(is_called(p, needs)) && p->pre_handler && p->pre_handler(p, fregs))
			return true;
	}
	return false;
}

static TRACE_NOINLINE void kprobe_call_post(struct kprobe_place *place, struct ftrace_regs *fregs,
					    uint32_t needs)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (is_called(p, needs) && p->post_handler)
			p->post_handler(p, fregs, 0);
	}
}

static TRACE_NOINLINE void kprobe_hit_count_missed(struct kprobe_place *place)
{
	for (struct kprobe *p = load(&place->first); p; p = load(&p->next)) {
		if (is_called(p, 0))
			atomic_fetch_add_explicit(&p->nmissed, 1, memory_order_relaxed);
	}
}

static TRACE_ALWAYS_INLINE bool wants_post(const struct kprobe_place *place)
{
	return atomic_load_explicit(&place->wants_post, memory_order_relaxed);
}

/* ---- Breakpoints and jumps ---- */

static TRACE_ALWAYS_INLINE struct kprobe_place *
kprobe_hit_place_of(const struct trace_plat_probe *probe)
{
	return (struct kprobe_place *)(void *)((char *)probe -
					       __builtin_offsetof(struct kprobe_place, code));
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
	kprobe_hit_count_missed(kprobe_hit_place_of(probe));
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
	return kprobe_call_pre(kprobe_hit_place_of(probe), fregs, 0);
}

void kprobe_hit_post(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	kprobe_call_post(kprobe_hit_place_of(probe), fregs, 0);
}

static TRACE_NOINLINE bool run_slow(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	bool is_moved;

	if (!kprobe_hit_begin(probe))
		return false;
	is_moved = kprobe_call_pre(kprobe_hit_place_of(probe), fregs, 0);
	kprobe_hit_end();
	return is_moved;
}

bool kprobe_hit_run(struct trace_plat_probe *probe, struct ftrace_regs *fregs)
{
	struct kprobe *only = load(&kprobe_hit_place_of(probe)->only);
	bool is_moved;

	if (TRACE_UNLIKELY(!only || !trace_plat_recursion_set(TRACE_RECURSION_PROBE)))
		return run_slow(probe, fregs);
	/* Interrupts are off; but handlers take off one from the preempt depth that they record. */
	trace_plat_preempt_disable();
	is_moved = kprobe_call_one(only, fregs);
	trace_plat_preempt_enable_irqs_off();
	trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
	return is_moved;
}

void kprobe_hit_args(struct kprobe *only, struct ftrace_regs *fregs)
{
	if (TRACE_UNLIKELY(!trace_plat_recursion_set(TRACE_RECURSION_PROBE))) {
		atomic_fetch_add_explicit(&only->nmissed, 1, memory_order_relaxed);
		return;
	}
	trace_plat_preempt_disable();
	kprobe_call_one(only, fregs);
	trace_plat_preempt_enable_irqs_off();
	trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
}

bool kprobe_hit_has_post(const struct trace_plat_probe *probe)
{
	return wants_post(kprobe_hit_place_of(probe));
}

/* ---- Call sites ---- */

/*
 * Handlers see the instruction pointer at the site; fregs has the address behind it, which is where
 * the function goes on, or what another ops has sent the call to before: a live patch. One that
 * needs all registers may be here before the site calls the ops that has them.
 */
static TRACE_ALWAYS_INLINE void call_handlers(struct kprobe_place *place, struct ftrace_regs *fregs,
					      uintptr_t ip, const struct ftrace_ops *ops)
{
	const uintptr_t next = ftrace_regs_get_instruction_pointer(fregs);
	const uint32_t needs = ops == &kprobe_ops_plain ? KPROBE_FLAG_ARGS : 0;

	ftrace_regs_set_instruction_pointer(fregs, ip);
	if (TRACE_UNLIKELY(kprobe_call_pre(place, fregs, needs)))
		return;
	ftrace_regs_set_instruction_pointer(fregs, next);
	if (TRACE_UNLIKELY(wants_post(place)))
		kprobe_call_post(place, fregs, needs);
}

static TRACE_ALWAYS_INLINE bool is_called_by(const struct kprobe_place *place,
					     const struct ftrace_ops *ops)
{
	const struct ftrace_ops *now = atomic_load_explicit(&place->ops, memory_order_relaxed);

	return now == ops || now == &kprobe_ops_either;
}

/*
 * Several probes, or post handlers; or the place moves from one ops to the other, and is called by
 * both for a moment: then `ops` says which count. Or it has gone. Preemption is off, and this
 * switches it on again.
 */
static TRACE_NOINLINE void site_hit_slow(uintptr_t ip, struct ftrace_ops *ops,
					 struct ftrace_regs *fregs)
{
	struct kprobe_place *place = kprobe_place_find(ip);

	if (place && is_called_by(place, ops)) {
		if (trace_plat_recursion_set(TRACE_RECURSION_PROBE)) {
			call_handlers(place, fregs, ip, ops);
			trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
		} else {
			kprobe_hit_count_missed(place);
		}
	}
	trace_plat_preempt_enable();
}

/* Quick for a place with one probe, which comes first in its chain. */
static void site_hit(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	struct kprobe_table *table;
	struct kprobe_place *place;
	struct kprobe *only;
	uintptr_t next;

	(void)parent_ip;
	trace_plat_preempt_disable();
	table = atomic_load_explicit(&kprobe_table, memory_order_acquire);
	place = atomic_load_explicit(&table->chain[kprobe_chain_of(table, ip)],
				     memory_order_acquire);
	if (TRACE_UNLIKELY(!place || place->addr != ip))
		goto slow;
	only = load(&place->only);
	if (TRACE_UNLIKELY(!only || !trace_plat_recursion_set(TRACE_RECURSION_PROBE)))
		goto slow;
	next = ftrace_regs_get_instruction_pointer(fregs);
	ftrace_regs_set_instruction_pointer(fregs, ip);
	if (TRACE_LIKELY(!kprobe_call_one(only, fregs)))
		ftrace_regs_set_instruction_pointer(fregs, next);
	trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
	trace_plat_preempt_enable();
	return;
slow:
	site_hit_slow(ip, ops, fregs);
}

/*
 * Handle a hit for which kprobe_site_alone() finds no probe: another probe may be in its place.
 * Preemption is off, and this switches it on again.
 */
static TRACE_NOINLINE int site_alone_slow(uintptr_t ip, struct ftrace_regs *fregs)
{
	struct kprobe_place *place = kprobe_place_find(ip);
	struct kprobe *only = place ? load(&place->only) : NULL;
	int is_moved;

	if (TRACE_LIKELY(only && trace_plat_recursion_set(TRACE_RECURSION_PROBE))) {
		is_moved = kprobe_call_one(only, fregs);
		trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
		trace_plat_preempt_enable();
		return is_moved;
	}
	ftrace_regs_set_instruction_pointer(fregs, ip + TRACE_INSN_SIZE);
	site_hit_slow(ip, &kprobe_ops_plain, fregs);
	return 1;
}

/* The same as site_hit() for a site that no other ops wants. */
static int kprobe_site_alone(uintptr_t ip, struct ftrace_regs *fregs)
{
	struct kprobe *only;
	int is_moved;

	trace_plat_preempt_disable();
	only = load(kprobe_alone_at(ip));
	if (TRACE_UNLIKELY(only->addr != ip || !trace_plat_recursion_set(TRACE_RECURSION_PROBE)))
		return site_alone_slow(ip, fregs);
	is_moved = kprobe_call_one(only, fregs);
	trace_plat_recursion_clear(TRACE_RECURSION_PROBE);
	trace_plat_preempt_enable();
	return is_moved;
}

struct ftrace_ops kprobe_ops_plain = { .func = site_hit, .site_func = kprobe_site_alone };
struct ftrace_ops kprobe_ops_regs = { .func = site_hit, .flags = FTRACE_OPS_FL_SAVE_REGS };
