/*
 * Programs of conditions and of operators with two sides, and the ways that lead from one to the next: see script.h and
 * script_emit.h.
 */
#include "script_emit.h"

/* ---- Ways ---- */

static void script_condition_patch(struct script_emit *emit, uint32_t insn, bool branch,
				   struct script_patch **patches)
{
	struct script_patch *patch = trace_script_alloc(emit->script, sizeof(*patch));

	if (!patch)
		return;
	*patch = (struct script_patch){ .insn = insn, .branch = branch, .next = *patches };
	*patches = patch;
}

void trace_script_emit_here(struct script_emit *emit, struct script_patch *patches)
{
	for (; patches; patches = patches->next)
		emit->build.program->insns[patches->insn].next[patches->branch] =
			trace_expr_here(&emit->build);
}

void trace_script_emit_jump(struct script_emit *emit, struct script_patch **patches)
{
	uint32_t number = emit->build.program->nr;
	struct expr_insn *insn = trace_expr_add(&emit->build, EXPR_TEST_VALUE);

	insn->span = UINT64_MAX; /* always true */
	if (!emit->build.is_full)
		script_condition_patch(emit, number, true, patches);
}

/* ---- Conditions ---- */

/* Go on if the value is one of `first` to `last`, which goes on over 0; else by the list. */
static void script_condition_range(struct script_emit *emit, uint64_t first, uint64_t last,
				   struct script_patch **falses)
{
	uint32_t number = emit->build.program->nr;
	struct expr_insn *insn = trace_script_step(emit, SCRIPT_STEP_TEST, 0);

	insn->own.words[0] = first;
	insn->own.words[1] = last - first;
	if (!emit->build.is_full)
		script_condition_patch(emit, number, false, falses);
}

/* A comparison of the value with a constant. */
static void script_condition_compare(struct script_emit *emit, const struct script_node *node,
				     struct script_patch **falses)
{
	uint64_t least = node->type.is_signed ? 1ull << 63 : 0, most = least - 1;
	uint64_t number = node->b->number;

	switch (node->binary) {
	case SCRIPT_EQ:
		script_condition_range(emit, number, number, falses);
		break;
	case SCRIPT_NE:
		script_condition_range(emit, number + 1, number - 1, falses);
		break;
	case SCRIPT_LT:
		if (number == least)
			trace_script_emit_jump(emit, falses);
		else
			script_condition_range(emit, least, number - 1, falses);
		break;
	case SCRIPT_LE:
		script_condition_range(emit, least, number, falses);
		break;
	case SCRIPT_GE:
		script_condition_range(emit, number, most, falses);
		break;
	default:
		if (number == most)
			trace_script_emit_jump(emit, falses);
		else
			script_condition_range(emit, number + 1, most, falses);
		break;
	}
}

static void script_condition_test(struct script_emit *emit, struct script_node *node,
				  struct script_patch **falses)
{
	if (node->op == SCRIPT_BINARY && node->binary >= SCRIPT_EQ && node->binary <= SCRIPT_GT &&
	    node->b->op == SCRIPT_NUMBER && node->a->type.kind != SCRIPT_TEXT) {
		trace_script_emit_value(emit, node->a);
		script_condition_compare(emit, node, falses);
	} else {
		trace_script_emit_value(emit, node);
		script_condition_range(emit, 1, UINT64_MAX, falses);
	}
}

void trace_script_emit_condition(struct script_emit *emit, struct script_node *node,
				 struct script_patch **falses)
{
	struct script_patch *others = NULL, *trues = NULL;

	if (emit->script->err)
		return;
	if (node->op == SCRIPT_BINARY && node->binary == SCRIPT_AND) {
		trace_script_emit_condition(emit, node->a, falses);
		trace_script_emit_condition(emit, node->b, falses);
	} else if (node->op == SCRIPT_BINARY && node->binary == SCRIPT_OR) {
		trace_script_emit_condition(emit, node->a, &others);
		trace_script_emit_jump(emit, &trues);
		trace_script_emit_here(emit, others);
		trace_script_emit_condition(emit, node->b, falses);
		trace_script_emit_here(emit, trues);
	} else if (node->op == SCRIPT_NOT) {
		trace_script_emit_condition(emit, node->a, &others);
		trace_script_emit_jump(emit, falses);
		trace_script_emit_here(emit, others);
	} else {
		script_condition_test(emit, node, falses);
	}
}

void trace_script_emit_process(struct script_emit *emit, struct script_patch **falses)
{
	const struct trace_script_params *params = emit->script->params;
	const struct script_probe *probe = emit->clause->probes;

	while (probe && probe->kind != SCRIPT_BEGIN && probe->kind != SCRIPT_END &&
	       probe->kind != SCRIPT_INTERVAL)
		probe = probe->next;
	if (!params || !params->pid || probe)
		return;
	trace_script_step(emit, SCRIPT_STEP_PID, 0);
	script_condition_range(emit, (uint32_t)params->pid, (uint32_t)params->pid, falses);
}

void trace_script_emit_truth(struct script_emit *emit, struct script_node *node)
{
	struct script_patch *falses = NULL, *end = NULL;

	trace_script_emit_condition(emit, node, &falses);
	trace_script_emit_number(emit, 1);
	trace_script_emit_jump(emit, &end);
	trace_script_emit_here(emit, falses);
	trace_script_emit_number(emit, 0);
	trace_script_emit_here(emit, end);
}

/* ---- Operators ---- */

void trace_script_emit_operator(struct script_emit *emit, const struct script_node *node,
				enum script_binary binary, uint32_t temp)
{
	struct expr_insn *insn;
	enum expr_op op;

	switch (binary) {
	case SCRIPT_BIT_OR:
		op = EXPR_OR;
		break;
	case SCRIPT_BIT_XOR:
		op = EXPR_XOR;
		break;
	case SCRIPT_BIT_AND:
		op = EXPR_AND;
		break;
	case SCRIPT_SHL:
		op = EXPR_SHL;
		break;
	case SCRIPT_SHR:
		op = EXPR_SHR;
		break;
	case SCRIPT_ADD:
		op = EXPR_ADD;
		break;
	case SCRIPT_SUB:
		op = EXPR_SUB;
		break;
	case SCRIPT_MUL:
		op = EXPR_MUL;
		break;
	default: /* comparisons and divisions */
		insn = trace_script_step(
			emit, binary >= SCRIPT_DIV ? SCRIPT_STEP_DIVIDE : SCRIPT_STEP_COMPARE, 0);
		insn->to = (uint8_t)temp;
		insn->own.words[0] = binary;
		insn->own.words[1] = node->type.is_signed;
		emit->nr_temps = temp;
		return;
	}
	trace_script_emit_combine(emit, op, temp);
}

void trace_script_emit_binary(struct script_emit *emit, struct script_node *node)
{
	uint32_t temp;

	if (node->a->type.kind == SCRIPT_TEXT) {
		trace_script_emit_same_text(emit, node);
		return;
	}
	if (node->binary <= SCRIPT_AND || (node->binary >= SCRIPT_EQ && node->binary <= SCRIPT_GT &&
					   node->b->op == SCRIPT_NUMBER)) {
		trace_script_emit_truth(emit, node);
		return;
	}
	trace_script_emit_value(emit, node->a);
	temp = trace_script_emit_save(emit);
	trace_script_emit_value(emit, node->b);
	trace_script_emit_operator(emit, node, node->binary, temp);
}
