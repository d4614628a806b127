/* Programs of statements and clauses: see script.h and script_emit.h. */
#include "script_emit.h"

#define SCRIPT_INSNS_FIRST 32u /* enough for most clauses */
#define SCRIPT_INSNS_MAX   4000u
#define SCRIPT_LOOPS_MAX   1000u /* rounds of a while() or for() */

/* ---- Tables and variables ---- */

static void script_action_aggregate(struct script_emit *emit, struct script_node *node)
{
	struct script_map *map = node->a->map;
	uint32_t key = trace_script_emit_keys(emit, map, node->a->a);
	bool is_count = map->value.kind == SCRIPT_COUNT;

	if (map->is_counter) {
		trace_script_step(emit, SCRIPT_STEP_COUNTER, 0)->to = (uint8_t)map->counter;
		return;
	}
	if (!is_count)
		trace_script_emit_value(emit, node->b->a);
	trace_script_step(emit, is_count ? SCRIPT_STEP_COUNT : SCRIPT_STEP_AGGREGATE, key)
		->own.data = map;
}

/* @x += v: in one step, so that other CPUs' steps are not lost. */
static void script_action_add(struct script_emit *emit, struct script_node *node)
{
	struct script_map *map = node->a->map;
	uint32_t key = trace_script_emit_keys(emit, map, node->a->a);

	trace_script_emit_value(emit, node->b);
	if (node->binary == SCRIPT_SUB)
		trace_expr_add(&emit->build, EXPR_NEG);
	trace_script_step(emit, SCRIPT_STEP_MAP_ADD, key)->own.data = map;
}

static void script_action_set_map(struct script_emit *emit, struct script_node *node)
{
	struct script_map *map = node->a->map;
	struct expr_insn *insn;
	uint32_t key, at = 0;

	if (node->binary == SCRIPT_ADD || node->binary == SCRIPT_SUB) {
		script_action_add(emit, node);
		return;
	}
	key = trace_script_emit_keys(emit, map, node->a->a);
	if (node->binary) {
		uint32_t temp;

		trace_script_step(emit, SCRIPT_STEP_MAP_GET, key)->own.data = map;
		temp = trace_script_emit_save(emit);
		trace_script_emit_value(emit, node->b);
		trace_script_emit_operator(emit, node->b, node->binary, temp);
	} else if (script_is_word(&map->value)) {
		trace_script_emit_as(emit, node->b, &map->value);
	} else {
		at = trace_script_emit_room(emit, map->value.bytes);
		trace_script_emit_slot(emit, node->b, at, &map->value);
	}
	insn = trace_script_step(
		emit, script_map_has_words(map) ? SCRIPT_STEP_MAP_SET : SCRIPT_STEP_MAP_PUT, key);
	insn->own.data = map;
	insn->own.words[0] = at;
}

static void script_action_set_var(struct script_emit *emit, struct script_node *node)
{
	const struct script_var *var = node->a->var;
	uint32_t temp;

	if (!node->binary && var->type.kind == SCRIPT_TUPLE) {
		/* Its parts may be made of those that it has had. */
		uint32_t at = trace_script_emit_room(emit, var->type.bytes);

		trace_script_emit_slot(emit, node->b, at, &var->type);
		trace_script_emit_copy(emit, at, &var->type, var->offset, &var->type);
		return;
	}
	if (!node->binary) {
		trace_script_emit_slot(emit, node->b, var->offset, &var->type);
		return;
	}
	trace_script_step(emit, SCRIPT_STEP_LOAD, var->offset);
	temp = trace_script_emit_save(emit);
	trace_script_emit_value(emit, node->b);
	trace_script_emit_operator(emit, node->b, node->binary, temp);
	trace_script_step(emit, SCRIPT_STEP_STORE, var->offset);
}

static void script_action_assign(struct script_emit *emit, struct script_node *node)
{
	if (node->a->op == SCRIPT_VAR)
		script_action_set_var(emit, node);
	else if (node->b->op == SCRIPT_CALL && node->b->function->is_for_map)
		script_action_aggregate(emit, node);
	else
		script_action_set_map(emit, node);
}

/* ---- Calls ---- */

/* The format of a call, made at the first time: programs are made twice. */
static struct script_format *script_action_format(struct script_emit *emit,
						  struct script_node *call, enum script_record kind)
{
	struct script_format *format = call->format;

