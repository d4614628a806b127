/*
 * Arguments of markers: from the assembler's spelling in a note to a register, a place in memory or a number, and their
 * values at a hit. See script_target.h.
 *
 *   -4@%edi   8@-16(%rbp)   4@(%rax,%rcx,4)   8@16+total(%rip)   2@$-7
 *
 * The spelling is that of x86-64: on other machines no argument is known.
 */
#include <trace/platform.h>
#include <trace/platform_full.h>
#include "expr/expr_memory.h"
#include "probes/probe_uprobe.h"
#include "script_target.h"

/* ---- Registers ---- */

/* The name that probes have for a register, as `di` for %rdi, %edi, %di and %dil. */
static struct expr_word script_operand_name(struct expr_word word, char out[3])
{
	bool is_byte = word.len && word.at[word.len - 1] == 'l';

	if (word.len > 1 && *word.at == 'r' && expr_is_digit(word.at[1])) {
		while (!expr_is_digit(word.at[word.len - 1]))
			word.len--;
	} else if (word.len == 3 && is_byte) {
		word.len = 2;
	} else if (word.len == 3) {
		word = expr_behind(&word, 1);
	} else if (word.len == 2 && is_byte) {
		out[0] = *word.at;
		out[1] = 'x';
		word.at = out;
	}
	return word;
}

/* `%rdi`: its place in struct ftrace_regs. */
static bool script_operand_register(struct expr_word word, uint16_t *out_at)
{
	struct trace_plat_register reg;
	char room[3];

	if (!expr_take(&word, '%'))
		return false;
	word = script_operand_name(word, room);
	if (!trace_plat_register(word.at, word.len, &reg))
		return false;
	*out_at = (uint16_t)reg.offset;
	return true;
}

/* ---- Memory ---- */

/* `-16`, `16+total`: a sum, in which a name is the way from the marker to that variable. */
static bool script_operand_sum(struct expr_word rest, const struct script_marker_at *at,
			       uint64_t *out, bool *out_has_name)
{
	*out_has_name = false;
	for (*out = 0; rest.len;) {
		bool is_less = expr_take(&rest, '-');
		struct expr_word term;
		uint64_t number;

		(void)expr_take(&rest, '+');
		term = expr_take_until(&rest, "+-");
		if (expr_is_digit(expr_first(&term))) {
			if (trace_expr_number(&term, 0, false, &number))
				return false;
		} else if (!term.len || is_less || *out_has_name ||
			   !trace_probe_elf_addr(at->file, term.at, term.len, &number)) {
			return false;
		} else {
			number -= at->addr;
			*out_has_name = true;
		}
		*out += is_less ? 0 - number : number;
	}
	return true;
}

/* `SUM(%BASE,%INDEX,SCALE)`; a name stands in front of `(%rip)` alone. */
static bool script_operand_memory(struct expr_word rest, const struct script_marker_at *at,
				  struct script_operand *out)
{
	struct expr_word sum = expr_take_until(&rest, "("), word;
	bool has_name;

	if (!trace_expr_ends(&rest, ")") || !script_operand_sum(sum, at, &out->number, &has_name))
		return false;
	rest.len--;
	rest = expr_behind(&rest, 1);
	word = expr_take_until(&rest, ",");
	if (has_name != trace_expr_is(&word, "%rip") || !script_operand_register(word, &out->base))
		return false;
	out->scale = 0;
	if (!expr_take(&rest, ','))
		return true;
	word = expr_take_until(&rest, ",");
	out->scale = 1;
	if (!script_operand_register(word, &out->index))
		return false;
	if (expr_take(&rest, ',')) {
		uint64_t scale;

		if (trace_expr_number(&rest, 10, false, &scale) || !scale || scale > 8)
			return false;
		out->scale = (uint8_t)scale;
	}
	return true;
}

static bool script_operand_place(struct expr_word rest, const struct script_marker_at *at,
				 struct script_operand *out)
{
	switch (expr_first(&rest)) {
	case '$':
		out->kind = SCRIPT_OPERAND_NUMBER;
		rest = expr_behind(&rest, 1);
		return !trace_expr_number(&rest, 0, true, &out->number);
	case '%':
		out->kind = SCRIPT_OPERAND_REGISTER;
		return script_operand_register(rest, &out->base);
	default:
		out->kind = SCRIPT_OPERAND_MEMORY;
		return script_operand_memory(rest, at, out);
	}
}

void trace_script_operand_parse(const struct expr_word *word, const struct script_marker_at *at,
				struct script_operand *out)
{
	struct expr_word rest = *word, bytes;

	*out = (struct script_operand){ .is_signed = expr_take(&rest, '-') };
	bytes = expr_take_until(&rest, "@");
	if (bytes.len == 1 && expr_take(&rest, '@') &&
	    (*bytes.at == '1' || *bytes.at == '2' || *bytes.at == '4' || *bytes.at == '8')) {
		out->bits = (uint8_t)(8 * (*bytes.at - '0'));
		if (script_operand_place(rest, at, out))
			return;
	}
	out->kind = SCRIPT_OPERAND_UNKNOWN;
}

/* ---- Values: probe context ---- */

static uint64_t script_operand_word(const struct ftrace_regs *regs, uint16_t at)
{
	return *(const uint64_t *)(const void *)((const char *)regs + at);
}

static uint64_t script_operand_load(const struct script_operand *operand,
				    const struct ftrace_regs *regs)
{
	uint64_t from = operand->number + script_operand_word(regs, operand->base), got = 0;

	if (operand->scale)
		from += operand->scale * script_operand_word(regs, operand->index);
	return expr_number_at(&got, from, operand->bits / 8) ? got : 0;
}

uint64_t trace_script_operand_value(const struct script_operand *operand,
				    const struct ftrace_regs *regs)
{
	uint32_t left = 64u - operand->bits;
	uint64_t value = operand->number;

	if (operand->kind == SCRIPT_OPERAND_REGISTER)
		value = script_operand_word(regs, operand->base);
	else if (operand->kind == SCRIPT_OPERAND_MEMORY)
		value = script_operand_load(operand, regs);
	value <<= left;
	return operand->is_signed ? (uint64_t)((int64_t)value >> left) : value >> left;
}
