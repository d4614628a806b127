/* Programs of calls, comparisons of texts, ++, and entries of tables, which give a number: see script_emit.h. */
#include "script_emit.h"

/* ---- Comparisons of texts, and calls ---- */

/* Two texts, put into room of their own. */
static void script_value_texts(struct script_emit *emit, struct script_node *const texts[2],
			       uint32_t out_at[2])
{
	const struct script_type text = { .kind = SCRIPT_TEXT, .bytes = SCRIPT_TEXT_BYTES };

	for (int i = 0; i < 2; i++) {
		out_at[i] = trace_script_emit_room(emit, text.bytes);
		trace_script_emit_slot(emit, texts[i], out_at[i], &text);
	}
}

void trace_script_emit_same_text(struct script_emit *emit, struct script_node *node)
{
	struct script_node *const texts[] = { node->a, node->b };
	uint32_t top = emit->top, at[2];
	struct expr_insn *insn;

	script_value_texts(emit, texts, at);
	insn = trace_script_step(emit, SCRIPT_STEP_SAME_TEXT, at[0]);
	insn->own.words[0] = at[1];
	insn->own.words[1] = node->binary == SCRIPT_NE;
	emit->top = top;
}

/* The next entry of a table to a variable; the value is 0 if there is none. */
static void script_value_next(struct script_emit *emit, const struct script_node *node)
{
	struct expr_insn *insn =
		trace_script_step(emit, SCRIPT_STEP_MAP_NEXT, node->b->var->offset);

	insn->own.data = node->c->map;
	insn->own.words[0] = node->a->var->offset;
	insn->own.words[1] = node->b->var->type.parts[1].bytes;
}

/* A call that gives a number. */
void trace_script_emit_call(struct script_emit *emit, struct script_node *node)
{
	uint32_t top = emit->top, at[2];
	struct expr_insn *insn;

	if (node->op == SCRIPT_NEXT) {
		script_value_next(emit, node);
	} else if (node->function->kind == SCRIPT_F_LEN) {
		trace_script_step(emit, SCRIPT_STEP_LEN, 0)->own.data = node->a->map;
	} else if (node->function->kind == SCRIPT_F_STRNCMP) {
		struct script_node *const texts[] = { node->a, node->a->next };

		script_value_texts(emit, texts, at);
		insn = trace_script_step(emit, SCRIPT_STEP_STRNCMP, at[0]);
		insn->own.words[0] = at[1];
		insn->own.words[1] = node->a->next->next->number;
	} else { /* ksym(), usym(), strftime() */
		trace_script_emit_value(emit, node->a->next ? node->a->next : node->a);
	}
	emit->top = top;
}

/* ---- ++ and -- ---- */

static void script_value_plus(struct script_emit *emit, uint64_t number)
{
	uint32_t temp = trace_script_emit_save(emit);

	trace_script_emit_number(emit, number);
	trace_script_emit_combine(emit, EXPR_ADD, temp);
}

/* The value is the new one, or the one before. */
void trace_script_emit_count(struct script_emit *emit, struct script_node *node)
{
	uint64_t by = node->is_down ? UINT64_MAX : 1;

	if (node->a->op == SCRIPT_MAP) {
		uint32_t key = trace_script_emit_keys(emit, node->a->map, node->a->a);

		trace_script_emit_number(emit, by);
		trace_script_step(emit, SCRIPT_STEP_MAP_ADD, key)->own.data = node->a->map;
	} else {
		trace_script_step(emit, SCRIPT_STEP_LOAD, node->a->var->offset);
		script_value_plus(emit, by);
		trace_script_step(emit, SCRIPT_STEP_STORE, node->a->var->offset);
	}
	if (!node->is_front)
		script_value_plus(emit, 0 - by);
}
