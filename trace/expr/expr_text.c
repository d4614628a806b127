/* Tests of texts and sets of bits: see expr_text.h. */
#include "expr_text.h"
#include <trace/platform.h>
#include "ops/ftrace_private.h"
#include "text/str.h"

/* Characters of a pointer's text that are compared. */
#define POINTER_TEXT 512u
/*
 * Piece of memory that is readable as a whole or not at all; reads of a pointer's text stay within
 * one.
 */
#define POINTER_PIECE 64u

struct expr_bytes {
	const uint8_t *at;
	uint32_t len;
};

/* ---- Places ---- */

/*
 * Find the bytes described by the word at insn->offset, relative to `base`. Returns false when they
 * are not in the data.
 */
static bool expr_find_described(const struct expr_run *run, const struct expr_insn *insn,
				uint32_t base, struct expr_bytes *out_value)
{
	uint32_t word, start, size;

	__builtin_memcpy(&word, run->data + insn->offset, sizeof(word));
	start = base + (word & 0xffff);
	size = word >> 16;
	if (start > run->len || size > run->len - start)
		return false;
	*out_value = (struct expr_bytes){ .at = run->data + start, .len = size };
	return true;
}

/* Find the bytes of a place within the data. Returns false when they are not there. */
static bool expr_find(const struct expr_run *run, const struct expr_insn *insn,
		      struct expr_bytes *out_value)
{
	if (insn->place == EXPR_PLACE_LOC)
		return expr_find_described(run, insn, 0, out_value);
	if (insn->place == EXPR_PLACE_REL)
		return expr_find_described(run, insn, insn->offset + (uint32_t)sizeof(uint32_t),
					   out_value);
	*out_value = (struct expr_bytes){
		.at = run->data + insn->offset,
		.len = insn->place == EXPR_PLACE_REST ? run->len - insn->offset : insn->with.size,
	};
	return true;
}

/* ---- Texts ---- */

static bool expr_is_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	for (; len >= sizeof(uint64_t); len -= (uint32_t)sizeof(uint64_t)) {
		if (expr_load8(a, 0) != expr_load8(b, 0))
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

static bool expr_has_within(const struct expr_bytes *text, const struct expr_bytes *want)
{
	if (!want->len)
		return true;
	for (uint32_t i = 0; i + want->len <= text->len; i++) {
		if (text->at[i] == want->at[0] && expr_is_same(text->at + i, want->at, want->len))
			return true;
	}
	return false;
}

/* Match a pattern with a star at its beginning, or elsewhere than at its end. */
static bool expr_matches_pattern(const struct expr_const *with, struct expr_bytes text)
{
	const struct expr_bytes want = { .at = with->data, .len = with->len };

	text.len = (uint32_t)trace_strnlen((const char *)text.at, text.len);
	if (with->match == FTRACE_MATCH_GLOB)
		return trace_glob_match_len((const char *)want.at, (const char *)text.at, text.len);
	if (with->match == FTRACE_MATCH_MIDDLE)
		return expr_has_within(&text, &want);
	return want.len <= text.len &&
	       expr_is_same(text.at + text.len - want.len, want.at, want.len);
}

/*
 * Match a text, which ends at its NUL if there is one. Neither pattern nor text is longer than
 * 2^31.
 */
static bool expr_matches(const struct expr_const *with, const struct expr_bytes *text)
{
	uint32_t len = with->len;

	if (with->match != FTRACE_MATCH_FULL && with->match != FTRACE_MATCH_FRONT)
		return expr_matches_pattern(with, *text);
	/* The text is as long as the pattern if its next character is a NUL, or missing. */
	return len <= text->len &&
	       (with->match == FTRACE_MATCH_FRONT || len == text->len || !text->at[len]) &&
	       expr_is_same(text->at, with->data, len);
}

/*
 * Read the text at the address `from`, of the running program if `is_user`, up to a NUL or `size`
 * bytes. Returns false when it cannot be read.
 */
static bool expr_read_text(bool is_user, uintptr_t from, char *buf, uint32_t size,
			   struct expr_bytes *out_text)
{
	uint32_t len = 0;

	while (len < size) {
		uint32_t step = POINTER_PIECE - (uint32_t)((from + len) % POINTER_PIECE);
		const void *at = (const void *)(from + len);
		uint32_t got;

		if (step > size - len)
			step = size - len;
		if (!(is_user ? trace_plat_read_user(buf + len, at, step)
			      : trace_plat_read(buf + len, at, step)))
			return false;
		got = (uint32_t)trace_strnlen(buf + len, step);
		len += got;
		if (got < step)
			break;
	}
	*out_text = (struct expr_bytes){ .at = (const uint8_t *)buf, .len = len };
	return true;
}

/* Test a pointer's text: a function of its own, so that the others need less stack. */
static TRACE_NOINLINE bool expr_test_pointed(const struct expr_run *run,
					     const struct expr_insn *insn)
{
	char buf[POINTER_TEXT];
	struct expr_bytes text;

	return expr_read_text(insn->place == EXPR_PLACE_USER,
			      (uintptr_t)expr_load8(run->data, insn->offset), buf, sizeof(buf),
			      &text) &&
	       expr_matches(&insn->with, &text) != insn->with.is_negated;
}

static TRACE_NOINLINE bool expr_test_comm(const struct expr_insn *insn)
{
	char comm[TRACE_COMM_LEN];
	struct expr_bytes text = { .at = (const uint8_t *)comm, .len = sizeof(comm) };

	trace_plat_current_comm(comm);
	return expr_matches(&insn->with, &text) != insn->with.is_negated;
}

bool trace_expr_test_text(const struct expr_run *run, const struct expr_insn *insn)
{
	struct expr_bytes text;

	if (insn->place == EXPR_PLACE_POINTER || insn->place == EXPR_PLACE_USER)
		return expr_test_pointed(run, insn);
	if (insn->place == EXPR_PLACE_COMM)
		return expr_test_comm(insn);
	return expr_find(run, insn, &text) &&
	       expr_matches(&insn->with, &text) != insn->with.is_negated;
}

/* ---- Sets of bits ---- */

/* Eight bits from number 8 * index on, zeros behind the end. */
static uint8_t expr_bits_at(const struct expr_bytes *set, uint32_t index)
{
	return index < set->len ? set->at[index] : 0;
}

bool trace_expr_test_set(const struct expr_run *run, const struct expr_insn *insn)
{
	const uint8_t *want = insn->with.data;
	bool is_equal = true, shares = false;
	struct expr_bytes set;

	if (!expr_find(run, insn, &set))
		return false;
	for (uint32_t i = 0; i < (insn->with.len + 7) / 8; i++) {
		is_equal &= expr_bits_at(&set, i) == want[i];
		shares |= (expr_bits_at(&set, i) & want[i]) != 0;
	}
	return (insn->op == EXPR_TEST_SET_EQUAL ? is_equal : shares) != insn->with.is_negated;
}
