/* The life of a script: see <trace/script.h> and script.h. */
#include <trace/ftrace.h>
#include <trace/platform.h>
#include <trace/platform_events.h>
#include <trace/trace_seq.h>
#include "instance/array.h"
#include "script_tree.h"
#include "text/str.h"

/* ---- Making ---- */

/* With the config lock: no event comes or goes while its fields are looked at. */
static int script_compile_locked(struct trace_script *script, bool splits)
{
	int err = trace_script_parse(script);

	for (struct script_clause *clause = script->clauses; clause && !err;
	     clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe && !err;
		     probe = probe->next)
			err = trace_script_probe_parse(script, probe);
	}
	if (!err && splits)
		err = trace_script_split(script);
	if (!err)
		err = trace_script_check_types(script);
	if (!err)
		err = trace_script_emit(script);
	return err;
}

static int script_compile(struct trace_script *script, bool splits)
{
	int err;

	trace_plat_lock(&trace_config_lock);
	err = script_compile_locked(script, splits);
	trace_plat_unlock(&trace_config_lock);
	for (struct script_map *map = script->maps; map && !err; map = map->next)
		trace_script_map_shape(map);
	return err;
}

/* With *inout_splits, patterns of events are taken apart; it is set where they have to be. */
static int script_make(const char *text, const struct trace_script_params *params,
		       bool *inout_splits, struct trace_script **out_script,
		       struct trace_script_error *out_error)
{
	struct trace_script *script = trace_plat_alloc(sizeof(*script));
	int err;

	*out_error = (struct trace_script_error){ .len = 1 };
	*out_script = NULL;
	if (!script)
		return -ENOMEM;
	script->text_bytes = trace_strlen(text) + 1;
	script->error = out_error;
	script->params = params;
	script->text = trace_plat_alloc(script->text_bytes);
	if (!script->text) {
		trace_script_free(script);
		return -ENOMEM;
	}
	memcpy(script->text, text, script->text_bytes);
	err = script->text_bytes > TRACE_SCRIPT_TEXT_MAX ? -E2BIG
							 : script_compile(script, *inout_splits);
	if (script->text_bytes > TRACE_SCRIPT_TEXT_MAX)
		trace_strcpy(out_error->why, "a script has at most 16383 characters",
			     sizeof(out_error->why));
	if (err) {
		*inout_splits = script->wants_split && !*inout_splits;
		trace_script_free(script);
		return err;
	}
	script->error = NULL;
	script->params = NULL;
	*out_script = script;
	return 0;
}

void trace_script_free(struct trace_script *script)
{
	if (!script)
		return;
	if (script->state == SCRIPT_STARTED)
		trace_script_detach(script);
	if (script->is_stuck)
		return;
	if (script->state != SCRIPT_MADE)
		trace_script_why_remove(script);
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next)
			trace_script_probe_free(probe);
		trace_expr_free(clause->program);
	}
	for (struct script_node *node = script->loops; node; node = node->next_loop)
		trace_expr_free(node->loop);
	for (struct script_map *map = script->maps; map; map = map->next)
		trace_script_map_destroy(map);
	trace_script_print_end(&script->print);
	if (script->cpus)
		trace_plat_free(script->cpus, trace_plat_nr_cpus() * sizeof(*script->cpus));
	if (script->out.memory)
		trace_plat_free(script->out.memory, SCRIPT_OUT_BYTES);
	trace_script_free_memory(script);
	if (script->text)
		trace_plat_free(script->text, script->text_bytes);
	trace_plat_free(script, sizeof(*script));
}

int trace_script_create(const char *text, const struct trace_script_params *params,
			struct trace_script **out_script, struct trace_script_error *out_error)
{
	bool splits = false;
	int err = script_make(text, params, &splits, out_script, out_error);

	return err && splits ? script_make(text, params, &splits, out_script, out_error) : err;
}

uint32_t trace_script_nr_probes(const struct trace_script *script)
{
	uint32_t nr = 0;

	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next)
			nr += probe->nr;
	}
	return nr;
}

/* ---- Running ---- */

uint64_t trace_script_pause(struct trace_script *script)
{
	uint64_t flags = trace_plat_irq_save();

	atomic_store_explicit(&script->cpus[trace_plat_cpu_id()].state, SCRIPT_RUNS,
			      memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return flags;
}

void trace_script_resume(struct trace_script *script, uint64_t flags)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&script->cpus[trace_plat_cpu_id()].state, SCRIPT_IDLE,
			      memory_order_relaxed);
	trace_plat_irq_restore(flags);
}

static void script_run_probe(struct script_probe *probe)
{
	const struct script_hit hit = { .probe = probe };

	trace_plat_preempt_disable();
	trace_script_hit(probe->clause, &hit);
	trace_plat_preempt_enable();
}

static void script_run_kind(struct trace_script *script, enum script_probe_kind kind)
{
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			if (probe->kind == kind)
				script_run_probe(probe);
		}
	}
}

static void script_run_intervals(struct trace_script *script)
{
	uint64_t now = trace_plat_clock_ns();

	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			if (probe->kind != SCRIPT_INTERVAL || now < probe->due_ns)
				continue;
			script_run_probe(probe);
			probe->due_ns += probe->period_ns;
			if (probe->due_ns < now) /* its time has passed more than once */
				probe->due_ns = now + probe->period_ns;
		}
	}
}

