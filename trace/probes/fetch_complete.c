/*
 * Completion of names of the source: arguments, members, structs; and a check of pointers. See
 * probe_complete.c, types/btf.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/dyn_event.h"
#include "fetch_private.h"
#include "text/str.h"
#include "types/btf.h"

#define DECLARATION_MAX 100u
#define NESTED_MAX	4u    /* structs without a name, each in the one before */
#define VISITS_MAX	4096u /* of members; a limit for damaged types only */

/* Can a member of it follow? */
static bool fetch_complete_has_members(uint32_t type)
{
	type = trace_btf_strip(type);
	return trace_btf_form(trace_btf_kind(type) == BTF_PTR ? trace_btf_target(type) : type) ==
	       BTF_FORM_STRUCT;
}

/* Something that has a name and a type. */
static void offer_declared(const struct dyn_event_completion *completion, const char *at,
			   const char *name, const struct btf_member *member)
{
	char text[DECLARATION_MAX];
	const struct trace_dyn_event_word word = {
		.text = name, .hint = text, .goes_on = fetch_complete_has_members(member->type)
	};
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text) - 1);
	trace_btf_print_decl(&seq, member->type, name);
	if (member->bits)
		trace_seq_printf(&seq, " : %u", member->bits);
	text[seq.len] = '\0';
	trace_dyn_event_offer(completion, at, &word);
}

void trace_fetch_offer_arguments(const struct dyn_event_completion *completion, const char *at,
				 const struct btf_func *func, uint32_t first)
{
	struct btf_arg arg;

	for (uint32_t i = first; trace_btf_func_arg(func, i, &arg); i++) {
		const struct btf_member member = { .type = arg.type };

		if (arg.name[0])
			offer_declared(completion, at, arg.name, &member);
	}
}

/* The receiver of a struct's members. */
struct member_offer {
	const struct dyn_event_completion *completion;
	const char *at;
	uint32_t nr_visited;
};

/* Members of structs without a name are members of the one that these are in. */
static void offer_members(struct member_offer *to, uint32_t type, uint32_t depth)
{
	struct btf_member member;

	for (uint32_t nr = 0; trace_btf_member_get(type, nr, &member); nr++) {
		if (to->nr_visited++ >= VISITS_MAX)
			return;
		if (member.name[0])
			offer_declared(to->completion, to->at, member.name, &member);
		else if (depth < NESTED_MAX)
			offer_members(to, member.type, depth + 1);
	}
}

void trace_fetch_offer_members(const struct dyn_event_completion *completion, const char *at,
			       uint32_t type, bool is_pointer)
{
	struct member_offer to = { completion, at, 0 };

	if (is_pointer)
		type = trace_btf_kind(trace_btf_strip(type)) == BTF_PTR ? trace_btf_target(type)
									: 0;
	offer_members(&to, type, 0);
}

void trace_fetch_offer_structs(const struct dyn_event_completion *completion, const char *at)
{
	struct trace_dyn_event_word word = { .hint = "", .goes_on = true };

	for (uint32_t id = 1; id < trace_btf_nr_types(); id++) {
		enum btf_kind kind = trace_btf_kind(id);

		word.text = trace_btf_name(id);
		if (word.text[0] &&
		    (kind == BTF_STRUCT || kind == BTF_UNION ||
		     (kind == BTF_TYPEDEF && trace_btf_form(id) == BTF_FORM_STRUCT)))
			trace_dyn_event_offer(completion, at, &word);
	}
}

bool trace_fetch_points_to(uint32_t type, const char *name)
{
	const struct expr_word word = { name, trace_strlen(name) };
	uint32_t target =
		trace_btf_kind(type) == BTF_PTR ? trace_btf_strip(trace_btf_target(type)) : 0;

	return target && target == trace_fetch_names->find_struct(&word);
}
