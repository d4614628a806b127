/*
 * Types of expressions, and the shapes of tables: see script.h. All clauses are gone through until no
 * table's type changes any more, as one may be used in front of where it is set; then once more, to
 * refuse what still has no type.
 */
#include "script_type.h"
#include "text/str.h"

#define SCRIPT_SETTLE_ROUNDS 64u /* until no type changes any more */
int trace_script_type_refuse(const struct script_type_check *check, const struct script_node *node,
			     const char *why)
{
	return trace_script_refuse(check->script, &node->word, -EINVAL, "%s", why);
}

const struct script_type trace_script_signed = SCRIPT_WORD_TYPE(true);
const struct script_type trace_script_unsigned = SCRIPT_WORD_TYPE(false);

/* The node must have a number; or a type that is not known yet. */
void trace_script_want_number(const struct script_type_check *check, const struct script_node *node)
{
	if (!script_type_is_number(&node->type) && (node->type.kind || check->is_last))
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "a number is expected, this is %s",
				    trace_script_type_names[node->type.kind]);
}

void trace_script_type_number_of(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_of(check, node);
	trace_script_want_number(check, node);
}

/* ---- Names ---- */

static void script_type_var(struct script_type_check *check, struct script_node *node)
{
	for (struct script_var *var = check->clause->vars; var; var = var->next) {
		if (trace_expr_same(&var->name, &node->word))
			node->var = var;
	}
	if (node->var)
		node->type = node->var->type;
	else if (check->is_last)
		trace_script_type_refuse(check, node, "this variable was never set");
}

/* ---- Tables ---- */

/* The type of a list of values: of the one, or a tuple of them. */
static struct script_type script_type_list(struct script_type_check *check,
					   struct script_node *first)
{
	struct script_type type = { .kind = SCRIPT_TUPLE }, *parts;

	for (struct script_node *node = first; node; node = node->next, type.nr++)
		trace_script_type_of(check, node);
	if (type.nr == 1)
		return first->type;
	if (!type.nr || type.nr > SCRIPT_PARTS_MAX) {
		if (type.nr)
			trace_script_type_refuse(check, first, "more than 8 values together");
		return (struct script_type){ 0 };
	}
	parts = trace_script_alloc(check->script, type.nr * sizeof(*parts));
	if (!parts)
		return (struct script_type){ 0 };
	type.parts = parts;
	for (struct script_node *node = first; node; node = node->next, parts++) {
		*parts = node->type;
		type.bytes += node->type.bytes;
		if (!node->type.kind)
			return (struct script_type){ 0 }; /* not known yet */
	}
	return type;
}

void trace_script_type_keys(struct script_type_check *check, struct script_node *node,
			    struct script_node *keys)
{
	struct script_type type = script_type_list(check, keys);

	if (!trace_script_unify(check, &node->map->key, &type))
		trace_script_type_refuse(check, node,
					 "the keys of this table have other types elsewhere");
	if (check->is_last && !keys != !node->map->key.kind)
		trace_script_type_refuse(check, node,
					 keys ? "this table has no keys elsewhere"
					      : "this table has keys elsewhere");
}

static void script_type_map(struct script_type_check *check, struct script_node *node)
{
	const struct script_type *value;

	node->map = trace_script_find_map(check, &node->word);
	if (!node->map)
		return;
	trace_script_type_keys(check, node, node->a);
	value = &node->map->value;
	node->type = *value;
	if (value->kind == SCRIPT_AVG || value->kind >= SCRIPT_STATS)
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "a table of %s is no number: it can only be printed",
				    trace_script_type_names[value->kind]);
	else if (value->kind >= SCRIPT_COUNT)
		node->type = trace_script_signed;
	if (!value->kind && check->is_last)
		trace_script_type_refuse(check, node, "this table is never set");
}

/* ---- Operators ---- */

/* A constant that is not negative takes the other side's sign. */
static bool script_type_is_signed(const struct script_node *node)
{
	bool a = node->a->type.is_signed, b = node->b->type.is_signed;

	if (node->a->op == SCRIPT_NUMBER)
		return b;
	return node->b->op == SCRIPT_NUMBER ? a : a && b;
}

