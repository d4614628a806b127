/*
 * Probes of scripts that are neither at functions nor at events. See script.h.
 *
 *   rawtracepoint:PATTERN            tracepoints, by <trace/tracepoint.h>: arg0 and on are their arguments
 *   watchpoint:ADDRESS:LENGTH:MODE   data, by <trace/wprobe.h>
 *   profile:UNIT:NUMBER              the timer of each CPU, by sample_watch.h
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace.h>
#include <trace/tracepoint.h>
#include "instance/array.h"
#include "probes/fetch.h"
#include "script_target.h"
#include "text/str.h"

#define SCRIPT_PERIOD_MIN 10000u /* nanoseconds, of a profile */

/* ---- Tracepoints ---- */

/* Tracepoints that match: how many, and as many of them as there is room for. */
struct script_direct_search {
	const struct expr_word *pattern;
	struct script_probe *probe;
	struct script_raw *raws;
	uint32_t nr, max;
};

static void script_direct_visit(struct tracepoint *tp, void *arg)
{
	struct script_direct_search *search = arg;

	if (!trace_script_matches(search->pattern, tp->name))
		return;
	if (search->nr < search->max) {
		struct script_raw *raw = &search->raws[search->nr];

		raw->tp = tp;
		raw->probe = search->probe;
		trace_snprintf(raw->name, sizeof(raw->name), "rawtracepoint:%s", tp->name);
	}
	search->nr++;
}

int trace_script_raw_find(struct trace_script *script, struct script_probe *probe,
			  const struct expr_word *rest)
{
	struct script_direct_search search = { .pattern = rest, .probe = probe };
	struct script_target *target;

	for_each_kernel_tracepoint(script_direct_visit, &search);
	if (!search.nr)
		return trace_script_refuse(script, rest, -ENOENT, "no tracepoint matches '%.*s'",
					   (int)rest->len, rest->at);
	target = trace_script_target(probe, search.nr, sizeof(target->raws[0]));
	if (!target)
		return script->err;
	search.raws = target->raws;
	search.max = search.nr;
	search.nr = 0;
	for_each_kernel_tracepoint(script_direct_visit, &search);
	return 0;
}

/* Called with the tracepoint's arguments; those that it lacks have no meaning. */
// NOLINTNEXTLINE(readability-function-size): as many parameters as there are registers for them
static void script_direct_raw(void *data, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
			      uint64_t a4)
{
	const struct script_raw *raw = data;
	const uint64_t args[] = { a0, a1, a2, a3, a4 };
	const struct script_hit hit = {
		.probe = raw->probe,
		.args = args,
		.ip = (uintptr_t)__builtin_return_address(0),
		.name = raw->name,
	};

	trace_plat_preempt_disable();
	trace_script_hit(raw->probe->clause, &hit);
	trace_plat_preempt_enable();
}

static int script_direct_raw_attach(struct script_target *target)
{
	int err = 0;

	for (uint32_t i = 0; i < target->nr && !err; i++) {
		struct script_raw *raw = &target->raws[i];

		err = tracepoint_probe_register(raw->tp, (tracepoint_probe_fn)script_direct_raw,
						raw, TRACEPOINT_DEFAULT_PRIO);
		raw->is_on = !err;
	}
	return err;
}

static void script_direct_raw_detach(struct script_target *target)
{
	for (uint32_t i = 0; i < target->nr; i++) {
		struct script_raw *raw = &target->raws[i];

		if (raw->is_on)
			(void)tracepoint_probe_unregister(
				raw->tp, (tracepoint_probe_fn)script_direct_raw, raw);
		raw->is_on = false;
	}
}

/* ---- Data ---- */

static bool script_direct_mode(const struct expr_word *mode, struct wprobe *wp)
{
	wp->type = trace_expr_is(mode, "w") ? WPROBE_W : WPROBE_RW;
	return wp->type == WPROBE_W || trace_expr_is(mode, "rw") || trace_expr_is(mode, "wr");
}

static bool script_direct_address(const struct expr_word *word, struct wprobe *wp)
{
	struct fetch_symbol symbol = { .addr = 0 };

	if (trace_expr_number(word, 0, false, &symbol.addr) && trace_fetch_symbol(word, &symbol))
		return false;
	wp->addr = symbol.addr;
	return symbol.addr;
}

