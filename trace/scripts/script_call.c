/* Types of calls of functions and of casts, for script_type.c. See script.h. */
#include "types/btf.h"
#include "probes/fetch.h"
#include "script_type.h"
#include "text/str.h"

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

/* ---- sizeof() ---- */

static uint64_t script_call_bits_of(const struct expr_word *digits)
{
	uint64_t bits;

	return trace_expr_number(digits, 10, false, &bits) || bits > 64 ? 0 : bits;
}

/* Bytes of `uint32`, `struct file`, `struct file *`; 0: the type is not known. */
static uint64_t script_call_bytes_of_type(const struct expr_word *type)
{
	struct expr_word word = *type, digits;
	char name[TRACE_SYM_LEN];

	if (trace_expr_ends(&word, "*"))
		return 8;
	if (trace_expr_starts(&word, "int") || trace_expr_starts(&word, "uint")) {
		digits = expr_behind(&word, *word.at == 'u' ? 4 : 3);
		return script_call_bits_of(&digits) / 8;
	}
	(void)expr_take_until(&word, " ");
	word = trace_expr_strip(word);
	return trace_expr_copy(name, sizeof(name), &word)
		       ? trace_btf_sizeof(trace_btf_find_type(name))
		       : 0;
}

static void script_call_be_number(struct script_node *node, uint64_t number)
{
	node->op = SCRIPT_NUMBER;
	node->number = number;
	node->type = trace_script_signed;
}

void trace_script_type_sizeof(struct script_type_check *check, struct script_node *node)
{
	uint64_t bytes = script_call_bytes_of_type(&node->word);

	if (bytes)
		script_call_be_number(node, bytes);
	else
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "no type is known as '%.*s'", (int)node->word.len,
				    node->word.at);
}

/* Of a value. */
static void script_call_sizeof(struct script_type_check *check, struct script_node *node)
{
	const struct script_node *of = node->a;

	trace_script_type_of(check, node->a);
	node->type = trace_script_signed;
	if (check->script->err || !of->type.kind)
		return;
	if (of->op == SCRIPT_CAST && of->bits)
		script_call_be_number(node, of->bits / 8);
	else if (of->type.kind == SCRIPT_STRUCT)
		script_call_be_number(node, trace_btf_sizeof(of->type.id));
	else
		script_call_be_number(node, of->type.bytes);
}

/* ---- Dates ---- */

/* time(FORMAT), strftime(FORMAT, NSECS). The type is made once: it is compared with itself later. */
static void script_call_date(struct script_type_check *check, struct script_node *node)
{
	const struct trace_script_params *params = check->script->params;
	struct script_node *format = node->a;
	struct script_date *date;

	if (format && format->op != SCRIPT_STRING)
		trace_script_type_refuse(check, format, "the format of a date is a text in quotes");
	if (!params || !params->date)
		trace_script_type_refuse(check, node, "this machine does not know the date");
	if (format && format->next)
		trace_script_type_number_of(check, format->next);
	if (check->script->err || node->type.date)
		return;
	date = trace_script_alloc(check->script, sizeof(*date));
	if (!date)
		return;
	date->write = params->date;
	date->format = format ? format->text : "%H:%M:%S\n";
	node->type = (struct script_type){ .kind = SCRIPT_DATE, .bytes = 8, .date = date };
}

/* ---- Calls ---- */

/* print(@x, TOP, DIV): constants. */
static void script_call_print_numbers(struct script_type_check *check,
				      const struct script_node *number)
{
	for (; number; number = number->next) {
		if (number->op != SCRIPT_NUMBER || !number->number || number->number > INT32_MAX)
			trace_script_type_refuse(
				check, number, "a number of keys, or to divide by, is a constant");
	}
}

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
	if (node->function->kind == SCRIPT_F_PRINT)
		script_call_print_numbers(check, of->next);
	if (!of->map->value.kind && check->is_last)
		trace_script_type_refuse(check, of, "this table is never set");
}

/* len(@x) */
static void script_call_len(struct script_type_check *check, struct script_node *node)
{
	node->type = trace_script_signed;
	if (node->a->op != SCRIPT_MAP || node->a->a)
		trace_script_type_refuse(check, node->a, "a table is expected here");
	else
		script_call_of_map(check, node);
}

static void script_call_strncmp(struct script_type_check *check, struct script_node *node)
{
	const struct script_node *a = node->a, *b = a->next, *nr = b->next;

	for (struct script_node *arg = node->a; arg; arg = arg->next)
		trace_script_type_of(check, arg);
	node->type = trace_script_signed;
	if (check->script->err)
		return;
	if ((a->type.kind && a->type.kind != SCRIPT_TEXT) ||
	    (b->type.kind && b->type.kind != SCRIPT_TEXT))
		trace_script_type_refuse(check, node, "strncmp() compares two texts");
	if (nr->op != SCRIPT_NUMBER || nr->number > SCRIPT_TEXT_BYTES)
		trace_script_type_refuse(check, nr, "the number of characters is 0 to 64");
}

/* buf(ADDRESS, LENGTH) */
static void script_call_buf(struct script_type_check *check, struct script_node *node)
{
	const struct script_node *len = node->a->next;

	trace_script_want_number(check, len);
	node->type.bytes = 8 + SCRIPT_BUF_BYTES;
	if (len->op != SCRIPT_NUMBER)
		return;
	if (!len->number || len->number > SCRIPT_BUF_BYTES)
		trace_script_type_refuse(check, len, "a length of buf() is 1 to 64");
	node->type.bytes = 8 + ((uint32_t)len->number + 7) / 8 * 8;
}

