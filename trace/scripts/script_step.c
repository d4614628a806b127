/*
 * The steps of scripts, and their runs: see script.h. Context: probe, preemption off.
 */
#include <trace/platform.h>
#include <trace/platform_events.h>
#include "expr/expr_memory.h"
#include "script_hit.h"
#include "script_step.h"
#include "script_target.h"
#include "script_user.h"
#include "text/str.h"

/* ---- Words ---- */

static void script_step_begin(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	run->now_ns = 0;
	run->has_left = false;
	run->rounds_left = SCRIPT_ROUNDS_MAX;
	if (insn->offset)
		memset(run->bytes, 0, insn->offset);
	expr_next(expr, insn, value);
}

static void script_step_load(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, *script_step_word(expr, insn->offset));
}

static void script_step_store(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	*script_step_word(expr, insn->offset) = value;
	expr_next(expr, insn, value);
}

static void script_step_arg(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, ftrace_regs_get_argument(script_step_run(expr)->hit.regs, insn->to));
}

static void script_step_raw_arg(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, script_step_run(expr)->hit.args[insn->to]);
}

static void script_step_mark_arg(struct expr_run *expr, const struct expr_insn *insn,
				 uint64_t value)
{
	const struct script_hit *hit = &script_step_run(expr)->hit;

	value = trace_script_operand_value(&hit->mark->args[insn->to], hit->regs);
	expr_next(expr, insn, value);
}

static void script_step_retval(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, ftrace_regs_get_return_value(script_step_run(expr)->hit.regs));
}

/*
 * Steps whose data lies on the stack take it in a function of their own: a step that ends by a call, for
 * the next one to come back to its data, would keep the stack from being used again.
 */

static TRACE_NOINLINE uint64_t script_step_tgid(void)
{
	struct trace_plat_user user;

	return (uint32_t)(trace_plat_user_get(&user) ? user.tgid : trace_plat_current_pid());
}

/* The thread group; of a thread of the kernel, and in NMIs, the thread itself. */
static void script_step_pid(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, script_step_tgid());
}

static void script_step_user_word(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value)
{
	expr_next(expr, insn, script_user_pack(value, script_step_tgid()));
}

static void script_step_user_addr(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value)
{
	expr_next(expr, insn, script_user_addr(value));
}

static void script_step_curtask(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	value = (uintptr_t)trace_plat_current() - insn->own.words[0];
	expr_next(expr, insn, value);
}

static void script_step_uid(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, (uint32_t)trace_plat_current_uid_gid());
}

static void script_step_gid(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, trace_plat_current_uid_gid() >> 32);
}

static uint64_t script_step_now(struct script_run *run)
{
	if (!run->now_ns)
		run->now_ns = trace_plat_clock_ns();
	return run->now_ns;
}

static void script_step_nsecs(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, script_step_now(script_step_run(expr)));
}

static void script_step_elapsed(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	(void)value;
	expr_next(expr, insn, script_step_now(run) - run->script->began_ns);
}

static void script_step_ip(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)value;
	expr_next(expr, insn, script_step_run(expr)->hit.ip);
}