static void script_type_binary(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_of(check, node->a);
	trace_script_type_of(check, node->b);
	if (check->script->err)
		return;
	if (node->a->type.kind == SCRIPT_TEXT || node->b->type.kind == SCRIPT_TEXT) {
		if (node->a->type.kind != node->b->type.kind && node->a->type.kind &&
		    node->b->type.kind)
			trace_script_type_refuse(check, node,
						 "a text cannot be compared with a number");
		if (node->binary != SCRIPT_EQ && node->binary != SCRIPT_NE)
			trace_script_type_refuse(check, node,
						 "texts can be compared by == and != only");
		node->type = trace_script_unsigned;
		return;
	}
	trace_script_want_number(check, node->a);
	trace_script_want_number(check, node->b);
	node->type = script_type_is_signed(node) ? trace_script_signed : trace_script_unsigned;
}

static void script_type_choice(struct script_type_check *check, struct script_node *node)
{
	bool had_changed;

	trace_script_type_number_of(check, node->a);
	trace_script_type_of(check, node->b);
	trace_script_type_of(check, node->c);
	had_changed = check->has_changed;
	node->type = (struct script_type){ 0 };
	if (!trace_script_unify(check, &node->type, &node->b->type) ||
	    !trace_script_unify(check, &node->type, &node->c->type))
		trace_script_type_refuse(check, node, "both values of ?: must be of one type");
	check->has_changed = had_changed; /* the type is made anew each time */
}

static void script_type_number(struct script_type_check *check, struct script_node *node)
{
	(void)check;
	node->type = trace_script_signed;
}

static void script_type_string(struct script_type_check *check, struct script_node *node)
{
	uint32_t len = (uint32_t)trace_strnlen(node->text, SCRIPT_TEXT_BYTES - 1);

	(void)check;
	node->type = (struct script_type){ .kind = SCRIPT_TEXT, .bytes = (len + 8) / 8 * 8 };
}

static void script_type_unary(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_number_of(check, node->a);
	node->type = node->op == SCRIPT_NEGATE ? trace_script_signed : trace_script_unsigned;
}

static void script_type_tuple(struct script_type_check *check, struct script_node *node)
{
	node->type = script_type_list(check, node->a);
}

/* a++ */
static void script_type_step(struct script_type_check *check, struct script_node *node)
{
	struct script_node *of = node->a;

	node->type = trace_script_signed;
	if (of->op == SCRIPT_MAP) {
		of->map = trace_script_find_map(check, &of->word);
		if (!of->map)
			return;
		trace_script_type_keys(check, of, of->a);
		if (!trace_script_unify(check, &of->map->value, &trace_script_signed))
			trace_script_type_refuse(check, of, "this table holds no numbers");
	} else if (of->op == SCRIPT_VAR) {
		trace_script_type_number_of(check, of);
	} else {
		trace_script_type_refuse(check, of,
					 "only a table or a variable can be counted up or down");
	}
}

/* ---- Variables ---- */

/* A variable is set to a value of that type, at that place; it is made at the first time. */
static void script_type_set_var(struct script_type_check *check, struct script_node *node,
				const struct script_type *type, const struct expr_word *place)
{
	struct script_var *var = check->clause->vars;

	while (var && !trace_expr_same(&var->name, &node->word))
		var = var->next;
	if (!var) {
		var = trace_script_alloc(check->script, sizeof(*var));
		if (!var)
			return;
		var->name = node->word;
		var->next = check->clause->vars;
		check->clause->vars = var;
	}
	node->var = var;
	if (!trace_script_unify(check, &var->type, type))
		trace_script_refuse(check->script, place, -EINVAL, "%.*s holds %s elsewhere",
				    (int)var->name.len, var->name.at,
				    trace_script_type_names[var->type.kind]);
}

/* A key and a value of a table, as a tuple. Numbers of tables of counts and the like are numbers. */
static void script_type_entry(struct script_type_check *check, struct script_node *node)
{
	const struct script_map *map = node->c->map;
	struct script_type *parts = trace_script_alloc(check->script, 2 * sizeof(*parts));
	struct script_type entry = { .kind = SCRIPT_TUPLE, .nr = 2, .parts = parts };

	if (!parts)
		return;
	parts[0] = map->key;
	parts[1] = map->value.kind >= SCRIPT_COUNT ? trace_script_signed : map->value;
	entry.bytes = parts[0].bytes + parts[1].bytes;
	script_type_set_var(check, node->b, &entry, &node->word);
	if (check->is_last && !check->script->err && node->b->var->type.bytes != entry.bytes)
		trace_script_type_refuse(check, node, "this variable has longer values elsewhere");
}

