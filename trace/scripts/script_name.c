/* Names of scripts: builtins, functions, members by BTF, fields of events. See script_type.h. */
#include "script_target.h"
#include "script_type.h"
#include "text/str.h"
#include "types/btf.h"

#define ON(kind)    (1u << (kind))
#define ON_FUNCTION (ON(SCRIPT_ENTRY) | ON(SCRIPT_RETURN))
#define ON_PROGRAM  (ON(SCRIPT_UPROBE) | ON(SCRIPT_URETPROBE) | ON(SCRIPT_USDT))
#define ON_ANY	    UINT32_MAX

#define BYTES_TYPE(k, nr)                                                                          \
	{                                                                                          \
		.kind = (k), .bytes = (nr)                                                         \
	}

static const struct script_builtin script_name_builtins[] = {
	{ "pid", SCRIPT_WORD_TYPE(false), SCRIPT_B_PID, ON_ANY },
	{ "tid", SCRIPT_WORD_TYPE(false), SCRIPT_B_TID, ON_ANY },
	{ "uid", SCRIPT_WORD_TYPE(false), SCRIPT_B_UID, ON_ANY },
	{ "gid", SCRIPT_WORD_TYPE(false), SCRIPT_B_GID, ON_ANY },
	{ "cpu", SCRIPT_WORD_TYPE(false), SCRIPT_B_CPU, ON_ANY },
	{ "nsecs", SCRIPT_WORD_TYPE(false), SCRIPT_B_NSECS, ON_ANY },
	{ "timestamp", SCRIPT_WORD_TYPE(false), SCRIPT_B_NSECS, ON_ANY },
	{ "elapsed", SCRIPT_WORD_TYPE(false), SCRIPT_B_ELAPSED, ON_ANY },
	{ "comm", BYTES_TYPE(SCRIPT_TEXT, TRACE_COMM_LEN), SCRIPT_B_COMM, ON_ANY },
	{ "execname", BYTES_TYPE(SCRIPT_TEXT, TRACE_COMM_LEN), SCRIPT_B_COMM, ON_ANY },
	{ "func", BYTES_TYPE(SCRIPT_KSYM, 8), SCRIPT_B_FUNC, ON_FUNCTION },
	{ "probefunc", BYTES_TYPE(SCRIPT_KSYM, 8), SCRIPT_B_FUNC, ON_FUNCTION },
	{ "func", BYTES_TYPE(SCRIPT_USYM, 8), SCRIPT_B_FUNC, ON_PROGRAM },
	{ "probefunc", BYTES_TYPE(SCRIPT_USYM, 8), SCRIPT_B_FUNC, ON_PROGRAM },
	{ "probe", BYTES_TYPE(SCRIPT_TEXT, SCRIPT_TEXT_BYTES), SCRIPT_B_PROBE, ON_ANY },
	{ "retval", SCRIPT_WORD_TYPE(true), SCRIPT_B_RETVAL,
	  ON(SCRIPT_RETURN) | ON(SCRIPT_URETPROBE) },
	{ "rand", SCRIPT_WORD_TYPE(false), SCRIPT_B_RAND, ON_ANY },
	{ "curtask", SCRIPT_WORD_TYPE(false), SCRIPT_B_CURTASK, ON_ANY },
	{ "kstack", BYTES_TYPE(SCRIPT_KSTACK, 8 * (SCRIPT_STACK_DEPTH + 1)), SCRIPT_B_KSTACK,
	  ON_ANY },
	{ "stack", BYTES_TYPE(SCRIPT_KSTACK, 8 * (SCRIPT_STACK_DEPTH + 1)), SCRIPT_B_KSTACK,
	  ON_ANY },
	{ "ustack", BYTES_TYPE(SCRIPT_USTACK, 8 * (SCRIPT_STACK_DEPTH + 1)), SCRIPT_B_USTACK,
	  ON_ANY },
	{ "args", { .kind = SCRIPT_NONE }, SCRIPT_B_ARGS, ON(SCRIPT_EVENT) | ON(SCRIPT_ENTRY) },
};
/* arg0 to arg5; of a marker to arg9 */
static const struct script_builtin script_name_args[] = {
	{ "arg", SCRIPT_WORD_TYPE(false), SCRIPT_B_ARG, ON(SCRIPT_ENTRY) | ON(SCRIPT_UPROBE) },
	{ "arg", SCRIPT_WORD_TYPE(false), SCRIPT_B_RAW_ARG, ON(SCRIPT_RAW) },
	{ "arg", SCRIPT_WORD_TYPE(false), SCRIPT_B_MARK_ARG, ON(SCRIPT_USDT) },
};
#define SCRIPT_FUNCTION_ARGS 6u
#define SCRIPT_RAW_ARGS	     5u

