/*
 * The bounds of programs: for each a program that keeps to it, and the same one step beyond, which
 * is refused. And room: too little of it is told at the end.
 */
#include "unit.h"
#include <string.h>
#include <trace/trace_seq.h>
#include "expr/expr_build.h"
#include "expr/expr_show.h"
#include "fake/fake.h"
#include "ops/ftrace_private.h"

static struct expr_build build;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	assert_int_equal(trace_expr_create(&build, 8, 64), 0);
	trace_expr_needs(&build, 0, 32);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_expr_free(build.program);
	assert_int_equal(fake_alloc_out, 0);
	return 0;
}

static struct expr_insn *add(enum expr_op op)
{
	return trace_expr_add(&build, op);
}

/* Is the program with END behind it accepted? It is as before afterwards. */
static bool is_bounded(void)
{
	bool is_accepted;

	(void)add(EXPR_END);
	is_accepted = trace_expr_check(&build);
	build.program->nr--;
	return is_accepted;
}

static void ways(void **state)
{
	struct expr_insn *test = add(EXPR_TEST), *insns = build.program->insns;

	(void)state;
	assert_true(is_bounded());
	test->next[true] = &insns[1];
	assert_true(is_bounded());
	test->next[true] = &insns[2]; /* behind the end */
	assert_false(is_bounded());
	test->next[true] = test; /* itself */
	assert_false(is_bounded());
	test->next[true] = (const struct expr_insn *)((const char *)&insns[1] - 8);
	assert_false(is_bounded());
	test->next[true] = EXPR_PASS;
	test->next[false] = test;
	assert_false(is_bounded());
	test->next[false] = &insns[1];
	assert_true(is_bounded());
	(void)add(EXPR_CPU);
	(void)add(EXPR_TEST_VALUE);
	insns[2].next[false] = &insns[1]; /* backwards */
	assert_false(is_bounded());
	insns[2].next[false] = EXPR_FAIL;
	assert_true(is_bounded());
	insns[2].op = EXPR_READ;
	insns[2].step = trace_expr_steps[EXPR_READ];
	insns[2].number.size = 8;
	insns[2].next[true] = &insns[1];
	assert_false(is_bounded());
}

/* A step of a front end may have a second way on, where less may be saved. */
static void own_ways(void **state)
{
	struct expr_insn *own = add(EXPR_OWN), *insns = build.program->insns;

	(void)state;
	build.has_own = true;
	own->step = trace_expr_steps[EXPR_NEG];
	assert_true(is_bounded());
	own->next[false] = own; /* itself */
	assert_false(is_bounded());
	own->next[false] = &insns[2]; /* behind the end */
	assert_false(is_bounded());
	(void)add(EXPR_SAVE);
	assert_true(is_bounded());
	(void)add(EXPR_ADD); /* of what is saved on one way only */
	assert_false(is_bounded());
	own->next[false] = &insns[1];
	assert_true(is_bounded());
}

static void last(void **state)
{
	(void)state;
	assert_false(trace_expr_check(&build)); /* none at all */
	(void)add(EXPR_TEST);
	assert_true(trace_expr_check(&build));
	(void)add(EXPR_CPU); /* it goes on behind the end */
	assert_false(trace_expr_check(&build));
	(void)add(EXPR_END);
	assert_true(trace_expr_check(&build));
}

static void operations(void **state)
{
	struct expr_insn *insn = add(EXPR_NEG);

	(void)state;
	assert_true(is_bounded());
	insn->step = trace_expr_steps[EXPR_DIV]; /* the step of another one */
	assert_true(is_bounded());		 /* rare values have one in common */
	insn->step = trace_expr_steps[EXPR_FIELD];
	assert_false(is_bounded());
	insn->op = EXPR_NR_OPS;
	assert_false(is_bounded());
	insn->op = EXPR_OWN;
	assert_false(is_bounded());
	build.has_own = true;
	assert_true(is_bounded());
	insn->step = NULL;
	assert_false(is_bounded());
}

static void data(void **state)
{
	struct expr_insn *insn = add(EXPR_TEST);

	(void)state;
	insn->offset = 24;
	assert_true(is_bounded());
	insn->offset = 25;
	assert_false(is_bounded());
	insn->offset = UINT32_MAX - 3;
	assert_false(is_bounded());
	insn->op = EXPR_FIELD;
	insn->step = trace_expr_steps[EXPR_FIELD];
	assert_false(is_bounded());
	insn->offset = 24;
	assert_true(is_bounded());
	insn->shift = 63;
	assert_true(is_bounded());
	insn->shift = 64;
	assert_false(is_bounded());
}

