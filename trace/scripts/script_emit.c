/* Programs of values and conditions: see script.h and script_emit.h. */
#include "script_emit.h"
#include "text/str.h"

/* ---- Instructions ---- */

struct expr_insn *trace_script_step(struct script_emit *emit, enum script_step_kind kind,
				    uint32_t offset)
{
	struct expr_insn *insn = trace_expr_add(&emit->build, EXPR_OWN);

	insn->step = trace_script_steps[kind];
	insn->offset = offset;
	return insn;
}

void trace_script_emit_number(struct script_emit *emit, uint64_t number)
{
	trace_expr_add(&emit->build, EXPR_CONST)->number.operand = number;
}

uint32_t trace_script_emit_save(struct script_emit *emit)
{
	uint32_t temp = emit->nr_temps++;

	if (temp >= EXPR_TEMPS_MAX)
		trace_script_refuse(emit->script, &emit->clause->probes->word, -E2BIG,
				    "an expression of this clause has more than %u values at once",
				    EXPR_TEMPS_MAX);
	trace_expr_add(&emit->build, EXPR_SAVE)->to = (uint8_t)temp;
	return temp;
}

void trace_script_emit_combine(struct script_emit *emit, enum expr_op op, uint32_t temp)
{
	trace_expr_add(&emit->build, op)->to = (uint8_t)temp;
	emit->nr_temps = temp;
}

uint32_t trace_script_emit_room(struct script_emit *emit, uint32_t bytes)
{
	uint32_t at = emit->top;

	emit->top += bytes;
	if (emit->top > SCRIPT_BYTES_MAX)
		trace_script_refuse(
			emit->script, &emit->clause->probes->word, -E2BIG,
			"variables, keys and texts of this clause need more than %u bytes",
			SCRIPT_BYTES_MAX);
	return at;
}

/* ---- Ways ---- */

static void script_emit_patch(struct script_emit *emit, uint32_t insn, bool branch,
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
		script_emit_patch(emit, number, true, patches);
}

/* ---- Conditions ---- */

/* Go on if the value is one of `first` to `last`, which goes on over 0; else by the list. */
static void script_emit_range(struct script_emit *emit, uint64_t first, uint64_t last,
			      struct script_patch **falses)
{
	uint32_t number = emit->build.program->nr;
	struct expr_insn *insn = trace_script_step(emit, SCRIPT_STEP_TEST, 0);

	insn->own.words[0] = first;
	insn->own.words[1] = last - first;
	if (!emit->build.is_full)
		script_emit_patch(emit, number, false, falses);
}

/* A comparison of the value with a constant. */
static void script_emit_compare(struct script_emit *emit, const struct script_node *node,
				struct script_patch **falses)
{
	uint64_t least = node->type.is_signed ? 1ull << 63 : 0, most = least - 1;
	uint64_t number = node->b->number;

	switch (node->binary) {
	case SCRIPT_EQ:
		script_emit_range(emit, number, number, falses);
		break;
	case SCRIPT_NE:
		script_emit_range(emit, number + 1, number - 1, falses);
		break;
	case SCRIPT_LT:
		if (number == least)
			trace_script_emit_jump(emit, falses);
		else
			script_emit_range(emit, least, number - 1, falses);
		break;
	case SCRIPT_LE:
		script_emit_range(emit, least, number, falses);
		break;
	case SCRIPT_GE:
		script_emit_range(emit, number, most, falses);
		break;
	default:
		if (number == most)
			trace_script_emit_jump(emit, falses);
		else
			script_emit_range(emit, number + 1, most, falses);
		break;
	}
}