static const struct script_function script_name_functions[] = {
	{ "count", SCRIPT_F_COUNT, 0, 0, true, SCRIPT_COUNT },
	{ "sum", SCRIPT_F_SUM, 1, 1, true, SCRIPT_SUM },
	{ "avg", SCRIPT_F_AVG, 1, 1, true, SCRIPT_AVG },
	{ "min", SCRIPT_F_MIN, 1, 1, true, SCRIPT_MIN },
	{ "max", SCRIPT_F_MAX, 1, 1, true, SCRIPT_MAX },
	{ "stats", SCRIPT_F_STATS, 1, 1, true, SCRIPT_STATS },
	{ "hist", SCRIPT_F_HIST, 1, 1, true, SCRIPT_HIST },
	{ "quantize", SCRIPT_F_HIST, 1, 1, true, SCRIPT_HIST },
	{ "lhist", SCRIPT_F_LHIST, 4, 4, true, SCRIPT_LHIST },
	{ "lquantize", SCRIPT_F_LHIST, 4, 4, true, SCRIPT_LHIST },
	{ "printf", SCRIPT_F_PRINTF, 1, SCRIPT_PARTS_MAX + 1, false, SCRIPT_NONE },
	{ "print", SCRIPT_F_PRINT, 1, 3, false, SCRIPT_NONE },
	{ "clear", SCRIPT_F_CLEAR, 1, 1, false, SCRIPT_NONE },
	{ "zero", SCRIPT_F_ZERO, 1, 1, false, SCRIPT_NONE },
	{ "delete", SCRIPT_F_DELETE, 1, SCRIPT_PARTS_MAX + 1, false, SCRIPT_NONE },
	{ "exit", SCRIPT_F_EXIT, 0, 0, false, SCRIPT_NONE },
	{ "time", SCRIPT_F_TIME, 0, 1, false, SCRIPT_NONE },
	{ "join", SCRIPT_F_JOIN, 1, 2, false, SCRIPT_NONE },
	{ "str", SCRIPT_F_STR, 1, 2, false, SCRIPT_TEXT },
	{ "ksym", SCRIPT_F_KSYM, 1, 1, false, SCRIPT_KSYM },
	{ "usym", SCRIPT_F_USYM, 1, 1, false, SCRIPT_USYM },
	{ "len", SCRIPT_F_LEN, 1, 1, false, SCRIPT_INT },
	{ "sizeof", SCRIPT_F_SIZEOF, 1, 1, false, SCRIPT_INT },
	{ "strncmp", SCRIPT_F_STRNCMP, 3, 3, false, SCRIPT_INT },
	{ "strftime", SCRIPT_F_STRFTIME, 2, 2, false, SCRIPT_DATE },
	{ "buf", SCRIPT_F_BUF, 2, 2, false, SCRIPT_BUF },
	{ "kaddr", SCRIPT_F_KADDR, 1, 1, false, SCRIPT_INT },
	{ "kstack", SCRIPT_F_KSTACK, 0, 1, false, SCRIPT_KSTACK },
	{ "stack", SCRIPT_F_KSTACK, 0, 1, false, SCRIPT_KSTACK },
	{ "ustack", SCRIPT_F_USTACK, 0, 1, false, SCRIPT_USTACK },
};

const char *const trace_script_type_names[] = {
	[SCRIPT_NONE] = "nothing",   [SCRIPT_INT] = "a number",	     [SCRIPT_TEXT] = "a text",
	[SCRIPT_KSTACK] = "a stack", [SCRIPT_USTACK] = "a stack",    [SCRIPT_KSYM] = "a symbol",
	[SCRIPT_USYM] = "a symbol",  [SCRIPT_POINTER] = "a pointer", [SCRIPT_STRUCT] = "a struct",
	[SCRIPT_TUPLE] = "a tuple",  [SCRIPT_COUNT] = "count()",     [SCRIPT_SUM] = "sum()",
	[SCRIPT_AVG] = "avg()",	     [SCRIPT_MIN] = "min()",	     [SCRIPT_MAX] = "max()",
	[SCRIPT_STATS] = "stats()",  [SCRIPT_HIST] = "hist()",	     [SCRIPT_LHIST] = "lhist()",
	[SCRIPT_DATE] = "a date",    [SCRIPT_BUF] = "bytes",
};

