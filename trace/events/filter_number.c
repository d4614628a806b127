/*
 * Comparisons as ranges of bits, FILTER_OP_TEST: see filter_private.h.
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
#include "filter_private.h"
#include "text/str.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the last bytes are the highest bits");

#define WINDOW 8u /* bytes loaded at once */

_Static_assert(sizeof(struct trace_entry) >= WINDOW, "there are as many before each field");

/* The place of a field among the loaded bits. */
struct window {
	uint32_t offset;
	uint32_t shift;
	uint64_t max; /* the highest number of the field, without sign */
};

/* Numbers from `first` to `last`, without sign; none if `first` is the greater one. */
struct filter_range {
	uint64_t first;
	uint64_t last;
};

static const struct filter_range NOTHING = { .first = 1, .last = 0 };

static struct window window_of(uint32_t offset, uint32_t size)
{
	uint32_t end = offset + size;
	struct window window = { .offset = end < WINDOW ? 0 : end - WINDOW,
				 .max = size < WINDOW ? (1ull << size * 8) - 1 : UINT64_MAX };

	window.shift = (offset - window.offset) * 8;
	return window;
}

/* Exchange the two results. */
static void negate(struct filter_insn *insn)
{
	const struct filter_insn *when_true = insn->next[true];

	insn->next[true] = insn->next[false];
	insn->next[false] = when_true;
}

void trace_filter_add_constant(struct filter_compiler *compiler, bool is_true)
{
	struct filter_insn *insn = trace_filter_add(compiler, FILTER_OP_TEST);

	trace_filter_needs(compiler, 0, WINDOW);
	insn->lo = !is_true; /* `mask` and `span` are 0: is 0 - lo 0? */
}

/* Add an instruction that reads `size` bytes, at `offset` for one that reads the event. */
static struct filter_insn *add_test(struct filter_compiler *compiler, enum filter_op op,
				    const struct window *window)
{
	struct filter_insn *insn = trace_filter_add(compiler, op);

	if (op != FILTER_OP_CPU)
		trace_filter_needs(compiler, window->offset, WINDOW);
	insn->offset = window->offset;
	insn->mask = window->max << window->shift;
	return insn;
}

/*
 * Add the test of a range. `sign` is the bit that is turned over to have signed numbers in order;
 * or 0.
 */
static void add_range(struct filter_compiler *compiler, enum filter_op op,
		      const struct window *window, struct filter_range range, uint64_t sign)
{
	struct filter_insn *insn;

	if (range.first > range.last) {
		trace_filter_add_constant(compiler, false);
		return;
	}
	insn = add_test(compiler, op, window);
	insn->lo = (range.first ^ sign) << window->shift;
	insn->span = (range.last - range.first) << window->shift;
}

/* The numbers up to `max` for which `cmp` with `number` is true. */
static struct filter_range range_of(enum filter_cmp cmp, uint64_t number, uint64_t max)
{
	switch (cmp) {
	case FILTER_CMP_LE:
		return (struct filter_range){ .first = 0, .last = number };
	case FILTER_CMP_LT:
		return number ? (struct filter_range){ .first = 0, .last = number - 1 } : NOTHING;
	case FILTER_CMP_GE:
		return (struct filter_range){ .first = number, .last = max };
	case FILTER_CMP_GT:
		return number < max ? (struct filter_range){ .first = number + 1, .last = max }
				    : NOTHING;
	default:
		return (struct filter_range){ .first = number, .last = number };
	}
}

/* Add the test that a bit of `bits` is set. */
static void add_bits(struct filter_compiler *compiler, enum filter_op op,
		     const struct window *window, uint64_t bits)
{
	struct filter_insn *insn = add_test(compiler, op, window);

	insn->mask &= bits << window->shift;
	negate(insn); /* `lo` and `span` are 0: are all of them clear? */
}

/*
 * The end of the lower addresses. trace_plat_ip_pack() keeps the lower half of an address, and
 * extending the sign of that half gives the 64 bits back. In 32 bits they have the same order.
 */
#define LOW_END	   0x7fffffffull
#define HIGH_START 0xffffffff80000000ull

