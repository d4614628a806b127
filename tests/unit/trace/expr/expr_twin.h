/*
 * A second implementation of expr/'s programs, written from docs/how-expressions-work.md alone: byte
 * by byte, bit by bit, with indices instead of pointers; and programs at random for both. The test
 * and the fuzz target give it a source of random numbers.
 */
#ifndef EXPR_TWIN_H
#define EXPR_TWIN_H

#include <stdio.h>
#include <string.h>
#include "expr/expr_build.h"
#include "ops/ftrace_private.h"

#define TWIN_INSNS_MAX 24
#define TWIN_DATA_MAX  96u
#define TWIN_FAIL      (-1)
#define TWIN_PASS      (-2)

struct twin_insn {
	enum expr_op op;
	int next[2]; /* index, TWIN_FAIL, TWIN_PASS */
	uint32_t offset, shift, left, size, to, len;
	uint64_t mask, lo, span, operand;
	bool is_signed, is_negated;
	enum expr_place place;
	enum ftrace_match_type match;
	char text[12];
	uint8_t set[16];
};

/* The answers of the machine, which both implementations get. */
struct twin_machine {
	uint32_t cpu;
	int32_t pid;
	char comm[TRACE_COMM_LEN];
	const uint8_t *memory; /* that can be read */
	uint32_t memory_bytes; /* 40 at least */
	uint64_t bad;	       /* an address that cannot, nor those around it */
};

struct twin {
	uint64_t (*random)(void);
	const struct twin_machine *machine;
	struct twin_insn insns[TWIN_INSNS_MAX];
	int nr;
	uint32_t saved; /* temps that the program has set on each way so far */
	bool has_tests;
	uint32_t len; /* of the data, which is malloced */
	uint8_t *data;
	bool is_taken[TWIN_DATA_MAX]; /* bytes of it that a place needs as they are */
	uint64_t temps[EXPR_TEMPS_MAX];
};

/* ---- Running ---- */

static inline uint64_t twin_number(const uint8_t *from, uint32_t bytes)
{
	uint64_t number = 0;

	while (bytes--)
		number = number * 256 + from[bytes];
	return number;
}

/* `number` shifted right by `by`, with copies of its highest bit if is_signed. */
static inline uint64_t twin_shift(uint64_t number, uint32_t by, bool is_signed)
{
	uint64_t high = is_signed && number >= (uint64_t)1 << 63 ? (uint64_t)1 << 63 : 0;

	while (by--)
		number = number / 2 + high;
	return number;
}

/* Is the number one of the span + 1 that follow lo, itself included, in a circle of 2^64? */
static inline bool twin_is_in_range(const struct twin_insn *insn, uint64_t number)
{
	unsigned __int128 last = (unsigned __int128)insn->lo + insn->span;

	number &= insn->mask;
	return (number >= insn->lo && number <= last) ||
	       ((unsigned __int128)number + ((unsigned __int128)1 << 64)) <= last;
}

static inline bool twin_glob(const char *pattern, const uint8_t *text, uint32_t len)
{
	if (!*pattern)
		return !len;
	if (*pattern == '*')
		return twin_glob(pattern + 1, text, len) ||
		       (len && twin_glob(pattern, text + 1, len - 1));
	return len && (*pattern == '?' || (uint8_t)*pattern == *text) &&
	       twin_glob(pattern + 1, text + 1, len - 1);
}

static inline bool twin_has_at(const struct twin_insn *insn, const uint8_t *text, uint32_t len,
			       uint32_t at)
{
	return at + insn->len <= len && !memcmp(text + at, insn->text, insn->len);
}

/* A text's length is that up to its NUL. */
static inline bool twin_matches(const struct twin_insn *insn, const uint8_t *text, uint32_t max)
{
	uint32_t len = 0;

	while (len < max && text[len])
		len++;
	switch (insn->match) {
	case FTRACE_MATCH_FULL:
		return len == insn->len && twin_has_at(insn, text, len, 0);
	case FTRACE_MATCH_FRONT:
		return twin_has_at(insn, text, len, 0);
	case FTRACE_MATCH_END:
		return insn->len <= len && twin_has_at(insn, text, len, len - insn->len);
	case FTRACE_MATCH_GLOB:
		return twin_glob(insn->text, text, len);
	default:
		for (uint32_t at = 0; at <= len; at++) {
			if (twin_has_at(insn, text, len, at))
				return true;
		}
		return false;
	}
}

