/*
 * Comparisons as ranges of bits, EXPR_TEST, and of texts: see expr_build.h.
 *
 *   event:    | head, 8 bytes | .. | field | .. |
 *                          | 8 bytes, loaded |         they end with the field
 *                            .. 00000000 field         masked: the field is in the highest bits
 *
 * So a load is never beyond the field, and a number with a sign may wrap from its highest value to
 * its lowest, as 64 bits do: one subtraction and one comparison without sign tell whether it is in
 * a range. Only the fields of the head that end within its 8 bytes are in the middle of the loaded
 * bytes; these have no sign.
 *
 * The machine is little-endian.
 */
#include "expr_build.h"
#include <trace/platform.h>
#include "ops/ftrace_private.h"
#include "text/str.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the last bytes are the highest bits");

#define WINDOW 8u /* bytes loaded at once */

_Static_assert(sizeof(struct trace_entry) >= WINDOW, "there are as many before each field");

/* The place of a field among the loaded bits. */
struct expr_window {
	uint32_t offset;
	uint32_t shift;
	uint64_t max;  /* the highest number of the field, without sign */
	uint64_t sign; /* the bit that is turned over to have signed numbers in order; or 0 */
};

/* Numbers from `first` to `last`, without sign; none if `first` is the greater one. */
struct expr_range {
	uint64_t first;
	uint64_t last;
};

static const struct expr_range EXPR_NOTHING = { .first = 1, .last = 0 };

static struct expr_window expr_window_of(uint32_t offset, uint32_t size)
{
	uint32_t end = offset + size;
	struct expr_window window = { .offset = end < WINDOW ? 0 : end - WINDOW,
				      .max = size < WINDOW ? (1ull << size * 8) - 1 : UINT64_MAX };

	window.shift = (offset - window.offset) * 8;
	return window;
}

/* Exchange the two results. */
static void expr_negate(struct expr_insn *insn)
{
	const struct expr_insn *when_true = insn->next[true];

	insn->next[true] = insn->next[false];
	insn->next[false] = when_true;
}

static struct expr_insn *expr_add_constant(struct expr_build *build, bool is_true)
{
	struct expr_insn *insn = trace_expr_add(build, EXPR_TEST);

	trace_expr_needs(build, 0, WINDOW);
	insn->lo = !is_true; /* `mask` and `span` are 0: is 0 - lo 0? */
	return insn;
}

void trace_expr_add_constant(struct expr_build *build, bool is_true)
{
	(void)expr_add_constant(build, is_true);
}

/* Add EXPR_TEST, or EXPR_TEST_VALUE, which has its number in the window of 8 bytes at 0. */
static struct expr_insn *expr_add_test(struct expr_build *build, enum expr_op op,
				       const struct expr_window *window)
{
	struct expr_insn *insn = trace_expr_add(build, op);

	if (op == EXPR_TEST)
		trace_expr_needs(build, window->offset, WINDOW);
	insn->offset = window->offset;
	insn->mask = window->max << window->shift;
	return insn;
}

/* Add the test of a range. */
static struct expr_insn *expr_add_range(struct expr_build *build, enum expr_op op,
					const struct expr_window *window, struct expr_range range)
{
	struct expr_insn *insn;

	if (range.first > range.last)
		return expr_add_constant(build, false);
	insn = expr_add_test(build, op, window);
	insn->lo = (range.first ^ window->sign) << window->shift;
	insn->span = (range.last - range.first) << window->shift;
	return insn;
}

/* The numbers up to `max` for which `cmp` with `number` is true. */
static struct expr_range expr_range_of(enum expr_cmp cmp, uint64_t number, uint64_t max)
{
	switch (cmp) {
	case EXPR_CMP_LE:
		return (struct expr_range){ .first = 0, .last = number };
	case EXPR_CMP_LT:
		return number ? (struct expr_range){ .first = 0, .last = number - 1 }
			      : EXPR_NOTHING;
	case EXPR_CMP_GE:
		return (struct expr_range){ .first = number, .last = max };
	case EXPR_CMP_GT:
		return number < max ? (struct expr_range){ .first = number + 1, .last = max }
				    : EXPR_NOTHING;
	default:
		return (struct expr_range){ .first = number, .last = number };
	}
}