/* ---- Builtins and functions ---- */

static void script_name_find_arg(struct script_node *node, enum script_probe_kind kind)
{
	const struct expr_word *word = &node->word;

	if (word->len != 4 || !trace_expr_starts(word, "arg") || !expr_is_digit(word->at[3]))
		return;
	node->number = (uint64_t)(word->at[3] - '0');
	if (kind == SCRIPT_USDT)
		node->builtin = &script_name_args[2];
	else if (kind == SCRIPT_RAW && node->number < SCRIPT_RAW_ARGS)
		node->builtin = &script_name_args[1];
	else if (node->number < SCRIPT_FUNCTION_ARGS)
		node->builtin = &script_name_args[0];
}

/* The name as the first probe of the clause has it. */
static void script_name_find_builtin(struct script_node *node, enum script_probe_kind kind)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(script_name_builtins); i++) {
		const struct script_builtin *builtin = &script_name_builtins[i];

		if (trace_expr_is(&node->word, builtin->name) &&
		    (!node->builtin || (builtin->probes & ON(kind))))
			node->builtin = builtin;
	}
	script_name_find_arg(node, kind);
}

/* Macros of Linux's headers, which BTF does not have, become numbers. */
static bool script_name_be_macro(struct script_node *node)
{
	static const struct {
		const char *name;
		uint64_t number;
	} macros[] = { { "TASK_RUNNING", 0 }, { "AF_INET", 2 }, { "AF_INET6", 10 } };

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(macros); i++) {
		if (!trace_expr_is(&node->word, macros[i].name))
			continue;
		node->op = SCRIPT_NUMBER;
		node->number = macros[i].number;
		node->type = trace_script_signed;
		return true;
	}
	return false;
}

/*
 * The running thread: where the host's `struct thread` or `struct task_struct` has its member `trace`, which the library knows,
 * a pointer to that; otherwise a number.
 */
static void script_name_curtask(struct script_node *node)
{
	static const char *const names[] = { "thread", "task_struct" };
	struct btf_member member;

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(names); i++) {
		uint32_t id = trace_btf_find_type(names[i]);

		if (!id || !trace_btf_member_find(id, "trace", 5, &member))
			continue;
		node->offset = member.bit_offset / 8;
		node->type = (struct script_type){ .kind = SCRIPT_POINTER,
						   .bytes = 8,
						   .id = trace_btf_strip(id) };
		return;
	}
}

/* An argument that all markers of the clause have; it has a sign if it has one at each. */
static void script_name_mark_arg(const struct script_type_check *check, struct script_node *node)
{
	node->type.is_signed = true;
	for (struct script_probe *probe = check->clause->probes; probe; probe = probe->next)
		trace_script_marker_arg(check->script, probe, &node->word, &node->type.is_signed);
}

void trace_script_type_builtin(struct script_type_check *check, struct script_node *node)
{
	const struct expr_word *word = &node->word;

	script_name_find_builtin(node, check->clause->probes->kind);
	if (!node->builtin && script_name_be_macro(node))
		return;
	if (!node->builtin) {
		trace_script_refuse(check->script, word, -EINVAL, "no such name: '%.*s'",
				    (int)word->len, word->at);
		return;
	}
	node->type = node->builtin->type;
	for (struct script_probe *probe = check->clause->probes; probe; probe = probe->next) {
		if (!(node->builtin->probes & ON(probe->kind)))
			trace_script_refuse(check->script, word, -EINVAL, "%.*s has no '%.*s'",
					    (int)probe->word.len, probe->word.at, (int)word->len,
					    word->at);
	}
	if (node->builtin->kind == SCRIPT_B_CURTASK)
		script_name_curtask(node);
	if (node->builtin->kind == SCRIPT_B_MARK_ARG && !check->script->err)
		script_name_mark_arg(check, node);
}

static uint32_t script_name_nr(const struct script_node *node)
{
	uint32_t nr = 0;

	for (; node; node = node->next)
		nr++;
	return nr;
}

bool trace_script_find_function(struct script_type_check *check, struct script_node *node)
{
	const struct expr_word *word = &node->word;
	uint32_t nr = script_name_nr(node->a);

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(script_name_functions); i++) {
		if (trace_expr_is(word, script_name_functions[i].name))
			node->function = &script_name_functions[i];
	}
	if (!node->function)
		trace_script_refuse(check->script, word, -EINVAL, "no such function: '%.*s'",
				    (int)word->len, word->at);
	else if (nr < node->function->min || nr > node->function->max)
		trace_script_refuse(
			check->script, word, -EINVAL, "%s() takes %u to %u arguments, here are %u",
			node->function->name, node->function->min, node->function->max, nr);
	return !check->script->err;
}