/* The bytes of a place; false: there are none. */
static inline bool twin_find(const struct twin *twin, const struct twin_insn *insn,
			     const uint8_t **out_at, uint32_t *out_len)
{
	uint64_t start = insn->offset, len = insn->size;

	if (insn->place == EXPR_PLACE_REST)
		len = twin->len - start;
	if (insn->place == EXPR_PLACE_LOC || insn->place == EXPR_PLACE_REL) {
		len = twin_number(twin->data + start + 2, 2);
		start = twin_number(twin->data + insn->offset, 2) +
			(insn->place == EXPR_PLACE_REL ? start + 4 : 0);
	}
	if (start + len > twin->len)
		return false;
	*out_at = twin->data + start;
	*out_len = (uint32_t)len;
	return true;
}

static inline bool twin_is_pointed(const struct twin_insn *insn)
{
	return insn->place == EXPR_PLACE_POINTER || insn->place == EXPR_PLACE_USER;
}

static inline bool twin_test_text(const struct twin *twin, const struct twin_insn *insn)
{
	const struct twin_machine *machine = twin->machine;
	const uint8_t *at = (const uint8_t *)machine->comm;
	uint32_t len = TRACE_COMM_LEN;

	if (twin_is_pointed(insn)) {
		uint64_t from = twin_number(twin->data + insn->offset, 8);
		uint64_t in = from - (uintptr_t)machine->memory;

		if (in >= machine->memory_bytes)
			return false;
		at = machine->memory + in;
		len = machine->memory_bytes - (uint32_t)in;
	} else if (insn->place != EXPR_PLACE_COMM && !twin_find(twin, insn, &at, &len)) {
		return false;
	}
	return twin_matches(insn, at, len) != insn->is_negated;
}

static inline bool twin_test_set(const struct twin *twin, const struct twin_insn *insn)
{
	bool is_equal = true, shares = false;
	const uint8_t *at;
	uint32_t len;

	if (!twin_find(twin, insn, &at, &len))
		return false;
	for (uint32_t bit = 0; bit < (insn->len + 7) / 8 * 8; bit++) {
		bool there = bit / 8 < len && at[bit / 8] >> bit % 8 & 1;
		bool wanted = insn->set[bit / 8] >> bit % 8 & 1;

		is_equal &= there == wanted;
		shares |= there && wanted;
	}
	return (insn->op == EXPR_TEST_SET_EQUAL ? is_equal : shares) != insn->is_negated;
}

static inline bool twin_test(const struct twin *twin, const struct twin_insn *insn, uint64_t value)
{
	switch (insn->op) {
	case EXPR_TEST:
		return twin_is_in_range(insn, twin_number(twin->data + insn->offset, 8));
	case EXPR_TEST_VALUE:
		return twin_is_in_range(insn, value);
	case EXPR_TEST_IN:
		return value < insn->len && insn->set[value / 8] >> value % 8 & 1;
	case EXPR_TEST_TEXT:
		return twin_test_text(twin, insn);
	default:
		return twin_test_set(twin, insn);
	}
}

static inline bool twin_read(const struct twin *twin, const struct twin_insn *insn, uint64_t *value)
{
	const struct twin_machine *machine = twin->machine;
	uint64_t in = *value + insn->operand - (uintptr_t)machine->memory;

	*value = 0;
	if (in >= machine->memory_bytes || insn->size > machine->memory_bytes - in)
		return false;
	*value = twin_number(machine->memory + in, insn->size);
	if (insn->is_signed && insn->size < 8 && *value >= (uint64_t)1 << (8 * insn->size - 1))
		*value -= (uint64_t)1 << 8 * insn->size;
	return true;
}

static inline uint64_t twin_combine(enum expr_op op, uint64_t left, uint64_t right)
{
	switch (op) {
	case EXPR_ADD:
		return left - (0 - right);
	case EXPR_SUB:
		return left + ~right + 1;
	case EXPR_MUL:
		return (uint64_t)((unsigned __int128)left * right);
	case EXPR_DIV:
		return right == 0 ? ~(uint64_t)0 : left / right;
	case EXPR_MOD:
		return right == 0 ? 0 : left - left / right * right;
	case EXPR_AND:
		return ~(~left | ~right);
	case EXPR_OR:
		return ~(~left & ~right);
	case EXPR_XOR:
		return (left | right) - (left & right);
	case EXPR_SHL:
		return right >= 64 ? 0 : (uint64_t)((unsigned __int128)left << right);
	default:
		return right >= 64 ? 0 : twin_shift(left, (uint32_t)right, false);
	}
}