static void places(void **state)
{
	static const struct {
		enum expr_place place;
		uint32_t last; /* offset */
	} cases[] = {
		{ EXPR_PLACE_FIELD, 27 }, { EXPR_PLACE_REST, 32 },    { EXPR_PLACE_LOC, 28 },
		{ EXPR_PLACE_REL, 28 },	  { EXPR_PLACE_POINTER, 24 }, { EXPR_PLACE_USER, 24 },
	};
	struct expr_insn *insn = add(EXPR_TEST_TEXT);

	(void)state;
	insn->with.data = trace_expr_add_data(&build, 1);
	insn->with.size = 5;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		insn->place = (uint8_t)cases[i].place;
		insn->offset = cases[i].last;
		assert_true(is_bounded());
		insn->offset++;
		assert_false(is_bounded());
		insn->offset = UINT32_MAX;
		assert_false(is_bounded());
	}
	insn->place = EXPR_PLACE_COMM;
	assert_true(is_bounded());
	insn->place = EXPR_NR_PLACES;
	assert_false(is_bounded());
	insn->op = EXPR_TEST_SET_EQUAL;
	insn->step = trace_expr_steps[EXPR_TEST_SET_EQUAL];
	insn->offset = 0;
	insn->place = EXPR_PLACE_REST;
	assert_true(is_bounded());
	insn->place = EXPR_PLACE_COMM; /* of texts alone */
	assert_false(is_bounded());
	insn->place = EXPR_PLACE_POINTER;
	assert_false(is_bounded());
	insn->place = EXPR_PLACE_USER;
	assert_false(is_bounded());
}

static void texts(void **state)
{
	struct expr_insn *insn = add(EXPR_TEST_TEXT);
	char *text = trace_expr_add_data(&build, 16);

	(void)state;
	insn->place = EXPR_PLACE_REST;
	insn->with.data = text;
	insn->with.len = 15;
	assert_true(is_bounded());
	insn->with.len = 16;
	assert_false(is_bounded());
	insn->with.len = UINT32_MAX;
	assert_false(is_bounded());
	insn->with.len = 15;
	insn->with.data = text - 8;
	assert_false(is_bounded());
	insn->with.data = NULL;
	assert_false(is_bounded());
	insn->with.data = text + 8;
	assert_false(is_bounded());
	insn->with.data = text;
	insn->with.match = FTRACE_MATCH_GLOB;
	assert_true(is_bounded());
	insn->with.match = FTRACE_MATCH_INDEX;
	assert_false(is_bounded());
	insn->with.match = FTRACE_MATCH_GLOB;
	text[15] = 'x'; /* not ended */
	assert_false(is_bounded());
}

static void sets(void **state)
{
	static const enum expr_op ops[] = { EXPR_TEST_IN, EXPR_TEST_SET_SHARES };
	uint64_t *set = trace_expr_add_data(&build, 16);
	struct expr_insn *insn = add(EXPR_TEST_IN);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		insn->op = (uint8_t)ops[i];
		insn->step = trace_expr_steps[ops[i]];
		insn->place = EXPR_PLACE_REST;
		insn->with.data = set;
		insn->with.len = 128;
		assert_true(is_bounded());
		insn->with.len = 129;
		assert_false(is_bounded());
		insn->with.len = UINT32_MAX;
		assert_false(is_bounded());
		insn->with.len = 64;
		insn->with.data = (char *)set + 1;
		assert_false(is_bounded());
		insn->with.data = set + 3; /* it begins behind the constants */
		assert_false(is_bounded());
	}
}

static void numbers(void **state)
{
	struct expr_insn *insn = add(EXPR_READ);

	(void)state;
	for (uint32_t size = 0; size < 10; size++) {
		insn->number.size = (uint8_t)size;
		assert_int_equal(is_bounded(), size == 1 || size == 2 || size == 4 || size == 8);
	}
	build.program->nr = 0;
	trace_expr_add_division(&build, EXPR_DIVIDE, 3);
	assert_true(is_bounded());
	insn->number.magic++;
	assert_false(is_bounded());
	insn->number.operand = 0;
	assert_false(is_bounded());
	build.program->nr = 0;
	insn = add(EXPR_BITS);
	insn->number.left = insn->shift = 63;
	assert_true(is_bounded());
	insn->number.left = 64;
	assert_false(is_bounded());
	insn->number.left = 0;
	insn->shift = 64;
	assert_false(is_bounded());
}

static void scratch(void **state)
{
	struct expr_insn *save = add(EXPR_SAVE), *use = add(EXPR_ADD);

	(void)state;
	save->to = EXPR_TEMPS_MAX - 1;
	for (enum expr_op op = EXPR_ADD; op <= EXPR_SHR; op++) {
		use->op = (uint8_t)op;
		use->step = trace_expr_steps[op];
		use->to = EXPR_TEMPS_MAX - 1;
		assert_true(is_bounded());
		use->to = 0;
		assert_false(is_bounded());
	}
	save->to = use->to = EXPR_TEMPS_MAX;
	assert_false(is_bounded());
	use->op = EXPR_NEG;
	assert_false(is_bounded());
	save->to = EXPR_TEMPS_MAX + 15; /* as many bits are shifted */
	assert_false(is_bounded());
}