/* ---- Members ---- */

static uint32_t script_name_sizeof(uint32_t id)
{
	return id >= SCRIPT_ID_NUMBERS ? id & 0xf : (uint32_t)trace_btf_sizeof(id);
}

static struct script_type script_name_of_btf(uint32_t id)
{
	uint32_t stripped = trace_btf_strip(id);
	uint32_t bytes = (uint32_t)trace_btf_sizeof(id);
	const struct script_type wide = { 0 }; /* a number of two words is no value */

	if (id >= SCRIPT_ID_NUMBERS)
		return id & SCRIPT_ID_SIGNED ? trace_script_signed : trace_script_unsigned;
	switch (trace_btf_form(id)) {
	case BTF_FORM_SIGNED:
	case BTF_FORM_ENUM:
		return bytes <= 8 ? trace_script_signed : wide;
	case BTF_FORM_UNSIGNED:
	case BTF_FORM_SIZE:
	case BTF_FORM_BOOL:
	case BTF_FORM_CHAR:
	case BTF_FORM_FUNCTION:
		return bytes <= 8 ? trace_script_unsigned : wide;
	case BTF_FORM_POINTER:
	case BTF_FORM_STRING:
		return script_pointer_to(trace_btf_target(id));
	case BTF_FORM_TEXT:
		return (struct script_type){
			.kind = SCRIPT_TEXT,
			.bytes =
				bytes < SCRIPT_TEXT_BYTES ? (bytes + 7) / 8 * 8 : SCRIPT_TEXT_BYTES,
		};
	case BTF_FORM_STRUCT:
	case BTF_FORM_ARRAY:
		return (struct script_type){ .kind = SCRIPT_STRUCT, .bytes = 8, .id = stripped };
	default:
		return (struct script_type){ 0 };
	}
}

static struct script_type script_name_of_field(const struct trace_event_field *field)
{
	bool is_text = field->kind != TRACE_FIELD_PLAIN ||
		       field->filter_type == FILTER_PTR_STRING || field->size > 8 || !field->size;

	if (field->is_address)
		return (struct script_type){ .kind = SCRIPT_KSYM, .bytes = 8 };
	if (is_text)
		return (struct script_type){ .kind = SCRIPT_TEXT, .bytes = SCRIPT_TEXT_BYTES };
	return field->is_signed ? trace_script_signed : trace_script_unsigned;
}

/* args.NAME of an event. */
static void script_name_event_field(struct script_type_check *check, struct script_node *node)
{
	for (struct script_probe *probe = check->clause->probes; probe; probe = probe->next) {
		const struct trace_event *event = trace_script_probe_event(probe);

		for (uint32_t i = 0; event && !node->field && i < event->nr_fields; i++) {
			if (trace_expr_is(&node->word, event->fields[i].name))
				node->field = &event->fields[i];
		}
		if (!node->field || !trace_script_probe_has_field(probe, node->field)) {
			check->script->wants_split = node->field;
			trace_script_refuse(check->script, &node->word, -EINVAL,
					    node->field
						    ? "events of %.*s have '%.*s' at other places"
						    : "%.*s has no field '%.*s'",
					    (int)probe->word.len, probe->word.at,
					    (int)node->word.len, node->word.at);
			return;
		}
	}
	node->type = script_name_of_field(node->field);
}

/* args.NAME of a function: an argument by its name. */
static TRACE_NOINLINE void script_name_argument(struct script_type_check *check,
						struct script_node *node)
{
	const struct script_probe *probe = check->clause->probes;
	char name[TRACE_SYM_LEN];
	struct btf_func func;
	struct btf_arg arg;
	struct expr_word rest = probe->word, kind = expr_take_until(&rest, ":");

	(void)kind;
	(void)expr_take(&rest, ':');
	if (probe->next || probe->nr != 1 || !trace_expr_copy(name, sizeof(name), &rest) ||
	    !trace_btf_func_find(name, &func)) {
		trace_script_type_refuse(
			check, node, "arguments by name need one function whose types are known");
		return;
	}
	if (!trace_btf_func_arg_find(&func, node->word.at, node->word.len, &arg) ||
	    arg.place != BTF_PLACE_REGS) {
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "%s has no argument '%.*s' in a register", name,
				    (int)node->word.len, node->word.at);
		return;
	}
	node->number = arg.at;
	node->type = script_name_of_btf(arg.type);
	node->bits = 8 * (uint32_t)trace_btf_sizeof(arg.type);
	if (node->type.kind == SCRIPT_STRUCT || node->type.kind == SCRIPT_TEXT)
		trace_script_type_refuse(check, node, "this argument is no number");
}

