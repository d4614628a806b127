/* Programs of values: see script.h and script_emit.h. */
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

/* ---- Operators ---- */

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
	} else if (node->a->op == SCRIPT_BUILTIN && node->a->builtin->kind == SCRIPT_B_ARGS) {
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
		[SCRIPT_B_PID] = SCRIPT_STEP_PID,
		[SCRIPT_B_NSECS] = SCRIPT_STEP_NSECS,
		[SCRIPT_B_ELAPSED] = SCRIPT_STEP_ELAPSED,
		[SCRIPT_B_FUNC] = SCRIPT_STEP_IP,
		[SCRIPT_B_RETVAL] = SCRIPT_STEP_RETVAL,
		[SCRIPT_B_RAND] = SCRIPT_STEP_RAND,
		[SCRIPT_B_ARG] = SCRIPT_STEP_ARG,
		[SCRIPT_B_RAW_ARG] = SCRIPT_STEP_RAW_ARG,
		[SCRIPT_B_MARK_ARG] = SCRIPT_STEP_MARK_ARG,
		[SCRIPT_B_UID] = SCRIPT_STEP_UID,
		[SCRIPT_B_GID] = SCRIPT_STEP_GID,
	};

	if (node->builtin->kind == SCRIPT_B_NSECS || node->builtin->kind == SCRIPT_B_ELAPSED)
		emit->clause->needs_begin = true;
	if (node->builtin->kind == SCRIPT_B_CURTASK)
		trace_script_step(emit, SCRIPT_STEP_CURTASK, 0)->own.words[0] = node->offset;
	else if (node->builtin->kind == SCRIPT_B_TID)
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

/* The value as it is stored: an address of a program with its thread group. */
static void script_emit_word(struct script_emit *emit, struct script_node *node)
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
		trace_script_emit_truth(emit, node);
		break;
	case SCRIPT_INVERT:
		script_emit_invert(emit, node);
		break;
	case SCRIPT_BINARY:
		trace_script_emit_binary(emit, node);
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

/* Was it stored with a thread group? */
static bool script_emit_is_packed(const struct script_node *node)
{
	return node->type.kind == SCRIPT_USYM &&
	       (node->op == SCRIPT_VAR || node->op == SCRIPT_MAP || node->op == SCRIPT_PART);
}

void trace_script_emit_value(struct script_emit *emit, struct script_node *node)
{
	script_emit_word(emit, node);
	if (script_emit_is_packed(node))
		trace_script_step(emit, SCRIPT_STEP_UNPACK, 0);
}

void trace_script_emit_as(struct script_emit *emit, struct script_node *node,
			  const struct script_type *as)
{
	if (as->kind == SCRIPT_USYM && script_emit_is_packed(node)) {
		script_emit_word(emit, node);
		return;
	}
	trace_script_emit_value(emit, node);
	if (as->kind == SCRIPT_USYM)
		trace_script_step(emit, SCRIPT_STEP_PACK, 0);
}
