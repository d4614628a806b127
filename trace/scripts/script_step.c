/*
 * The steps of scripts, and their runs: see script.h. Context: probe, preemption off.
 */
#include <trace/fgraph.h>
#include <trace/platform.h>
#include <trace/platform_events.h>
#include "events/event_stack.h"
#include "expr/expr_memory.h"
#include "instance/entry.h"
#include "instance/stacktrace.h"
#include "script_hit.h"
#include "script_step.h"
#include "text/str.h"

#define SCRIPT_OWN_FRAMES 16u /* of the run, in front of a stack */

/* ---- Words ---- */

static void script_step_begin(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	run->now_ns = 0;
	run->rounds_left = SCRIPT_ROUNDS_MAX;
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

/* ---- Texts and stacks ---- */

/* A text with zeros up to `bytes`, of which the last byte stays one. */
static void script_step_put(uint8_t *to, uint64_t bytes, const char *text)
{
	uint64_t i = 0;

	for (; i + 1 < bytes && text[i]; i++)
		to[i] = (uint8_t)text[i];
	memset(to + i, 0, bytes - i);
}

/* A word of a text, with zeros behind its NUL, if it has one. */
static uint64_t script_step_cut(uint64_t word, bool *out_has_end)
{
	uint64_t zeros = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;

	*out_has_end = zeros;
	/* The lowest bit that is set is in the first zero; bits in front of it are the text. */
	return zeros ? word & (((zeros & (0 - zeros)) >> 7) - 1) : word;
}

static TRACE_NOINLINE void script_step_put_comm(uint64_t *to)
{
	bool has_end;

	trace_plat_current_comm((char *)to);
	to[0] = script_step_cut(to[0], &has_end);
	to[1] = has_end ? 0 : script_step_cut(to[1], &has_end);
}

static void script_step_comm(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);

	script_step_put_comm(to);
	for (uint64_t i = TRACE_COMM_LEN / 8; i < insn->own.words[0] / 8; i++)
		to[i] = 0;
	expr_next(expr, insn, value);
}

static bool script_step_is_event(const struct script_hit *hit)
{
	return hit->probe->kind == SCRIPT_EVENT;
}

static TRACE_NOINLINE void script_step_put_probe(const struct script_hit *hit, uint8_t *to,
						 uint64_t bytes)
{
	const struct script_probe *probe = hit->probe;
	char name[sizeof(probe->name) + TRACE_SYM_LEN];
	uintptr_t start;
	size_t size, len = trace_strlen(probe->name);

	trace_strcpy(name, probe->name, sizeof(probe->name));
	if (probe->nr > 1 && !script_step_is_event(hit))
		(void)trace_plat_symbol(hit->ip, name + len, &start, &size);
	script_step_put(to, bytes, script_step_is_event(hit) ? hit->name : name);
}

static void script_step_probe(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_run *run = script_step_run(expr);

	script_step_put_probe(&run->hit, run->bytes + insn->offset, insn->own.words[0]);
	expr_next(expr, insn, value);
}

static void script_step_text(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_put(script_step_run(expr)->bytes + insn->offset, insn->own.words[0],
			insn->own.data);
	expr_next(expr, insn, value);
}

static void script_step_copy(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint8_t *bytes = script_step_run(expr)->bytes;
	uint32_t there = (uint32_t)insn->own.words[1], here = (uint32_t)(insn->own.words[1] >> 32);
	uint32_t common = there < here ? there : here;

	memmove(bytes + insn->offset, bytes + insn->own.words[0], common);
	memset(bytes + insn->offset + common, 0, here - common);
	expr_next(expr, insn, value);
}

/* Copy a text at any address, up to `max` characters; what cannot be read ends it. */
static TRACE_NOINLINE void script_step_read_text(uint8_t *to, uint64_t bytes, uint64_t from,
						 uint64_t max)
{
	uint64_t i = 0, word;

	while (i < max && expr_number_at(&word, from & ~7ull, 8)) {
		uint32_t skipped = (uint32_t)(from % 8);

		from += 8 - skipped;
		for (word >>= 8 * skipped; skipped < 8 && i < max && (word & 0xff);
		     skipped++, word >>= 8)
			to[i++] = (uint8_t)word;
		if (skipped < 8)
			break;
	}
	memset(to + i, 0, bytes - i);
}

static void script_step_str(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_read_text(script_step_run(expr)->bytes + insn->offset, insn->own.words[0],
			      value, insn->own.words[1]);
	expr_next(expr, insn, value);
}

/* A text of an event: the place of its characters; false: a pointer to it instead. */
static bool script_step_field_place(const struct expr_run *event,
				    const struct trace_event_field *field, uint32_t *out_at,
				    uint32_t *out_bytes)
{
	uint32_t word = 0;

	*out_at = field->offset;
	*out_bytes = field->size ? field->size : event->len - field->offset;
	if (field->kind != TRACE_FIELD_PLAIN) {
		memcpy(&word, event->data + field->offset, sizeof(word));
		*out_at = (word & 0xffff) + (field->kind == TRACE_FIELD_REL_LOC
						     ? field->offset + (uint32_t)sizeof(word)
						     : 0);
		*out_bytes = word >> 16;
	}
	return field->filter_type != FILTER_PTR_STRING;
}

static TRACE_NOINLINE void script_step_take_field(const struct expr_run *event,
						  const struct trace_event_field *field,
						  uint8_t *to, uint32_t room)
{
	uint32_t at, bytes;

	if (!script_step_field_place(event, field, &at, &bytes)) {
		script_step_read_text(to, room, expr_load8(event->data, field->offset), room - 1);
		return;
	}
	if (at > event->len || bytes > event->len - at)
		bytes = 0;
	if (bytes > room - 1)
		bytes = room - 1;
	memcpy(to, event->data + at, bytes);
	to[bytes] = '\0';
	bytes = (uint32_t)trace_strlen((const char *)to);
	memset(to + bytes, 0, room - bytes);
}

