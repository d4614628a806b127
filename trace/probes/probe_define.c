/*
 * From the line of a probe to the probe and its event; finding, listing and removing them. See
 * probe.h. Error messages have Linux's words.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "probe.h"
#include "text/str.h"

struct probe *trace_probe_of(const struct dyn_event *dyn)
{
	return (struct probe *)((char *)(uintptr_t)dyn - offsetof(struct probe, dyn));
}

struct probe_event *trace_probe_event_of(const struct trace_event_call *call)
{
	return (struct probe_event *)((char *)(uintptr_t)call - offsetof(struct probe_event, call));
}

/* ---- Events with several probes ---- */

static void probe_define_link(struct probe_event *event, struct probe *probe)
{
	struct probe **at = &event->first;

	while (*at)
		at = &(*at)->next;
	*at = probe;
	event->nr_probes++;
}

static void probe_define_unlink(struct probe *probe)
{
	struct probe_event *event = trace_probe_event_of(probe->dyn.call);
	struct probe **at = &event->first;

	while (*at != probe)
		at = &(*at)->next;
	*at = probe->next;
	event->nr_probes--;
}

/* The argument that differs, from 1; 0: the event is the same. */
static uint32_t differs(const struct probe_event *a, const struct probe_event *b)
{
	if (a->nr_args != b->nr_args)
		return (a->nr_args < b->nr_args ? a->nr_args : b->nr_args) + 1;
	for (uint32_t i = 0; i < a->nr_args; i++) {
		if (a->args[i].type != b->args[i].type || a->args[i].count != b->args[i].count ||
		    !trace_streq(trace_probe_field_of(a, i)->name,
				 trace_probe_field_of(b, i)->name))
			return i + 1;
	}
	return 0;
}

static bool has_same_place(const struct probe_event *event, const struct probe *probe,
			   const struct probe *other)
{
	if (event->kind->is_same_place)
		return event->kind->is_same_place(probe, other);
	return trace_streq(trace_probe_place_text(other), trace_probe_place_text(probe));
}

static bool has_same(const struct probe_event *event, const struct probe *probe)
{
	const struct probe *other = event->first;

	while (other && !(has_same_place(event, probe, other) &&
			  trace_streq(trace_probe_args_text(other), trace_probe_args_text(probe))))
		other = other->next;
	return other;
}

/* May the probe, whose own event would be `mine`, write `event`? 0, or -EEXIST after blaming. */
static int check_join(const struct probe_definition *definition, const struct probe_event *mine,
		      const struct probe *probe, const struct probe_event *event)
{
	struct probe_arg arg;
	uint32_t nr = differs(mine, event);

	trace_probe_arg_begin(&arg, definition);
	while (arg.nr < nr && trace_probe_arg_next(&arg) > 0)
		;
	if (nr)
		return trace_probe_blame(definition, arg.written.at,
					 "Argument type or name is different from existing probe",
					 -EEXIST);
	if (has_same(event, probe))
		return trace_probe_blame(definition, definition->line,
					 "There is already the exact same probe event", -EEXIST);
	return 0;
}

/*
 * The event that the definition is for, if there is one. -EEXIST after blaming: it is of another
 * kind.
 */
static int probe_define_find_event(const struct probe_definition *definition,
				   struct probe_event **out_event)
{
	char group[TRACE_SYM_LEN], name[TRACE_SYM_LEN];
	struct trace_event_call *call;

	*out_event = NULL;
	(void)trace_expr_copy(group, sizeof(group), &definition->group);
	(void)trace_expr_copy(name, sizeof(name), &definition->name);
	call = trace_event_call_find(group, name);
	if (!call)
		return 0;
	*out_event = trace_probe_event_of(call);
	/* The text of an event without a field for its place names the only one. */
	if (call->event_class == definition->kind->event_class && definition->kind->nr_fields &&
	    (*out_event)->kind == definition->kind)
		return 0;
	if (call->event.funcs == &trace_probe_functions && definition->kind->nr_fields)
		return trace_probe_blame(definition, definition->line,
					 "Probe type is different from existing probe", -EEXIST);
	return trace_probe_blame(
		definition,
		definition->name.at == definition->default_name ? definition->line
								: definition->name.at,
		"Given group/event name is already used by another event", -EEXIST);
}

