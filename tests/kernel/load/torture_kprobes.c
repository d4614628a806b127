/*
 * Probes at instructions of what `torture` calls:
 *
 *   steady  one at the first instruction behind the call site of half of the targets, which stays
 *           for whole rounds: by breakpoint, and by jump when it has been there for a while
 *   sets    of random instructions of targets, of what they call, NMIs too, and of what a live
 *           patch puts in their place, and of returns of these; they come, go, and are switched by
 *           one batch, some with post handlers
 *
 * After each round the steady ones have been hit, or counted as missed, once for each call, and the
 * others never after they were unregistered. Each handler tries to write where its probe is: text
 * can never be written where it is executed, not even while a batch is written.
 */
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <stdatomic.h>
#include <trace/arch_decode.h>
#include <trace/kprobe.h>
#include "../write_nofault.h"
#include "kprobes/probe_parts.h"
#include "torture.h"

#define NR_STEADY   (TORTURE_NR_TARGETS / 2) /* the last ones, which are not patched */
#define KEEP_ROUNDS 16u
#define NR_SETS	    3u
#define SET_PROBES  24u
#define SET_RETURNS 4u
#define MAX_PLACES  1024u
#define CALL_SITE   5u /* bytes */

static const char *const names[] = {
	"target_leaf",
	"target_call",
	"target_tail_call",
	"target_loop",
	"target_arguments",
	"target_stack",
	"target_branch",
	"target_empty",
	"torture_helper",
	"torture_sum",
	"torture_in_nmi",
	"torture_patch_new_leaf",
	"torture_patch_new_loop",
};

struct set {
	struct kprobe probes[SET_PROBES];
	struct kprobe *pointers[SET_PROBES];
	size_t nr; /* registered */
	struct kretprobe returns[SET_RETURNS];
	struct kretprobe *return_pointers[SET_RETURNS];
	bool is_disabled;
	_Atomic bool may_be_called;
};

static struct set sets[NR_SETS];
static struct kprobe_part kprobe_part;
static struct kretprobe_part kretprobe_part;
static struct kprobe steady[NR_STEADY];
static struct kprobe *steady_pointers[NR_STEADY];
static bool steady_is_registered;
static uintptr_t places[MAX_PLACES];
static size_t nr_places;
static uintptr_t funcs[ARRAY_SIZE(names)]; /* that have call sites */
static size_t nr_funcs;

static struct {
	_Atomic uint64_t steady[NR_STEADY];
	uint64_t missed_before[NR_STEADY];
	_Atomic uint64_t nr_late;
	_Atomic uint64_t nr_written;
} seen;

/* ---- Handlers ---- */

static TRACE_ALWAYS_INLINE void torture_kprobes_write(uintptr_t addr)
{
	if (write_nofault((void *)addr, *(const volatile uint8_t *)addr))
		atomic_fetch_add_explicit(&seen.nr_written, 1, memory_order_relaxed);
}

static TRACE_NOTRACE int torture_kprobes_count_steady(struct kprobe *p, struct ftrace_regs *regs)
{
	torture_kprobes_write(regs->rip);
	atomic_fetch_add_explicit(&seen.steady[p - steady], 1, memory_order_relaxed);
	return 0;
}

static TRACE_NOTRACE int torture_kprobes_visit(struct kprobe *p, struct ftrace_regs *regs)
{
	size_t set = (size_t)((uintptr_t)p - (uintptr_t)sets) / sizeof(sets[0]);

	if (!atomic_load(&sets[set].may_be_called) || regs->rip != p->addr)
		atomic_fetch_add_explicit(&seen.nr_late, 1, memory_order_relaxed);
	torture_kprobes_write(p->addr);
	return 0;
}

static TRACE_NOTRACE void torture_kprobes_visit_post(struct kprobe *p, struct ftrace_regs *regs,
						     uint64_t flags)
{
	size_t set = (size_t)((uintptr_t)p - (uintptr_t)sets) / sizeof(sets[0]);

	(void)regs;
	(void)flags;
	if (!atomic_load(&sets[set].may_be_called))
		atomic_fetch_add_explicit(&seen.nr_late, 1, memory_order_relaxed);
}

static TRACE_NOTRACE int torture_kprobes_return(struct kretprobe_instance *ri,
						struct ftrace_regs *regs)
{
	size_t set = (size_t)((uintptr_t)ri->rp - (uintptr_t)sets) / sizeof(sets[0]);

	(void)regs;
	if (!atomic_load(&sets[set].may_be_called))
		atomic_fetch_add_explicit(&seen.nr_late, 1, memory_order_relaxed);
	return 0;
}

/* ---- Places ---- */

/* All instructions of a function at which a probe can be. Nothing changes its text meanwhile. */
static int torture_kprobes_add_places(uintptr_t func)
{
	char name[KSYM_NAME_LEN];
	struct trace_insn insn;
	uintptr_t start;
	size_t size;

	if (!func || !symbols_lookup(func, name, &start, &size))
		return -ENOENT;
	if (ftrace_location(func))
		funcs[nr_funcs++] = func;
	for (uintptr_t at = func; at < func + size; at += insn.length) {
		if (trace_insn_decode(&insn, (const void *)at, TRACE_INSN_MAX))
			return -EILSEQ;
		if (nr_places < MAX_PLACES && !kprobe_refusal(at, name, sizeof(name)))
			places[nr_places++] = at;
	}
	return 0;
}

static int torture_kprobes_start(void)
{
	int err = 0;

	nr_places = nr_funcs = 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(names) && !err; i++)
		err = torture_kprobes_add_places(symbols_find(names[i]));
	return err;
}