static inline uint64_t twin_log2(uint64_t value)
{
	uint64_t log = 0;

	while (log < 64 && ((unsigned __int128)1 << log) < value)
		log++;
	return log;
}

static inline uint64_t twin_compute(struct twin *twin, const struct twin_insn *insn, uint64_t value)
{
	switch (insn->op) {
	case EXPR_FIELD:
		value = twin_number(twin->data + insn->offset, 8);
		return twin_shift(value, insn->shift, true) & insn->mask;
	case EXPR_CONST:
		return insn->operand;
	case EXPR_CPU:
		return twin->machine->cpu;
	case EXPR_PID:
		return (uint64_t)(int64_t)twin->machine->pid;
	case EXPR_ADDRESS:
		return trace_plat_ip_unpack((uint32_t)value);
	case EXPR_BITS:
		return twin_shift((uint64_t)((unsigned __int128)value << insn->left), insn->shift,
				  insn->is_signed);
	case EXPR_NEG:
		return ~value + 1;
	case EXPR_LOG2:
		return twin_log2(value);
	case EXPR_DIVIDE:
		return value / insn->operand;
	case EXPR_ROUND:
		return value - value % insn->operand;
	case EXPR_SAVE:
		return twin->temps[insn->to] = value;
	default:
		return twin_combine(insn->op, twin->temps[insn->to], value);
	}
}

static inline uint64_t twin_run(struct twin *twin)
{
	uint64_t value = 0;

	for (int at = 0; at >= 0;) {
		const struct twin_insn *insn = &twin->insns[at];

		if (insn->op == EXPR_END)
			return value;
		if (insn->op < EXPR_FIELD)
			at = insn->next[twin_test(twin, insn, value)];
		else if (insn->op == EXPR_READ)
			at = insn->next[twin_read(twin, insn, &value)];
		else
			value = twin_compute(twin, insn, value), at++;
		if (at == TWIN_PASS)
			return 1;
	}
	return 0;
}

/* ---- At random ---- */

static inline uint32_t twin_below(const struct twin *twin, uint32_t limit)
{
	return (uint32_t)(twin->random() % limit);
}

/* Numbers of every size, and those at the ends. */
static inline uint64_t twin_any(const struct twin *twin)
{
	uint64_t number = twin->random() >> twin_below(twin, 64);

	return twin_below(twin, 4)   ? number
	       : twin_below(twin, 2) ? 0 - number
				     : ~(uint64_t)0 << twin_below(twin, 64);
}

/* Somewhere further on, or an end. */
static inline int twin_way(const struct twin *twin, int from)
{
	int left = twin->nr - 1 - from;

	if (left && twin_below(twin, 4))
		return from + 1 + (twin_below(twin, 2) ? 0 : (int)twin_below(twin, (uint32_t)left));
	return twin_below(twin, 2) ? TWIN_PASS : TWIN_FAIL;
}

static inline void twin_make_text(const struct twin *twin, char *text, uint32_t max, const char *of)
{
	uint32_t len = twin_below(twin, max);

	for (uint32_t i = 0; i < len; i++)
		text[i] = of[twin_below(twin, (uint32_t)strlen(of))];
	text[len] = '\0';
}

/* Put bytes into the data, unless some place needs others there. */
static inline bool twin_put(struct twin *twin, uint32_t at, const void *bytes, uint32_t len)
{
	for (uint32_t i = at; i < at + len; i++) {
		if (twin->is_taken[i])
			return false;
	}
	memset(twin->is_taken + at, true, len);
	memcpy(twin->data + at, bytes, len);
	return true;
}