static int attach(struct probe *probe, const struct probe_definition *definition)
{
	const struct probe_kind *kind = definition->kind;

	return kind->attach ? kind->attach(probe, definition) : 0;
}

static void detach(struct probe *probe, const struct probe_kind *kind)
{
	if (kind->detach)
		kind->detach(probe);
}

/* Add it to the event, of which it has no part so far; that may be in use. 0 or -errno. */
static int probe_define_join(struct probe *probe, const struct probe_definition *definition,
			     struct probe_event *event)
{
	int err = attach(probe, definition);

	if (err)
		return err;
	if (event->call.nr_users)
		err = event->kind->begin(probe);
	if (err) {
		detach(probe, event->kind);
		return err;
	}
	trace_dyn_event_join(&probe->dyn, &event->first->dyn);
	probe_define_link(event, probe);
	return 0;
}

/* Make a probe for an existing event. An event of its own is made only to be compared. */
static int create_joined(const struct probe_definition *definition, const struct probe_size *size,
			 struct probe_event *event)
{
	size_t bytes = trace_probe_bytes(definition, size),
	       mine_bytes = trace_probe_event_bytes(definition, size);
	struct probe *probe = trace_plat_alloc(bytes);
	struct probe_event *mine = probe ? trace_plat_alloc(mine_bytes) : NULL;
	int err = -ENOMEM;

	if (mine) {
		err = trace_probe_fill(probe, mine, definition, size);
		probe->bytes = (uint32_t)bytes;
		probe->dyn.call = &event->call;
		if (!err)
			err = check_join(definition, mine, probe, event);
		trace_plat_free(mine, mine_bytes);
	}
	if (!err)
		err = probe_define_join(probe, definition, event);
	if (err && probe) {
		trace_expr_free(probe->program.steps);
		trace_plat_free(probe, bytes);
	}
	return err;
}

/* Claim the place of a probe with an event of its own, and add both. 0 or -errno. */
static int probe_define_add(struct probe *probe, const struct probe_definition *definition)
{
	int err = attach(probe, definition);

	if (err)
		return err;
	err = trace_dyn_event_add(&probe->dyn);
	if (err)
		detach(probe, definition->kind);
	return err;
}

/* A probe with an event of its own, in one piece of memory. */
static int create_alone(const struct probe_definition *definition, const struct probe_size *size)
{
	size_t event_bytes = trace_probe_event_bytes(definition, size);
	size_t bytes = event_bytes + trace_probe_bytes(definition, size);
	struct probe_event *event = trace_plat_alloc(bytes);
	struct probe *probe;
	int err;

	if (!event)
		return -ENOMEM;
	probe = (struct probe *)((char *)event + event_bytes);
	err = trace_probe_fill(probe, event, definition, size);
	event->bytes = (uint32_t)bytes;
	probe->dyn.call = &event->call;
	probe_define_link(event, probe);
	if (!err)
		err = probe_define_add(probe, definition);
	if (err) {
		trace_expr_free(probe->program.steps);
		trace_plat_free(event, bytes);
	}
	return err;
}

/* Names that were not written. */
static void choose_names(struct probe_definition *definition)
{
	if (!definition->group.len)
		definition->group = trace_expr_whole(definition->kind->group);
	if (!definition->name.len)
		definition->name = trace_expr_whole(definition->default_name);
}

