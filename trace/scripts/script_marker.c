/*
 * Probes of scripts at markers of programs: usdt:PATH:PROVIDER:NAME or usdt:PATH:NAME, patterns both, by <trace/uprobe.h>.
 * See script.h.
 *
 * A word's markers are attached and detached together. While they are, a marker's semaphore is one higher.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "probes/probe_uprobe.h"
#include "script_target.h"
#include "text/str.h"

#define SCRIPT_MARKERS_MAX 4096u /* of a word */

/* ---- Places ---- */

/* The markers of a file that a word stands for. */
struct script_marker_search {
	struct script_probe *probe;
	struct uprobe_file *file;
	struct expr_word path, provider, name; /* the last two: patterns */
	struct script_mark *marks;	       /* room for `max` */
	uint32_t nr, max;
};

static bool script_marker_matches(const struct script_marker_search *search,
				  const struct probe_marker *marker)
{
	return (!search->provider.len ||
		trace_script_matches(&search->provider, marker->provider)) &&
	       trace_script_matches(&search->name, marker->name);
}

static void script_marker_fill(const struct script_marker_search *search, struct script_mark *mark,
			       const struct probe_marker *marker)
{
	const struct script_marker_at at = { .file = search->file, .addr = marker->addr };
	struct expr_word args = trace_expr_strip(trace_expr_whole(marker->args)), word;

	mark->probe = search->probe;
	mark->consumer.file = search->file;
	mark->consumer.offset = marker->offset;
	mark->consumer.ref_ctr_offset = marker->semaphore;
	trace_snprintf(mark->name, sizeof(mark->name), "usdt:%.*s:%s:%s", (int)search->path.len,
		       search->path.at, marker->provider, marker->name);
	while (args.len && mark->nr_args < SCRIPT_MARK_ARGS) {
		word = expr_take_until(&args, " ");
		trace_script_operand_parse(&word, &at, &mark->args[mark->nr_args++]);
		args = trace_expr_strip(args);
	}
}

static bool script_marker_visit(const struct probe_marker *marker, void *arg)
{
	struct script_marker_search *search = arg;

	if (!script_marker_matches(search, marker))
		return true;
	if (search->nr < search->max)
		script_marker_fill(search, &search->marks[search->nr], marker);
	search->nr++;
	return true;
}

/* PATH:PROVIDER:NAME or PATH:NAME. */
static bool script_marker_split(const struct expr_word *rest, struct script_marker_search *search)
{
	struct expr_word behind = *rest;

	search->path = expr_take_until(&behind, ":");
	if (!search->path.len || !expr_take(&behind, ':'))
		return false;
	search->name = expr_take_until(&behind, ":");
	if (expr_take(&behind, ':')) {
		search->provider = search->name;
		search->name = behind;
	}
	return search->name.len;
}

/* Have a target with room for the `nr` that were found, and find them again. */
static int script_marker_take(struct trace_script *script, struct script_marker_search *search)
{
	struct script_probe *probe = search->probe;
	struct script_target *target;

	target = trace_script_target(probe, search->nr,
				     sizeof(target->marks[0]) + sizeof(struct uprobe_consumer *));
	if (!target) {
		uprobe_file_put(search->file);
		return script->err;
	}
	target->uprobe.file = search->file; /* the first marker's, too */
	search->marks = target->marks;
	search->max = search->nr;
	search->nr = 0;
	(void)trace_probe_marker_each(search->file, script_marker_visit, search);
	if (search->nr < target->nr) /* the file has changed */
		target->nr = probe->nr = search->nr;
	for (uint32_t i = 0; i < target->nr; i++) {
		struct uprobe_consumer *consumer = &target->marks[i].consumer;
		char why[100] = "";
		int err = uprobe_refusal(consumer->file, consumer->offset, why, sizeof(why));

		if (err)
			return trace_script_refuse(script, &probe->word, err,
						   "no probe can be at %s: %s",
						   target->marks[i].name, why);
	}
	return 0;
}

int trace_script_marker_find(struct trace_script *script, struct script_probe *probe,
			     const struct expr_word *rest)
{
	struct script_marker_search search = { .probe = probe };
	int err;

	if (!script_marker_split(rest, &search))
		return trace_script_refuse(script, rest, -EINVAL,
					   "a marker is PATH:PROVIDER:NAME or PATH:NAME");
	err = trace_script_program_file(script, &search.path, &search.file);
	if (err)
		return err;
	err = trace_probe_marker_each(search.file, script_marker_visit, &search);
	if (!err && search.nr && search.nr <= SCRIPT_MARKERS_MAX)
		return script_marker_take(script, &search);
	uprobe_file_put(search.file);
	if (search.nr)
		return trace_script_refuse(script, rest, -E2BIG, "more than %u markers match",
					   SCRIPT_MARKERS_MAX);
	return trace_script_refuse(
		script, rest, err ? err : -ENOENT, "%s '%.*s'",
		err ? "this is no program, and has no marker" : "no marker of the file matches",
		(int)(rest->len - search.path.len - 1), rest->at + search.path.len + 1);
}

int trace_script_marker_arg(struct trace_script *script, const struct script_probe *probe,
			    const struct expr_word *word, bool *out_is_signed)
{
	uint32_t number = (uint32_t)(word->at[3] - '0');

	for (uint32_t i = 0; i < probe->nr; i++) {
		const struct script_mark *mark = &probe->target->marks[i];

		if (number >= mark->nr_args)
			return trace_script_refuse(script, word, -EINVAL, "%s has no '%.*s'",
						   mark->name, (int)word->len, word->at);
		if (mark->args[number].kind == SCRIPT_OPERAND_UNKNOWN)
			return trace_script_refuse(script, word, -EINVAL,
						   "'%.*s' of %s is where it cannot be read",
						   (int)word->len, word->at, mark->name);
		*out_is_signed &= mark->args[number].is_signed;
	}
	return 0;
}

/* ---- Hits: the thread of the program ---- */

static void script_marker_hit(struct uprobe_consumer *self, struct ftrace_regs *regs)
{
	const struct script_mark *mark = (const struct script_mark *)(const void *)self;
	const struct script_hit hit = { .probe = mark->probe,
					.regs = regs,
					.name = mark->name,
					.ip = ftrace_regs_get_instruction_pointer(regs),
					.mark = mark };

	trace_plat_preempt_disable();
	trace_script_hit(mark->probe->clause, &hit);
	trace_plat_preempt_enable();
}

/* ---- On and off ---- */

static struct uprobe_consumer **script_marker_consumers(struct script_target *target)
{
	struct uprobe_consumer **consumers = (void *)&target->marks[target->nr];

	for (uint32_t i = 0; i < target->nr; i++) {
		target->marks[i].consumer.handler = script_marker_hit;
		consumers[i] = &target->marks[i].consumer;
	}
	return consumers;
}

int trace_script_marker_attach(struct script_probe *probe)
{
	return register_uprobes(script_marker_consumers(probe->target), probe->nr);
}

void trace_script_marker_detach(struct script_probe *probe)
{
	unregister_uprobes(script_marker_consumers(probe->target), probe->nr);
}
