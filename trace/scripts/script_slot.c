/* Programs of texts, stacks and tuples, which go to the block of a run: see script_emit.h. */
#include "script_emit.h"
#include "text/str.h"

/* ---- Values that are no words ---- */

static void script_slot_text_call(struct script_emit *emit, struct script_node *node,
				  uint32_t offset, uint32_t bytes)
{
	const struct script_node *limit = node->a->next;
	struct expr_insn *insn;

	trace_script_emit_value(emit, node->a);
	insn = trace_script_step(emit, SCRIPT_STEP_STR, offset);
	insn->own.words[0] = bytes;
	if (limit && limit->op == SCRIPT_NUMBER && limit->number < bytes)
		insn->own.words[1] = limit->number;
	else
		insn->own.words[1] = bytes - 1;
}

/* buf(): its length, and so many bytes behind. */
static void script_slot_buf(struct script_emit *emit, struct script_node *node, uint32_t offset,
			    uint32_t bytes)
{
	struct expr_insn *insn;

	trace_script_emit_value(emit, node->a->next);
	trace_script_step(emit, SCRIPT_STEP_STORE, offset);
	trace_script_emit_value(emit, node->a);
	insn = trace_script_step(emit, SCRIPT_STEP_BUF, offset);
	insn->own.words[0] = bytes - 8;
	insn->own.words[1] = node->type.bytes - 8;
}

static void script_slot_text(struct script_emit *emit, struct script_node *node, uint32_t offset,
			     uint32_t bytes)
{
	struct expr_insn *insn;

	switch (node->op) {
	case SCRIPT_STRING:
		insn = trace_script_step(emit, SCRIPT_STEP_TEXT, offset);
		insn->own.data = node->text;
		insn->own.words[0] = bytes;
		break;
	case SCRIPT_BUILTIN:
		insn = trace_script_step(emit,
					 node->builtin->kind == SCRIPT_B_COMM ? SCRIPT_STEP_COMM
									      : SCRIPT_STEP_PROBE,
					 offset);
		insn->own.words[0] = bytes;
		break;
	case SCRIPT_CALL:
		script_slot_text_call(emit, node, offset, bytes);
		break;
	default: /* a member */
		if (node->field) {
			emit->clause->needs_event = true;
			insn = trace_script_step(emit, SCRIPT_STEP_FIELD, offset);
			insn->own.data = node->field;
		} else {
			trace_script_emit_value(emit, node);
			insn = trace_script_step(emit, SCRIPT_STEP_STR, offset);
			insn->own.words[1] = bytes - 1;
		}
		insn->own.words[0] = bytes;
		break;
	}
}

void trace_script_emit_copy(struct script_emit *emit, uint32_t from, const struct script_type *type,
			    uint32_t to, const struct script_type *as)
{
	struct expr_insn *insn;

	if (as->kind != SCRIPT_TUPLE) {
		insn = trace_script_step(emit, SCRIPT_STEP_COPY, to);
		insn->own.words[0] = from;
		insn->own.words[1] = (uint64_t)as->bytes << 32 | type->bytes;
		return;
	}
	for (uint32_t i = 0; i < as->nr; i++) {
		trace_script_emit_copy(emit, from, &type->parts[i], to, &as->parts[i]);
		from += type->parts[i].bytes;
		to += as->parts[i].bytes;
	}
}

static void script_slot_choose_slot(struct script_emit *emit, struct script_node *node,
				    uint32_t offset, const struct script_type *as)
{
	struct script_patch *falses = NULL, *end = NULL;

	trace_script_emit_condition(emit, node->a, &falses);
	trace_script_emit_slot(emit, node->b, offset, as);
	trace_script_emit_jump(emit, &end);
	trace_script_emit_here(emit, falses);
	trace_script_emit_slot(emit, node->c, offset, as);
	trace_script_emit_here(emit, end);
}

/* A stack that is all of a key: words behind its 0 are not looked at. */
static bool script_slot_is_key(const struct script_emit *emit, const struct script_type *as)
{
	for (const struct script_map *map = emit->script->maps; map; map = map->next) {
		if (as == &map->key)
			return true;
	}
	return false;
}

static void script_slot_stack(struct script_emit *emit, const struct script_node *node,
			      uint32_t offset, const struct script_type *as)
{
	bool is_user = as->kind == SCRIPT_USTACK;
	struct expr_insn *insn =
		trace_script_step(emit, is_user ? SCRIPT_STEP_USTACK : SCRIPT_STEP_KSTACK, offset);

	emit->clause->needs_event |= !is_user;
	insn->own.words[0] = node->type.bytes / 8 - 1;
	insn->own.words[1] = !is_user && script_slot_is_key(emit, as) ? 0 : as->bytes;
}

void trace_script_emit_slot(struct script_emit *emit, struct script_node *node, uint32_t offset,
			    const struct script_type *as)
{
	uint32_t top = emit->top;

	if (emit->script->err)
		return;
	if (script_is_word(&node->type)) {
		trace_script_emit_as(emit, node, as);
		trace_script_step(emit, SCRIPT_STEP_STORE, offset);
	} else if (node->op == SCRIPT_CHOICE) {
		script_slot_choose_slot(emit, node, offset, as);
	} else if (node->op == SCRIPT_VAR) {
		trace_script_emit_copy(emit, node->var->offset, &node->type, offset, as);
	} else if (node->op == SCRIPT_MAP) {
		uint32_t at = trace_script_emit_room(emit, node->type.bytes);

		trace_script_emit_map(emit, node, at);
		trace_script_emit_copy(emit, at, &node->type, offset, as);
	} else if (node->op == SCRIPT_PART) {
		trace_script_emit_copy(emit, trace_script_emit_part(emit, node), &node->type,
				       offset, as);
	} else if (node->op == SCRIPT_LIST) {
		node = node->a;
		for (uint32_t i = 0; node; node = node->next, offset += as->parts[i++].bytes)
			trace_script_emit_slot(emit, node, offset, &as->parts[i]);
	} else if (as->kind == SCRIPT_BUF) {
		script_slot_buf(emit, node, offset, as->bytes);
	} else if (as->kind == SCRIPT_TEXT) {
		script_slot_text(emit, node, offset, as->bytes);
	} else {
		script_slot_stack(emit, node, offset, as);
	}
	emit->top = top;
}