/* Add the test that a bit of `bits` is set. */
static struct expr_insn *expr_add_bits(struct expr_build *build, enum expr_op op,
				       const struct expr_window *window, uint64_t bits)
{
	struct expr_insn *insn = expr_add_test(build, op, window);

	insn->mask &= bits << window->shift;
	expr_negate(insn); /* `lo` and `span` are 0: are all of them clear? */
	return insn;
}

/* Add the comparison of a number. */
static struct expr_insn *expr_add_compare(struct expr_build *build, enum expr_op op,
					  const struct expr_window *window, enum expr_cmp cmp,
					  uint64_t number)
{
	number &= window->max;
	if (cmp == EXPR_CMP_AND)
		return expr_add_bits(build, op, window, number);
	return expr_add_range(build, op, window,
			      expr_range_of(cmp, number ^ window->sign, window->max));
}

/*
 * The end of the lower addresses. trace_plat_ip_pack() keeps the lower half of an address, and
 * extending the sign of that half gives the 64 bits back. In 32 bits they have the same order.
 */
#define LOW_END	   0x7fffffffull
#define HIGH_START 0xffffffff80000000ull

static struct expr_range expr_pack_range(struct expr_range range)
{
	if (range.first > LOW_END && range.first < HIGH_START)
		range.first = HIGH_START;
	if (range.last > LOW_END && range.last < HIGH_START)
		range.last = LOW_END;
	if (range.first > range.last)
		return EXPR_NOTHING;
	return (struct expr_range){ .first = (uint32_t)range.first, .last = (uint32_t)range.last };
}

static uint64_t expr_pack_bits(uint64_t bits)
{
	return (uint32_t)bits | (bits > UINT32_MAX ? HIGH_START & UINT32_MAX : 0);
}

static struct expr_insn *expr_add_address(struct expr_build *build,
					  const struct expr_window *window, enum expr_cmp cmp,
					  uint64_t number)
{
	if (cmp == EXPR_CMP_AND)
		return expr_add_bits(build, EXPR_TEST, window, expr_pack_bits(number));
	return expr_add_range(build, EXPR_TEST, window,
			      expr_pack_range(expr_range_of(cmp, number, UINT64_MAX)));
}

void trace_expr_add_number(struct expr_build *build, const struct expr_value *value,
			   enum expr_cmp cmp, uint64_t number)
{
	struct expr_window window;
	struct expr_insn *insn;

	if (value->class == EXPR_CLASS_CPU) {
		trace_expr_add_load(build, value);
		trace_expr_add_compare(build, false, cmp, number);
		return;
	}
	window = expr_window_of(value->offset, value->size);
	if (value->is_signed)
		window.sign = window.max ^ window.max >> 1;
	if (value->class == EXPR_CLASS_ADDRESS)
		insn = expr_add_address(build, &window, cmp, number);
	else
		insn = expr_add_compare(build, EXPR_TEST, &window, cmp, number);
	if (cmp == EXPR_CMP_NE)
		expr_negate(insn);
}

void trace_expr_add_compare(struct expr_build *build, bool is_signed, enum expr_cmp cmp,
			    uint64_t number)
{
	struct expr_window window = expr_window_of(0, WINDOW);
	struct expr_insn *insn;

	window.sign = (uint64_t)is_signed << 63;
	insn = expr_add_compare(build, EXPR_TEST_VALUE, &window, cmp, number);
	if (cmp == EXPR_CMP_NE)
		expr_negate(insn);
}

void trace_expr_add_range(struct expr_build *build, const struct expr_value *value, uint64_t first,
			  uint64_t last, bool is_inside)
{
	struct expr_window window = expr_window_of(value->offset, value->size);
	struct expr_range range = { .first = first, .last = last };
	struct expr_insn *insn;

	if (value->class == EXPR_CLASS_ADDRESS)
		range = expr_pack_range(range);
	insn = expr_add_range(build, EXPR_TEST, &window, range);
	if (!is_inside)
		expr_negate(insn);
}