static void script_emit_test(struct script_emit *emit, struct script_node *node,
			     struct script_patch **falses)
{
	if (node->op == SCRIPT_BINARY && node->binary >= SCRIPT_EQ && node->binary <= SCRIPT_GT &&
	    node->b->op == SCRIPT_NUMBER && node->a->type.kind != SCRIPT_TEXT) {
		trace_script_emit_value(emit, node->a);
		script_emit_compare(emit, node, falses);
	} else {
		trace_script_emit_value(emit, node);
		script_emit_range(emit, 1, UINT64_MAX, falses);
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
		script_emit_test(emit, node, falses);
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
	script_emit_range(emit, (uint32_t)params->pid, (uint32_t)params->pid, falses);
}

/* 1 or 0. */
static void script_emit_truth(struct script_emit *emit, struct script_node *node)
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

static void script_emit_binary(struct script_emit *emit, struct script_node *node)
{
	uint32_t temp;

	if (node->a->type.kind == SCRIPT_TEXT) {
		trace_script_emit_same_text(emit, node);
		return;
	}
	if (node->binary <= SCRIPT_AND || (node->binary >= SCRIPT_EQ && node->binary <= SCRIPT_GT &&
					   node->b->op == SCRIPT_NUMBER)) {
		script_emit_truth(emit, node);
		return;
	}
	trace_script_emit_value(emit, node->a);
	temp = trace_script_emit_save(emit);
	trace_script_emit_value(emit, node->b);
	trace_script_emit_operator(emit, node, node->binary, temp);
}

static void script_emit_choice(struct script_emit *emit, struct script_node *node)
{
	struct script_patch *falses = NULL, *end = NULL;

	trace_script_emit_condition(emit, node->a, &falses);
	trace_script_emit_value(emit, node->b);
	trace_script_emit_jump(emit, &end);
	trace_script_emit_here(emit, falses);
	trace_script_emit_value(emit, node->c);
	trace_script_emit_here(emit, end);
}

/* The low `bits` bits of the value, from bit `skipped` on. */
static void script_emit_bits(struct script_emit *emit, uint32_t skipped, uint32_t bits,
			     bool is_signed)
{
	struct expr_insn *insn;

	if (bits >= 64)
		return;
	insn = trace_expr_add(&emit->build, EXPR_BITS);
	insn->number.left = (uint8_t)(64 - bits - skipped);
	insn->shift = (uint8_t)(64 - bits);
	insn->number.is_signed = is_signed;
}

/* ---- Memory ---- */

/* Add a constant to the value. */
static void script_emit_plus(struct script_emit *emit, uint64_t number)
{
	uint32_t temp;

	if (!number)
		return;
	temp = trace_script_emit_save(emit);
	trace_script_emit_number(emit, number);
	trace_script_emit_combine(emit, EXPR_ADD, temp);
}

/* The value is the address of one of `node`'s type, `bits` long, `offset` bits further on. */
static void script_emit_read(struct script_emit *emit, const struct script_node *node)
{
	uint32_t skipped = node->offset % 8, bytes = (skipped + node->bits + 7) / 8;
	struct expr_insn *insn;

	if (node->type.kind == SCRIPT_STRUCT || node->type.kind == SCRIPT_TEXT) {
		script_emit_plus(emit, node->offset / 8);
		return;
	}
	while (bytes & (bytes - 1))
		bytes++;
	insn = trace_script_step(emit, SCRIPT_STEP_READ, 0);
	insn->to = (uint8_t)bytes;
	insn->own.words[0] = node->offset / 8;
	script_emit_bits(emit, skipped, node->bits, node->type.is_signed);
}

/* A number of the event that the clause is about. */
static void script_emit_field(struct script_emit *emit, const struct trace_event_field *field)
{
	const struct expr_value value = {
		.class = field->is_address ? EXPR_CLASS_ADDRESS : EXPR_CLASS_NUMBER,
		.place = EXPR_PLACE_FIELD,
		.offset = field->offset,
		.size = field->size,
		.is_signed = field->is_signed,
		.field = field,
	};

	trace_expr_add_load(&emit->build, &value);
}

static void script_emit_member(struct script_emit *emit, struct script_node *node)
{
	if (node->field) {
		emit->clause->needs_event = true;
		script_emit_field(emit, node->field);
	} else if (node->a->op == SCRIPT_BUILTIN) {
		trace_script_step(emit, SCRIPT_STEP_ARG, 0)->to = (uint8_t)node->number;
		script_emit_bits(emit, 0, node->bits, node->type.is_signed);
	} else {
		trace_script_emit_value(emit, node->a);
		script_emit_read(emit, node);
	}
}

static void script_emit_index(struct script_emit *emit, struct script_node *node)
{
	uint32_t temp, factor;

	trace_script_emit_value(emit, node->a);
	temp = trace_script_emit_save(emit);
	trace_script_emit_value(emit, node->b);
	factor = trace_script_emit_save(emit);
	trace_script_emit_number(emit, node->bits / 8);
	trace_script_emit_combine(emit, EXPR_MUL, factor);
	trace_script_emit_combine(emit, EXPR_ADD, temp);
	script_emit_read(emit, node);
}

/* ---- Names ---- */

static void script_emit_builtin(struct script_emit *emit, const struct script_node *node)
{
	static const enum script_step_kind steps[] = {
		[SCRIPT_B_PID] = SCRIPT_STEP_PID,	  [SCRIPT_B_NSECS] = SCRIPT_STEP_NSECS,
		[SCRIPT_B_ELAPSED] = SCRIPT_STEP_ELAPSED, [SCRIPT_B_FUNC] = SCRIPT_STEP_IP,
		[SCRIPT_B_RETVAL] = SCRIPT_STEP_RETVAL,	  [SCRIPT_B_RAND] = SCRIPT_STEP_RAND,
		[SCRIPT_B_ARG] = SCRIPT_STEP_ARG,	  [SCRIPT_B_RAW_ARG] = SCRIPT_STEP_RAW_ARG,
		[SCRIPT_B_UID] = SCRIPT_STEP_UID,	  [SCRIPT_B_GID] = SCRIPT_STEP_GID,
	};

	if (node->builtin->kind == SCRIPT_B_NSECS || node->builtin->kind == SCRIPT_B_ELAPSED)
		emit->clause->needs_begin = true;
	if (node->builtin->kind == SCRIPT_B_TID)
		trace_expr_add(&emit->build, EXPR_PID);
	else if (node->builtin->kind == SCRIPT_B_CPU)
		trace_expr_add(&emit->build, EXPR_CPU);
	else
		trace_script_step(emit, steps[node->builtin->kind], 0)->to = (uint8_t)node->number;
}

uint32_t trace_script_emit_keys(struct script_emit *emit, const struct script_map *map,
				struct script_node *keys)
{
	uint32_t at = trace_script_emit_room(emit, map->key.bytes), to = at;