static void script_type_next(struct script_type_check *check, struct script_node *node)
{
	struct script_node *table = node->c;

	node->type = trace_script_unsigned;
	table->map = trace_script_find_map(check, &table->word);
	trace_script_type_of(check, node->a);
	if (check->script->err)
		return;
	if (table->map->value.kind == SCRIPT_AVG || table->map->value.kind >= SCRIPT_STATS)
		trace_script_refuse(check->script, &table->word, -EINVAL,
				    "a table of %s is no number: it can only be printed",
				    trace_script_type_names[table->map->value.kind]);
	else if (table->map->key.kind && table->map->value.kind)
		script_type_entry(check, node);
	else if (check->is_last)
		trace_script_type_refuse(check, table,
					 table->map->value.kind ? "this table has no keys"
								: "this table is never set");
}

void trace_script_type_of(struct script_type_check *check, struct script_node *node)
{
	static void (*const types[])(struct script_type_check * check,
				     struct script_node * node) = {
		[SCRIPT_NUMBER] = script_type_number,
		[SCRIPT_STRING] = script_type_string,
		[SCRIPT_BUILTIN] = trace_script_type_builtin,
		[SCRIPT_CALL] = trace_script_type_called,
		[SCRIPT_VAR] = script_type_var,
		[SCRIPT_MAP] = script_type_map,
		[SCRIPT_MEMBER] = trace_script_type_member,
		[SCRIPT_INDEX] = trace_script_type_index,
		[SCRIPT_PART] = trace_script_type_part,
		[SCRIPT_CAST] = trace_script_type_cast,
		[SCRIPT_DEREF] = trace_script_type_deref,
		[SCRIPT_NEGATE] = script_type_unary,
		[SCRIPT_NOT] = script_type_unary,
		[SCRIPT_INVERT] = script_type_unary,
		[SCRIPT_BINARY] = script_type_binary,
		[SCRIPT_CHOICE] = script_type_choice,
		[SCRIPT_LIST] = script_type_tuple,
		[SCRIPT_NEXT] = script_type_next,
		[SCRIPT_STEP] = script_type_step,
		[SCRIPT_SIZEOF] = trace_script_type_sizeof,
	};

	if (!node || check->script->err)
		return;
	types[node->op](check, node);
	if (check->is_last && !check->script->err && !node->type.kind)
		trace_script_type_refuse(check, node, "this is no value");
}

/* ---- Statements ---- */

/* The ends and the step of lhist(). */
static void script_type_linear(struct script_type_check *check, const struct script_node *arg,
			       struct script_type *type)
{
	int64_t *const numbers[] = { &type->min, &type->max, &type->step };
	const struct script_node *node = arg ? arg->next : NULL;

	for (uint32_t i = 0; node && i < TRACE_ARRAY_SIZE(numbers); i++, node = node->next) {
		if (node->op != SCRIPT_NUMBER)
			trace_script_type_refuse(check, node,
						 "the ends and the step of lhist() are constants");
		*numbers[i] = (int64_t)node->number;
	}
	if (arg && arg->next &&
	    (type->step <= 0 || (uint64_t)type->max - (uint64_t)type->min > INT64_MAX ||
	     type->max <= type->min ||
	     (uint64_t)(type->max - type->min) / (uint64_t)type->step > SCRIPT_LINEAR_MAX))
		trace_script_type_refuse(
			check, arg->next,
			"lhist() has 1 to 1000 steps from the first to the second end");
}

/* @x = hist(...): the table is one of that kind. */
static void script_type_aggregate(struct script_type_check *check, struct script_node *node)
{
	struct script_node *call = node->b, *arg = call->a;
	struct script_map *map = node->a->map;
	struct script_type type = { .kind = call->function->gives, .bytes = 8 };

	if (call->function->kind == SCRIPT_F_LHIST)
		script_type_linear(check, arg, &type);
	if (arg)
		trace_script_type_number_of(check, arg);
	if (map->value.kind && map->value.kind != type.kind)
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "%.*s is a table of %s elsewhere", (int)map->name.len,
				    map->name.at, trace_script_type_names[map->value.kind]);
	if (!map->value.kind) {
		map->value = type;
		check->has_changed = true;
	}
	if (arg && arg->type.kind && !map->has_sign) {
		map->value.is_signed = arg->type.is_signed;
		map->has_sign = true;
	}
}