static struct filter_range pack_range(struct filter_range range)
{
	if (range.first > LOW_END && range.first < HIGH_START)
		range.first = HIGH_START;
	if (range.last > LOW_END && range.last < HIGH_START)
		range.last = LOW_END;
	if (range.first > range.last)
		return NOTHING;
	return (struct filter_range){ .first = (uint32_t)range.first,
				      .last = (uint32_t)range.last };
}

static uint64_t pack_bits(uint64_t bits)
{
	return (uint32_t)bits | (bits > UINT32_MAX ? HIGH_START & UINT32_MAX : 0);
}

static void add_address(struct filter_compiler *compiler, const struct window *window,
			enum filter_cmp cmp, uint64_t number)
{
	if (cmp == FILTER_CMP_AND)
		add_bits(compiler, FILTER_OP_TEST, window, pack_bits(number));
	else
		add_range(compiler, FILTER_OP_TEST, window,
			  pack_range(range_of(cmp, number, UINT64_MAX)), 0);
}

void trace_filter_add_number(struct filter_compiler *compiler, const struct filter_value *value,
			     enum filter_cmp cmp, uint64_t number)
{
	enum filter_op op = value->class == FILTER_CLASS_CPU ? FILTER_OP_CPU : FILTER_OP_TEST;
	struct window window =
		op == FILTER_OP_CPU ? window_of(0, WINDOW) : window_of(value->offset, value->size);
	bool is_signed = value->class == FILTER_CLASS_NUMBER && value->is_signed;
	uint64_t sign = is_signed ? window.max ^ window.max >> 1 : 0;
	size_t added = compiler->nr_insns;

	if (value->class == FILTER_CLASS_ADDRESS)
		add_address(compiler, &window, cmp, number);
	else if (cmp == FILTER_CMP_AND)
		add_bits(compiler, op, &window, number & window.max);
	else
		add_range(compiler, op, &window,
			  range_of(cmp, (number & window.max) ^ sign, window.max), sign);
	if (cmp == FILTER_CMP_NE)
		negate(&compiler->filter->insns[added]);
}

void trace_filter_add_range(struct filter_compiler *compiler, const struct filter_value *value,
			    uint64_t first, uint64_t last, bool is_inside)
{
	struct window window = window_of(value->offset, value->size);
	struct filter_range range = { .first = first, .last = last };
	size_t added = compiler->nr_insns;

	add_range(compiler, FILTER_OP_TEST, &window,
		  value->class == FILTER_CLASS_ADDRESS ? pack_range(range) : range, 0);
	if (!is_inside)
		negate(&compiler->filter->insns[added]);
}

void trace_filter_add_number_in(struct filter_compiler *compiler, const struct filter_value *value,
				const struct filter_cpus *cpus)
{
	bool is_cpu = value->class == FILTER_CLASS_CPU;
	struct window window = window_of(is_cpu ? 0 : value->offset, is_cpu ? WINDOW : value->size);
	struct filter_insn *insn;

	if (is_cpu) {
		insn = trace_filter_add(compiler, FILTER_OP_CPU_IN);
	} else {
		insn = add_test(compiler, FILTER_OP_NUMBER_IN, &window);
		insn->span = window.shift;
	}
	insn->data = cpus->mask;
	insn->data_len = cpus->nr;
}

/* Load `len` characters, at most 8, as the highest bytes of a word. */
static uint64_t load_high(const char *text, uint32_t len)
{
	uint64_t word = 0;

	memcpy((uint8_t *)&word + (WINDOW - len), text, len);
	return word;
}

void trace_filter_add_chars(struct filter_compiler *compiler, uint32_t offset, const char *text,
			    uint32_t len, bool is_equal)
{
	struct filter_insn *insn, *last = NULL;

	if (!len)
		trace_filter_add_constant(compiler, is_equal);
	for (uint32_t done = 0, step; done < len; done += step) {
		struct window window;

		step = len - done < WINDOW ? len - done : WINDOW;
		window = window_of(offset + done, step);
		insn = add_test(compiler, FILTER_OP_TEST, &window);
		insn->lo = load_high(text + done, step);
		if (!is_equal)
			negate(insn);
		if (last)
			last->next[true] = insn;
		last = insn;
	}
}