	if (format)
		return format;
	format = trace_script_alloc(emit->script, sizeof(*format));
	if (!format)
		return NULL;
	format->kind = kind;
	format->number = emit->script->nr_formats++;
	format->next = emit->script->formats;
	emit->script->formats = format;
	call->format = format;
	return format;
}

static void script_action_printf(struct script_emit *emit, struct script_node *call)
{
	bool is_printf = call->function->kind == SCRIPT_F_PRINTF;
	struct script_format *format = script_action_format(emit, call, SCRIPT_PRINTF);
	struct script_node *arg = is_printf ? call->a->next : call->a;
	uint32_t at = emit->top;
	const char *why;

	if (!format)
		return;
	format->text = is_printf ? call->a->text : NULL;
	format->nr = 0;
	for (; arg; arg = arg->next, format->nr++) {
		uint32_t to = trace_script_emit_room(emit, arg->type.bytes);

		format->types[format->nr] = arg->type;
		format->offsets[format->nr] = to - at;
		trace_script_emit_slot(emit, arg, to, &arg->type);
	}
	format->bytes = emit->top - at;
	if (is_printf && !format->text)
		why = "printf() begins with a text";
	else
		why = trace_script_format_check(format);
	if (why)
		trace_script_refuse(emit->script, &call->a->word, -EINVAL, "%s", why);
	trace_script_step(emit, SCRIPT_STEP_OUT, at)->own.data = format;
}

/* time(): the text is made of the clock's time in the record. */
static void script_action_time(struct script_emit *emit, struct script_node *call)
{
	struct script_format *format = script_action_format(emit, call, SCRIPT_PRINTF);
	uint32_t at = trace_script_emit_room(emit, 8);

	if (!format)
		return;
	format->text = "%s";
	format->nr = 1;
	format->types[0] = call->type;
	format->bytes = 8;
	emit->clause->needs_begin = true;
	trace_script_step(emit, SCRIPT_STEP_NSECS, 0);
	trace_script_step(emit, SCRIPT_STEP_STORE, at);
	trace_script_step(emit, SCRIPT_STEP_OUT, at)->own.data = format;
}

/* join(ARGV): the texts with blanks or another text between, and a newline. */
static void script_action_join(struct script_emit *emit, struct script_node *call)
{
	struct script_format *format = script_action_format(emit, call, SCRIPT_PRINTF);
	uint32_t at = trace_script_emit_room(emit, SCRIPT_JOIN_BYTES);
	struct expr_insn *insn;

	if (!format)
		return;
	format->text = "%s\n";
	format->nr = 1;
	format->types[0] = (struct script_type){ .kind = SCRIPT_TEXT, .bytes = SCRIPT_JOIN_BYTES };
	format->bytes = SCRIPT_JOIN_BYTES;
	trace_script_emit_value(emit, call->a);
	insn = trace_script_step(emit, SCRIPT_STEP_JOIN, at);
	insn->own.data = call->a->next ? call->a->next->text : " ";
	trace_script_step(emit, SCRIPT_STEP_OUT, at)->own.data = format;
}

/* print(@x), clear(@x), zero(@x): done by the thread that reads. */
static void script_action_map_call(struct script_emit *emit, struct script_node *call,
				   enum script_record kind)
{
	struct script_format *format = script_action_format(emit, call, kind);

	if (!format)
		return;
	format->map = call->a->map;
	if (kind == SCRIPT_PRINT_MAP && call->a->next) {
		format->top = (uint32_t)call->a->next->number;
		format->divisor = call->a->next->next ? (uint32_t)call->a->next->next->number : 0;
	}
	trace_script_step(emit, SCRIPT_STEP_OUT, 0)->own.data = format;
}

/* End the run. */
static void script_action_return(struct script_emit *emit)
{
	if (emit->is_round)
		trace_script_step(emit, SCRIPT_STEP_LEAVE, 0);
	else
		trace_script_emit_jump(emit, &emit->done);
}

static void script_action_leave(struct script_emit *emit, const struct script_node *node)
{
	if (node->leave == SCRIPT_LEAVE_CLAUSE)
		script_action_return(emit);
	else if (!emit->is_round)
		trace_script_refuse(emit->script, &node->word, -EINVAL,
				    "this stands in a loop alone");
	else
		trace_script_emit_jump(emit,
				       node->leave == SCRIPT_BREAK ? &emit->stopped : &emit->done);
}