static inline void twin_make_place(struct twin *twin, struct twin_insn *insn)
{
	insn->offset = twin_below(twin, twin->len - 7);
	insn->size = twin_below(twin, twin->len - insn->offset + 1);
	insn->is_negated = twin_below(twin, 2);
	insn->place =
		twin_below(twin, insn->op == EXPR_TEST_TEXT ? EXPR_NR_PLACES : EXPR_PLACE_POINTER);
	if (insn->place == EXPR_PLACE_LOC || insn->place == EXPR_PLACE_REL) {
		uint32_t base = insn->place == EXPR_PLACE_REL ? insn->offset + 4 : 0;
		uint16_t word[2] = { (uint16_t)(twin_below(twin, twin->len + 1) - base),
				     (uint16_t)twin_below(twin, 12) };

		(void)twin_put(twin, insn->offset, word, 4);
	}
	if (twin_is_pointed(insn)) {
		uint64_t to = (uintptr_t)twin->machine->memory +
			      twin_below(twin, twin->machine->memory_bytes);

		if (!twin_below(twin, 4))
			to = twin->machine->bad;
		if (!twin_put(twin, insn->offset, &to, 8))
			insn->place = EXPR_PLACE_COMM;
	}
}

static inline void twin_make_test(struct twin *twin, struct twin_insn *insn, int at)
{
	insn->op = twin_below(twin, EXPR_FIELD);
	insn->next[0] = twin_way(twin, at);
	insn->next[1] = twin_way(twin, at);
	insn->offset = twin_below(twin, twin->len - 7);
	insn->mask = twin_any(twin);
	insn->lo = twin_any(twin) & (twin_below(twin, 4) ? insn->mask : ~(uint64_t)0);
	insn->span = twin_any(twin);
	if (insn->op == EXPR_TEST_TEXT) {
		twin_make_place(twin, insn);
		insn->match = twin_below(twin, FTRACE_MATCH_INDEX);
		twin_make_text(twin, insn->text, sizeof(insn->text),
			       insn->match == FTRACE_MATCH_GLOB ? "ab*?" : "ab");
		insn->len = (uint32_t)strlen(insn->text);
	} else if (insn->op > EXPR_TEST_VALUE) {
		if (insn->op != EXPR_TEST_IN)
			twin_make_place(twin, insn);
		insn->len = 1 + twin_below(twin, 8 * sizeof(insn->set));
		for (uint32_t i = 0; i < sizeof(insn->set); i++)
			insn->set[i] = (uint8_t)twin->random();
	}
}

/* An instruction that makes a value. EXPR_READ comes behind an EXPR_CONST alone. */
static inline void twin_make_value(struct twin *twin, struct twin_insn *insn)
{
	do
		insn->op = EXPR_FIELD + twin_below(twin, EXPR_END - EXPR_FIELD);
	while (insn->op == EXPR_READ || (insn->op > EXPR_SAVE && !(twin->saved & 0xffff)));
	insn->offset = twin_below(twin, twin->len - 7);
	insn->shift = twin_below(twin, 64);
	insn->left = twin_below(twin, 64);
	insn->mask = twin_any(twin);
	insn->operand = twin_any(twin);
	insn->is_signed = twin_below(twin, 2);
	if ((insn->op == EXPR_DIVIDE || insn->op == EXPR_ROUND) && !insn->operand)
		insn->operand = 1 + twin_below(twin, 9);
	insn->to = twin_below(twin, EXPR_TEMPS_MAX);
	while (insn->op > EXPR_SAVE && !(twin->saved >> insn->to & 1))
		insn->to = (insn->to + 1) % EXPR_TEMPS_MAX;
}

/* Both of EXPR_CONST and EXPR_READ: no way leads between them. */
static inline void twin_make_read(struct twin *twin, int at)
{
	struct twin_insn *insn = &twin->insns[at];

	insn[0].op = EXPR_CONST;
	insn[0].operand = (uintptr_t)twin->machine->memory + 8 + twin_below(twin, 16);
	if (!twin_below(twin, 4))
		insn[0].operand = twin->machine->bad;
	insn[1].op = EXPR_READ;
	insn[1].size = 1u << twin_below(twin, 4);
	insn[1].is_signed = twin_below(twin, 2);
	insn[1].operand = twin_below(twin, 24) - 8ull;
	insn[1].next[0] = twin_way(twin, at + 1);
	insn[1].next[1] = twin_way(twin, at + 1);
}

/*
 * Make a program and data. Half of the programs only compute. With temps: the first instructions
 * save some, so that others find them set on each way.
 */
