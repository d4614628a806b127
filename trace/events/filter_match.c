/*
 * Running a filter: see filter_private.h.
 *
 * A filter of FILTER_OP_TEST alone takes about ten machine instructions for each test, in a
 * function that calls none.
 */
#include "filter_private.h"
#include "ops/ftrace_private.h"
#include "text/str.h"

/* Characters of a pointer's text that are compared. */
#define POINTER_TEXT 512u
/*
 * Piece of memory that is readable as a whole or not at all; reads of a pointer's text stay within
 * one.
 */
#define POINTER_PIECE 64u

struct bytes {
	const uint8_t *at;
	uint32_t len;
};

/* ---- Texts ---- */

static bool filter_match_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	for (; len >= sizeof(uint64_t); len -= (uint32_t)sizeof(uint64_t)) {
		if (filter_load8(a, 0) != filter_load8(b, 0))
			return false;
		a += sizeof(uint64_t);
		b += sizeof(uint64_t);
	}
	for (; len; len--) {
		if (*a++ != *b++)
			return false;
	}
	return true;
}

static bool has_within(const uint8_t *text, uint32_t len, const uint8_t *want, uint32_t want_len)
{
	if (!want_len)
		return true;
	for (uint32_t i = 0; i + want_len <= len; i++) {
		if (text[i] == want[0] && filter_match_same(text + i, want, want_len))
			return true;
	}
	return false;
}

/* Match a pattern with a star at its beginning, or elsewhere than at its end. */
static TRACE_NOINLINE bool pattern_matches(const struct filter_insn *insn, const struct bytes *text)
{
	uint32_t len = (uint32_t)trace_strnlen((const char *)text->at, text->len);
	const uint8_t *want = insn->data;
	uint32_t want_len = insn->data_len;

	if (insn->match == FTRACE_MATCH_GLOB)
		return trace_glob_match_len((const char *)want, (const char *)text->at, len);
	if (insn->match == FTRACE_MATCH_MIDDLE)
		return has_within(text->at, len, want, want_len);
	return want_len <= len && filter_match_same(text->at + len - want_len, want, want_len);
}

/*
 * Match a text, which ends at its NUL if there is one. Neither pattern nor text is longer than
 * 2^31.
 */
static TRACE_ALWAYS_INLINE bool text_matches(const struct filter_insn *insn,
					     const struct bytes *text)
{
	uint32_t len = insn->data_len;

	if (insn->match != FTRACE_MATCH_FULL && insn->match != FTRACE_MATCH_FRONT)
		return pattern_matches(insn, text);
	/* The text is as long as the pattern if its next character is a NUL, or missing. */
	return len <= text->len &&
	       (insn->match == FTRACE_MATCH_FRONT || len == text->len || !text->at[len]) &&
	       filter_match_same(text->at, insn->data, len);
}

/*
 * Read the text at the address `from`, up to a NUL or `size` bytes. Returns false when it cannot be
 * read.
 */
static bool filter_match_read_text(uintptr_t from, char *buf, uint32_t size, struct bytes *out_text)
{
	uint32_t len = 0;

	while (len < size) {
		uint32_t step = POINTER_PIECE - (uint32_t)((from + len) % POINTER_PIECE);
		uint32_t got;

		if (step > size - len)
			step = size - len;
		if (!trace_plat_read(buf + len, (const void *)(from + len), step))
			return false;
		got = (uint32_t)trace_strnlen(buf + len, step);
		len += got;
		if (got < step)
			break;
	}
	*out_text = (struct bytes){ .at = (const uint8_t *)buf, .len = len };
	return true;
}

/* Match a pointer's text: a function of its own, so that the others need less stack. */
static TRACE_NOINLINE bool test_pointed(const struct filter_insn *insn, const void *entry)
{
	char buf[POINTER_TEXT];
	struct bytes text;

	return filter_match_read_text((uintptr_t)filter_load8(entry, insn->offset), buf,
				      sizeof(buf), &text) &&
	       text_matches(insn, &text) != insn->is_negated;
}

static TRACE_NOINLINE bool test_comm(const struct filter_insn *insn)
{
	char comm[TRACE_COMM_LEN];
	struct bytes text = { .at = (const uint8_t *)comm, .len = sizeof(comm) };

	trace_plat_current_comm(comm);
	return text_matches(insn, &text) != insn->is_negated;
}

/* ---- Values other than numbers ---- */

