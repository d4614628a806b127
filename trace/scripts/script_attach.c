/*
 * Words in front of the clauses of scripts, and the functions and events that they stand for. See script.h,
 * and script_probe.c for what calls a clause.
 *
 *   kprobe:PATTERN kretprobe:PATTERN    functions, one batch for all of a word
 *   tracepoint:SYSTEM:PATTERN           events
 *   interval:UNIT:NUMBER                the thread that reads the script's output
 *   usdt:PATH:PROVIDER:NAME             script_marker.c
 *   uprobe:PATH:PLACE and the like      script_program.c; rawtracepoint, watchpoint, profile: script_direct.c
 */
#include <stddef.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace.h>
#include "events/event_file.h"
#include "instance/event_private.h"
#include "ops/ftrace_private.h"
#include "script_target.h"
#include "text/str.h"

#define SCRIPT_SAME_NAME 32u   /* functions of one name */
#define SCRIPT_FOUND_MAX 4096u /* that are found by one look at all names; more take another one */

/* ---- Words ---- */

static const struct script_attach_word {
	const char *name, *brief;
	enum script_probe_kind kind;
} script_attach_words[] = {
	{ "BEGIN", "begin", SCRIPT_BEGIN },	 { "END", "end", SCRIPT_END },
	{ "kprobe", "k", SCRIPT_ENTRY },	 { "fentry", "kfunc", SCRIPT_ENTRY },
	{ "kretprobe", "kr", SCRIPT_RETURN },	 { "fexit", "kretfunc", SCRIPT_RETURN },
	{ "tracepoint", "t", SCRIPT_EVENT },	 { "interval", "i", SCRIPT_INTERVAL },
	{ "profile", "p", SCRIPT_PROFILE },	 { "rawtracepoint", "rt", SCRIPT_RAW },
	{ "watchpoint", "w", SCRIPT_WATCH },	 { "uprobe", "u", SCRIPT_UPROBE },
	{ "uretprobe", "ur", SCRIPT_URETPROBE }, { "usdt", "U", SCRIPT_USDT },
};

static const struct script_attach_word *script_attach_find(const struct expr_word *name)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(script_attach_words); i++) {
		const struct script_attach_word *word = &script_attach_words[i];

		if (trace_expr_is(name, word->name) || trace_expr_is(name, word->brief))
			return word;
	}
	return NULL;
}

/* `tick-1s`, `profile-97`, as D has them; *out_rest is what stands behind. NULL: it is none. */
static const struct script_attach_word *script_attach_find_of_d(const struct expr_word *name,
								struct expr_word *out_rest)
{
	struct expr_word kind;

	*out_rest = *name;
	kind = expr_take_until(out_rest, "-");
	if (!expr_take(out_rest, '-'))
		return NULL;
	if (trace_expr_is(&kind, "tick"))
		kind = trace_expr_whole("interval");
	return trace_expr_is(&kind, "interval") || trace_expr_is(&kind, "profile")
		       ? script_attach_find(&kind)
		       : NULL;
}

/* ---- Patterns ---- */

bool trace_script_matches(const struct expr_word *pattern, const char *name)
{
	char text[2 * TRACE_SYM_LEN];

	return trace_expr_copy(text, sizeof(text), pattern) && trace_glob_match(text, name);
}

bool trace_script_is_pattern(const struct expr_word *word)
{
	for (size_t i = 0; i < word->len; i++) {
		if (word->at[i] == '*' || word->at[i] == '?' || word->at[i] == '[')
			return true;
	}
	return false;
}

/* The functions of that name that have a call site. */
static uint32_t script_attach_named(const struct expr_word *word, uintptr_t *out_sites,
				    uint32_t max)
{
	uintptr_t addrs[SCRIPT_SAME_NAME];
	char name[TRACE_SYM_LEN];
	size_t found = 0;
	uint32_t nr = 0;

	if (trace_expr_copy(name, sizeof(name), word))
		found = trace_plat_symbol_find_all(name, addrs, SCRIPT_SAME_NAME);
	for (size_t i = 0; i < found && i < SCRIPT_SAME_NAME; i++) {
		uintptr_t site = ftrace_location(addrs[i]);

		if (site && nr < max)
			out_sites[nr] = site;
		nr += site != 0;
	}
	return nr;
}

