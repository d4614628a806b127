/*
 * Terms behind the event of a symbol, `(x < 5ms, reset(y))`: conditions about clocks, and clocks
 * that the step resets. See monitor.h. The conditions are one program, whose data is the array of
 * times: each leads on to the next one, and the last one passes.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "text/str.h"

/* ---- As it is written ---- */

/* The number of a clock, which is made when there is none of that name. */
static int guard_find_clock(struct monitor_parser *parser, const struct expr_word *name,
			    uint32_t *out_clock)
{
	struct trace_monitor *monitor = parser->monitor;
	uint32_t at = 0;

	if (name->len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, name->at, "the name is too long");
	while (at < monitor->nr_clocks && !trace_expr_is(name, monitor->clocks[at]))
		at++;
	if (at == MONITOR_CLOCKS_MAX)
		return trace_expr_refuse(&parser->text, -E2BIG, "there are too many clocks",
					 name->at);
	if (at == monitor->nr_clocks) {
		trace_monitor_copy_word(monitor->clocks[monitor->nr_clocks++], name);
		parser->clocks_at[at] = name->at;
	}
	*out_clock = at;
	return 0;
}

static bool guard_take_cmp(struct expr_cursor *text, enum expr_cmp *out_cmp)
{
	bool is_less = trace_expr_take(text, "<");

	if (!is_less && !trace_expr_take(text, ">"))
		return false;
	if (trace_expr_take(text, "="))
		*out_cmp = is_less ? EXPR_CMP_LE : EXPR_CMP_GE;
	else
		*out_cmp = is_less ? EXPR_CMP_LT : EXPR_CMP_GT;
	return true;
}

/* A number with a unit. */
static bool guard_take_time(struct expr_cursor *text, uint64_t *out_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	struct expr_word digits = { .at = text->at };
	struct expr_word unit;
	uint64_t number;

	while (expr_is_digit(*text->at))
		text->at++;
	digits.len = (size_t)(text->at - digits.at);
	unit = trace_expr_take_name(text);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(units); i++) {
		if (trace_expr_is(&unit, units[i].name))
			return !trace_expr_number(&digits, 10, false, &number) &&
			       !__builtin_mul_overflow(number, units[i].ns, out_ns);
	}
	return false;
}

static int guard_read_condition(struct monitor_parser *parser, const struct expr_word *clock,
				struct monitor_guard *guard)
{
	const char *at;
	uint32_t nr = guard->nr;
	int err;

	if (nr == MONITOR_CONDITIONS_MAX)
		return trace_expr_refuse(&parser->text, -E2BIG, "there are too many conditions",
					 clock->at);
	err = guard_find_clock(parser, clock, &guard->conditions[nr].clock);
	if (err)
		return err;
	if (!guard_take_cmp(&parser->text, &guard->conditions[nr].cmp))
		return trace_monitor_blame(parser, parser->text.at, "< <= > or >= is expected");
	trace_expr_skip_spaces(&parser->text);
	at = parser->text.at;
	if (!guard_take_time(&parser->text, &guard->conditions[nr].ns))
		return trace_monitor_blame(parser, at, "a time is expected, such as 5ms");
	guard->nr++;
	return 0;
}

static int guard_read_reset(struct monitor_parser *parser, struct monitor_guard *guard)
{
	static const char wanted[] = "a clock is expected";
	struct expr_word name;
	uint32_t clock = 0;
	int err = trace_monitor_take_word(parser, wanted, &name);

	if (!err)
		err = guard_find_clock(parser, &name, &clock);
	if (err)
		return err;
	if (!trace_expr_take(&parser->text, ")"))
		return trace_monitor_blame(parser, parser->text.at, "a ) is expected");
	guard->resets |= 1u << clock;
	return 0;
}

static int guard_read_term(struct monitor_parser *parser, struct monitor_guard *guard)
{
	struct expr_word word;
	int err = trace_monitor_take_word(parser, "a clock is expected", &word);

	if (err)
		return err;
	if (trace_expr_is(&word, "reset") && trace_expr_take(&parser->text, "("))
		return guard_read_reset(parser, guard);
	return guard_read_condition(parser, &word, guard);
}

int trace_monitor_read_guard(struct monitor_parser *parser, struct monitor_guard *out_guard)
{
	const char *begin = parser->text.at + 1;
	int err;

	if (!trace_expr_take(&parser->text, "("))
		return 0;
	do {
		err = guard_read_term(parser, out_guard);
		trace_expr_skip_spaces(&parser->text);
	} while (!err && trace_expr_take(&parser->text, ","));
	if (err)
		return err;
	out_guard->text =
		(struct expr_word){ .at = begin, .len = (size_t)(parser->text.at - begin) };
	if (!trace_expr_take(&parser->text, ")"))
		return trace_monitor_blame(parser, parser->text.at, ", or ) is expected");
	return 0;
}

int trace_monitor_check_clocks(const struct monitor_parser *parser)
{
	const struct trace_monitor *monitor = parser->monitor;
	uint32_t reset = 0;

	for (uint32_t i = 0; i < monitor->nr_symbols; i++)
		reset |= monitor->symbols[i].resets;
	for (uint32_t i = 0; i < monitor->nr_clocks; i++) {
		if (!(reset & 1u << i))
			return trace_monitor_blame(parser, parser->clocks_at[i],
						   "no step resets this clock");
	}
	return 0;
}

/* ---- As a program ---- */

/* A test's ways that pass lead to the instruction behind it instead. */
static void guard_lead_on(struct expr_insn *insn)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (insn->next[i] == EXPR_PASS)
			insn->next[i] = insn + 1;
	}
}

int trace_monitor_compile_guard(const struct monitor_guard *guard, struct expr_program **out_guard)
{
	struct expr_value value = { .class = EXPR_CLASS_NUMBER, .size = sizeof(uint64_t) };
	struct expr_build build;
	int err;

	if (!guard->nr)
		return 0;
	err = trace_expr_create(&build, guard->nr, 0);
	if (err)
		return err;
	for (uint32_t i = 0; i < guard->nr; i++) {
		value.offset = guard->conditions[i].clock * value.size;
		trace_expr_add_number(&build, &value, guard->conditions[i].cmp,
				      guard->conditions[i].ns);
		if (i)
			guard_lead_on(&build.program->insns[i - 1]);
	}
	*out_guard = build.program;
	return trace_expr_finish(&build);
}
