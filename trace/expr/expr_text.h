/* Tests of texts and sets of bits, for expr_run.c. Context: any, NMI included, preemption off. */
#ifndef TRACE_EXPR_TEXT_H
#define TRACE_EXPR_TEXT_H

#include "expr.h"

/* Carry out EXPR_TEST_TEXT. */
bool trace_expr_test_text(const struct expr_run *run, const struct expr_insn *insn);
/* Carry out EXPR_TEST_SET_EQUAL, EXPR_TEST_SET_SHARES. */
bool trace_expr_test_set(const struct expr_run *run, const struct expr_insn *insn);

#endif
