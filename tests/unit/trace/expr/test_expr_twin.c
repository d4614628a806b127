/*
 * Programs at random, run by expr/ in both ways, and by a second implementation: all three agree.
 * Programs that are changed at random afterwards are refused, or still read nothing but their data
 * and constants, in memory that is no longer than these. 10,000 of both; `make soak` has 1,000
 * times as many.
 */
#include "unit.h"
#include "expr_twin.h"
#include "fake/fake.h"

static uint64_t seed = 1;
static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

static uint8_t memory[64];
static _Alignas(4096) uint8_t bad_page[4096];
static struct twin_machine machine = {
	.cpu = 5, .pid = -9, .comm = "aab", .memory = memory, .memory_bytes = sizeof(memory) - 16
};

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	fake_set_nr_cpus(8);
	fake_bind(machine.cpu);
	fake_thread_add(machine.pid, machine.comm);
	fake_cpus[machine.cpu].pid = machine.pid;
	fake_bad_page = bad_page;
	machine.bad = (uintptr_t)bad_page + 64;
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = "ab\0\xff"[random_number() % 4];
	memory[machine.memory_bytes - 1] = '\0';
	return 0;
}

/*
 * A program that ends by a test, or by a read that failed, does not reach EXPR_END, and leaves the
 * result alone.
 */
static void check_steps(const struct expr_program *program, const struct twin *twin, uint64_t value)
{
	struct expr_run run = { .data = twin->data, .len = twin->len, .result = ~value };

	program->insns[0].step(&run, program->insns, 0);
	if (program->insns[program->nr - 1].op != EXPR_END || run.result != value)
		assert_true(run.result == ~value && value <= 1);
}

static void check_match(const struct expr_program *program, const struct twin *twin, bool passes)
{
	bool is_first;

	assert_int_equal(trace_expr_match(program, twin->data, twin->len), passes);
	assert_false(trace_expr_match(program, twin->data, twin->len - 1));
	is_first = trace_event_passes(&program->first, twin->data);
	assert_true(is_first || !passes);
	assert_true(passes || !is_first || !program->first.is_all);
	if (program->fast_len <= twin->len && is_first && program->rest != EXPR_PASS)
		assert_int_equal(expr_run_fast(program->rest, twin->data), passes);
}

static void agree(void **state)
{
	struct twin twin = { .random = random_number, .machine = &machine };
	int nr_refused = 0, nr = unit_rounds(10000);

	(void)state;
	fake_reads_user = true;
	for (int i = 0; i < nr; i++) {
		struct expr_run run;
		struct expr_program *program;
		uint64_t value;

		twin_make(&twin);
		program = twin_compile(&twin);
		if (program) {
			run.data = twin.data;
			run.len = twin.len;
			value = twin_run(&twin);
			assert_int_equal(trace_expr_run(&run, program->insns), value);
			check_steps(program, &twin, value);
			if (value <= 1)
				check_match(program, &twin, value);
		}
		nr_refused += !program;
		trace_expr_free(program);
		free(twin.data);
	}
	/* Those that use a temp behind a test that may have left its EXPR_SAVE out. */
	assert_true(nr_refused < nr / 2);
}

/* Some bit of an instruction becomes another one; but the bytes of type bool stay such. */
static void damage(struct expr_program *program)
{
	struct expr_insn *insn = &program->insns[random_number() % program->nr];

	((uint8_t *)insn)[random_number() % sizeof(*insn)] ^= (uint8_t)(1u << random_number() % 8);
	if (insn->op > EXPR_TEST_VALUE && insn->op < EXPR_FIELD)
		*(uint8_t *)&insn->with.is_negated &= 1;
	else if (insn->op == EXPR_READ || insn->op == EXPR_BITS)
		*(uint8_t *)&insn->number.is_signed &= 1;
}

static void damaged(void **state)
{
	struct twin twin = { .random = random_number, .machine = &machine };
	int nr_safe = 0, nr = unit_rounds(10000);

	(void)state;
	fake_reads_anywhere = true;
	for (int i = 0; i < nr; i++) {
		struct expr_program *program;
		struct expr_build build;
		struct expr_run run;

		twin_make(&twin);
		program = twin_compile(&twin);
		if (program) {
			uint8_t *constants = (uint8_t *)&program->insns[program->nr];

			damage(program);
			build = (struct expr_build){ .program = program,
						     .max = program->nr,
						     .data = constants + program->nr * 16,
						     .data_end = constants + program->nr * 16,
						     .data_start = constants };
			run.data = twin.data;
			run.len = twin.len;
			if (trace_expr_check(&build)) {
				(void)trace_expr_run(&run, program->insns);
				nr_safe++;
			}
		}
		trace_expr_free(program);
		free(twin.data);
	}
	assert_in_range(nr_safe, nr / 10, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(agree, set_up),
		cmocka_unit_test_setup(damaged, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
