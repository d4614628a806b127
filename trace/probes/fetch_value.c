/*
 * Beginnings of arguments: registers, arguments of functions, fields of events, numbers, symbols.
 * See fetch.h.
 */
#include <trace/platform.h>
#include "fetch_private.h"
#include "events/dyn_event.h"
#include "text/str.h"

#define STACK_MAX      2048u	  /* words */
#define USER_STACK_MAX (1u << 24) /* words of a program's stack */
#define REGISTERS_MAX  6u	  /* that hold arguments */
#define WORD_BYTES     8u

/* Read a word that belongs to the beginning; is it a value: a saved register, a word of the stack? */
static void begin_read(struct fetch_parse *parse, int64_t offset, bool is_word)
{
	fetch_add_read(parse, offset, WORD_BYTES);
	parse->origin->nr_own = parse->origin->nr_reads;
	parse->origin->is_word = is_word;
}

static void begin(struct fetch_parse *parse, enum fetch_code how, uint64_t operand, size_t size)
{
	parse->origin->how = (uint8_t)how;
	parse->origin->operand = operand;
	parse->origin->size = (uint16_t)size;
}

static void begin_load(struct fetch_parse *parse, uint32_t from)
{
	begin(parse, FETCH_LOAD, from, WORD_BYTES);
}

/* ---- Registers ---- */

static bool has_registers(const struct fetch_parse *parse)
{
	enum fetch_place place = parse->build->context->place;

	return place == FETCH_AT_CODE || place == FETCH_AT_ENTRY || place == FETCH_AT_RETURN ||
	       place == FETCH_AT_DATA;
}

/* Place of a register in the probe's data: at a return, the returned value or the stack pointer. */
static uint32_t fetch_value_place_of(const struct fetch_context *context,
				     const struct trace_plat_register *wanted)
{
	struct trace_plat_register stack;

	if (!context->is_gathered)
		return wanted->offset;
	if (trace_plat_register("$stack", 6, &stack) && stack.offset == wanted->offset)
		return offsetof(struct fetch_return, stack);
	return offsetof(struct fetch_return, value);
}

/* False: there is no register of that name. */
static bool step_register(struct fetch_parse *parse, const char *name, size_t len)
{
	struct trace_plat_register reg;

	if (!trace_plat_register(name, len, &reg))
		return false;
	if (!reg.is_argument)
		parse->build->has_all_registers = true;
	if (parse->build->context->place == FETCH_AT_DATA) {
		begin_load(parse, offsetof(struct fetch_data, regs));
		begin_read(parse, reg.offset, true);
	} else {
		begin_load(parse, fetch_value_place_of(parse->build->context, &reg));
	}
	return true;
}

/* At the return of a function only the returned value and the stack pointer are known. */
static bool is_saved(const struct fetch_parse *parse, const struct expr_word *word)
{
	struct trace_plat_register reg, value, stack;

	return parse->build->context->place != FETCH_AT_RETURN ||
	       (trace_plat_register(word->at + 1, word->len - 1, &reg) &&
		trace_plat_register("$retval", 7, &value) &&
		trace_plat_register("$stack", 6, &stack) &&
		(reg.offset == value.offset || reg.offset == stack.offset));
}

static int parse_register(struct fetch_parse *parse, const struct expr_word *word)
{
	if (!has_registers(parse) || parse->build->context->is_of_function)
		return trace_fetch_refuse(parse, word->at, "Invalid $-variable specified");
	if (!is_saved(parse, word) || !step_register(parse, word->at + 1, word->len - 1))
		return trace_fetch_refuse(parse, word->at, "Invalid register name");
	return 0;
}

/* ---- Variables ---- */

static int bad_variable(const struct fetch_parse *parse, const struct expr_word *word)
{
	if (parse->build->context->place == FETCH_AT_EVENT)
		return trace_fetch_blame(parse, word->at, "Attached event does not have this field",
					 -ENOENT);
	return trace_fetch_refuse(parse, word->at, "Invalid $-variable specified");
}

/* The stack pointer; false: it is not known. */
static bool step_stack(struct fetch_parse *parse)
{
	if (parse->build->context->place != FETCH_AT_TRACEPOINT)
		return has_registers(parse) && step_register(parse, "$stack", 6);
	begin_load(parse, offsetof(struct fetch_tracepoint, stack));
	return true;
}

static int fetch_value_parse_stack(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word number = expr_behind(word, sizeof("$stack") - 1);
	uint64_t n = 0, max = parse->build->context->is_user ? USER_STACK_MAX : STACK_MAX;

	if (number.len && !expr_is_digit(*number.at))
		return bad_variable(parse, word);
	if (number.len && (trace_expr_number(&number, 10, false, &n) || n > max))
		return trace_fetch_refuse(parse, word->at, "Invalid stack number");
	if (!step_stack(parse))
		return bad_variable(parse, word);
	if (number.len)
		begin_read(parse, (int64_t)n * WORD_BYTES, true);
	return 0;
}