/* The sites of functions that match, as many as there is room for. Returns how many match. */
static uint32_t script_attach_matching(const struct expr_word *word, uintptr_t *out_sites,
				       uint32_t max)
{
	char text[2 * TRACE_SYM_LEN], name[TRACE_SYM_LEN + 16] = "";
	struct trace_symbol_cursor names = { { 0 } };
	struct ftrace_cursor cursor = { 0 };
	struct ftrace_pattern pattern;
	struct dyn_ftrace *record;
	uint32_t nr = 0;

	if (*word->at == '!' || !trace_expr_copy(text, sizeof(text), word))
		return 0;
	ftrace_pattern_parse(&pattern, text);
	while ((record = ftrace_next_record(&cursor))) {
		uintptr_t ip = trace_plat_ip_unpack(record->ip);
		size_t len = trace_plat_symbol_next(&names, ip, name);

		if (!ftrace_pattern_match(&pattern, name, len) || !len)
			continue;
		if (nr < max)
			out_sites[nr] = ip;
		nr++;
	}
	return nr;
}

static uint32_t script_attach_functions(const struct expr_word *word, uintptr_t *out_sites,
					uint32_t max)
{
	return trace_script_is_pattern(word) ? script_attach_matching(word, out_sites, max)
					     : script_attach_named(word, out_sites, max);
}

static bool script_attach_is_event(const struct trace_event *event, const struct expr_word *system,
				   const struct expr_word *name)
{
	return trace_event_is_switched(event) && trace_script_matches(system, event->system) &&
	       trace_script_matches(name, event->name);
}

/* The same of events; the config lock keeps them. */
static uint32_t script_attach_events(const struct expr_word *system, const struct expr_word *name,
				     struct script_tap *out_taps, uint32_t max)
{
	uint32_t nr = 0;

	trace_events_lock();
	for (size_t i = 0; i < trace_nr_events(); i++) {
		const struct trace_event *event = trace_event_at(i);

		if (!script_attach_is_event(event, system, name))
			continue;
		if (nr < max) {
			out_taps[nr].call = event->call;
			out_taps[nr].type = event->type;
			trace_snprintf(out_taps[nr].name, sizeof(out_taps[nr].name),
				       "tracepoint:%s:%s", event->system, event->name);
		}
		nr++;
	}
	trace_events_unlock();
	return nr;
}

/* ---- Targets ---- */

struct script_target *trace_script_target(struct script_probe *probe, uint32_t nr, size_t each)
{
	size_t bytes = sizeof(struct script_target) + nr * each;
	struct script_target *target = trace_plat_alloc(bytes);

	if (!target) {
		probe->clause->script->err = -ENOMEM;
		return NULL;
	}
	target->bytes = bytes;
	target->probe = probe;
	target->nr = nr;
	probe->target = target;
	probe->nr = nr;
	return target;
}

/* Make the target of the functions that match; up to SCRIPT_FOUND_MAX of them were found before. */
static int script_attach_take_functions(struct script_probe *probe, const struct expr_word *pattern,
					const uintptr_t *found, uint32_t nr)
{
	struct trace_script *script = probe->clause->script;
	struct script_target *target;

	if (!nr)
		return trace_script_refuse(script, pattern, -ENOENT,
					   "no function that can be traced matches '%.*s'",
					   (int)pattern->len, pattern->at);
	target = trace_script_target(probe, nr, sizeof(target->addrs[0]));
	if (!target)
		return script->err;
	if (nr == 1)
		trace_snprintf(probe->name, sizeof(probe->name), "%s%.*s",
			       probe->kind == SCRIPT_ENTRY ? "kprobe:" : "kretprobe:",
			       (int)pattern->len, pattern->at);
	if (nr <= SCRIPT_FOUND_MAX)
		memcpy(target->addrs, found, nr * sizeof(*found));
	else /* no function comes or goes */
		(void)script_attach_functions(pattern, target->addrs, nr);
	return 0;
}

