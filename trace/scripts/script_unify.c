/* Types of scripts that have to hold several values: see script_type.h. */
#include "script_type.h"
#include "text/str.h"

/* A type with parts of its own, which may grow without those of `from`. */
static struct script_type script_unify_own(struct script_type_check *check,
					   const struct script_type *from)
{
	struct script_type own = *from, *parts;

	if (!own.nr)
		return own;
	parts = trace_script_alloc(check->script, own.nr * sizeof(*parts));
	for (uint32_t i = 0; parts && i < own.nr; i++)
		parts[i] = script_unify_own(check, &from->parts[i]);
	own.nr = parts ? own.nr : 0;
	own.parts = parts;
	return own;
}

bool trace_script_unify(struct script_type_check *check, struct script_type *to,
			const struct script_type *from)
{
	uint32_t bytes = 0;

	if (!from->kind)
		return true;
	if (!to->kind) {
		*to = script_unify_own(check, from);
		check->has_changed = true;
		return true;
	}
	if (script_type_is_number(to) && script_type_is_number(from))
		return true;
	if (to->kind != from->kind || to->nr != from->nr)
		return false;
	if (to->kind == SCRIPT_DATE)
		return trace_streq(to->date->format, from->date->format);
	for (uint32_t i = 0; i < to->nr; i++) {
		if (!trace_script_unify(check, (struct script_type *)(uintptr_t)&to->parts[i],
					&from->parts[i]))
			return false;
		bytes += to->parts[i].bytes;
	}
	if (!to->nr)
		bytes = from->bytes;
	if (bytes > to->bytes) {
		to->bytes = bytes;
		check->has_changed = true;
	}
	return true;
}