/* Argument `n` of a function, from 1: in a register, or on the stack behind the return address. */
static bool fetch_value_step_argument(struct fetch_parse *parse, uint64_t n)
{
	char name[] = "$arg1";

	if (n <= REGISTERS_MAX) {
		name[4] = (char)('0' + n);
		return step_register(parse, name, 5);
	}
	if (!step_register(parse, "$stack", 6))
		return false;
	begin_read(parse, (int64_t)(n - REGISTERS_MAX) * WORD_BYTES, true);
	return true;
}

/* The same at its return: it was kept. */
static int entry_argument(struct fetch_parse *parse, const struct expr_word *word, uint64_t n)
{
	if (n > FETCH_ENTRY_ARGS)
		return trace_fetch_refuse(parse, word->at, "Too many entry arguments specified");
	begin_load(parse, (uint32_t)offsetof(struct fetch_return, args[n - 1]));
	parse->build->entry_args |= (uint8_t)(1u << (n - 1));
	return 0;
}

int trace_fetch_argument(struct fetch_parse *parse, const struct expr_word *word, uint64_t n)
{
	const struct fetch_context *context = parse->build->context;

	parse->origin->arg = (uint32_t)n;
	switch (context->place) {
	case FETCH_AT_TRACEPOINT:
		if (n > context->nr_args)
			return trace_fetch_refuse(parse, word->at, "$argN index is too big");
		begin_load(parse, (uint32_t)offsetof(struct fetch_tracepoint, args[n - 1]));
		return 0;
	case FETCH_AT_RETURN:
		return entry_argument(parse, word, n);
	case FETCH_AT_ENTRY:
		return fetch_value_step_argument(parse, n) ? 0 : bad_variable(parse, word);
	default:
		return bad_variable(parse, word);
	}
}

static int fetch_value_parse_argument(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word number = expr_behind(word, sizeof("$arg") - 1);
	uint64_t n;

	if (trace_expr_is(&number, "*"))
		return trace_fetch_refuse(
			parse, word->at,
			"$arg* must be an independent parameter without name etc.");
	if (trace_expr_number(&number, 10, false, &n))
		return bad_variable(parse, word);
	if (!n || n > STACK_MAX)
		return trace_fetch_refuse(parse, word->at, "Invalid argument number");
	return trace_fetch_argument(parse, word, n);
}

static int no_types(const struct fetch_parse *parse, const char *at)
{
	return trace_fetch_refuse(parse, at, "BTF is not available or not supported");
}

static int fetch_value_parse_result(struct fetch_parse *parse, const struct expr_word *word,
				    size_t len)
{
	const struct fetch_context *context = parse->build->context;

	if (!(context->place == FETCH_AT_RETURN || context->is_user_return) ||
	    !step_register(parse, "$retval", 7))
		return trace_fetch_refuse(parse, word->at, "$retval is not available on probe");
	if (trace_fetch_names && !context->is_user)
		return trace_fetch_names->result(parse, word);
	return len < word->len ? no_types(parse, word->at + len) : 0;
}

static int fetch_value_parse_thread(struct fetch_parse *parse, const struct expr_word *word,
				    size_t len)
{
	size_t offset;

	(void)trace_plat_thread_type(&offset);
	begin(parse, FETCH_THREAD, offset, WORD_BYTES);
	if (trace_fetch_names)
		return trace_fetch_names->thread(parse, word);
	return len < word->len ? no_types(parse, word->at + len) : 0;
}

/* Fetch a value of a watchpoint. Returns false for another name. */
static bool step_data(struct fetch_parse *parse, const struct expr_word *word)
{
	if (parse->build->context->place != FETCH_AT_DATA)
		return false;
	if (trace_expr_is(word, "$addr"))
		begin_load(parse, offsetof(struct fetch_data, addr));
	else if (trace_expr_is(word, "$old"))
		begin_load(parse, offsetof(struct fetch_data, old));
	else if (trace_expr_is(word, "$value"))
		begin_load(parse, offsetof(struct fetch_data, value));
	else
		return false;
	return true;
}

static int parse_variable(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = *word, head = expr_take_until(&rest, "-.");

	parse->origin->start = head;
	if (step_data(parse, word))
		return 0;
	if (trace_expr_is(word, "$comm") || trace_expr_is(word, "$COMM")) {
		begin(parse, FETCH_COMM, 0, 0);
		return 0;
	}
	if (trace_expr_is(&head, "$current") && !parse->build->context->is_user)
		return fetch_value_parse_thread(parse, word, head.len);
	if (parse->build->context->place == FETCH_AT_EVENT)
		return bad_variable(parse, word);
	if (trace_expr_is(&head, "$retval"))
		return fetch_value_parse_result(parse, word, head.len);
	if (trace_expr_starts(word, "$stack"))
		return fetch_value_parse_stack(parse, word);
	if (trace_expr_starts(word, "$arg"))
		return fetch_value_parse_argument(parse, word);
	return bad_variable(parse, word);
}