/* kaddr(NAME): a constant. */
static void script_call_kaddr(struct script_type_check *check, struct script_node *node)
{
	struct expr_word name = trace_expr_whole(node->a->op == SCRIPT_STRING ? node->a->text : "");
	struct fetch_symbol symbol = { .addr = 0 };

	if (node->a->op != SCRIPT_STRING)
		trace_script_type_refuse(check, node->a, "the name of kaddr() is a text in quotes");
	else if (trace_fetch_symbol(&name, &symbol))
		trace_script_refuse(check->script, &node->a->word, -EINVAL,
				    "no symbol of the kernel: '%s'", node->a->text);
	script_call_be_number(node, symbol.addr);
	node->type = trace_script_unsigned;
}

/* join(ARGV, TEXT) */
static void script_call_join(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_number_of(check, node->a);
	if (node->a->next && node->a->next->op != SCRIPT_STRING)
		trace_script_type_refuse(check, node->a->next, "a text in quotes is expected here");
}

/* str($1) is the text of the parameter. */
static bool script_call_be_param(struct script_node *node)
{
	if (!node->function || node->function->kind != SCRIPT_F_STR || node->a->next ||
	    !node->a->text)
		return false;
	node->op = SCRIPT_STRING;
	node->text = node->a->text;
	return true;
}

void trace_script_type_call(struct script_type_check *check, struct script_node *node)
{
	bool takes_map;

	if (!trace_script_find_function(check, node))
		return;
	switch (node->function->kind) {
	case SCRIPT_F_LEN:
		script_call_len(check, node);
		return;
	case SCRIPT_F_SIZEOF:
		script_call_sizeof(check, node);
		return;
	case SCRIPT_F_STRNCMP:
		script_call_strncmp(check, node);
		return;
	case SCRIPT_F_KADDR:
		script_call_kaddr(check, node);
		return;
	case SCRIPT_F_JOIN:
		script_call_join(check, node);
		return;
	case SCRIPT_F_TIME:
	case SCRIPT_F_STRFTIME:
		script_call_date(check, node);
		return;
	default:
		break;
	}
	node->type.kind = node->function->gives;
	node->type.bytes = 8;
	takes_map =
		node->function->kind >= SCRIPT_F_PRINT && node->function->kind <= SCRIPT_F_DELETE;
	if (takes_map && node->a->op == SCRIPT_MAP &&
	    (node->function->kind != SCRIPT_F_PRINT || !node->a->a)) {
		script_call_of_map(check, node);
		return;
	}
	if (takes_map && (node->function->kind != SCRIPT_F_PRINT || node->a->next)) {
		trace_script_type_refuse(check, node->a, "a table is expected here");
		return;
	}
	for (struct script_node *arg = node->a; arg; arg = arg->next)
		trace_script_type_of(check, arg);
	if (node->function->kind == SCRIPT_F_STR)
		node->type.bytes = SCRIPT_TEXT_BYTES;
	if (node->function->kind == SCRIPT_F_BUF)
		script_call_buf(check, node);
	if (node->function->kind >= SCRIPT_F_KSTACK)
		script_call_depth(check, node);
	else if (node->a && node->function->kind >= SCRIPT_F_STR)
		trace_script_want_number(check, node->a);
}

/* A call that is a value. */
void trace_script_type_called(struct script_type_check *check, struct script_node *node)
{
	if (trace_script_find_function(check, node) && script_call_be_param(node)) {
		trace_script_type_of(check, node);
		return;
	}
	trace_script_type_call(check, node);
	if (!check->script->err && node->function->kind < SCRIPT_F_STR)
		trace_script_refuse(check->script, &node->word, -EINVAL, "%s() gives no value here",
				    node->function->name);
}

/* ---- Casts ---- */

/* `struct thread *`, `uint8`. */
TRACE_NOINLINE void trace_script_type_cast(struct script_type_check *check,
					   struct script_node *node)
{
	struct expr_word word = node->word, digits;
	char name[TRACE_SYM_LEN];
	bool is_pointer = false, is_signed;
	uint64_t bits;

	trace_script_type_number_of(check, node->a);
	while (word.len &&
	       (word.at[word.len - 1] == '*' || trace_is_space(word.at[word.len - 1]))) {
		is_pointer |= word.at[word.len - 1] == '*';
		word.len--;
	}
	if (trace_expr_starts(&word, "struct ") || trace_expr_starts(&word, "union "))
		(void)expr_take_until(&word, " ");
	word = trace_expr_strip(word);
	is_signed = trace_expr_starts(&word, "int");
	digits = expr_behind(&word, is_signed ? 3 : word.len < 4 ? word.len : 4);
	if ((is_signed || trace_expr_starts(&word, "uint")) &&
	    !trace_expr_number(&digits, 10, false, &bits) &&
	    (bits == 8 || bits == 16 || bits == 32 || bits == 64)) {
		uint32_t sign = is_signed ? SCRIPT_ID_SIGNED : 0;

		node->type = is_signed ? trace_script_signed : trace_script_unsigned;
		if (is_pointer)
			node->type =
				script_pointer_to(SCRIPT_ID_NUMBERS | sign | (uint32_t)bits / 8);
		else
			node->bits = (uint32_t)bits;
		return;
	}
	if (is_pointer && trace_expr_copy(name, sizeof(name), &word))
		node->type.id = trace_btf_find_type(name);
	if (!node->type.id) {
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "no type is known as '%.*s'", (int)word.len, word.at);
		return;
	}
	node->type = script_pointer_to(trace_btf_strip(node->type.id));
}