static int script_attach_find_functions(struct trace_script *script, struct script_probe *probe,
					const struct expr_word *pattern)
{
	uint32_t room = trace_script_is_pattern(pattern) ? SCRIPT_FOUND_MAX : SCRIPT_SAME_NAME;
	uintptr_t *found = trace_plat_alloc(room * sizeof(*found));
	int err;

	if (!found)
		return script->err = -ENOMEM;
	err = script_attach_take_functions(probe, pattern, found,
					   script_attach_functions(pattern, found, room));
	trace_plat_free(found, room * sizeof(*found));
	return err;
}

static int script_attach_find_events(struct trace_script *script, struct script_probe *probe,
				     const struct expr_word *pattern)
{
	struct expr_word name = *pattern, system = expr_take_until(&name, ":");
	struct script_target *target;
	uint32_t nr, found;

	if (!expr_take(&name, ':') || !name.len)
		return trace_script_refuse(script, pattern, -EINVAL,
					   "a trace point is SYSTEM:NAME");
	nr = script_attach_events(&system, &name, NULL, 0);
	if (!nr)
		return trace_script_refuse(script, pattern, -ENOENT, "no event matches '%.*s'",
					   (int)pattern->len, pattern->at);
	target = trace_script_target(probe, nr, sizeof(target->taps[0]));
	if (!target)
		return script->err;
	target->nr_changes = nr;
	target->changes = trace_plat_alloc(nr * sizeof(*target->changes));
	if (!target->changes)
		return script->err = -ENOMEM;
	/* Events of probes may have come or gone. */
	found = script_attach_events(&system, &name, target->taps, nr);
	target->nr = probe->nr = found < nr ? found : nr;
	return 0;
}

/* `s:5`; or as D has it, `5s`, and without a unit times in a second. False: no number stands there. */
static bool script_attach_number(const struct script_probe *probe, const struct expr_word *rest,
				 struct expr_word *out_unit, uint64_t *out_number)
{
	struct expr_word number = *rest;

	*out_unit = expr_take_until(&number, ":");
	if (!number.len && (probe->word.at + probe->word.len == rest->at + rest->len) &&
	    rest->at[-1] == '-') {
		number = *out_unit;
		while (out_unit->len && expr_is_digit(*out_unit->at))
			*out_unit = expr_behind(out_unit, 1);
		number.len -= out_unit->len;
		if (!out_unit->len)
			*out_unit = trace_expr_whole("hz");
	} else if (!expr_take(&number, ':')) {
		return false;
	}
	return !trace_expr_number(&number, 10, false, out_number) && *out_number &&
	       *out_number <= UINT32_MAX;
}

static int script_attach_period(struct trace_script *script, struct script_probe *probe,
				const struct expr_word *rest)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "hz", 0 } };
	struct expr_word unit;
	uint64_t value;

	if (!script_attach_number(probe, rest, &unit, &value))
		return trace_script_refuse(script, rest, -EINVAL,
					   "a period is UNIT:NUMBER, as in s:5 or hz:99");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(units); i++) {
		if (trace_expr_is(&unit, units[i].name))
			probe->period_ns = units[i].ns ? value * units[i].ns : 1000000000 / value;
	}
	if (!probe->period_ns)
		return trace_script_refuse(script, &unit, -EINVAL, "the unit is s, ms, us or hz");
	probe->nr = 1;
	return 0;
}

/* Kinds whose probes are called by the whole word. */
static int script_attach_other(struct trace_script *script, struct script_probe *probe,
			       const struct expr_word *rest)
{
	int err;

	trace_snprintf(probe->name, sizeof(probe->name), "%.*s", (int)probe->word.len,
		       probe->word.at);
	switch (probe->kind) {
	case SCRIPT_INTERVAL:
		return script_attach_period(script, probe, rest);
	case SCRIPT_PROFILE:
		err = script_attach_period(script, probe, rest);
		return err ? err : trace_script_profile_find(script, probe, rest);
	case SCRIPT_RAW:
		return trace_script_raw_find(script, probe, rest);
	case SCRIPT_WATCH:
		return trace_script_watch_find(script, probe, rest);
	case SCRIPT_USDT:
		return trace_script_marker_find(script, probe, rest);
	default:
		return trace_script_program_find(script, probe, rest);
	}
}

