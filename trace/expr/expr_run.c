/*
 * Running a program: see expr.h.
 *
 * A program of EXPR_TEST alone takes about ten machine instructions for each test, in a function
 * that calls none.
 */
#include <trace/platform.h>
#include "expr_memory.h"
#include "expr_text.h"

/* ---- Values ---- */

static TRACE_ALWAYS_INLINE uint64_t expr_high_product(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* Divide by `magic`, (2^64 - 1) / operand rounded down: the estimate is right, or 1 too small. */
static TRACE_ALWAYS_INLINE uint64_t expr_quotient(const struct expr_number *by, uint64_t value)
{
	uint64_t estimate = expr_high_product(value, by->magic);

	return estimate + (value - estimate * by->operand >= by->operand);
}

/* Linux's binary logarithm: rounded up, and 0 for 0. */
static uint64_t expr_log2(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

static uint64_t expr_bits(const struct expr_insn *insn, uint64_t value)
{
	value <<= insn->number.left;
	return insn->number.is_signed ? (uint64_t)((int64_t)value >> insn->shift)
				      : value >> insn->shift;
}

static TRACE_ALWAYS_INLINE uint64_t expr_combine(enum expr_op op, uint64_t left, uint64_t right)
{
	switch (op) {
	case EXPR_ADD:
		return left + right;
	case EXPR_SUB:
		return left - right;
	case EXPR_MUL:
		return left * right;
	case EXPR_DIV:
		return right ? left / right : UINT64_MAX;
	case EXPR_MOD:
		return right ? left % right : 0;
	case EXPR_AND:
		return left & right;
	case EXPR_OR:
		return left | right;
	case EXPR_XOR:
		return left ^ right;
	case EXPR_SHL:
		return right < 64 ? left << right : 0;
	default: /* EXPR_SHR */
		return right < 64 ? left >> right : 0;
	}
}

uint64_t trace_expr_combine(enum expr_op op, uint64_t left, uint64_t right)
{
	return expr_combine(op, left, right);
}

/* The value that an instruction, of operation `op`, makes: neither a test nor EXPR_READ. */
static TRACE_ALWAYS_INLINE uint64_t expr_compute_as(enum expr_op op, struct expr_run *run,
						    const struct expr_insn *insn, uint64_t value)
{
	switch (op) {
	case EXPR_FIELD:
		return expr_field(insn, run->data);
	case EXPR_CONST:
		return insn->number.operand;
	case EXPR_CPU:
		return trace_plat_cpu_id();
	case EXPR_PID:
		return (uint64_t)trace_plat_current_pid();
	case EXPR_ADDRESS:
		return trace_plat_ip_unpack((uint32_t)value);
	case EXPR_BITS:
		return expr_bits(insn, value);
	case EXPR_NEG:
		return 0 - value;
	case EXPR_LOG2:
		return expr_log2(value);
	case EXPR_DIVIDE:
		return expr_quotient(&insn->number, value);
	case EXPR_ROUND:
		return expr_quotient(&insn->number, value) * insn->number.operand;
	case EXPR_SAVE:
		run->temps[insn->to] = value;
		return value;
	default:
		return expr_combine(op, run->temps[insn->to], value);
	}
}

static uint64_t expr_compute(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	return expr_compute_as(insn->op, run, insn, value);
}

TRACE_NOINLINE struct expr_got trace_expr_user_number(uint64_t from, uint32_t size)
{
	struct expr_got got = { .value = 0 };

	got.is_there = trace_plat_read_user(&got.value, (const void *)(uintptr_t)from, size);
	if (!got.is_there)
		got.value = 0;
	return got;
}

/*
 * Read a number anywhere in memory. No step may have a variable whose address is known elsewhere: the
 * compiler would not make a jump of its last call, and each read would take stack of its own.
 */
static TRACE_NOINLINE struct expr_got expr_read(const struct expr_insn *insn, uint64_t base)
{
	const struct expr_number *number = &insn->number;
	uint32_t unused = 64 - 8u * number->size;
	struct expr_got got = { .value = 0 };

	got.is_there = expr_number_at(&got.value, base + number->operand, number->size);
	got.value = got.is_there ? got.value << unused : 0;
	got.value =
		number->is_signed ? (uint64_t)((int64_t)got.value >> unused) : got.value >> unused;
	return got;
}

/* ---- Tests ---- */

static bool expr_is_in(const struct expr_const *set, uint64_t bit)
{
	return bit < set->len && ((const uint64_t *)set->data)[bit / 64] >> bit % 64 & 1;
}

static TRACE_ALWAYS_INLINE bool expr_test(const struct expr_run *run, const struct expr_insn *insn,
					  uint64_t value)
{
	switch ((enum expr_op)insn->op) {
	case EXPR_TEST:
		return expr_is_in_range(insn, expr_load8(run->data, insn->offset));
	case EXPR_TEST_VALUE:
		return expr_is_in_range(insn, value);
	case EXPR_TEST_IN:
		return expr_is_in(&insn->with, value);
	case EXPR_TEST_TEXT:
		return trace_expr_test_text(run, insn);
	default:
		return trace_expr_test_set(run, insn);
	}
}

/* ---- The loop ---- */

uint64_t trace_expr_run(struct expr_run *run, const struct expr_insn *insn)
{
	uint64_t value = 0;

	do {
		enum expr_op op = insn->op;

		if (op == EXPR_END)
			return value;
		if (expr_is_test(op)) {
			insn = insn->next[expr_test(run, insn, value)];
		} else if (op == EXPR_READ) {
			struct expr_got got = expr_read(insn, value);

			insn = insn->next[got.is_there];
			value = got.value;
		} else {
			value = expr_compute(run, insn++, value);
		}
	} while (!expr_has_ended(insn));
	return insn == EXPR_PASS;
}

static TRACE_NOINLINE bool expr_match_any(const struct expr_program *program, const void *data,
					  uint32_t len)
{
	struct expr_run run;

	if (len < program->min_len)
		return false;
	run.data = data;
	run.len = len;
	return trace_expr_run(&run, program->insns);
}

bool trace_expr_match(const struct expr_program *program, const void *data, uint32_t len)
{
	if (TRACE_UNLIKELY(len < program->fast_len))
		return expr_match_any(program, data, len);
	return expr_run_fast(program->insns, data);
}

/* ---- Steps: the usual ones know their operation ---- */

static void expr_step_value(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute(run, insn, value));
}

static void expr_step_field(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_FIELD, run, insn, value));
}