/* A test that may leave EXPR_SAVE out: the temp is not set on each way. */
static void ways_of_scratch(void **state)
{
	struct expr_insn *insns = build.program->insns;

	(void)state;
	(void)add(EXPR_TEST_VALUE);
	(void)add(EXPR_SAVE);
	(void)add(EXPR_TEST_VALUE);
	(void)add(EXPR_ADD);
	insns[0].next[true] = &insns[1];
	insns[2].next[true] = &insns[3];
	assert_true(is_bounded());
	insns[0].next[false] = &insns[2];
	assert_false(is_bounded());
	insns[0].next[false] = &insns[3];
	assert_false(is_bounded());
	insns[0].next[false] = &insns[4];
	assert_true(is_bounded());
}

/* Neither way of EXPR_READ may leave it out. */
static void read_and_scratch(void **state)
{
	struct expr_insn *insns = build.program->insns;

	(void)state;
	add(EXPR_READ)->number.size = 8;
	(void)add(EXPR_SAVE);
	(void)add(EXPR_ADD);
	insns[0].next[true] = &insns[1];
	assert_true(is_bounded());
	insns[0].next[false] = &insns[1];
	assert_true(is_bounded());
	insns[0].next[false] = &insns[2];
	assert_false(is_bounded());
	insns[0].next[false] = EXPR_FAIL;
	insns[0].next[true] = &insns[2];
	assert_false(is_bounded());
}

static void room(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++)
		trace_expr_add_constant(&build, true);
	assert_non_null(trace_expr_add_data(&build, 57));
	assert_int_equal(trace_expr_finish(&build), 0);
	assert_null(trace_expr_add_data(&build, 1));
	assert_int_equal(trace_expr_finish(&build), -E2BIG);
	build.is_full = false;
	assert_int_equal(trace_expr_finish(&build), 0);
	trace_expr_add_constant(&build, true); /* into the spare one */
	assert_int_equal(build.program->nr, 8);
	assert_int_equal(trace_expr_finish(&build), -E2BIG);
	build.is_full = false;
	build.program->insns[7].offset = 1000;
	assert_int_equal(trace_expr_finish(&build), -EINVAL);
}

static void most(void **state)
{
	struct expr_build other;

	(void)state;
	assert_int_equal(trace_expr_create(&other, UINT32_MAX, 0), -E2BIG);
	assert_int_equal(trace_expr_create(&other, 1, (size_t)1 << 40), -E2BIG);
	fake_alloc_budget = 0;
	assert_int_equal(trace_expr_create(&other, 1, 0), -ENOMEM);
	fake_alloc_budget = -1;
	assert_int_equal(trace_expr_create(&other, EXPR_STEPS_MAX + 1, 0), 0);
	for (uint32_t i = 0; i < EXPR_STEPS_MAX; i++)
		(void)trace_expr_add(&other, i + 1 < EXPR_STEPS_MAX ? EXPR_CPU : EXPR_END);
	other.has_own = true;
	assert_true(trace_expr_check(&other));
	(void)trace_expr_add(&other, EXPR_END);
	assert_false(trace_expr_check(&other));
	other.has_own = false;
	assert_true(trace_expr_check(&other));
	trace_expr_free(other.program);
	trace_expr_free(NULL);
}

/* ---- As text ---- */

static const char *shown(uint32_t number)
{
	static char text[200];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	trace_expr_show(build.program, number, "MINE", &seq);
	trace_seq_putc(&seq, '\0');
	return text;
}

static void as_text(void **state)
{
	const struct expr_value name = {
		.class = EXPR_CLASS_TEXT, .place = EXPR_PLACE_LOC, .offset = 8, .size = 4
	};
	struct expr_insn *insns = build.program->insns;

	(void)state;
	trace_expr_add_compare(&build, false, EXPR_CMP_GE, 5);
	insns[0].next[true] = &insns[2];
	trace_expr_add_text(&build, &name, EXPR_CMP_NE, "tar", 3);
	(void)add(EXPR_READ);
	insns[2].number.size = 4;
	insns[2].number.operand = UINT64_MAX;
	insns[2].next[true] = insns[2].next[false] = &insns[3];
	trace_expr_add_division(&build, EXPR_ROUND, 64);
	add(EXPR_XOR)->to = 3;
	add(EXPR_OWN)->next[false] = &insns[7];
	assert_string_equal(shown(0), "   0 TEST_VALUE mask ffffffffffffffff lo 5 span "
				      "fffffffffffffffa, true: 2, false: fails\n");
	assert_string_equal(shown(1), "   1 TEST_TEXT offset 8 not \"tar\", true: passes, "
				      "false: fails\n");
	assert_string_equal(shown(2), "   2 READ 4 bytes at value + -1, true: 3, false: 3\n");
	assert_string_equal(shown(3), "   3 ROUND 64\n");
	assert_string_equal(shown(4), "   4 XOR temps[3]\n");
	assert_string_equal(shown(5), "   5 MINE, false: 7\n");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ways),	  CASE(last),	 CASE(own_ways),	 CASE(as_text),
		CASE(operations), CASE(data),	 CASE(places),		 CASE(texts),
		CASE(sets),	  CASE(numbers), CASE(scratch),		 CASE(ways_of_scratch),
		CASE(room),	  CASE(most),	 CASE(read_and_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