/* ---- Changes while the workers run ---- */

static int torture_kprobes_arm_returns(struct set *set)
{
	memset(set->returns, 0, sizeof(set->returns));
	for (size_t i = 0; i < SET_RETURNS; i++) {
		set->returns[i].kp.addr = funcs[torture_pick((uint32_t)nr_funcs)];
		set->returns[i].handler = torture_kprobes_return;
		set->return_pointers[i] = &set->returns[i];
	}
	return register_kretprobes(set->return_pointers, SET_RETURNS);
}

static int torture_kprobes_arm(struct set *set)
{
	int err;

	memset(set->probes, 0, sizeof(set->probes));
	for (size_t i = 0; i < SET_PROBES; i++) {
		struct kprobe *p = &set->probes[i];

		p->addr = places[torture_pick(nr_places)];
		p->pre_handler = torture_kprobes_visit;
		p->flags = torture_pick(2) ? KPROBE_FLAG_ARGS : 0;
		p->post_handler = torture_pick(4) ? NULL : torture_kprobes_visit_post;
		set->pointers[i] = p;
	}
	atomic_store(&set->may_be_called, true);
	set->is_disabled = false;
	set->nr = 1 + torture_pick(SET_PROBES);
	err = register_kprobes(set->pointers, set->nr);
	if (!err)
		err = torture_kprobes_arm_returns(set);
	return err;
}

static void torture_kprobes_disarm(struct set *set)
{
	unregister_kprobes(set->pointers, set->nr);
	unregister_kretprobes(set->return_pointers, SET_RETURNS);
	atomic_store(&set->may_be_called, false);
	set->nr = 0;
}

/* Where call sites move from one ops to the other, both kinds may have to be switched apart. */
static int torture_kprobes_switch(struct set *set)
{
	struct ftrace_part *parts[] = { &kprobe_part.part, &kretprobe_part.part };
	bool on = set->is_disabled;
	int err;

	kprobe_part_init(&kprobe_part, set->pointers, set->nr, on);
	kretprobe_part_init(&kretprobe_part, set->return_pointers, SET_RETURNS, on);
	err = ftrace_parts_change(parts, ARRAY_SIZE(parts));
	if (err == -EAGAIN) {
		err = on ? enable_kprobes(set->pointers, set->nr)
			 : disable_kprobes(set->pointers, set->nr);
		if (!err)
			err = on ? enable_kretprobes(set->return_pointers, SET_RETURNS)
				 : disable_kretprobes(set->return_pointers, SET_RETURNS);
	}
	set->is_disabled = !on;
	return err;
}

static int torture_kprobes_change(void)
{
	struct set *set = &sets[torture_pick(NR_SETS)];

	if (!set->nr)
		return torture_kprobes_arm(set);
	if (torture_pick(3) == 0)
		return torture_kprobes_switch(set);
	torture_kprobes_disarm(set);
	return 0;
}

/* ---- Rounds ---- */

static void torture_kprobes_stop_steady(void)
{
	unregister_kprobes(steady_pointers, NR_STEADY);
	steady_is_registered = false;
}

static int torture_kprobes_start_steady(void)
{
	int err;

	memset(steady, 0, sizeof(steady));
	for (uint32_t i = 0; i < NR_STEADY; i++) {
		uint32_t nr = TORTURE_NR_TARGETS - NR_STEADY + i;

		steady[i].addr = (uintptr_t)torture_targets[nr] + CALL_SITE;
		steady[i].pre_handler = torture_kprobes_count_steady;
		steady_pointers[i] = &steady[i];
	}
	err = register_kprobes(steady_pointers, NR_STEADY);
	steady_is_registered = !err;
	return err;
}

static int torture_kprobes_begin_round(void)
{
	int err = 0;

	if (steady_is_registered && torture_pick(KEEP_ROUNDS) == 0)
		torture_kprobes_stop_steady();
	if (!steady_is_registered)
		err = torture_kprobes_start_steady();
	for (uint32_t i = 0; i < NR_STEADY; i++) {
		atomic_store(&seen.steady[i], 0);
		seen.missed_before[i] = atomic_load(&steady[i].nmissed);
	}
	atomic_store(&seen.nr_late, 0);
	atomic_store(&seen.nr_written, 0);
	return err;
}

static bool torture_kprobes_check_round(struct command_env *env, uint64_t expected)
{
	bool is_right = torture_expect(env, "wrong hits of probes", atomic_load(&seen.nr_late), 0);

	is_right &= torture_expect(env, "handlers that could write text",
				   atomic_load(&seen.nr_written), 0);
	for (uint32_t i = 0; i < NR_STEADY; i++) {
		uint64_t missed = atomic_load(&steady[i].nmissed) - seen.missed_before[i];

		is_right &= torture_expect(env, "hits of a probe",
					   atomic_load(&seen.steady[i]) + missed, expected);
	}
	return is_right;
}

static int torture_kprobes_stop(void)
{
	if (steady_is_registered)
		torture_kprobes_stop_steady();
	for (uint32_t i = 0; i < NR_SETS; i++) {
		if (sets[i].nr)
			torture_kprobes_disarm(&sets[i]);
	}
	return 0;
}

const struct torture_user torture_kprobes = {
	.start = torture_kprobes_start,
	.begin = torture_kprobes_begin_round,
	.change = torture_kprobes_change,
	.check = torture_kprobes_check_round,
	.stop = torture_kprobes_stop,
};
