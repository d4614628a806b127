/*
 * `bench`: probes at instructions, with an empty handler: at a call site, by a breakpoint, by a jump;
 * and switching a thousand of them on.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/kprobe.h>
#include <trace/platform.h>
#include "bench.h"
#include "bench_private.h"

#define MOVE_EAX    0xb8 /* its opcode: 5 bytes, which a jump can take the place of */
#define NR_ARMED    1000u
#define ALONE_BYTES 8192ul /* sites so far from each other share a place: kprobe_alone_at() */

static uint64_t bench_nr_hits;

static TRACE_NOTRACE int bench_probe_handler(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	return 0;
}

static TRACE_NOTRACE int bench_probe_count(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	bench_nr_hits++;
	return 0;
}

uintptr_t bench_probe_move(void)
{
	uintptr_t at = (uintptr_t)bench_target + TRACE_INSN_SIZE;

	while (*(const uint8_t *)at != MOVE_EAX)
		at++;
	return at;
}

/* Does each round hit it? */
static int bench_probe_check(struct command_env *env, const char *name, struct kprobe *p)
{
	bench_nr_hits = 0;
	p->pre_handler = bench_probe_count;
	bench_loop_target(100);
	p->pre_handler = bench_probe_handler;
	return bench_check(env, name, bench_nr_hits, 100);
}

static int bench_probe_row(struct command_env *env, const char *name, struct kprobe *p)
{
	int err = register_kprobe(p);

	if (err)
		return err;
	for (int i = 0; i < 50 && kprobes_optimization() && !(p->flags & KPROBE_FLAG_FTRACE); i++)
		thread_sleep_ns(2 * NSEC_PER_MSEC);
	err = bench_probe_check(env, name, p);
	if (!err)
		bench_print(env, name, bench_measure_above(bench_loop_target, bench_loop_untraced),
			    "instructions");
	unregister_kprobe(p);
	return err;
}

static int bench_kprobe_site(struct command_env *env, const char *name)
{
	struct kprobe p = { .addr = (uintptr_t)bench_target,
			    .pre_handler = bench_probe_handler,
			    .flags = KPROBE_FLAG_ARGS };

	return bench_probe_row(env, name, &p);
}

/* A site as far from that of the target as makes it share the place for single probes; or 0. */
static uintptr_t bench_probe_rival(void)
{
	const uintptr_t *sites, target = (uintptr_t)bench_target;
	size_t nr;

	sites = trace_plat_sites(&nr);
	for (size_t i = 0; i < nr; i++) {
		if (sites[i] != target && !((sites[i] ^ target) & (ALONE_BYTES - 1) & ~7ul))
			return sites[i];
	}
	return 0;
}

/* The same when another probe has come to that place before: it is looked for in the table. */
static int bench_kprobe_site_second(struct command_env *env, const char *name)
{
	struct kprobe rival = { .addr = bench_probe_rival(),
				.pre_handler = bench_probe_handler,
				.flags = KPROBE_FLAG_ARGS };
	int err = register_kprobe(&rival);

	if (err)
		return err;
	err = bench_kprobe_site(env, name);
	unregister_kprobe(&rival);
	return err;
}

static int bench_kprobe_jump(struct command_env *env, const char *name)
{
	struct kprobe p = { .addr = bench_probe_move(),
			    .pre_handler = bench_probe_handler,
			    .flags = KPROBE_FLAG_ARGS };

	return bench_probe_row(env, name, &p);
}

static int bench_kprobe_jump_regs(struct command_env *env, const char *name)
{
	struct kprobe p = { .addr = bench_probe_move(), .pre_handler = bench_probe_handler };

	return bench_probe_row(env, name, &p);
}

static int bench_kprobe_int3(struct command_env *env, const char *name)
{
	int err = kprobes_set_optimization(false);

	if (!err)
		err = bench_kprobe_jump_regs(env, name);
	kprobes_set_optimization(true);
	return err;
}

/* ---- A thousand ---- */

enum bench_places {
	BENCH_ARGS,   /* call sites, of which handlers read arguments */
	BENCH_BEHIND, /* the instructions behind call sites */
	BENCH_REGS,   /* call sites, with all registers */
	BENCH_MIXED,  /* one of these after the other */
};

static void bench_probe_choose(struct kprobe *p, uintptr_t site, enum bench_places places)
{
	*p = (struct kprobe){ .addr = site,
			      .pre_handler = bench_probe_handler,
			      .flags = KPROBE_FLAG_DISABLED };
	if (places == BENCH_BEHIND)
		p->addr += TRACE_INSN_SIZE;
	if (places != BENCH_REGS)
		p->flags |= KPROBE_FLAG_ARGS;
}

/* Disabled ones, at the first places that can be had. How many. */
static size_t bench_probes_register(struct kprobe *probes, struct kprobe **ps,
				    enum bench_places places)
{
	const uintptr_t *sites;
	size_t nr_sites, nr = 0;

	sites = trace_plat_sites(&nr_sites);
	for (size_t i = 0; i < nr_sites && nr < NR_ARMED; i++) {
		struct kprobe *p = &probes[nr];

		bench_probe_choose(p, sites[i],
				   places == BENCH_MIXED ? (enum bench_places)(nr % BENCH_MIXED)
							 : places);
		if (!register_kprobe(p))
			ps[nr++] = p;
	}
	return nr;
}

static int bench_probes_arm(struct command_env *env, const char *name, enum bench_places places,
			    struct kprobe *probes)
{
	struct kprobe **ps = (struct kprobe **)(probes + NR_ARMED);
	size_t nr = bench_probes_register(probes, ps, places);
	struct trace_poke_stats before, after;
	int err = nr == NR_ARMED ? 0 : -ENOSPC;
	uint64_t start;

	trace_plat_poke_stats(&before);
	start = trace_plat_cycles();
	if (!err)
		err = enable_kprobes(ps, nr);
	start = trace_plat_cycles() - start;
	trace_plat_poke_stats(&after);
	if (!err) {
		bench_print(env, name, start * 1000, "instructions");
		bench_print(env, "kprobe_arm1000_syncs", (after.syncs - before.syncs) * 1000,
			    "syncs");
	}
	unregister_kprobes(ps, nr);
	return err;
}

static int bench_kprobe_arm(struct command_env *env, const char *name)
{
	size_t bytes = NR_ARMED * (sizeof(struct kprobe) + sizeof(struct kprobe *));
	struct kprobe *probes = trace_plat_alloc(bytes);
	int err = probes ? kprobes_set_optimization(false) : -ENOMEM;

	if (!err)
		err = bench_probes_arm(env, name, BENCH_ARGS, probes);
	if (!err)
		err = bench_probes_arm(env, "kprobe_arm1000_int3", BENCH_BEHIND, probes);
	if (!err)
		err = bench_probes_arm(env, "kprobe_arm1000_mixed", BENCH_MIXED, probes);
	kprobes_set_optimization(true);
	if (probes)
		trace_plat_free(probes, bytes);
	return err;
}

const struct bench bench_probe_rows[] = {
	{ "kprobe_site", bench_kprobe_site },
	{ "kprobe_site_second", bench_kprobe_site_second },
	{ "kprobe_int3", bench_kprobe_int3 },
	{ "kprobe_jump", bench_kprobe_jump },
	{ "kprobe_jump_regs", bench_kprobe_jump_regs },
	{ "kprobe_arm1000", bench_kprobe_arm },
	{},
};
