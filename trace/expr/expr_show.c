/* Programs as text: see expr_show.h. */
#include "expr_show.h"
#include <trace/trace_seq.h>

static const char *const expr_op_names[EXPR_NR_OPS] = {
	[EXPR_TEST] = "TEST",
	[EXPR_TEST_VALUE] = "TEST_VALUE",
	[EXPR_TEST_IN] = "TEST_IN",
	[EXPR_TEST_SET_EQUAL] = "TEST_SET_EQUAL",
	[EXPR_TEST_SET_SHARES] = "TEST_SET_SHARES",
	[EXPR_TEST_TEXT] = "TEST_TEXT",
	[EXPR_FIELD] = "FIELD",
	[EXPR_CONST] = "CONST",
	[EXPR_CPU] = "CPU",
	[EXPR_PID] = "PID",
	[EXPR_ADDRESS] = "ADDRESS",
	[EXPR_READ] = "READ",
	[EXPR_BITS] = "BITS",
	[EXPR_NEG] = "NEG",
	[EXPR_LOG2] = "LOG2",
	[EXPR_DIVIDE] = "DIVIDE",
	[EXPR_ROUND] = "ROUND",
	[EXPR_SAVE] = "SAVE",
	[EXPR_ADD] = "ADD",
	[EXPR_SUB] = "SUB",
	[EXPR_MUL] = "MUL",
	[EXPR_DIV] = "DIV",
	[EXPR_MOD] = "MOD",
	[EXPR_AND] = "AND",
	[EXPR_OR] = "OR",
	[EXPR_XOR] = "XOR",
	[EXPR_SHL] = "SHL",
	[EXPR_SHR] = "SHR",
	[EXPR_END] = "END",
	[EXPR_OWN] = "OWN",
};

static void expr_show_test(const struct expr_insn *insn, struct trace_seq *seq)
{
	if (insn->op == EXPR_TEST_TEXT)
		trace_seq_printf(seq, " %s\"%.*s\"", insn->with.is_negated ? "not " : "",
				 (int)insn->with.len, (const char *)insn->with.data);
	else if (insn->op == EXPR_TEST || insn->op == EXPR_TEST_VALUE)
		trace_seq_printf(seq, " mask %llx lo %llx span %llx",
				 (unsigned long long)insn->mask, (unsigned long long)insn->lo,
				 (unsigned long long)insn->span);
	else
		trace_seq_printf(seq, " %s%u bits", insn->with.is_negated ? "not " : "",
				 insn->with.len);
}

static void expr_show_operands(const struct expr_insn *insn, struct trace_seq *seq)
{
	unsigned long long operand = insn->number.operand;

	if (insn->op == EXPR_TEST || (insn->op > EXPR_TEST_IN && insn->op <= EXPR_FIELD))
		trace_seq_printf(seq, " offset %u", insn->offset);
	if (expr_is_test(insn->op))
		expr_show_test(insn, seq);
	else if (insn->op == EXPR_FIELD)
		trace_seq_printf(seq, " shift %u mask %llx", insn->shift,
				 (unsigned long long)insn->mask);
	else if (insn->op == EXPR_CONST || insn->op == EXPR_DIVIDE || insn->op == EXPR_ROUND)
		trace_seq_printf(seq, " %llu", operand);
	else if (insn->op == EXPR_READ)
		trace_seq_printf(seq, " %u bytes at value + %lld", insn->number.size,
				 (long long)operand);
	else if (insn->op == EXPR_BITS)
		trace_seq_printf(seq, " << %u >> %u", insn->number.left, insn->shift);
	else if (insn->op >= EXPR_SAVE && insn->op <= EXPR_SHR)
		trace_seq_printf(seq, " temps[%u]", insn->to);
}

static void expr_show_way(const struct expr_program *program, const char *when,
			  const struct expr_insn *to, struct trace_seq *seq)
{
	trace_seq_printf(seq, ", %s: ", when);
	if (expr_has_ended(to))
		trace_seq_puts(seq, to == EXPR_PASS ? "passes" : "fails");
	else
		trace_seq_printf(seq, "%u", (unsigned int)(to - program->insns));
}

void trace_expr_show(const struct expr_program *program, uint32_t number, const char *own,
		     struct trace_seq *seq)
{
	const struct expr_insn *insn = &program->insns[number];
	bool has_ways = expr_is_test(insn->op) || insn->op == EXPR_READ;

	trace_seq_printf(seq, "%4u %s", number,
			 insn->op == EXPR_OWN ? own : expr_op_names[insn->op]);
	expr_show_operands(insn, seq);
	if (has_ways)
		expr_show_way(program, "true", insn->next[true], seq);
	if (has_ways || (insn->op == EXPR_OWN && insn->next[false] != EXPR_FAIL))
		expr_show_way(program, "false", insn->next[false], seq);
	trace_seq_putc(seq, '\n');
}