static inline void twin_make(struct twin *twin)
{
	twin->nr = 1 + (int)twin_below(twin, TWIN_INSNS_MAX);
	twin->len = 8 + twin_below(twin, TWIN_DATA_MAX - 8);
	twin->data = malloc(twin->len);
	twin->has_tests = twin_below(twin, 2);
	twin->saved = 0;
	memset(twin->insns, 0, sizeof(twin->insns));
	memset(twin->is_taken, false, sizeof(twin->is_taken));
	for (uint32_t i = 0; i < twin->len; i++)
		twin->data[i] =
			twin_below(twin, 4) ? "ab\0"[twin_below(twin, 3)] : (char)twin->random();
	for (int at = 0; at < twin->nr; at++) {
		struct twin_insn *insn = &twin->insns[at];
		bool begins = at < 4 && twin->nr > 6;

		if (at == twin->nr - 1 && !(twin->has_tests && twin_below(twin, 2)))
			insn->op = EXPR_END;
		else if (at == twin->nr - 1 || (twin->has_tests && !begins && twin_below(twin, 2)))
			twin_make_test(twin, insn, at);
		else if (!twin_below(twin, 8) && at + 2 < twin->nr)
			twin_make_read(twin, at++);
		else
			twin_make_value(twin, insn);
		if (begins && insn->op == EXPR_SAVE)
			twin->saved |= 1u << insn->to;
	}
}

/* No way may lead between the two of twin_make_read(), whose address has to be a known one. */
static inline int twin_beside_reads(const struct twin *twin, int at)
{
	return at >= 0 && twin->insns[at].op == EXPR_READ ? at - 1 : at;
}

/* ---- The same program for expr/ ---- */

static inline void twin_add(const struct twin *twin, struct expr_build *build, int at)
{
	const struct twin_insn *from = &twin->insns[at];
	struct expr_insn *insn;
	void *data;

	if (from->op == EXPR_DIVIDE || from->op == EXPR_ROUND) {
		trace_expr_add_division(build, from->op, from->operand);
		return;
	}
	insn = trace_expr_add(build, from->op);
	insn->offset = from->offset;
	insn->shift = (uint8_t)from->shift;
	insn->to = (uint8_t)from->to;
	insn->place = (uint8_t)from->place;
	for (int i = 0; i < 2 && (from->op < EXPR_FIELD || from->op == EXPR_READ); i++)
		insn->next[i] = from->next[i] == TWIN_FAIL ? EXPR_FAIL
				: from->next[i] == TWIN_PASS
					? EXPR_PASS
					: &build->program->insns[from->next[i]];
	if (from->op == EXPR_TEST_TEXT || (from->op > EXPR_TEST_VALUE && from->op < EXPR_FIELD)) {
		bool is_text = from->op == EXPR_TEST_TEXT;
		size_t bytes = is_text ? from->len + 1 : sizeof(from->set);

		data = trace_expr_add_data(build, bytes);
		memcpy(data, is_text ? (const void *)from->text : from->set, bytes);
		insn->with = (struct expr_const){ data, from->size, from->len, (uint8_t)from->match,
						  from->is_negated };
	} else if (from->op == EXPR_TEST || from->op == EXPR_TEST_VALUE || from->op == EXPR_FIELD) {
		insn->mask = from->mask;
		insn->lo = from->lo;
		insn->span = from->span;
	} else {
		insn->number.operand = from->operand;
		insn->number.size = (uint8_t)from->size;
		insn->number.left = (uint8_t)from->left;
		insn->number.is_signed = from->is_signed;
	}
	if (from->op == EXPR_TEST || from->op == EXPR_FIELD)
		insn->shift = from->op == EXPR_TEST ? 0 : insn->shift;
}

/* NULL: it is refused, or memory is out. The data is all that the program may read. */
static inline struct expr_program *twin_compile(struct twin *twin)
{
	struct expr_build build;

	for (int at = 0; at < twin->nr; at++) {
		struct twin_insn *insn = &twin->insns[at];

		if (insn->op < EXPR_FIELD || insn->op == EXPR_READ) {
			insn->next[0] = twin_beside_reads(twin, insn->next[0]);
			insn->next[1] = twin_beside_reads(twin, insn->next[1]);
		}
	}
	if (trace_expr_create(&build, (uint32_t)twin->nr, (size_t)twin->nr * 16))
		return NULL;
	trace_expr_needs(&build, 0, twin->len);
	for (int at = 0; at < twin->nr; at++)
		twin_add(twin, &build, at);
	if (!trace_expr_finish(&build))
		return build.program;
	trace_expr_free(build.program);
	return NULL;
}

#endif
