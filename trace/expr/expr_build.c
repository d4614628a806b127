/*
 * The memory of a program, its instructions, and the facts that running it needs: see expr_build.h.
 */
#include "expr_build.h"
#include <trace/errno.h>
#include <trace/platform.h>

#define BYTES_MAX (64u << 20)

int trace_expr_create(struct expr_build *build, uint32_t max_insns, size_t max_data)
{
	size_t bytes;

	*build = (struct expr_build){ .max = max_insns };
	if (max_insns > BYTES_MAX / sizeof(struct expr_insn) || max_data > BYTES_MAX)
		return -E2BIG;
	bytes = sizeof(struct expr_program) + max_insns * sizeof(struct expr_insn) + max_data;
	build->program = trace_plat_alloc(bytes);
	if (!build->program)
		return -ENOMEM;
	build->program->bytes = bytes;
	build->data = (uint8_t *)&build->program->insns[max_insns];
	build->data_start = build->data;
	build->data_end = build->data + max_data;
	return 0;
}

void trace_expr_free(struct expr_program *program)
{
	if (program)
		trace_plat_free(program, program->bytes);
}

struct expr_insn *trace_expr_add(struct expr_build *build, enum expr_op op)
{
	struct expr_program *program = build->program;
	struct expr_insn *insn = &build->spare;

	if (program->nr < build->max)
		insn = &program->insns[program->nr++];
	else
		build->is_full = true;
	*insn = (struct expr_insn){ .op = (uint8_t)op };
	if (expr_is_test(op)) {
		insn->next[false] = EXPR_FAIL;
		insn->next[true] = EXPR_PASS;
	}
	if (op < EXPR_OWN)
		insn->step = trace_expr_steps[op];
	if (op != EXPR_TEST)
		program->fast_len = UINT32_MAX;
	return insn;
}

void trace_expr_add_copy(struct expr_build *build, const struct expr_insn *insn)
{
	*trace_expr_add(build, insn->op) = *insn;
}

void trace_expr_cut(struct expr_build *build, uint32_t first)
{
	build->program->nr = first;
}

const struct expr_insn *trace_expr_here(const struct expr_build *build)
{
	return &build->program->insns[build->program->nr];
}

struct expr_insn *trace_expr_add_place(struct expr_build *build, enum expr_op op,
				       const struct expr_value *value)
{
	struct expr_insn *insn = trace_expr_add(build, op);

	if (value->place != EXPR_PLACE_COMM)
		trace_expr_needs(build, value->offset, value->size);
	insn->offset = value->offset;
	insn->place = (uint8_t)value->place;
	insn->with.size = value->size;
	return insn;
}

void trace_expr_needs(struct expr_build *build, uint32_t offset, uint32_t bytes)
{
	if (build->program->min_len < offset + bytes)
		build->program->min_len = offset + bytes;
}

void *trace_expr_add_data(struct expr_build *build, size_t bytes)
{
	size_t room = (size_t)(build->data_end - build->data);
	void *data = build->data;

	bytes = (bytes + 7) / 8 * 8;
	if (bytes > room) {
		build->is_full = true;
		return NULL;
	}
	build->data += bytes;
	return data;
}

void trace_expr_add_division(struct expr_build *build, enum expr_op op, uint64_t by)
{
	struct expr_number *number = &trace_expr_add(build, op)->number;

	number->operand = by;
	number->magic = UINT64_MAX / by;
}

/* ---- The end ---- */

/* Does the instruction read a part of struct trace_entry, the head of events? */
static bool expr_needs_head(const struct expr_insn *insn)
{
	uint32_t first = insn->offset;

	switch ((enum expr_op)insn->op) {
	case EXPR_TEST:
		if (insn->mask)
			first += (uint32_t)__builtin_ctzll(insn->mask) / 8;
		break;
	case EXPR_FIELD:
		first += insn->shift / 8u;
		break;
	case EXPR_TEST_TEXT:
	case EXPR_TEST_SET_EQUAL:
	case EXPR_TEST_SET_SHARES:
		if (insn->place == EXPR_PLACE_COMM)
			return false;
		break;
	default:
		return false;
	}
	return first < sizeof(struct trace_entry);
}

/*
 * Set the first test: one whose failure means the program's failure. If its success means failure,
 * values outside of the range pass: they are a range, too, as numbers wrap round.
 */
static void expr_set_first(struct expr_program *program)
{
	const struct expr_insn *insn = program->insns;
	bool passes = insn->next[false] == EXPR_FAIL;

	program->rest = insn;
	if (insn->op != EXPR_TEST || expr_needs_head(insn) || insn->next[!passes] != EXPR_FAIL ||
	    insn->next[passes] == EXPR_FAIL || (!passes && insn->span == UINT64_MAX))
		return;
	program->rest = insn->next[passes];
	program->first = (struct trace_event_test){
		.offset = insn->offset,
		.is_all = program->rest == EXPR_PASS,
		.mask = insn->mask,
		.lo = passes ? insn->lo : insn->lo + insn->span + 1,
		.span = passes ? insn->span : UINT64_MAX - insn->span - 1,
	};
}

int trace_expr_finish(struct expr_build *build)
{
	struct expr_program *program = build->program;

	if (build->is_full)
		return -E2BIG;
	if (!trace_expr_check(build))
		return -EINVAL;
	for (uint32_t i = 0; i < program->nr; i++)
		program->needs_head |= expr_needs_head(&program->insns[i]);
	if (!program->fast_len)
		program->fast_len = program->min_len;
	expr_set_first(program);
	return 0;
}