/* ---- Addresses and constants ---- */

/* @+OFFSET of the file: as far from the probe's address as it is from the probe in the file. */
static int parse_file_offset(struct fetch_parse *parse, const struct expr_word *word)
{
	const struct fetch_context *context = parse->build->context;
	const struct expr_word number = expr_behind(word, 2);
	uint64_t offset;

	if (!context->is_user)
		return trace_fetch_refuse(parse, word->at,
					  "File offset is not available with kprobe");
	if (trace_expr_number(&number, 0, false, &offset))
		return trace_fetch_refuse(parse, word->at, "Invalid file offset value");
	if (context->is_user_return) {
		begin(parse, FETCH_HEAD, sizeof(struct trace_entry), WORD_BYTES);
	} else if (!step_register(parse, "ip", 2)) {
		return bad_variable(parse, word);
	}
	begin_read(parse, (int64_t)(offset - context->file_offset), false);
	return 0;
}

/* @ADDRESS, @SYMBOL */
static int parse_memory(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word what = expr_behind(word, 1);
	struct fetch_symbol symbol;
	uint64_t address;
	int err;

	if (what.len && *what.at == '+')
		return parse_file_offset(parse, word);
	if (what.len && !expr_is_digit(*what.at) && parse->build->context->is_user)
		return trace_fetch_refuse(parse, word->at, "Symbol is not available with uprobe");
	if (!what.len || (expr_is_digit(*what.at) && trace_expr_number(&what, 0, false, &address)))
		return trace_fetch_refuse(parse, word->at, "Invalid memory address");
	if (!expr_is_digit(*what.at)) {
		err = trace_fetch_symbol(&what, &symbol);
		if (err)
			return trace_fetch_blame(parse, word->at,
						 err == -EEXIST ? trace_fetch_not_unique
								: "Invalid memory address",
						 err == -EEXIST ? -EINVAL : -ENOENT);
		address = symbol.addr;
	}
	begin(parse, FETCH_VALUE, address, WORD_BYTES);
	begin_read(parse, 0, false);
	return 0;
}

/* \"TEXT" */
static int parse_literal(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = expr_behind(word, 2), text = expr_take_until(&rest, "\"");

	if (rest.len != 1)
		return trace_fetch_refuse(parse, word->at + word->len,
					  "String is not closed with '\"'");
	begin(parse, FETCH_LITERAL, (uintptr_t)text.at, text.len);
	return 0;
}

/* \NUMBER, \"TEXT" */
static int parse_constant(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word number = expr_behind(word, 1);
	uint64_t value;

	if (expr_first(&number) == '"')
		return parse_literal(parse, word);
	if (trace_expr_number(&number, 0, false, &value) &&
	    trace_expr_number(&number, 0, true, &value))
		return trace_fetch_refuse(parse, number.at, "Invalid immediate value");
	begin(parse, FETCH_VALUE, value, WORD_BYTES);
	return 0;
}

static int parse_name(struct fetch_parse *parse, const struct expr_word *word)
{
	enum fetch_place place = parse->build->context->place;

	/* In a cast a field needs no `$`. */
	if (parse->nr_casts && place == FETCH_AT_EVENT)
		return trace_fetch_field(parse, word) ? 0 : bad_variable(parse, word);
	if (place == FETCH_AT_EVENT && trace_fetch_field(parse, word))
		return trace_fetch_refuse(
			parse, word->at,
			"BTF is not available or not supported: a field has a $ in front");
	if (trace_fetch_names && place == FETCH_AT_CODE && !parse->build->context->is_user)
		return trace_fetch_refuse(
			parse, word->at,
			"BTF is not available or not supported: names are those of "
			"arguments, at the entry of a function and at its return");
	if (!trace_fetch_names || place == FETCH_AT_EVENT || place == FETCH_AT_CODE)
		return no_types(parse, word->at);
	return trace_fetch_names->argument(parse, word);
}

int trace_fetch_start(struct fetch_parse *parse, const struct expr_word *word)
{
	const bool has_fields = parse->build->context->place == FETCH_AT_EVENT;
	struct expr_word name = expr_behind(word, word->len != 0);

	parse->origin->start = *word;
	switch (expr_first(word)) {
	case '$':
		if (has_fields && trace_fetch_field(parse, &name))
			return 0;
		return parse_variable(parse, word);
	case '%':
		return parse_register(parse, word);
	case '@':
		return parse_memory(parse, word);
	case '\\':
		return parse_constant(parse, word);
	case '(':
		return trace_fetch_cast(parse, word);
	default:
		break;
	}
	if (expr_is_of_name(expr_first(word)) && !expr_is_digit(*word->at))
		return parse_name(parse, word);
	return trace_fetch_refuse(parse, word->at, "Invalid fetch argument");
}
