/*
 * The memory of a filter, and functions common to its instructions: see filter_private.h.
 */
#include "filter_private.h"

static size_t mask_bytes(void)
{
	return (trace_plat_nr_cpus() + 63) / 64 * sizeof(uint64_t);
}

/*
 * Allocate a filter. A comparison takes one instruction, or one for each 8 characters of its text
 * and NUL. It has either a text or a mask, each of which begins at a multiple of 8.
 */
int trace_filter_create(struct filter_compiler *compiler, size_t max_preds, size_t max_chars)
{
	size_t max_insns = max_preds + max_chars / 8;
	size_t max_data = max_chars + max_preds * (sizeof(uint64_t) + mask_bytes());
	size_t bytes =
		sizeof(struct trace_filter) + max_insns * sizeof(struct filter_insn) + max_data;
	struct trace_filter *filter = trace_plat_alloc(bytes);

	if (!filter)
		return -ENOMEM;
	filter->bytes = bytes;
	compiler->filter = filter;
	compiler->data = (uint8_t *)&filter->insns[max_insns];
	return 0;
}

void trace_filter_free(struct trace_filter *filter)
{
	if (filter)
		trace_plat_free(filter, filter->bytes);
}

struct filter_insn *trace_filter_add(struct filter_compiler *compiler, enum filter_op op)
{
	struct filter_insn *insn = &compiler->filter->insns[compiler->nr_insns++];

	insn->op = (uint8_t)op;
	insn->next[false] = FILTER_FAIL;
	insn->next[true] = FILTER_PASS;
	if (op != FILTER_OP_TEST)
		compiler->filter->fast_len = UINT32_MAX;
	return insn;
}

struct filter_insn *trace_filter_add_place(struct filter_compiler *compiler, enum filter_op op,
					   const struct filter_value *value)
{
	struct filter_insn *insn = trace_filter_add(compiler, op);

	if (value->place != FILTER_PLACE_COMM)
		trace_filter_needs(compiler, value->offset, value->size);
	insn->offset = value->offset;
	insn->size = value->size;
	insn->place = (uint8_t)value->place;
	return insn;
}

void trace_filter_needs(struct filter_compiler *compiler, uint32_t offset, uint32_t bytes)
{
	if (compiler->filter->min_len < offset + bytes)
		compiler->filter->min_len = offset + bytes;
}

void *trace_filter_add_data(struct filter_compiler *compiler, size_t bytes)
{
	void *data = compiler->data;

	compiler->data += (bytes + 7) / 8 * 8;
	return data;
}

/* The first byte of the event that the instruction reads. */
static uint32_t first_byte(const struct filter_insn *insn)
{
	bool has_mask = insn->op == FILTER_OP_TEST || insn->op == FILTER_OP_NUMBER_IN;

	return insn->offset +
	       (has_mask && insn->mask ? (uint32_t)__builtin_ctzll(insn->mask) / 8 : 0);
}

static bool insn_needs_head(const struct filter_insn *insn)
{
	return insn->op != FILTER_OP_CPU && insn->op != FILTER_OP_CPU_IN &&
	       insn->place != FILTER_PLACE_COMM && first_byte(insn) < sizeof(struct trace_entry);
}

/*
 * Set the first test: one whose failure means the filter's failure. If its success means failure,
 * values outside of the range pass: they are a range, too, as numbers wrap round.
 */
static void set_first(struct trace_filter *filter)
{
	const struct filter_insn *insn = filter->insns;
	bool passes = insn->next[false] == FILTER_FAIL;

	filter->rest = insn;
	if (insn->op != FILTER_OP_TEST || insn_needs_head(insn) ||
	    insn->next[!passes] != FILTER_FAIL || insn->next[passes] == FILTER_FAIL ||
	    (!passes && insn->span == UINT64_MAX))
		return;
	filter->rest = insn->next[passes];
	filter->first = (struct trace_event_test){
		.offset = insn->offset,
		.is_all = filter->rest == FILTER_PASS,
		.mask = insn->mask,
		.lo = passes ? insn->lo : insn->lo + insn->span + 1,
		.span = passes ? insn->span : UINT64_MAX - insn->span - 1,
	};
}

void trace_filter_finish(struct filter_compiler *compiler)
{
	struct trace_filter *filter = compiler->filter;

	for (size_t i = 0; i < compiler->nr_insns; i++)
		filter->needs_head |= insn_needs_head(&filter->insns[i]);
	if (!filter->fast_len)
		filter->fast_len = filter->min_len;
	set_first(filter);
}

const struct trace_event_test *trace_filter_first(const struct trace_filter *filter)
{
	return &filter->first;
}

bool trace_filter_needs_head(const struct trace_filter *filter)
{
	return filter->needs_head;
}