/* Memory that a script needs to run, whose program is there. Freed with it. */
static int script_make_memory(struct trace_script *script)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();

	script->cpus = trace_plat_alloc(nr_cpus * sizeof(*script->cpus));
	script->out.memory = trace_plat_alloc(SCRIPT_OUT_BYTES);
	if (!script->cpus || !script->out.memory)
		return -ENOMEM;
	script->nr_cpus = nr_cpus;
	for (struct script_map *map = script->maps; map; map = map->next) {
		int err = trace_script_map_init(map);

		if (err)
			return err;
	}
	for (uint32_t i = 0; i < script->nr_cpus; i++)
		script->cpus[i].run.script = script;
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next)
		clause->cpus = script->cpus;
	return 0;
}

int trace_script_start(struct trace_script *script)
{
	int err;

	if (script->state != SCRIPT_MADE)
		return -EBUSY;
	if (ftrace_is_dead())
		return -ENODEV;
	script->state = SCRIPT_STOPPED;
	err = script_make_memory(script);
	if (err)
		return err;
	script->state = SCRIPT_STARTED;
	script->began_ns = trace_plat_clock_ns();
	trace_script_why_add(script);
	script_run_kind(script, SCRIPT_BEGIN);
	err = trace_script_attach(script);
	if (err) {
		trace_script_detach(script);
		script->state = SCRIPT_STOPPED;
	}
	return err;
}

void trace_script_stop(struct trace_script *script)
{
	if (script->state != SCRIPT_STARTED)
		return;
	script->state = SCRIPT_STOPPED;
	trace_script_detach(script);
	script_run_kind(script, SCRIPT_END);
	script->next_printed = script->maps;
}

/* ---- Output ---- */

/* Write a line, if it fits. */
static bool script_write_table(struct trace_script *script, struct trace_seq *seq)
{
	struct script_print before = script->print;
	size_t len = seq->len;

	(void)trace_script_print_line(&script->print, seq);
	if (!seq->overflowed || !before.map || !script->print.map)
		return !seq->overflowed;
	script->print = before;
	seq->len = len;
	seq->overflowed = false;
	return false;
}

static void script_write_record(struct trace_script *script, const struct script_format *format,
				const uint8_t *values, struct trace_seq *seq)
{
	switch (format->kind) {
	case SCRIPT_PRINT_MAP:
		if (trace_script_print_begin(&script->print, format->map, format->top))
			trace_seq_puts(seq, "(out of memory)\n");
		script->print.divisor = format->divisor;
		break;
	case SCRIPT_CLEAR_MAP:
	case SCRIPT_ZERO_MAP:
		trace_script_map_clear(format->map, format->kind == SCRIPT_ZERO_MAP);
		break;
	default:
		trace_script_out_format(seq, format, values);
		break;
	}
}

#define SCRIPT_LINE_ROOM 5120u /* of the longest text that one record or line becomes */

bool trace_script_read(struct trace_script *script, struct trace_seq *seq)
{
	uint8_t *values = (uint8_t *)script->values;

	if (script->state == SCRIPT_STARTED)
		script_run_intervals(script);
	while (trace_seq_room(seq) >= SCRIPT_LINE_ROOM) {
		const struct script_format *format;

		if (script->print.map) {
			if (!script_write_table(script, seq))
				break;
			continue;
		}
		format = trace_script_out_take(script, values);
		if (!format)
			break;
		script_write_record(script, format, values, seq);
	}
	return !atomic_load(&script->wants_end);
}

static bool script_is_due(const struct trace_script *script)
{
	uint64_t now = trace_plat_clock_ns();

	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next) {
			if (probe->kind == SCRIPT_INTERVAL && now >= probe->due_ns)
				return true;
		}
	}
	return false;
}

bool trace_script_is_ready(struct trace_script *script)
{
	if (script->state == SCRIPT_MADE)
		return false;
	return script->print.map || !trace_script_out_is_empty(script) ||
	       atomic_load(&script->wants_end) ||
	       (script->state == SCRIPT_STARTED && script_is_due(script));
}

bool trace_script_print(struct trace_script *script, struct trace_seq *seq)
{
	while (!script->print.map && script->next_printed) {
		struct script_map *map = script->next_printed;

		script->next_printed = map->next;
		if (trace_script_print_begin(&script->print, map, 0)) {
			trace_seq_puts(seq, "(out of memory)\n");
			return true;
		}
	}
	if (!script->print.map)
		return false;
	(void)trace_script_print_line(&script->print, seq);
	return script->print.map || script->next_printed;
}

void trace_script_stats_get(const struct trace_script *script, struct trace_script_stats *out)
{
	*out = (struct trace_script_stats){ 0 };
	for (uint32_t cpu = 0; cpu < script->nr_cpus; cpu++) {
		out->runs += script->cpus[cpu].runs;
		out->missed += script->cpus[cpu].missed;
		out->full += script->cpus[cpu].full;
		out->lost += script->cpus[cpu].lost;
	}
	for (struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		for (struct script_probe *probe = clause->probes; probe; probe = probe->next)
			out->missed += trace_script_probe_missed(probe);
	}
}

void trace_script_show(const struct trace_script *script, struct trace_seq *seq)
{
	for (const struct script_clause *clause = script->clauses; clause; clause = clause->next) {
		const struct script_probe *probe = clause->probes;

		trace_seq_printf(seq, "%.*s%s: %u probes, at most %u steps\n", (int)probe->word.len,
				 probe->word.at, probe->next ? ", ..." : "", probe->nr,
				 clause->program->nr);
	}
	for (const struct script_map *map = script->maps; map; map = map->next)
		trace_seq_printf(seq, "%.*s: at most %u keys, %u bytes each\n", (int)map->name.len,
				 map->name.at, map->nr_entries, map->stride);
}
