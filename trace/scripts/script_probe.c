/*
 * Probes of scripts: what calls a clause, and how it comes and goes. See script.h, and script_attach.c for
 * the words in front of clauses.
 */
#include <stddef.h>
#include <trace/fprobe.h>
#include <trace/platform.h>
#include <trace/trace.h>
#include "events/event_file.h"
#include "instance/event_private.h"
#include "script_target.h"

/* ---- Hits: probe context ---- */

static struct script_target *script_probe_of(struct fprobe *fprobe)
{
	return (struct script_target *)(void *)((char *)fprobe -
						offsetof(struct script_target, fprobe));
}

static void script_probe_hit(struct fprobe *fprobe, uintptr_t ip, uintptr_t ret_ip,
			     const struct ftrace_regs *regs)
{
	struct script_probe *probe = script_probe_of(fprobe)->probe;
	const struct script_hit hit = { .probe = probe, .regs = regs, .ip = ip, .ret_ip = ret_ip };

	trace_script_hit(probe->clause, &hit);
}

static int script_probe_entry(struct fprobe *fprobe, uintptr_t ip, uintptr_t ret_ip,
			      struct ftrace_regs *regs, void *entry_data)
{
	(void)entry_data;
	script_probe_hit(fprobe, ip, ret_ip, regs);
	return 0;
}

static void script_probe_exit(struct fprobe *fprobe, uintptr_t ip, uintptr_t ret_ip,
			      struct ftrace_regs *regs, void *entry_data)
{
	(void)entry_data;
	script_probe_hit(fprobe, ip, ret_ip, regs);
}

static void script_probe_event(struct trace_event_watch *watch, const struct trace_event_hit *seen)
{
	struct script_tap *tap = (struct script_tap *)(void *)watch;
	const struct script_hit hit = {
		.probe = tap->probe,
		.entry = seen->entry,
		.entry_bytes = seen->bytes,
		.ip = seen->caller,
		.call = tap->call,
		.name = tap->name,
	};

	trace_script_hit(tap->probe->clause, &hit);
}

/* ---- On and off ---- */

static int script_probe_fprobe(struct script_probe *probe)
{
	struct script_target *target = probe->target;

	if (probe->kind == SCRIPT_ENTRY)
		target->fprobe.entry_handler = script_probe_entry;
	else
		target->fprobe.exit_handler = script_probe_exit;
	return register_fprobe_ips(&target->fprobe, target->addrs, target->nr);
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

static int script_probe_taps(struct script_probe *probe)
{
	struct script_target *target = probe->target;
	int err = 0;

	trace_plat_lock(&trace_config_lock);
	for (uint32_t i = 0; i < target->nr && !err; i++) {
		struct script_tap *tap = &target->taps[i];
		struct trace_event_file *file;

		if (!script_probe_is_there(tap)) {
			err = -ENOENT;
			break;
		}
		file = trace_event_file_get(trace_global_array(), tap->call);
		tap->probe = probe;
		tap->watch.func = script_probe_event;
		tap->watch.ignores_head = true;
		err = file ? trace_event_watch_add(file, &tap->watch) : -ENOMEM;
		tap->file = err ? NULL : file;
	}
	trace_plat_unlock(&trace_config_lock);
	return err;
}

static int script_probe_probe(struct script_probe *probe)
{
	switch (probe->kind) {
	case SCRIPT_ENTRY:
	case SCRIPT_RETURN:
		return script_probe_fprobe(probe);
	case SCRIPT_EVENT:
		return script_probe_taps(probe);
	case SCRIPT_INTERVAL:
		probe->due_ns = probe->clause->script->began_ns + probe->period_ns;
		return 0;
	default:
		return 0;
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
	for (uint32_t i = 0; i < target->nr; i++) {
		if (target->taps[i].file)
			trace_event_watch_remove(target->taps[i].file, &target->taps[i].watch);
		target->taps[i].file = NULL;
	}
	trace_plat_unlock(&trace_config_lock);
}

void trace_script_detach(struct trace_script *script)
{
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			if (!probe->target)
				continue;
			if (probe->kind == SCRIPT_EVENT)
				script_probe_untap(probe->target);
			else if (probe->target->fprobe.is_registered)
				(void)unregister_fprobe(&probe->target->fprobe);
		}
	}
	tracepoint_synchronize_unregister();
}
