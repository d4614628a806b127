/*
 * Probes of scripts: what calls a clause, and how it comes and goes. See script.h, and script_attach.c for
 * the words in front of clauses.
 */
#include <stddef.h>
#include <trace/fprobe.h>
#include <trace/platform.h>
#include <trace/recursion.h>
#include <trace/trace.h>
#include "events/event_file.h"
#include "instance/event_private.h"
#include "script_hit.h"
#include "script_target.h"

/* ---- Hits: probe context ---- */

static struct script_target *script_probe_of(struct fprobe *fprobe)
{
	return (struct script_target *)(void *)((char *)fprobe -
						offsetof(struct script_target, fprobe));
}

static TRACE_ALWAYS_INLINE bool script_probe_hit(const struct script_probe *probe, uintptr_t ip,
						 uintptr_t ret_ip, struct ftrace_regs *regs,
						 enum script_state state)
{
	const struct script_clause *clause = probe->clause;
	const struct expr_program *program = clause->program;
	struct script_cpu *cpu;

	if (!script_hit_begin(clause, state, &cpu))
		return false;
	cpu->run.hit.probe = probe;
	cpu->run.hit.regs = regs;
	cpu->run.hit.ip = ip;
	cpu->run.hit.ret_ip = ret_ip;
	script_hit_run(program, cpu);
	return true;
}

/* Any entry. */
static TRACE_NOINLINE void script_probe_entry_any(uintptr_t ip, uintptr_t ret_ip,
						  struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	const struct script_probe *probe = ops->private;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	if (bit < 0) { /* preemption is off here */
		probe->clause->cpus[trace_plat_cpu_id()].missed++;
		return;
	}
	(void)script_probe_hit(probe, ip, ret_ip, regs, SCRIPT_RUNS);
	trace_recursion_exit(bit);
}

/* The entry of a function by a thread in which no other callback is at work. */
static void script_probe_entry(uintptr_t ip, uintptr_t ret_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *regs)
{
	if (TRACE_UNLIKELY(!trace_plat_is_free_thread(TRACE_RECURSION_CALLBACK))) {
		script_probe_entry_any(ip, ret_ip, ops, regs);
		return;
	}
	trace_recursion_enter_thread(TRACE_RECURSION_CALLBACK);
	if (!script_probe_hit(ops->private, ip, ret_ip, regs, SCRIPT_RUNS_GUARDED))
		trace_recursion_exit(TRACE_RECURSION_CALLBACK);
}

static void script_probe_exit(struct fprobe *fprobe, uintptr_t ip, uintptr_t ret_ip,
			      struct ftrace_regs *regs, void *entry_data)
{
	(void)entry_data;
	(void)script_probe_hit(script_probe_of(fprobe)->probe, ip, ret_ip, regs, SCRIPT_RUNS);
}

static void script_probe_event(struct trace_event_watch *watch, const struct trace_event_hit *seen)
{
	const struct script_tap *tap = (const struct script_tap *)(const void *)watch;
	const struct script_clause *clause = tap->probe->clause;
	struct script_cpu *cpu;

	if (!script_hit_begin(clause, SCRIPT_RUNS, &cpu))
		return;
	if (TRACE_UNLIKELY(seen->bytes <
			   clause->program->min_len)) { /* its fields are not all there */
		cpu->missed++;
		script_hit_end(cpu);
		return;
	}
	cpu->run.hit.probe = tap->probe;
	cpu->run.hit.ip = seen->caller;
	cpu->run.hit.tap = tap;
	cpu->run.expr.data = seen->entry;
	cpu->run.expr.len = seen->bytes;
	script_hit_run(clause->program, cpu);
}

/* A call of a tracepoint, of which no argument is looked at. Its type is one without arguments. */
static void script_probe_tracepoint(const struct script_tap *tap)
{
	const struct script_probe *probe = tap->probe;
	const struct script_clause *clause = probe->clause;
	const struct expr_program *program = clause->program;
	struct script_cpu *cpu;

	if (!script_hit_begin(clause, SCRIPT_RUNS, &cpu))
		return;
	cpu->run.hit.probe = probe;
	cpu->run.hit.tap = tap;
	script_hit_run(program, cpu);
}

/* ---- On and off ---- */

static int script_probe_function(struct script_probe *probe)
{
	struct script_target *target = probe->target;
	struct ftrace_ops *ops = &target->ops;
	int err;

	if (probe->kind == SCRIPT_RETURN) {
		target->fprobe.exit_handler = script_probe_exit;
		return register_fprobe_ips(&target->fprobe, target->addrs, target->nr);
	}
	*ops = (struct ftrace_ops){ .func = script_probe_entry, .private = probe };
	err = ftrace_set_filter_ips(ops, target->addrs, target->nr, false, true);
	if (!err)
		err = register_ftrace_function(ops);
	if (err)
		ftrace_free_filter(ops);
	return err;
}

/* Is it still there? Events of probes may have gone since the script was compiled. Config lock held. */
static bool script_probe_is_there(const struct script_tap *tap)
{
	struct expr_word event = trace_expr_whole(tap->name), system;

	(void)expr_take_until(&event, ":");
	event = expr_behind(&event, 1);
	system = expr_take_until(&event, ":");
	event = expr_behind(&event, 1);
	return trace_event_call_named(&system, &event) == tap->call &&
	       tap->call->event.type == tap->type;
}

