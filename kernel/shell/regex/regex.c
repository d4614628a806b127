/*
 * Running a compiled expression. See regex.h.
 */
#include <kernel/string.h>
#include "regex.h"
#include "regex_code.h"

static bool regex_test_bit(const uint8_t *bits, uint8_t c)
{
	return bits[c / 8] & 1u << (c % 8);
}

/*
 * Add to the set the instructions that can be reached from `pc` without reading a character. Each
 * instruction is looked at once and puts at most two on the stack, so REGEX_STACK_MAX is enough.
 */
static void regex_add_reachable(struct regex *regex, struct regex_set *set, uint16_t pc,
				bool at_start, bool at_end)
{
	uint32_t depth = 0;
	uint16_t next[2];

	regex->stack[depth++] = pc;
	while (depth) {
		const struct regex_insn *insn;
		uint32_t nr_next = 0;

		pc = regex->stack[--depth];
		if (set->marks[pc])
			continue;
		set->marks[pc] = true;
		insn = &regex->code[pc];
		if (insn->op == REGEX_SPLIT) {
			next[nr_next++] = insn->y;
			next[nr_next++] = insn->x;
		} else if (insn->op == REGEX_JUMP || (insn->op == REGEX_BEGIN && at_start) ||
			   (insn->op == REGEX_END && at_end)) {
			next[nr_next++] = insn->x;
		} else if (insn->op == REGEX_CLASS || insn->op == REGEX_MATCH) {
			set->pcs[set->nr++] = pc;
		}
		while (nr_next) {
			if (!set->marks[next[--nr_next]])
				regex->stack[depth++] = next[nr_next];
		}
	}
}

static void regex_clear_set(struct regex *regex, struct regex_set *set)
{
	set->nr = 0;
	memset(set->marks, 0, regex->nr_code);
}

static bool regex_has_match(const struct regex *regex, const struct regex_set *set)
{
	for (uint32_t i = 0; i < set->nr; i++) {
		if (regex->code[set->pcs[i]].op == REGEX_MATCH)
			return true;
	}
	return false;
}

/* The longest match that begins at `start`; false for none. */
static bool regex_match_at(struct regex *regex, const char *text, size_t len, size_t start,
			   size_t *out_end)
{
	struct regex_set *now = &regex->sets[0], *next = &regex->sets[1];
	bool found = false;

	regex_clear_set(regex, now);
	regex_add_reachable(regex, now, 0, start == 0, start == len);
	for (size_t pos = start; now->nr; pos++) {
		struct regex_set *spare = now;

		if (regex_has_match(regex, now)) {
			found = true;
			*out_end = pos;
		}
		if (pos == len)
			break;
		regex_clear_set(regex, next);
		for (uint32_t i = 0; i < now->nr; i++) {
			const struct regex_insn *insn = &regex->code[now->pcs[i]];

			if (insn->op == REGEX_CLASS &&
			    regex_test_bit(regex->classes[insn->class], (uint8_t)text[pos]))
				regex_add_reachable(regex, next, now->pcs[i] + 1, false,
						    pos + 1 == len);
		}
		now = next;
		next = spare;
	}
	return found;
}

bool regex_search(struct regex *regex, const char *text, size_t len, size_t from,
		  struct regex_match *out_match)
{
	for (size_t start = from; start <= len; start++) {
		/* A quick test, because at most places the first character does not fit. */
		if (regex->has_first &&
		    (start == len || !regex_test_bit(regex->first, (uint8_t)text[start])))
			continue;
		if (regex_match_at(regex, text, len, start, &out_match->end)) {
			out_match->start = start;
			return true;
		}
	}
	return false;
}