int trace_script_probe_parse(struct trace_script *script, struct script_probe *probe)
{
	struct expr_word rest = probe->word, name = expr_take_until(&rest, ":");
	const struct script_attach_word *word = script_attach_find(&name);
	bool has_rest = expr_take(&rest, ':');

	if (!word && !has_rest) {
		word = script_attach_find_of_d(&name, &rest);
		has_rest = word;
	}
	if (!word)
		return trace_script_refuse(script, &probe->word, -EINVAL,
					   name.len ? "no such kind of probe: '%.*s'"
						    : "a probe is expected here",
					   (int)name.len, name.at);
	probe->kind = word->kind;
	trace_snprintf(probe->name, sizeof(probe->name), "%s%s", word->name, has_rest ? ":" : "");
	if (has_rest == (word->kind <= SCRIPT_END))
		return trace_script_refuse(script, &probe->word, -EINVAL,
					   has_rest ? "nothing stands behind BEGIN and END"
						    : "a probe is KIND:PLACE");
	switch (word->kind) {
	case SCRIPT_ENTRY:
	case SCRIPT_RETURN:
		return script_attach_find_functions(script, probe, &rest);
	case SCRIPT_EVENT:
		return script_attach_find_events(script, probe, &rest);
	case SCRIPT_BEGIN:
	case SCRIPT_END:
		probe->nr = 1;
		return 0;
	default:
		return script_attach_other(script, probe, &rest);
	}
}

const struct trace_event *trace_script_probe_event(const struct script_probe *probe)
{
	return probe->kind == SCRIPT_EVENT && probe->nr ? &probe->target->taps[0].call->event
							: NULL;
}

static bool script_attach_same_field(const struct trace_event *event,
				     const struct trace_event_field *field)
{
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct trace_event_field *other = &event->fields[i];

		if (other == field)
			return true;
		if (trace_streq(other->name, field->name))
			return other->offset == field->offset && other->size == field->size &&
			       other->kind == field->kind && other->is_signed == field->is_signed;
	}
	return false;
}

bool trace_script_probe_has_field(const struct script_probe *probe,
				  const struct trace_event_field *field)
{
	for (uint32_t i = 0; i < probe->nr; i++) {
		if (probe->kind != SCRIPT_EVENT ||
		    !script_attach_same_field(&probe->target->taps[i].call->event, field))
			return false;
	}
	return true;
}

struct script_probe *trace_script_probe_split(struct script_probe *probe)
{
	struct script_target *from = probe->target, *target;
	struct script_probe *rest;

	if (probe->kind != SCRIPT_EVENT || probe->nr < 2 || probe->next)
		return NULL;
	rest = trace_script_alloc(probe->clause->script, sizeof(*rest));
	if (!rest)
		return NULL;
	*rest = *probe;
	rest->target = NULL;
	target = trace_script_target(rest, probe->nr - 1, sizeof(target->taps[0]));
	if (!target)
		return NULL;
	target->changes = trace_plat_alloc(target->nr * sizeof(*target->changes));
	if (!target->changes) {
		trace_plat_free(target, target->bytes);
		probe->clause->script->err = -ENOMEM;
		return NULL;
	}
	target->nr_changes = target->nr;
	memcpy(target->taps, &from->taps[1], target->nr * sizeof(target->taps[0]));
	from->nr = probe->nr = 1;
	return rest;
}

void trace_script_probe_free(struct script_probe *probe)
{
	struct script_target *target = probe->target;

	if (!target)
		return;
	if (script_is_of_program(probe->kind) && target->uprobe.file)
		uprobe_file_put(target->uprobe.file);
	if (probe->kind == SCRIPT_PROFILE)
		trace_sample_watch_free(&target->sample);
	if (target->changes)
		trace_plat_free(target->changes, target->nr_changes * sizeof(*target->changes));
	trace_plat_free(target, target->bytes);
	probe->target = NULL;
}