static void script_step_field(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_take_field(expr, insn->own.data, script_step_run(expr)->bytes + insn->offset,
			       (uint32_t)insn->own.words[0]);
	expr_next(expr, insn, value);
}

/* The caller of the function that was entered; other tracers may have hooked its return. */
static uintptr_t script_step_caller(const struct script_hit *hit)
{
	return ftrace_graph_ret_addr(trace_plat_current(), hit->ret_ip,
				     ftrace_regs_return_slot(hit->regs));
}

/* The start of a stack: the function, the caller that it returns to, or the place of the event. */
static struct trace_stack_start script_step_start(const struct script_run *run)
{
	const struct script_hit *hit = &run->hit;

	if (script_step_is_event(hit))
		return trace_event_stack_start(hit->call, run->expr.data, hit->ip);
	return (struct trace_stack_start){
		.ip = hit->probe->kind == SCRIPT_ENTRY ? hit->ip : hit->ret_ip,
		.span = TRACE_EVENT_PLACE_SPAN,
	};
}

/* Up to `max` addresses. Returns how many. */
static TRACE_NOINLINE uint32_t script_step_walk(const struct script_run *run, uint64_t *to,
						uint32_t max)
{
	uint32_t ips[SCRIPT_OWN_FRAMES + SCRIPT_STACK_DEPTH], nr, at, i = 0;
	const struct trace_stack_start start = script_step_start(run);
	const struct script_hit *hit = &run->hit;

	if (!start.ip)
		return 0;
	nr = (uint32_t)trace_plat_backtrace((uintptr_t)__builtin_frame_address(0), false, ips,
					    SCRIPT_OWN_FRAMES + max);
	at = (uint32_t)trace_stacktrace_find(ips, nr, &start);
	for (; i < max && at < nr; i++) {
		/* At its entry a function has no frame that its caller could be read from. */
		if (i == 1 && hit->probe->kind == SCRIPT_ENTRY)
			to[i] = script_step_caller(hit);
		else
			to[i] = trace_plat_ip_unpack(ips[at++]);
	}
	return i;
}

static void script_step_kstack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);
	uint32_t nr = script_step_walk(script_step_run(expr), to, (uint32_t)insn->own.words[0]);

	if (insn->own.words[1])
		memset(to + nr, 0, insn->own.words[1] - sizeof(*to) * nr);
	else
		to[nr] = 0;
	expr_next(expr, insn, value);
}

static TRACE_NOINLINE void script_step_put_ustack(uint64_t *to, uint64_t max)
{
	uint64_t callers[TRACE_USER_STACK_MAX];
	uint32_t tgid, nr = trace_userstack_get(&tgid, callers);

	memcpy(to, callers, (nr < max ? nr : max) * sizeof(*callers));
}

static void script_step_ustack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	uint64_t *to = script_step_word(expr, insn->offset);

	memset(to, 0, insn->own.words[1]);
	script_step_put_ustack(to, insn->own.words[0]);
	expr_next(expr, insn, value);
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
	(void)insn;
	(void)value;
	script_step_cpu(expr)->runs++;
}

static void script_step_again(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	(void)insn;
	(void)value;
	expr->result = 1;
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
	expr_next(expr, insn, value);
}

const expr_step_fn trace_script_steps[SCRIPT_NR_STEPS] = {
	[SCRIPT_STEP_BEGIN] = script_step_begin,
	[SCRIPT_STEP_LOAD] = script_step_load,
	[SCRIPT_STEP_STORE] = script_step_store,
	[SCRIPT_STEP_ARG] = script_step_arg,
	[SCRIPT_STEP_RETVAL] = script_step_retval,
	[SCRIPT_STEP_PID] = script_step_pid,
	[SCRIPT_STEP_NSECS] = script_step_nsecs,
	[SCRIPT_STEP_ELAPSED] = script_step_elapsed,
	[SCRIPT_STEP_IP] = script_step_ip,
	[SCRIPT_STEP_RAND] = script_step_rand,
	[SCRIPT_STEP_COMM] = script_step_comm,
	[SCRIPT_STEP_PROBE] = script_step_probe,
	[SCRIPT_STEP_TEXT] = script_step_text,
	[SCRIPT_STEP_COPY] = script_step_copy,
	[SCRIPT_STEP_STR] = script_step_str,
	[SCRIPT_STEP_FIELD] = script_step_field,
	[SCRIPT_STEP_KSTACK] = script_step_kstack,
	[SCRIPT_STEP_USTACK] = script_step_ustack,
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
	[SCRIPT_STEP_COUNT] = trace_script_step_count,
	[SCRIPT_STEP_COUNTER] = trace_script_step_counter,
	[SCRIPT_STEP_COUNTER_GET] = trace_script_step_counter_get,
	[SCRIPT_STEP_AGGREGATE] = trace_script_step_aggregate,
	[SCRIPT_STEP_OUT] = script_step_out,
	[SCRIPT_STEP_EXIT] = script_step_exit,
	[SCRIPT_STEP_LOOP] = script_step_loop,
	[SCRIPT_STEP_RAN] = script_step_ran,
	[SCRIPT_STEP_AGAIN] = script_step_again,
};

/* ---- Runs ---- */

void trace_script_hit(struct script_clause *clause, const struct script_hit *hit)
{
	struct script_cpu *cpu;

	if (!script_hit_begin(clause, &cpu))
		return;
	cpu->run.hit = *hit;
	script_hit_run(clause->program, cpu);
}
