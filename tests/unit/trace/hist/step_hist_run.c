/*
 * Variables of a histogram, compiled as in the kernel: an interrupt before every single instruction
 * of an event that sets them reads them. It finds them all, with the values of one event, or none.
 *
 * links: trace/hist/hist_run.c trace/hist/hist_map.c trace/expr/expr_run.c
 */
#include "unit.h"
#include "fast.h"
#include "hist/hist_program.h"
#include "expr/expr_text.h"
#include "hist/hist_run.h"

#define MAX_INSNS 1024u

/* Words of an entry. */
enum {
	KEY,
	SET,
	FIRST,
	SECOND,
	NR_WORDS
};

static struct event {
	uint64_t key, first, second;
} event = { 7, 0x1122334455667788, 0x99aabbccddeeff00 };

static struct hist_map map;
static struct hist writer = { .map = &map }, reader = { .map = &map };
static struct trace_trigger by_writer = { .private = &writer }, by_reader = { .private = &reader };
static const struct trace_trigger_hit hit = { .entry = &event };
static uint32_t nr_seen;

/* ---- The functions that it is linked against: no texts ---- */

uint32_t trace_hist_compute_words(const struct hist_run *run, const struct expr_insn *insn,
				  uint64_t *to)
{
	(void)run;
	(void)insn;
	(void)to;
	return 0;
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	(void)to;
	(void)from;
	(void)bytes;
	return false;
}

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	return trace_plat_read(to, from, bytes);
}

bool trace_expr_test_text(const struct expr_run *run, const struct expr_insn *insn)
{
	(void)run;
	(void)insn;
	return false;
}

bool trace_expr_test_set(const struct expr_run *run, const struct expr_insn *insn)
{
	(void)run;
	(void)insn;
	return false;
}

uint32_t trace_hist_put_comm(uint64_t *to)
{
	(void)to;
	return 0;
}

/* ---- Programs ---- */

#define INSNS 12u

static struct expr_program *programs[2];

static struct expr_insn *add(uint32_t program, enum hist_step_kind kind)
{
	struct expr_insn *insn = &programs[program]->insns[programs[program]->nr++];

	*insn = (struct expr_insn){ .step = trace_hist_steps[kind], .op = EXPR_OWN };
	return insn;
}

static struct expr_insn *add_expr(uint32_t program, enum expr_op op)
{
	struct expr_insn *insn = add(program, HIST_STEP_TIME);

	insn->op = (uint8_t)op;
	insn->step = trace_expr_steps[op];
	return insn;
}

static void add_field(uint32_t program, size_t offset)
{
	struct expr_insn *insn = add_expr(program, EXPR_FIELD);

	insn->mask = UINT64_MAX;
	insn->offset = (uint32_t)offset;
}

static void add_step(uint32_t program, enum hist_step_kind kind, uint8_t var)
{
	struct expr_insn *insn = add(program, kind);

	insn->own = (struct expr_own){ .data = &map, .words = { SET } };
	insn->offset = FIRST + var;
	insn->to = insn->shift = var;
}

static void add_set(enum hist_step_kind kind, uint8_t var)
{
	add_field(0, var ? offsetof(struct event, second) : offsetof(struct event, first));
	add_step(0, kind, var);
}

static void add_ref(enum hist_step_kind kind, uint8_t var)
{
	add_step(1, kind, var);
}

/* Behind the references: they were all set. */
static void see_first(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	(void)value;
	assert_true(hist_run_of(run)->refs[0] == event.first);
	nr_seen++;
}

static void see_both(struct expr_run *run, const struct expr_insn *insn, uint64_t value)
{
	assert_true(hist_run_of(run)->refs[1] == event.second);
	see_first(run, insn, value);
}

static void begin_programs(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		programs[i]->nr = 0;
		add_field(i, offsetof(struct event, key));
		(void)add(i, HIST_STEP_KEY_NUMBER);
	}
	(void)add(0, HIST_STEP_FIND_NUMBER);
}

static void end_programs(expr_step_fn see)
{
	(void)add_expr(0, EXPR_END);
	add(1, HIST_STEP_TIME)->step = see;
	writer.program = programs[0];
	reader.program = programs[1];
}

/* ---- At each instruction ---- */

static TRACE_NOINLINE void write_event(void *arg)
{
	(void)arg;
	trace_hist_run(&by_writer, &hit);
}

static void read_event(void)
{
	trace_hist_run(&by_reader, &hit);
}

/* In an entry that is new, and in one that is there, where the event sets the same once more. */
static void at_each(bool is_new)
{
	const struct hist_map_shape shape = { 4, 1, 0, NR_WORDS - 1 };
	uint8_t *insns[MAX_INSNS];
	uint32_t nr_early = 0;
	size_t nr;

	assert_int_equal(trace_hist_map_init(&map, &shape), 0);
	if (!is_new)
		write_event(NULL);
	fast_trace(write_event, NULL, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 30, MAX_INSNS - 1);
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = read_event };

		trace_hist_map_clear(&map);
		if (!is_new) {
			write_event(NULL);
			trace_hist_map_clear_word(&map, SET);
		}
		nr_seen = 0;
		fast_run_at(write_event, NULL, &point, 1);
		nr_early += !nr_seen;
		nr_seen = 0;
		read_event();
		assert_int_equal(nr_seen <= 1, 1);
	}
	assert_in_range(nr_early, 10, nr);
	trace_hist_map_destroy(&map);
}

static void one_variable(void **state)
{
	static const enum hist_step_kind refs[] = { HIST_STEP_TAKE, HIST_STEP_READ };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin_programs();
		add_set(HIST_STEP_SET_ONE, 0);
		add_ref(refs[i], 0);
		end_programs(see_first);
		at_each(true);
		at_each(false);
	}
}

static void two_variables(void **state)
{
	(void)state;
	begin_programs();
	add_set(HIST_STEP_SET, 0);
	add_set(HIST_STEP_SET, 1);
	add(0, HIST_STEP_SET_ALL)->own = (struct expr_own){ .words = { SET, 3 } };
	add_ref(HIST_STEP_READ, 0);
	add_ref(HIST_STEP_READ, 1);
	end_programs(see_both);
	at_each(true);
	at_each(false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_variable),
		cmocka_unit_test(two_variables),
	};

	int failed;

	fast_init();
	for (uint32_t i = 0; i < 2; i++)
		programs[i] = calloc(1, sizeof(*programs[i]) + INSNS * sizeof(struct expr_insn));
	writer.vars[0].kind = writer.vars[1].kind = HIST_NUMBER;
	reader.refs[0] = (struct hist_ref){ .hist = &writer, .var = 0 };
	reader.refs[1] = (struct hist_ref){ .hist = &writer, .var = 1 };
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(programs[0]);
	free(programs[1]);
	return failed;
}
