/*
 * The bounds of a program: see expr.h. The check is one pass, as all ways lead further on.
 *
 *   ways      every instruction leads to one further on within the program, or ends it
 *   data      reads of the data end within its least length
 *   constants lie in the program's own memory; divisors are not 0
 *   scratch   temps[] are read where they are set on each way
 *   depth     a program that is run by its steps has no more than EXPR_STEPS_MAX
 *
 * Everything else that an instruction may hold only makes another number of it.
 */
#include "expr_build.h"
#include "ops/ftrace_private.h"

#define WORD_BYTES 8u

/* ---- Ways ---- */

static bool expr_is_further_on(const struct expr_program *program, const struct expr_insn *from,
			       const struct expr_insn *to)
{
	return to > from && to < program->insns + program->nr &&
	       ((uintptr_t)to - (uintptr_t)program->insns) % sizeof(*to) == 0;
}

static bool expr_has_way(const struct expr_program *program, const struct expr_insn *insn)
{
	if (insn->op == EXPR_END)
		return true;
	if (insn->op == EXPR_OWN && insn->next[false] != EXPR_FAIL &&
	    !expr_is_further_on(program, insn, insn->next[false]))
		return false;
	if (!expr_is_test(insn->op) && insn->op != EXPR_READ)
		return expr_is_further_on(program, insn, insn + 1);
	for (int i = 0; i < 2; i++) {
		if (!expr_has_ended(insn->next[i]) &&
		    !expr_is_further_on(program, insn, insn->next[i]))
			return false;
	}
	return true;
}

/* ---- Scratch ---- */

/* Take from `to` those temps that are not set on the way that comes from an instruction. */
static void expr_arrive(struct expr_program *program, const struct expr_insn *to, uint16_t saved)
{
	if (!expr_has_ended(to))
		program->insns[to - program->insns].saved &= saved;
}

static void expr_lead_on(struct expr_program *program, const struct expr_insn *insn)
{
	uint16_t saved = insn->saved;

	if (expr_is_test(insn->op) || insn->op == EXPR_READ) {
		expr_arrive(program, insn->next[false], saved);
		expr_arrive(program, insn->next[true], saved);
	} else if (insn->op != EXPR_END) {
		if (insn->op == EXPR_SAVE)
			saved |= (uint16_t)(1u << insn->to);
		expr_arrive(program, insn + 1, saved);
		if (insn->op == EXPR_OWN)
			expr_arrive(program, insn->next[false], saved);
	}
}

static bool expr_is_temp_right(const struct expr_insn *insn)
{
	if (insn->op < EXPR_SAVE || insn->op > EXPR_SHR)
		return true;
	return insn->to < EXPR_TEMPS_MAX && (insn->op == EXPR_SAVE || insn->saved >> insn->to & 1);
}

/* ---- Data and constants ---- */

static bool expr_is_in_data(const struct expr_program *program, uint64_t offset, uint64_t bytes)
{
	return offset + bytes <= program->min_len;
}

static bool expr_is_place_right(const struct expr_program *program, const struct expr_insn *insn)
{
	switch ((enum expr_place)insn->place) {
	case EXPR_PLACE_FIELD:
		return expr_is_in_data(program, insn->offset, insn->with.size);
	case EXPR_PLACE_REST:
		return expr_is_in_data(program, insn->offset, 0);
	case EXPR_PLACE_LOC:
	case EXPR_PLACE_REL:
		return expr_is_in_data(program, insn->offset, sizeof(uint32_t));
	case EXPR_PLACE_POINTER:
	case EXPR_PLACE_USER:
		return insn->op == EXPR_TEST_TEXT &&
		       expr_is_in_data(program, insn->offset, WORD_BYTES);
	case EXPR_PLACE_COMM:
		return insn->op == EXPR_TEST_TEXT;
	default:
		return false;
	}
}

/* Are the `bytes` bytes at `data`, perhaps none, among the constants? */
static bool expr_is_constant(const struct expr_build *build, const void *data, uint64_t bytes)
{
	uintptr_t at = (uintptr_t)data, start = (uintptr_t)build->data_start,
		  end = (uintptr_t)build->data;

	return at >= start && at <= end && bytes <= end - at;
}

static bool expr_is_set_right(const struct expr_build *build, const struct expr_const *set)
{
	return (uintptr_t)set->data % WORD_BYTES == 0 &&
	       expr_is_constant(build, set->data, (set->len + 63ull) / 64 * WORD_BYTES);
}

/* A pattern for trace_glob_match_len() ends at its NUL. */
static bool expr_is_text_right(const struct expr_build *build, const struct expr_const *with)
{
	const char *text = with->data;

	return with->match < FTRACE_MATCH_INDEX &&
	       expr_is_constant(build, text, with->len + 1ull) && !text[with->len];
}

static bool expr_is_divisor_right(const struct expr_number *number)
{
	return number->operand && number->magic == UINT64_MAX / number->operand;
}

static bool expr_is_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool expr_is_right(const struct expr_build *build, const struct expr_insn *insn)
{
	const struct expr_program *program = build->program;

	switch ((enum expr_op)insn->op) {
	case EXPR_TEST:
	case EXPR_FIELD:
		return insn->shift < 64 && expr_is_in_data(program, insn->offset, WORD_BYTES);
	case EXPR_TEST_IN:
		return expr_is_set_right(build, &insn->with);
	case EXPR_TEST_SET_EQUAL:
	case EXPR_TEST_SET_SHARES:
		return expr_is_place_right(program, insn) && expr_is_set_right(build, &insn->with);
	case EXPR_TEST_TEXT:
		return expr_is_place_right(program, insn) && expr_is_text_right(build, &insn->with);
	case EXPR_READ:
		return expr_is_size(insn->number.size);
	case EXPR_BITS:
		return insn->shift < 64 && insn->number.left < 64;
	case EXPR_DIVIDE:
	case EXPR_ROUND:
		return expr_is_divisor_right(&insn->number);
	case EXPR_OWN:
		return build->has_own && insn->step;
	default:
		return insn->op < EXPR_NR_OPS && expr_is_temp_right(insn);
	}
}

bool trace_expr_check(const struct expr_build *build)
{
	struct expr_program *program = build->program;

	if (!program->nr || (build->has_own && program->nr > EXPR_STEPS_MAX))
		return false;
	for (uint32_t i = 1; i < program->nr; i++)
		program->insns[i].saved = UINT16_MAX;
	program->insns[0].saved = 0;
	for (uint32_t i = 0; i < program->nr; i++) {
		struct expr_insn *insn = &program->insns[i];

		if (insn->op < EXPR_OWN && insn->step != trace_expr_steps[insn->op])
			return false;
		if (!expr_is_right(build, insn) || !expr_has_way(program, insn))
			return false;
		expr_lead_on(program, insn);
	}
	return true;
}