static void script_direct_touched(struct wprobe *wp, struct ftrace_regs *regs, uint64_t old,
				  uint64_t value)
{
	struct script_target *target =
		(struct script_target *)(void *)((char *)wp -
						 offsetof(struct script_target, wprobe));
	const struct script_hit hit = {
		.probe = target->probe,
		.regs = regs,
		.ip = ftrace_regs_get_instruction_pointer(regs),
	};

	(void)old;
	(void)value;
	trace_plat_preempt_disable();
	trace_script_hit(target->probe->clause, &hit);
	trace_plat_preempt_enable();
}

int trace_script_watch_find(struct trace_script *script, struct script_probe *probe,
			    const struct expr_word *rest)
{
	struct expr_word mode = *rest, addr = expr_take_until(&mode, ":"), len;
	struct script_target *target;
	uint64_t bytes = 0;
	char why[100] = "";
	int err;

	mode = expr_behind(&mode, mode.len != 0);
	len = expr_take_until(&mode, ":");
	mode = expr_behind(&mode, mode.len != 0);
	target = trace_script_target(probe, 1, 0);
	if (!target)
		return script->err;
	if (!script_direct_address(&addr, &target->wprobe))
		return trace_script_refuse(script, rest, -EINVAL,
					   "a watchpoint is ADDRESS:LENGTH:w or ADDRESS:LENGTH:rw");
	if (trace_expr_number(&len, 10, false, &bytes) || !bytes || bytes > 8 ||
	    (bytes & (bytes - 1)))
		return trace_script_refuse(script, rest, -EINVAL,
					   "the length of a watchpoint is 1, 2, 4 or 8");
	if (!script_direct_mode(&mode, &target->wprobe))
		return trace_script_refuse(script, rest, -EINVAL,
					   "a watchpoint is hit by w or rw, not by '%.*s'",
					   (int)mode.len, mode.at);
	target->wprobe.len = (uint32_t)bytes;
	target->wprobe.handler = script_direct_touched;
	err = wprobe_refusal(&target->wprobe, why, sizeof(why));
	return err ? trace_script_refuse(script, rest, err, "it cannot be watched: %s", why) : 0;
}

/* ---- Timers ---- */

static void script_direct_timer(struct trace_sample_watch *watch,
				const struct trace_sample_hit *seen)
{
	struct script_target *target =
		(struct script_target *)(void *)((char *)watch -
						 offsetof(struct script_target, sample));
	const struct script_hit hit = { .probe = target->probe,
					.ip = seen->is_user ? 0 : seen->ip };

	trace_script_hit(target->probe->clause, &hit);
}

int trace_script_profile_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest)
{
	if (probe->period_ns < SCRIPT_PERIOD_MIN)
		return trace_script_refuse(script, rest, -EINVAL,
					   "a profile has at most 100000 hits a second");
	return trace_script_target(probe, 1, 0) ? 0 : script->err;
}

static int script_direct_timer_attach(struct script_probe *probe)
{
	struct trace_sample_watch *watch = &probe->target->sample;
	int err;

	watch->period_ns = probe->period_ns;
	watch->func = script_direct_timer;
	trace_plat_lock(&trace_config_lock);
	err = trace_sample_watch_add(watch);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static void script_direct_timer_detach(struct trace_sample_watch *watch)
{
	trace_plat_lock(&trace_config_lock);
	trace_sample_watch_remove(watch);
	trace_plat_unlock(&trace_config_lock);
}

/* ---- On and off ---- */

int trace_script_direct_attach(struct script_probe *probe)
{
	switch (probe->kind) {
	case SCRIPT_RAW:
		return script_direct_raw_attach(probe->target);
	case SCRIPT_WATCH:
		return register_wprobe(&probe->target->wprobe);
	default:
		return script_direct_timer_attach(probe);
	}
}

void trace_script_direct_detach(struct script_probe *probe)
{
	switch (probe->kind) {
	case SCRIPT_RAW:
		script_direct_raw_detach(probe->target);
		break;
	case SCRIPT_WATCH:
		unregister_wprobe(&probe->target->wprobe);
		break;
	default:
		script_direct_timer_detach(&probe->target->sample);
		break;
	}
}
