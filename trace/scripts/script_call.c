/* Types of calls of functions, for script_type.c. See script.h. */
#include "script_type.h"

/* print(), clear(), zero() take a table as a whole; delete() one with keys, or keys behind it. */
static void script_call_of_map(struct script_type_check *check, struct script_node *node)
{
	struct script_node *of = node->a;

	of->map = trace_script_find_map(check, &of->word);
	if (!of->map)
		return;
	if (node->function->kind == SCRIPT_F_DELETE) {
		if (of->next && of->a)
			trace_script_type_refuse(check, of->next, "the keys stand twice");
		trace_script_type_keys(check, of, of->a ? of->a : of->next);
	}
	if (!of->map->value.kind && check->is_last)
		trace_script_type_refuse(check, of, "this table is never set");
}

static void script_call_depth(struct script_type_check *check, struct script_node *node)
{
	uint64_t depth = SCRIPT_STACK_DEPTH;

	if (node->a) {
		depth = node->a->number;
		if (node->a->op != SCRIPT_NUMBER || !depth || depth > SCRIPT_STACK_DEPTH)
			trace_script_type_refuse(check, node->a, "a stack has 1 to 32 functions");
	}
	node->type.bytes = 8 * ((uint32_t)depth + 1);
}

void trace_script_type_call(struct script_type_check *check, struct script_node *node)
{
	bool takes_map;

	if (!trace_script_find_function(check, node))
		return;
	node->type.kind = node->function->gives;
	node->type.bytes = 8;
	takes_map =
		node->function->kind >= SCRIPT_F_PRINT && node->function->kind <= SCRIPT_F_DELETE;
	if (takes_map && node->a->op == SCRIPT_MAP &&
	    (node->function->kind != SCRIPT_F_PRINT || !node->a->a)) {
		script_call_of_map(check, node);
		return;
	}
	if (takes_map && node->function->kind != SCRIPT_F_PRINT) {
		trace_script_type_refuse(check, node->a, "a table is expected here");
		return;
	}
	for (struct script_node *arg = node->a; arg; arg = arg->next)
		trace_script_type_of(check, arg);
	if (node->function->kind == SCRIPT_F_STR)
		node->type.bytes = SCRIPT_TEXT_BYTES;
	if (node->function->kind >= SCRIPT_F_KSTACK)
		script_call_depth(check, node);
	else if (node->a && node->function->kind >= SCRIPT_F_STR)
		trace_script_want_number(check, node->a);
}

/* A call that is a value. */
void trace_script_type_called(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_call(check, node);
	if (!check->script->err && node->function->kind < SCRIPT_F_STR)
		trace_script_refuse(check->script, &node->word, -EINVAL, "%s() gives no value here",
				    node->function->name);
}