void trace_expr_add_load(struct expr_build *build, const struct expr_value *value)
{
	struct expr_window window;
	struct expr_insn *insn;

	if (value->class == EXPR_CLASS_CPU) {
		(void)trace_expr_add(build, EXPR_CPU);
		return;
	}
	window = expr_window_of(value->offset, value->size);
	trace_expr_needs(build, window.offset, WINDOW);
	insn = trace_expr_add(build, EXPR_FIELD);
	insn->offset = window.offset;
	insn->shift = (uint8_t)window.shift;
	insn->mask = value->is_signed ? UINT64_MAX : window.max;
	if (value->class == EXPR_CLASS_ADDRESS)
		(void)trace_expr_add(build, EXPR_ADDRESS);
}

/* ---- Texts ---- */

/* Load `len` characters, at most 8, as the highest bytes of a word. */
static uint64_t expr_load_high(const char *text, uint32_t len)
{
	uint64_t word = 0;

	memcpy((uint8_t *)&word + (WINDOW - len), text, len);
	return word;
}

/* Add the test that the `len` bytes at `offset` of the data are `text`, which are not none. */
static void expr_add_chars(struct expr_build *build, uint32_t offset, const char *text,
			   uint32_t len, bool is_equal)
{
	struct expr_insn *insn, *last = NULL;

	for (uint32_t done = 0, step; done < len; done += step) {
		struct expr_window window;

		step = len - done < WINDOW ? len - done : WINDOW;
		window = expr_window_of(offset + done, step);
		insn = expr_add_test(build, EXPR_TEST, &window);
		insn->lo = expr_load_high(text + done, step);
		if (!is_equal)
			expr_negate(insn);
		if (last)
			last->next[true] = insn;
		last = insn;
	}
}

/* Is the value in an array, and compared as a whole or at its beginning? */
static bool expr_is_in_place(const struct expr_value *value, const struct ftrace_pattern *pattern)
{
	return value->place == EXPR_PLACE_FIELD &&
	       (pattern->type == FTRACE_MATCH_FULL || pattern->type == FTRACE_MATCH_FRONT);
}

/*
 * Compare in place. A full array may have no NUL; Linux then takes it for equal to a longer text
 * with the same beginning.
 */
static void expr_add_in_place(struct expr_build *build, const struct expr_value *value,
			      const struct ftrace_pattern *pattern, bool is_negated)
{
	bool is_full = pattern->type == FTRACE_MATCH_FULL;
	uint32_t len = (uint32_t)pattern->len + is_full; /* with the NUL */

	if (is_full && len > value->size)
		len = value->size;
	if (len > value->size)
		trace_expr_add_constant(build, is_negated);
	else if (!len)
		trace_expr_add_constant(build, !is_negated);
	else
		expr_add_chars(build, value->offset, pattern->search, len, !is_negated);
}

static void expr_add_pattern(struct expr_build *build, const struct expr_value *value,
			     const struct ftrace_pattern *pattern, bool is_negated)
{
	struct expr_insn *insn = trace_expr_add_place(build, EXPR_TEST_TEXT, value);

	insn->with.match = (uint8_t)pattern->type;
	insn->with.is_negated = is_negated;
	insn->with.data = pattern->search;
	insn->with.len = (uint32_t)pattern->len;
}

void trace_expr_add_text(struct expr_build *build, const struct expr_value *value,
			 enum expr_cmp cmp, const char *text, size_t len)
{
	char *copy = trace_expr_add_data(build, len + 1);
	struct ftrace_pattern pattern = { .search = copy, .len = len, .type = FTRACE_MATCH_FULL };
	bool is_negated;

	if (!copy)
		return;
	memcpy(copy, text, len);
	if (cmp == EXPR_CMP_GLOB)
		ftrace_pattern_parse(&pattern, copy);
	if (pattern.type == FTRACE_MATCH_INDEX) /* a digit at its beginning makes it no pattern */
		pattern.type = FTRACE_MATCH_FULL;
	is_negated = cmp == EXPR_CMP_NE || pattern.invert;
	if (expr_is_in_place(value, &pattern))
		expr_add_in_place(build, value, &pattern, is_negated);
	else
		expr_add_pattern(build, value, &pattern, is_negated);
}