/* The place is found. */
static int probe_define_create(struct probe_definition *definition)
{
	struct probe_size size = { .nr_args = 0 };
	struct probe_event *event = NULL;
	int err = trace_probe_measure(definition, &size);

	if (!err)
		err = probe_define_find_event(definition, &event);
	if (err)
		return err;
	definition->context.is_gathered = size.is_gathered;
	return event ? create_joined(definition, &size, event) : create_alone(definition, &size);
}

int trace_probe_define_if(const struct probe_kind *kind, const char *line, const char *filter,
			  struct dyn_event_error *error)
{
	struct probe_definition definition = {
		.kind = kind, .error = error, .line = line, .condition = filter
	};
	int err;

	error->where = kind->log_name;
	err = trace_probe_line_parse(&definition);
	if (!err)
		err = kind->find(&definition);
	if (err)
		return err;
	choose_names(&definition);
	return probe_define_create(&definition);
}

int trace_probe_define(const struct probe_kind *kind, const char *line,
		       struct dyn_event_error *error)
{
	return trace_probe_define_if(kind, line, NULL, error);
}

/* ---- For the list of dynamic events ---- */

static const char *probe_define_condition_of(const struct probe *probe)
{
	const struct probe_kind *kind = trace_probe_event_of(probe->dyn.call)->kind;

	return kind->condition ? kind->condition(probe) : NULL;
}

void trace_probe_show(const struct dyn_event *dyn, struct trace_seq *seq)
{
	const struct probe *probe = trace_probe_of(dyn);
	const struct probe_kind *kind = trace_probe_event_of(dyn->call)->kind;
	const char *condition = probe_define_condition_of(probe);

	trace_seq_putc(seq, kind->letter);
	if (kind->takes_number && probe->target.ret.maxactive)
		trace_seq_dec(seq, probe->target.ret.maxactive, 0, ' ');
	trace_seq_printf(seq, ":%s/%s %s%s%s", dyn->call->event.system, dyn->call->event.name,
			 trace_probe_place_text(probe),
			 kind->shown_suffix ? kind->shown_suffix : "",
			 trace_probe_args_text(probe));
	if (condition)
		trace_seq_printf(seq, " if %s", condition);
	trace_seq_putc(seq, '\n');
}

/* As the place is listed, or without what the kind of event adds to it there. */
static bool is_place(const struct probe *probe, const struct expr_word *word)
{
	const char *place = trace_probe_place_text(probe);
	const char *suffix = trace_probe_event_of(probe->dyn.call)->kind->shown_suffix;
	struct expr_word tail;

	if (!trace_expr_starts(word, place))
		return false;
	tail = expr_behind(word, trace_strlen(place));
	return !tail.len || (suffix && trace_expr_is(&tail, suffix));
}

/*
 * The place, the first arguments, and behind all of them the condition: `if` and its first words.
 */
bool trace_probe_matches(const struct dyn_event *dyn, const char *rest)
{
	const struct probe *probe = trace_probe_of(dyn);
	const char *own = trace_probe_args_text(probe),
		   *condition = probe_define_condition_of(probe);
	struct expr_word word = trace_expr_next_word(&rest, '\0'), next;

	if (!word.len)
		return true;
	if (!is_place(probe, &word))
		return false;
	while ((word = trace_expr_next_word(&rest, '\0')).len) {
		next = trace_expr_next_word(&own, '\0');
		if (!next.len && condition && trace_expr_is(&word, "if")) {
			own = condition;
			condition = NULL;
		} else if (!trace_expr_same(&word, &next)) {
			return false;
		}
	}
	return true;
}

void trace_probe_free(struct dyn_event *dyn)
{
	struct probe *probe = trace_probe_of(dyn);
	struct probe_event *event = trace_probe_event_of(dyn->call);

	probe_define_unlink(probe);
	detach(probe, event->kind);
	trace_expr_free(probe->program.steps);
	if (probe->bytes)
		trace_plat_free(probe, probe->bytes);
	if (!event->nr_probes)
		trace_plat_free(event, event->bytes);
}