/* Tracepoints call the clause themselves when it looks at nothing of their events. */
static bool script_probe_is_direct(const struct script_tap *tap)
{
	return tap->call->tp && !tap->call->reg && !tap->probe->clause->needs_event;
}

static int script_probe_watch(struct script_tap *tap)
{
	struct trace_event_file *file = trace_event_file_get(trace_global_array(), tap->call);
	int err;

	if (!file)
		return -ENOMEM;
	tap->watch.func = script_probe_event;
	tap->watch.ignores_head = true;
	err = trace_event_watch_add(file, &tap->watch);
	tap->file = err ? NULL : file;
	return err;
}

/* Attach the clause to tracepoints, or detach it from those that it is attached to, all at once. */
static int script_probe_direct(struct script_target *target, bool is_add)
{
	uint32_t nr = 0;
	int err;

	for (uint32_t i = 0; i < target->nr; i++) {
		struct script_tap *tap = &target->taps[i];

		if (is_add ? !script_probe_is_direct(tap) : !tap->is_direct)
			continue;
		target->changes[nr++] = (struct tracepoint_change){
			.tp = tap->call->tp,
			.func = (tracepoint_probe_fn)script_probe_tracepoint,
			.data = tap,
			.prio = TRACEPOINT_DEFAULT_PRIO,
			.is_add = is_add,
		};
	}
	err = nr ? tracepoint_change_probes(target->changes, nr) : 0;
	for (uint32_t i = 0; i < nr; i++)
		((struct script_tap *)target->changes[i].data)->is_direct =
			is_add && !target->changes[i].err;
	return err;
}

static int script_probe_taps_locked(struct script_probe *probe)
{
	struct script_target *target = probe->target;
	int err = 0;

	for (uint32_t i = 0; i < target->nr; i++) {
		target->taps[i].probe = probe;
		if (!script_probe_is_there(&target->taps[i]))
			return -ENOENT;
	}
	for (uint32_t i = 0; i < target->nr && !err; i++) {
		if (!script_probe_is_direct(&target->taps[i]))
			err = script_probe_watch(&target->taps[i]);
	}
	return err ? err : script_probe_direct(target, true);
}

static int script_probe_taps(struct script_probe *probe)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = script_probe_taps_locked(probe);
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int script_probe_probe(struct script_probe *probe)
{
	switch (probe->kind) {
	case SCRIPT_ENTRY:
	case SCRIPT_RETURN:
		return script_probe_function(probe);
	case SCRIPT_EVENT:
		return script_probe_taps(probe);
	case SCRIPT_INTERVAL:
		probe->due_ns = probe->clause->script->began_ns + probe->period_ns;
		return 0;
	case SCRIPT_BEGIN:
	case SCRIPT_END:
		return 0;
	case SCRIPT_UPROBE:
	case SCRIPT_URETPROBE:
		return trace_script_program_attach(probe);
	case SCRIPT_USDT:
		return trace_script_marker_attach(probe);
	default:
		return trace_script_direct_attach(probe);
	}
}

int trace_script_attach(struct trace_script *script)
{
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			int err = script_probe_probe(probe);

			if (err)
				return err;
		}
	}
	return 0;
}

static void script_probe_untap(struct script_target *target)
{
	trace_plat_lock(&trace_config_lock);
	(void)script_probe_direct(target, false);
	for (uint32_t i = 0; i < target->nr; i++) {
		if (target->taps[i].file)
			trace_event_watch_remove(target->taps[i].file, &target->taps[i].watch);
		target->taps[i].file = NULL;
	}
	trace_plat_unlock(&trace_config_lock);
}

static int script_probe_unfunction(struct script_probe *probe)
{
	struct script_target *target = probe->target;
	int err = 0;

	if (probe->kind == SCRIPT_RETURN && target->fprobe.is_registered)
		err = unregister_fprobe(&target->fprobe);
	else if (probe->kind == SCRIPT_ENTRY && target->ops.flags & FTRACE_OPS_FL_ENABLED)
		err = unregister_ftrace_function(&target->ops);
	if (!err && probe->kind == SCRIPT_ENTRY)
		ftrace_free_filter(&target->ops);
	return err;
}

/* 0, or an error with which it may be called for ever. */
static int script_probe_detach(struct script_probe *probe)
{
	switch (probe->kind) {
	case SCRIPT_ENTRY:
	case SCRIPT_RETURN:
		return script_probe_unfunction(probe);
	case SCRIPT_EVENT:
		script_probe_untap(probe->target);
		break;
	case SCRIPT_UPROBE:
	case SCRIPT_URETPROBE:
		trace_script_program_detach(probe);
		break;
	case SCRIPT_USDT:
		trace_script_marker_detach(probe);
		break;
	default:
		trace_script_direct_detach(probe);
		break;
	}
	return 0;
}

void trace_script_detach(struct trace_script *script)
{
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			if (probe->target && script_probe_detach(probe))
				script->is_stuck = true;
		}
	}
	tracepoint_synchronize_unregister();
}

uint64_t trace_script_probe_missed(const struct script_probe *probe)
{
	return probe->kind == SCRIPT_RETURN ? atomic_load(&probe->target->fprobe.nmissed) : 0;
}