void trace_script_type_member(struct script_type_check *check, struct script_node *node)
{
	const struct script_type *of = &node->a->type;
	struct btf_member member;

	if (node->a->op == SCRIPT_BUILTIN && trace_expr_is(&node->a->word, "args")) {
		trace_script_type_builtin(check, node->a);
		if (check->script->err)
			return;
		if (check->clause->probes->kind == SCRIPT_EVENT)
			script_name_event_field(check, node);
		else
			script_name_argument(check, node);
		return;
	}
	trace_script_type_of(check, node->a);
	if (check->script->err)
		return;
	if (of->kind != SCRIPT_POINTER && of->kind != SCRIPT_STRUCT) {
		if (of->kind || check->is_last)
			trace_script_type_refuse(
				check, node,
				"only structs, pointers to them and args have members");
		return;
	}
	if (of->id >= SCRIPT_ID_NUMBERS) {
		trace_script_type_refuse(check, node, "a number has no members");
		return;
	}
	if (!trace_btf_member_find(of->id, node->word.at, node->word.len, &member)) {
		trace_script_refuse(check->script, &node->word, -EINVAL,
				    "struct %s has no member '%.*s'", trace_btf_name(of->id),
				    (int)node->word.len, node->word.at);
		return;
	}
	node->offset = member.bit_offset;
	node->bits = member.bits ? member.bits : 8 * (uint32_t)trace_btf_sizeof(member.type);
	node->type = script_name_of_btf(member.type);
	if (!node->type.kind || (member.bits && member.bit_offset % 8 + member.bits > 64))
		trace_script_type_refuse(check, node, "a member of this type cannot be read");
}

void trace_script_type_index(struct script_type_check *check, struct script_node *node)
{
	const struct script_type *of = &node->a->type;
	uint32_t target;

	trace_script_type_of(check, node->a);
	trace_script_type_number_of(check, node->b);
	if (check->script->err || (!of->kind && !check->is_last))
		return;
	target = of->kind == SCRIPT_POINTER ? of->id : trace_btf_target(of->id);
	if ((of->kind != SCRIPT_POINTER && of->kind != SCRIPT_STRUCT) ||
	    !script_name_sizeof(target)) {
		trace_script_type_refuse(check, node,
					 "this is no array, and no pointer to a known type");
		return;
	}
	node->bits = 8 * script_name_sizeof(target);
	node->type = script_name_of_btf(target);
}

void trace_script_type_part(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_of(check, node->a);
	if (!node->a->type.kind && !check->is_last)
		return;
	if (node->a->type.kind != SCRIPT_TUPLE || node->number >= node->a->type.nr)
		trace_script_type_refuse(check, node, "there is no such part of a tuple");
	else
		node->type = node->a->type.parts[node->number];
}

void trace_script_type_deref(struct script_type_check *check, struct script_node *node)
{
	trace_script_type_of(check, node->a);
	if (node->a->type.kind == SCRIPT_INT) { /* eight bytes at a number */
		node->bits = 64;
		node->type = trace_script_unsigned;
		return;
	}
	if (!node->a->type.kind && !check->is_last)
		return;
	if (node->a->type.kind != SCRIPT_POINTER || !script_name_sizeof(node->a->type.id)) {
		trace_script_type_refuse(check, node, "this points to no known type");
		return;
	}
	node->bits = 8 * script_name_sizeof(node->a->type.id);
	node->type = script_name_of_btf(node->a->type.id);
}

/* ---- Tables ---- */

struct script_map *trace_script_find_map(struct script_type_check *check,
					 const struct expr_word *name)
{
	struct script_map **at = &check->script->maps, *map;

	for (; *at; at = &(*at)->next) {
		size_t len = (*at)->name.len < name->len ? (*at)->name.len : name->len;
		int order = memcmp((*at)->name.at, name->at, len);

		if (!order && (*at)->name.len == name->len)
			return *at;
		if (order > 0 || (!order && (*at)->name.len > name->len))
			break;
	}
	map = trace_script_alloc(check->script, sizeof(*map));
	if (!map)
		return NULL;
	map->script = check->script;
	map->name = *name;
	map->next = *at;
	*at = map;
	return map;
}