static void script_action_call(struct script_emit *emit, struct script_node *call)
{
	struct script_node *of = call->a;
	uint32_t key;

	switch (call->function->kind) {
	case SCRIPT_F_PRINT:
		if (of->op == SCRIPT_MAP && !of->a)
			script_action_map_call(emit, call, SCRIPT_PRINT_MAP);
		else
			script_action_printf(emit, call);
		break;
	case SCRIPT_F_CLEAR:
		script_action_map_call(emit, call, SCRIPT_CLEAR_MAP);
		break;
	case SCRIPT_F_ZERO:
		script_action_map_call(emit, call, SCRIPT_ZERO_MAP);
		break;
	case SCRIPT_F_DELETE:
		key = trace_script_emit_keys(emit, of->map, of->a ? of->a : of->next);
		trace_script_step(emit, SCRIPT_STEP_MAP_DELETE, key)->own.data = of->map;
		break;
	case SCRIPT_F_TIME:
		script_action_time(emit, call);
		break;
	case SCRIPT_F_JOIN:
		script_action_join(emit, call);
		break;
	case SCRIPT_F_EXIT:
		trace_script_step(emit, SCRIPT_STEP_EXIT, 0);
		script_action_return(emit);
		break;
	default:
		script_action_printf(emit, call);
		break;
	}
}

/* A value as a statement: only what it changes is left of it, as by `$x++`. */
static void script_action_value(struct script_emit *emit, struct script_node *value)
{
	if (value->op == SCRIPT_CALL && value->function->kind < SCRIPT_F_STR)
		script_action_call(emit, value);
	else if (script_is_word(&value->type))
		trace_script_emit_value(emit, value);
	else
		trace_script_emit_slot(emit, value, trace_script_emit_room(emit, value->type.bytes),
				       &value->type);
}

/* ---- Control ---- */

static void script_action_block(struct script_emit *emit, struct script_node *first);

static void script_action_if(struct script_emit *emit, struct script_node *node)
{
	struct script_patch *falses = NULL, *end = NULL;

	trace_script_emit_condition(emit, node->a, &falses);
	script_action_block(emit, node->b);
	if (node->c)
		trace_script_emit_jump(emit, &end);
	trace_script_emit_here(emit, falses);
	script_action_block(emit, node->c);
	trace_script_emit_here(emit, end);
}

static struct expr_program *script_action_program(struct script_emit *emit,
						  struct script_node *condition,
						  struct script_node *block);

static void script_action_while(struct script_emit *emit, struct script_node *node)
{
	struct expr_insn *insn;

	emit->clause->needs_begin = true;
	if (!node->loop) {
		struct script_emit inner = { .script = emit->script,
					     .clause = emit->clause,
					     .top = emit->top,
					     .times = 1,
					     .is_round = true };

		node->loop = script_action_program(&inner, node->a, node->b);
		node->next_loop = emit->script->loops;
		emit->script->loops = node;
	}
	insn = trace_script_step(emit, SCRIPT_STEP_LOOP, 0);
	insn->own.data = node->loop;
	insn->own.words[0] = node->a->op == SCRIPT_NEXT ? SCRIPT_KEYS_MAX : SCRIPT_LOOPS_MAX;
	insn->to = emit->is_round;
}

static void script_action_unroll(struct script_emit *emit, struct script_node *node)
{
	uint64_t times = emit->times;

	emit->times *= node->number;
	if (emit->times > SCRIPT_INSNS_MAX)
		trace_script_refuse(emit->script, &node->word, -E2BIG,
				    "unroll() in unroll(): more than %u times", SCRIPT_INSNS_MAX);
	for (uint64_t i = 0; i < node->number; i++)
		script_action_block(emit, node->b);
	emit->times = times;
}

static void script_action_statement(struct script_emit *emit, struct script_node *node)
{
	uint32_t top = emit->top;

	emit->nr_temps = 0;
	switch (node->op) {
	case SCRIPT_ASSIGN:
		script_action_assign(emit, node);
		break;
	case SCRIPT_STEP:
		trace_script_emit_count(emit, node);
		break;
	case SCRIPT_LEAVE:
		script_action_leave(emit, node);
		break;
	case SCRIPT_IF:
		script_action_if(emit, node);
		break;
	case SCRIPT_UNROLL:
		script_action_unroll(emit, node);
		break;
	case SCRIPT_WHILE:
		script_action_while(emit, node);
		break;
	case SCRIPT_FOR:
		script_action_block(emit, node->b);
		break;
	default:
		script_action_value(emit, node->a);
		break;
	}
	emit->top = top;
}