	if (map->key.kind != SCRIPT_TUPLE || (keys && !keys->next)) {
		if (keys)
			trace_script_emit_slot(emit, keys, at, &map->key);
		return at;
	}
	for (uint32_t i = 0; keys; keys = keys->next, to += map->key.parts[i++].bytes)
		trace_script_emit_slot(emit, keys, to, &map->key.parts[i]);
	return at;
}

/* A table's value: to `to` of the block, if it is no word. */
void trace_script_emit_map(struct script_emit *emit, struct script_node *node, uint32_t to)
{
	const struct script_map *map = node->map;
	uint32_t top = emit->top, key = trace_script_emit_keys(emit, map, node->a);
	enum script_step_kind kind = SCRIPT_STEP_MAP_COPY;
	struct expr_insn *insn;

	if (script_map_has_words(map))
		kind = map->is_counter ? SCRIPT_STEP_COUNTER_GET : SCRIPT_STEP_MAP_GET;
	insn = trace_script_step(emit, kind, key);
	insn->own.data = map;
	insn->own.words[0] = to;
	emit->top = top;
}

/* Part of a tuple: the tuple goes to the block, and the part is at the returned offset. */
uint32_t trace_script_emit_part(struct script_emit *emit, struct script_node *node)
{
	uint32_t at = trace_script_emit_room(emit, node->a->type.bytes), to = at;

	trace_script_emit_slot(emit, node->a, at, &node->a->type);
	for (uint32_t i = 0; i < node->number; i++)
		to += node->a->type.parts[i].bytes;
	return to;
}

static void script_emit_invert(struct script_emit *emit, struct script_node *node)
{
	uint32_t temp;

	trace_script_emit_value(emit, node->a);
	temp = trace_script_emit_save(emit);
	trace_script_emit_number(emit, UINT64_MAX);
	trace_script_emit_combine(emit, EXPR_XOR, temp);
}

void trace_script_emit_value(struct script_emit *emit, struct script_node *node)
{
	uint32_t top = emit->top;

	if (emit->script->err)
		return;
	switch (node->op) {
	case SCRIPT_NUMBER:
		trace_script_emit_number(emit, node->number);
		break;
	case SCRIPT_BUILTIN:
		script_emit_builtin(emit, node);
		break;
	case SCRIPT_VAR:
		trace_script_step(emit, SCRIPT_STEP_LOAD, node->var->offset);
		break;
	case SCRIPT_MAP:
		trace_script_emit_map(emit, node, 0);
		break;
	case SCRIPT_MEMBER:
		script_emit_member(emit, node);
		break;
	case SCRIPT_INDEX:
		script_emit_index(emit, node);
		break;
	case SCRIPT_PART:
		trace_script_step(emit, SCRIPT_STEP_LOAD, trace_script_emit_part(emit, node));
		break;
	case SCRIPT_CAST:
		trace_script_emit_value(emit, node->a);
		if (node->bits)
			script_emit_bits(emit, 0, node->bits, node->type.is_signed);
		break;
	case SCRIPT_DEREF:
		trace_script_emit_value(emit, node->a);
		script_emit_read(emit, node);
		break;
	case SCRIPT_NEGATE:
		trace_script_emit_value(emit, node->a);
		trace_expr_add(&emit->build, EXPR_NEG);
		break;
	case SCRIPT_NOT:
		script_emit_truth(emit, node);
		break;
	case SCRIPT_INVERT:
		script_emit_invert(emit, node);
		break;
	case SCRIPT_BINARY:
		script_emit_binary(emit, node);
		break;
	case SCRIPT_CHOICE:
		script_emit_choice(emit, node);
		break;
	case SCRIPT_STEP:
		trace_script_emit_count(emit, node);
		break;
	default:
		trace_script_emit_call(emit, node);
		break;
	}
	emit->top = top;
}