/* A number of 32 bits, by the clock and the CPU: for samples, not for secrets. */
static void script_step_rand(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	value = (trace_plat_cycles() + trace_plat_cpu_id()) * 0x9e3779b97f4a7c15ull;
	expr_next(expr, insn, (value ^ value >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

static TRACE_NOINLINE uint64_t script_step_number_at(uint64_t from, uint32_t bytes)
{
	uint64_t got = 0;

	if (!expr_number_at(&got, from, bytes))
		return 0;
	return bytes < 8 ? got & ((1ull << 8 * bytes) - 1) : got;
}

static void script_step_read(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	expr_next(expr, insn, script_step_number_at(value + insn->own.words[0], insn->to));
}

/* ---- Operators ---- */

static void script_step_compare(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	expr_next(expr, insn,
		  trace_script_holds((enum script_binary)insn->own.words[0], insn->own.words[1],
				     expr->temps[insn->to], value));
}

static void script_step_test(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	if (value - insn->own.words[0] > insn->own.words[1]) {
		insn = insn->next[false];
		insn->step(expr, insn, value);
		return;
	}
	expr_next(expr, insn, value);
}

/* By 0 the result is 0, and the rest is all of it. */
static uint64_t script_step_quotient(bool is_rest, bool is_signed, uint64_t a, uint64_t b)
{
	bool is_negative = is_signed && (int64_t)a < 0, inverts = is_negative;
	uint64_t result;

	if (!b)
		return is_rest ? a : 0;
	if (is_negative)
		a = 0 - a;
	if (is_signed && (int64_t)b < 0) {
		b = 0 - b;
		inverts = !inverts;
	}
	result = is_rest ? a % b : a / b;
	return (is_rest ? is_negative : inverts) ? 0 - result : result;
}

static void script_step_divide(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	expr_next(expr, insn,
		  script_step_quotient(insn->own.words[0] == SCRIPT_MOD, insn->own.words[1],
				       expr->temps[insn->to], value));
}

static uint64_t script_step_differ(const uint8_t *a, const uint8_t *b, uint64_t max)
{
	for (uint64_t i = 0; i < max; i++) {
		if (a[i] != b[i])
			return 1;
		if (!a[i])
			break;
	}
	return 0;
}

static void script_step_strncmp(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	const uint8_t *bytes = script_step_run(expr)->bytes;

	value = script_step_differ(bytes + insn->offset, bytes + insn->own.words[0],
				   insn->own.words[1]);
	expr_next(expr, insn, value);
}

static void script_step_same_text(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value)
{
	const uint64_t *a = script_step_word(expr, insn->offset);
	const uint64_t *b = script_step_word(expr, (uint32_t)insn->own.words[0]);

	value = 0;
	for (uint32_t i = 0; i < SCRIPT_TEXT_BYTES / 8; i++)
		value |= a[i] ^ b[i];
	expr_next(expr, insn, !value ^ insn->own.words[1]);
}

/* ---- Others ---- */

static void script_step_out(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	if (!trace_script_out_write(run->script, insn->own.data, run->bytes + insn->offset))
		script_step_cpu(expr)->lost++;
	expr_next(expr, insn, value);
}

static void script_step_exit(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	atomic_store(&script_step_run(expr)->script->wants_end, true);
	expr_next(expr, insn, value);
}

/* The program is at its end: the condition of its clause held. */
static void script_step_ran(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_cpu *cpu = script_step_cpu(expr);

	(void)insn;
	(void)value;
	cpu->runs++;
	script_hit_end(cpu);
}

/* The end of its clause, whose condition held, or the place behind that for one that did not: see script.h. */
static struct expr_insn *script_step_last(const struct script_run *run, bool has_held)
{
	return trace_script_clause_last(run->hit.probe->clause, has_held);
}

static void script_step_ran_first(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value)
{
	__atomic_store_n(&script_step_last(script_step_run(expr), true)->step, script_step_ran,
			 __ATOMIC_RELAXED);
	script_step_ran(expr, insn, value);
}

static void script_step_fail(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	(void)value;
	script_hit_end(script_step_cpu(expr));
}

static void script_step_fail_first(struct expr_run *expr, const struct expr_insn *insn,
				   uint64_t value)
{
	__atomic_store_n(&script_step_last(script_step_run(expr), false)->step, script_step_fail,
			 __ATOMIC_RELAXED);
	script_step_fail(expr, insn, value);
}

bool trace_script_clause_saw(const struct script_clause *clause, bool has_held)
{
	const struct expr_insn *last = trace_script_clause_last(clause, has_held);

	return __atomic_load_n(&last->step, __ATOMIC_RELAXED) !=
	       (has_held ? script_step_ran_first : script_step_fail_first);
}

static void script_step_again(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	(void)value;
	expr->result = 1;
}

static void script_step_stop(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)expr;
	(void)insn;
	(void)value;
}

static void script_step_leave(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	(void)value;
	script_step_run(expr)->has_left = true;
}

/* The end of the clause, from a loop in it. */
static void script_step_end(struct expr_run *expr, uint64_t value)
{
	const struct expr_insn *last = script_step_last(script_step_run(expr), true);

	last->step(expr, last, value);
}

/* A program of its own, again and again while its result is 1. */
static void script_step_loop(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	const struct expr_program *program = insn->own.data;

	uint32_t *left = &script_step_run(expr)->rounds_left;

	for (uint64_t i = 0; i < insn->own.words[0] && *left; i++) {
		--*left;
		expr->result = 0;
		program->insns->step(expr, program->insns, 0);
		if (!expr->result)
			break;
	}
	script_step_cpu(expr)->cut += expr->result;
	expr->result = 0; /* of the round that this loop is in */
	if (!script_step_run(expr)->has_left)
		expr_next(expr, insn, value);
	else if (!insn->to)
		script_step_end(expr, value);
}

const expr_step_fn trace_script_steps[SCRIPT_NR_STEPS] = {
	[SCRIPT_STEP_BEGIN] = script_step_begin,
	[SCRIPT_STEP_LOAD] = script_step_load,
	[SCRIPT_STEP_STORE] = script_step_store,
	[SCRIPT_STEP_ARG] = script_step_arg,
	[SCRIPT_STEP_RAW_ARG] = script_step_raw_arg,
	[SCRIPT_STEP_MARK_ARG] = script_step_mark_arg,
	[SCRIPT_STEP_RETVAL] = script_step_retval,
	[SCRIPT_STEP_PID] = script_step_pid,
	[SCRIPT_STEP_UID] = script_step_uid,
	[SCRIPT_STEP_GID] = script_step_gid,
	[SCRIPT_STEP_NSECS] = script_step_nsecs,
	[SCRIPT_STEP_ELAPSED] = script_step_elapsed,
	[SCRIPT_STEP_IP] = script_step_ip,
	[SCRIPT_STEP_RAND] = script_step_rand,
	[SCRIPT_STEP_CURTASK] = script_step_curtask,
	[SCRIPT_STEP_PACK] = script_step_user_word,
	[SCRIPT_STEP_UNPACK] = script_step_user_addr,
	[SCRIPT_STEP_COMM] = trace_script_step_comm,
	[SCRIPT_STEP_PROBE] = trace_script_step_probe,
	[SCRIPT_STEP_TEXT] = trace_script_step_text,
	[SCRIPT_STEP_COPY] = trace_script_step_copy,
	[SCRIPT_STEP_STR] = trace_script_step_str,
	[SCRIPT_STEP_BUF] = trace_script_step_buf,
	[SCRIPT_STEP_JOIN] = trace_script_step_join,
	[SCRIPT_STEP_FIELD] = trace_script_step_field,
	[SCRIPT_STEP_KSTACK] = trace_script_step_kstack,
	[SCRIPT_STEP_USTACK] = trace_script_step_ustack,
	[SCRIPT_STEP_READ] = script_step_read,
	[SCRIPT_STEP_COMPARE] = script_step_compare,
	[SCRIPT_STEP_DIVIDE] = script_step_divide,
	[SCRIPT_STEP_SAME_TEXT] = script_step_same_text,
	[SCRIPT_STEP_MAP_GET] = trace_script_step_map_get,
	[SCRIPT_STEP_MAP_COPY] = trace_script_step_map_copy,
	[SCRIPT_STEP_MAP_PUT] = trace_script_step_map_put,
	[SCRIPT_STEP_MAP_SET] = trace_script_step_map_set,
	[SCRIPT_STEP_MAP_ADD] = trace_script_step_map_add,
	[SCRIPT_STEP_MAP_DELETE] = trace_script_step_map_delete,
	[SCRIPT_STEP_MAP_NEXT] = trace_script_step_map_next,
	[SCRIPT_STEP_COUNT] = trace_script_step_count,
	[SCRIPT_STEP_COUNTER] = trace_script_step_counter,
	[SCRIPT_STEP_COUNTER_GET] = trace_script_step_counter_get,
	[SCRIPT_STEP_LEN] = trace_script_step_len,
	[SCRIPT_STEP_STRNCMP] = script_step_strncmp,
	[SCRIPT_STEP_AGGREGATE] = trace_script_step_aggregate,
	[SCRIPT_STEP_OUT] = script_step_out,
	[SCRIPT_STEP_EXIT] = script_step_exit,
	[SCRIPT_STEP_LOOP] = script_step_loop,
	[SCRIPT_STEP_RAN] = script_step_ran_first,
	[SCRIPT_STEP_FAIL] = script_step_fail_first,
	[SCRIPT_STEP_TEST] = script_step_test,
	[SCRIPT_STEP_LEAVE] = script_step_leave,
	[SCRIPT_STEP_STOP] = script_step_stop,
	[SCRIPT_STEP_AGAIN] = script_step_again,
};

/* ---- Runs ---- */

void trace_script_hit(struct script_clause *clause, const struct script_hit *hit)
{
	struct script_cpu *cpu;

	if (!script_hit_begin(clause, SCRIPT_RUNS, &cpu))
		return;
	cpu->run.hit = *hit;
	script_hit_run(clause->program, cpu);
}