static void script_action_block(struct script_emit *emit, struct script_node *first)
{
	for (struct script_node *node = first; node && !emit->script->err && !emit->build.is_full;
	     node = node->next)
		script_action_statement(emit, node);
}

/* ---- Programs ---- */

/*
 * All of a program of at most `max` instructions: the end of a clause counts a run, that of a round has
 * the result 1; when the condition is false, neither is reached.
 */
static int script_action_make(struct script_emit *emit, struct script_node *condition,
			      struct script_node *block, uint32_t max)
{
	uint32_t top = emit->top;
	int err = trace_expr_create(&emit->build, max, 0);

	if (err) {
		emit->script->err = emit->script->err ? emit->script->err : err;
		return err;
	}
	emit->build.has_own = true;
	emit->nr_temps = 0;
	emit->done = emit->stopped = NULL;
	if (!emit->is_round && emit->clause->needs_begin)
		trace_script_step(emit, SCRIPT_STEP_BEGIN, emit->clause->zeroed);
	if (!emit->is_round)
		trace_script_emit_process(emit, &emit->stopped);
	if (condition)
		trace_script_emit_condition(emit, condition, &emit->stopped);
	script_action_block(emit, block);
	trace_script_emit_here(emit, emit->done);
	trace_script_step(emit, emit->is_round ? SCRIPT_STEP_AGAIN : SCRIPT_STEP_RAN, 0);
	trace_script_emit_here(emit, emit->stopped);
	trace_script_step(emit, emit->is_round ? SCRIPT_STEP_STOP : SCRIPT_STEP_FAIL, 0);
	trace_expr_add(&emit->build, EXPR_END); /* it is not reached: steps lead on */
	emit->top = top;
	return emit->script->err;
}

/* The same, of as many as it needs; again when its statements need another beginning than it has. */
static int script_action_fit(struct script_emit *emit, struct script_node *condition,
			     struct script_node *block)
{
	uint32_t max = SCRIPT_INSNS_FIRST;

	for (;;) {
		bool needed_begin = emit->clause->needs_begin;
		int err = script_action_make(emit, condition, block, max);

		if (err)
			return err;
		if (emit->build.is_full && max == SCRIPT_INSNS_MAX)
			return -E2BIG;
		if (!emit->build.is_full && emit->clause->needs_begin == needed_begin)
			return trace_expr_finish(&emit->build);
		if (emit->build.is_full)
			max = max * 8 < SCRIPT_INSNS_MAX ? max * 8 : SCRIPT_INSNS_MAX;
		trace_expr_free(emit->build.program);
	}
}

static struct expr_program *script_action_program(struct script_emit *emit,
						  struct script_node *condition,
						  struct script_node *block)
{
	int err = script_action_fit(emit, condition, block);

	if (!err)
		return emit->build.program;
	trace_expr_free(emit->build.program);
	trace_script_refuse(emit->script, &emit->clause->probes->word, err,
			    "this clause has more than %u instructions", SCRIPT_INSNS_MAX);
	return NULL;
}

static int script_action_clause(struct script_clause *clause)
{
	struct script_emit emit = { .script = clause->script, .clause = clause, .times = 1 };

	for (struct script_var *var = clause->vars; var; var = var->next)
		var->offset = trace_script_emit_room(&emit, (var->type.bytes + 7) / 8 * 8);
	clause->zeroed = emit.top;
	clause->needs_begin = emit.top;
	if (clause->script->err)
		return clause->script->err;
	clause->program = script_action_program(&emit, clause->predicate, clause->block);
	return clause->script->err;
}

/* Counts without a key, as far as there are counters. */
static void script_action_take_counters(struct trace_script *script)
{
	for (struct script_map *map = script->maps; map; map = map->next) {
		if (map->key.kind != SCRIPT_NONE || map->value.kind != SCRIPT_COUNT ||
		    script->nr_counters == SCRIPT_COUNTERS_MAX)
			continue;
		map->is_counter = true;
		map->counter = script->nr_counters++;
	}
}

int trace_script_emit(struct trace_script *script)
{
	script_action_take_counters(script);
	for (struct script_clause *clause = script->clauses; clause && !script->err;
	     clause = clause->next)
		script_action_clause(clause);
	return script->err;
}