/*
 * Find the data described by the word at insn->offset, relative to `base`. Returns false when it is
 * not in the event.
 */
static TRACE_ALWAYS_INLINE bool find_described(const struct filter_insn *insn, const void *entry,
					       uint32_t len, uint32_t base, struct bytes *out_value)
{
	uint32_t word, start, size;

	__builtin_memcpy(&word, (const uint8_t *)entry + insn->offset, sizeof(word));
	start = base + (word & 0xffff);
	size = word >> 16;
	if (start > len || size > len - start)
		return false;
	*out_value = (struct bytes){ .at = (const uint8_t *)entry + start, .len = size };
	return true;
}

/* Find the value of an instruction in the event. Returns false when it is not there. */
static TRACE_ALWAYS_INLINE bool find_value(const struct filter_insn *insn, const void *entry,
					   uint32_t len, struct bytes *out_value)
{
	switch (insn->place) {
	case FILTER_PLACE_LOC:
		return find_described(insn, entry, len, 0, out_value);
	case FILTER_PLACE_REL:
		return find_described(insn, entry, len, insn->offset + sizeof(uint32_t), out_value);
	default:
		*out_value = (struct bytes){
			.at = (const uint8_t *)entry + insn->offset,
			.len = insn->place == FILTER_PLACE_REST ? len - insn->offset : insn->size,
		};
		return true;
	}
}

static TRACE_ALWAYS_INLINE bool test_text(const struct filter_insn *insn, const void *entry,
					  uint32_t len)
{
	struct bytes text;

	if (insn->place == FILTER_PLACE_POINTER)
		return test_pointed(insn, entry);
	if (insn->place == FILTER_PLACE_COMM)
		return test_comm(insn);
	return find_value(insn, entry, len, &text) && text_matches(insn, &text) != insn->is_negated;
}

static bool has_cpu(const struct filter_insn *insn, uint64_t cpu)
{
	return cpu < insn->data_len && ((const uint64_t *)insn->data)[cpu / 64] >> cpu % 64 & 1;
}

/* Eight CPUs of a value from number 8 * index on, zeros behind its end. */
static uint8_t cpus_at(const struct bytes *cpus, uint32_t index)
{
	return index < cpus->len ? cpus->at[index] : 0;
}

static TRACE_NOINLINE bool test_mask(const struct filter_insn *insn, const void *entry,
				     uint32_t len)
{
	const uint8_t *mask = insn->data;
	bool is_equal = true, shares = false;
	struct bytes cpus;

	if (!find_value(insn, entry, len, &cpus))
		return false;
	for (uint32_t i = 0; i < (insn->data_len + 7) / 8; i++) {
		is_equal &= cpus_at(&cpus, i) == mask[i];
		shares |= (cpus_at(&cpus, i) & mask[i]) != 0;
	}
	return (insn->op == FILTER_OP_MASK_EQUAL ? is_equal : shares) != insn->is_negated;
}

static TRACE_ALWAYS_INLINE bool test(const struct filter_insn *insn, const void *entry,
				     uint32_t len)
{
	switch ((enum filter_op)insn->op) {
	case FILTER_OP_TEST:
		return filter_is_in_range(insn, filter_load8(entry, insn->offset));
	case FILTER_OP_CPU:
		return filter_is_in_range(insn, trace_plat_cpu_id());
	case FILTER_OP_CPU_IN:
		return has_cpu(insn, trace_plat_cpu_id());
	case FILTER_OP_NUMBER_IN:
		return has_cpu(insn,
			       (filter_load8(entry, insn->offset) & insn->mask) >> insn->span);
	case FILTER_OP_MASK_EQUAL:
	case FILTER_OP_MASK_SHARES:
		return test_mask(insn, entry, len);
	case FILTER_OP_TEXT:
		break;
	}
	return test_text(insn, entry, len);
}

/* Run any filter, on events that may be too short. */
static TRACE_NOINLINE bool match_any(const struct trace_filter *filter, const void *entry,
				     uint32_t len)
{
	const struct filter_insn *insn = filter->insns;

	if (len < filter->min_len)
		return false;
	do
		insn = insn->next[test(insn, entry, len)];
	while (!filter_has_ended(insn));
	return insn == FILTER_PASS;
}

bool trace_filter_match(const struct trace_filter *filter, const void *entry, uint32_t len)
{
	if (TRACE_UNLIKELY(len < filter->fast_len))
		return match_any(filter, entry, len);
	return filter_run_fast(filter->insns, entry);
}