static void script_type_assign_map(struct script_type_check *check, struct script_node *node)
{
	struct script_node *to = node->a, *from = node->b;

	to->map = trace_script_find_map(check, &to->word);
	if (!to->map)
		return;
	trace_script_type_keys(check, to, to->a);
	if (from->op == SCRIPT_CALL && trace_script_find_function(check, from) &&
	    from->function->is_for_map && !node->binary) {
		script_type_aggregate(check, node);
		return;
	}
	trace_script_type_of(check, from);
	if (node->binary)
		trace_script_want_number(check, from);
	if (to->map->value.kind >= SCRIPT_COUNT ||
	    !trace_script_unify(check, &to->map->value, &from->type))
		trace_script_refuse(check->script, &node->word, -EINVAL, "%.*s holds %s elsewhere",
				    (int)to->word.len, to->word.at,
				    trace_script_type_names[to->map->value.kind]);
}

static void script_type_assign_var(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_of(check, node->b);
	if (check->script->err || (!node->b->type.kind && !check->is_last))
		return;
	if (node->binary)
		trace_script_want_number(check, node->b);
	script_type_set_var(check, node->a, &node->b->type, &node->word);
}

static void script_type_block(struct script_type_check *check, struct script_node *first);

/* The assignments in front of the loop are its bounds: numbers. */
static void script_type_for(struct script_type_check *check, struct script_node *node)
{
	for (struct script_node *set = node->b; set->op == SCRIPT_ASSIGN; set = set->next)
		trace_script_type_number_of(check, set->b);
	script_type_block(check, node->b);
}

/* A value as a statement, or a call that gives none. */
static void script_type_value(struct script_type_check *check, struct script_node *node)
{
	bool is_call = node->op == SCRIPT_CALL && trace_script_find_function(check, node);

	if (!is_call || node->function->kind >= SCRIPT_F_STR)
		trace_script_type_of(check, node);
	else if (node->function->is_for_map)
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "%s() stands behind '@NAME ='", node->function->name);
	else
		trace_script_type_call(check, node);
}

static void script_type_statement(struct script_type_check *check, struct script_node *node)
{
	switch (node->op) {
	case SCRIPT_ASSIGN:
		if (node->a->op == SCRIPT_MAP)
			script_type_assign_map(check, node);
		else if (node->a->op == SCRIPT_VAR)
			script_type_assign_var(check, node);
		else
			trace_script_type_refuse(check, node,
						 "only a table or a variable can be set");
		break;
	case SCRIPT_STEP:
		script_type_step(check, node);
		break;
	case SCRIPT_IF:
	case SCRIPT_WHILE:
		trace_script_type_number_of(check, node->a);
		script_type_block(check, node->b);
		script_type_block(check, node->c);
		break;
	case SCRIPT_FOR:
		script_type_for(check, node);
		break;
	case SCRIPT_UNROLL:
		script_type_block(check, node->b);
		break;
	case SCRIPT_LEAVE:
		break;
	default:
		script_type_value(check, node->a);
		break;
	}
}

static void script_type_block(struct script_type_check *check, struct script_node *first)
{
	for (struct script_node *node = first; node && !check->script->err; node = node->next)
		script_type_statement(check, node);
}

static void script_type_clauses(struct script_type_check *check)
{
	check->has_changed = false;
	for (check->clause = check->script->clauses; check->clause && !check->script->err;
	     check->clause = check->clause->next) {
		if (check->clause->predicate)
			trace_script_type_number_of(check, check->clause->predicate);
		script_type_block(check, check->clause->block);
	}
}

int trace_script_check_types(struct trace_script *script)
{
	struct script_type_check check = { .script = script };
	uint32_t round = 0;

	do
		script_type_clauses(&check);
	while (check.has_changed && ++round < SCRIPT_SETTLE_ROUNDS && !script->err);
	check.is_last = true;
	if (!script->err)
		script_type_clauses(&check);
	if (check.has_changed)
		trace_script_refuse(
			script, &script->clauses->probes->word, -E2BIG,
			"tables and variables are set from each other in too many steps");
	return script->err;
}
