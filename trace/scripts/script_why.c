/*
 * Reasons why a script has printed and counted nothing, or less than it should: sentences of the file
 * `why`. See instance/why.h, script.h.
 *
 * Context: thread.
 * Locking: script_whys.lock, for changes of the list of scripts. Those that read it take none, but have
 *          preemption off: a script is freed only when each of them has gone on.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "instance/array.h"
#include "instance/why.h"
#include "script_named.h"
#include "script_table.h"
#include "text/str.h"

static struct {
	struct trace_plat_lock lock; /* of those that change the list */
	struct trace_script *first;
} script_whys;

void trace_script_why_add(struct trace_script *script)
{
	trace_plat_lock(&script_whys.lock);
	script->next_started = script_whys.first;
	__atomic_store_n(&script_whys.first, script, __ATOMIC_RELEASE);
	trace_plat_unlock(&script_whys.lock);
}

void trace_script_why_remove(struct trace_script *script)
{
	struct trace_script **at = &script_whys.first;
	bool is_there;

	trace_plat_lock(&script_whys.lock);
	while (*at && *at != script)
		at = &(*at)->next_started;
	is_there = *at;
	if (is_there)
		__atomic_store_n(at, script->next_started, __ATOMIC_RELEASE);
	trace_plat_unlock(&script_whys.lock);
	if (is_there)
		trace_plat_synchronize_preempt();
}

/* The one behind `script`, or the first. Preemption is off. */
static const struct trace_script *script_why_next(const struct trace_script *script)
{
	return __atomic_load_n(script ? &script->next_started : &script_whys.first,
			       __ATOMIC_ACQUIRE);
}

/* ---- Sentences about one script ---- */

struct script_why {
	struct trace_why *why;
	const struct trace_script *script;
	struct trace_why_text name; /* of its directory, or the first words of its text */
	bool has_reader;
};

/* A clause with a probe that something else than the script makes run. */
static bool script_why_is_watching(const struct script_clause *clause)
{
	const struct script_probe *probe = clause->probes;

	while (probe && (probe->kind == SCRIPT_BEGIN || probe->kind == SCRIPT_END ||
			 probe->kind == SCRIPT_INTERVAL))
		probe = probe->next;
	return probe;
}

static void script_why_clauses(const struct script_why *on)
{
	for (const struct script_clause *clause = on->script->clauses; clause;
	     clause = clause->next) {
		const struct expr_word *word = &clause->probes->word;
		bool has_failed = trace_script_clause_saw(clause, false);

		if (!script_why_is_watching(clause) || trace_script_clause_saw(clause, true))
			continue;
		trace_why_say(on->why, "The script %s has done nothing at %.*s%s: %s.",
			      on->name.text, (int)word->len, word->at,
			      clause->probes->next ? ", ..." : "",
			      !has_failed	  ? "no probe was hit"
			      : clause->predicate ? "its condition held at no hit"
						  : "all hits were of other processes");
	}
}

static bool script_why_has_interval(const struct trace_script *script)
{
	for (const struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (const struct script_probe *probe = clause->probes; probe;
		     probe = probe->next) {
			if (probe->kind == SCRIPT_INTERVAL)
				return true;
		}
	}
	return false;
}

/* Things that wait for a reader of scripts/NAME/output. */
static void script_why_reader(const struct script_why *on)
{
	const struct trace_script *script = on->script;
	uint64_t bytes = script->out.head - script->out.tail;
	const char *waiting = script->wants_end ? "exit() was called, which takes effect"
			      : bytes		? "it has printed what can be read"
			      : script_why_has_interval(script) ? "its intervals run only"
								: NULL;

	if (script->named && !on->has_reader && waiting)
		trace_why_say(
			on->why, "The script %s waits for a reader: %s%s; cat scripts/%s/output.",
			on->name.text, waiting,
			bytes && !script->wants_end ? "" : " while output is read", on->name.text);
}

/* The keys that the tables have room for, if it is the same number for all of them, as a rule. */
static uint32_t script_why_room(const struct trace_script *script)
{
	uint32_t room = UINT32_MAX;

	for (const struct script_map *map = script->maps; map; map = map->next) {
		if (map->key.kind != SCRIPT_NONE && map->nr_entries < room)
			room = map->nr_entries;
	}
	return room;
}

static void script_why_losses(const struct script_why *on)
{
	uint64_t missed = 0, lost = 0, full = 0, cut = 0;

	for (uint32_t cpu = 0; cpu < on->script->nr_cpus; cpu++) {
		missed += on->script->cpus[cpu].missed;
		lost += on->script->cpus[cpu].lost;
		full += on->script->cpus[cpu].full;
		cut += on->script->cpus[cpu].cut;
	}
	if (full)
		trace_why_say(
			on->why,
			"A table of the script %s is full: %s keys found no room beside %u others.",
			on->name.text, trace_why_number(full).text, script_why_room(on->script));
	if (lost)
		trace_why_say(
			on->why,
			"The output of the script %s was full: %s lines were left out, which were "
			"not read in time.",
			on->name.text, trace_why_number(lost).text);
	if (cut)
		trace_why_say(
			on->why,
			"%s loops of the script %s had all rounds that they may have, and ended.",
			trace_why_number(cut).text, on->name.text);
	if (missed)
		trace_why_say(
			on->why,
			"%s hits of the script %s were missed: each came in the middle of another "
			"one on its CPU.",
			trace_why_number(missed).text, on->name.text);
}

static void script_why_all(struct script_why *on)
{
	if (on->script->state == SCRIPT_STARTED) {
		script_why_reader(on);
		script_why_clauses(on);
	} else if (on->script->wants_end) {
		trace_why_note(on->why, "The script %s has ended: it called exit().",
			       on->name.text);
	}
	script_why_losses(on);
}

static struct trace_why_text script_why_name(const struct trace_script *script)
{
	struct trace_why_text name = { "" };

	if (script->named) {
		trace_strcpy(name.text, script->named->name, sizeof(name.text));
		return name;
	}
	trace_snprintf(name.text, sizeof(name.text), "'%.40s%s'", script->text,
		       script->text_bytes > 41 ? "..." : "");
	for (char *at = name.text; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
	return name;
}

/* ---- The checks ---- */

static void script_why_count(struct trace_why *why)
{
	const struct trace_script *script = NULL;

	if (!trace_array_is_global(why->tr))
		return;
	trace_plat_preempt_disable();
	while ((script = script_why_next(script)))
		why->nr_scripts += script->state == SCRIPT_STARTED;
	trace_plat_preempt_enable();
}

static void script_why_say(struct trace_why *why)
{
	struct script_why on = { .why = why };

	if (!trace_array_is_global(why->tr))
		return;
	trace_plat_preempt_disable();
	while ((on.script = script_why_next(on.script))) {
		on.name = script_why_name(on.script);
		on.has_reader = on.script->named && on.script->named->has_reader;
		script_why_all(&on);
	}
	trace_plat_preempt_enable();
}

static const struct trace_why_check script_why_checks[] = {
	{ TRACE_WHY_SOURCES, script_why_count },
	{ TRACE_WHY_SCRIPTS, script_why_say },
	{ .say = NULL },
};

static struct trace_whys script_whys_entry = { .checks = script_why_checks };

void trace_script_why_init(void)
{
	trace_whys_register(&script_whys_entry);
}