static void expr_step_constant(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_CONST, run, insn, value));
}

static void expr_step_bits(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_BITS, run, insn, value));
}

static void expr_step_log2(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_LOG2, run, insn, value));
}

static void expr_step_divide(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_DIVIDE, run, insn, value));
}

static void expr_step_round(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_ROUND, run, insn, value));
}

static void expr_step_save(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_SAVE, run, insn, value));
}

static void expr_step_add(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_ADD, run, insn, value));
}

static void expr_step_sub(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_SUB, run, insn, value));
}

static void expr_step_mul(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_MUL, run, insn, value));
}

static void expr_step_test(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	insn = insn->next[expr_test(run, insn, value)];
	if (!expr_has_ended(insn))
		insn->step(run, insn, value);
}

static void expr_step_test_value(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	insn = insn->next[expr_is_in_range(insn, value)];
	if (!expr_has_ended(insn))
		insn->step(run, insn, value);
}

static void expr_step_pid(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	expr_next(run, insn, expr_compute_as(EXPR_PID, run, insn, value));
}

static void expr_step_read(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	struct expr_got got = expr_read(insn, value);

	insn = insn->next[got.is_there];
	if (!expr_has_ended(insn))
		insn->step(run, insn, got.value);
}

static void expr_step_end(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	run->result = value;
}

const expr_step_fn trace_expr_steps[EXPR_OWN] = {
	[EXPR_TEST] = expr_step_test,
	[EXPR_TEST_VALUE] = expr_step_test_value,
	[EXPR_TEST_IN] = expr_step_test,
	[EXPR_TEST_SET_EQUAL] = expr_step_test,
	[EXPR_TEST_SET_SHARES] = expr_step_test,
	[EXPR_TEST_TEXT] = expr_step_test,
	[EXPR_FIELD] = expr_step_field,
	[EXPR_CONST] = expr_step_constant,
	[EXPR_CPU] = expr_step_value,
	[EXPR_PID] = expr_step_pid,
	[EXPR_ADDRESS] = expr_step_value,
	[EXPR_READ] = expr_step_read,
	[EXPR_BITS] = expr_step_bits,
	[EXPR_NEG] = expr_step_value,
	[EXPR_LOG2] = expr_step_log2,
	[EXPR_DIVIDE] = expr_step_divide,
	[EXPR_ROUND] = expr_step_round,
	[EXPR_SAVE] = expr_step_save,
	[EXPR_ADD] = expr_step_add,
	[EXPR_SUB] = expr_step_sub,
	[EXPR_MUL] = expr_step_mul,
	[EXPR_DIV... EXPR_SHR] = expr_step_value,
	[EXPR_END] = expr_step_end,
};
