/*
 * From a value and its type to the steps of a program. See fetch.h.
 *
 * 	%di                    a copy, no step
 * 	+8(%di):u32            PEEK
 * 	+0(+8(%di)):string     FIELD di, READ value + 8, TEXT_AT value + 0, NO_TEXTS
 * 	+u0(%di)               FIELD di, MEMORY value + 0, of the program
 *
 * A read that fails goes on at the end of its argument: at STORE, with the value 0, or at what
 * stands in for bytes and texts that are not there, which all other ends skip.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include "expr/expr_show.h"
#include "fetch_private.h"
#include "text/str.h"

#define WORD_BITS 64u

_Static_assert(FETCH_ARGS_MAX *(FETCH_READS_MAX + 3) < EXPR_STEPS_MAX, "all arguments fit");

/* ---- Copies ---- */

/* 8 or 4 bytes that go into the event as they are, or the lower 4 of 8, need no steps. */
static bool is_copy(const struct fetch_parsed *arg)
{
	const struct fetch_origin *origin = &arg->origin;
	uint32_t size = arg->type->size;

	return !origin->nr_reads && !origin->is_here && origin->how == FETCH_LOAD &&
	       origin->operand <= UINT16_MAX && (size == 8 || size == 4) && origin->size >= size &&
	       !arg->bits && !fetch_is_text(arg->type);
}

static void add_copy(struct fetch_build *build, const struct fetch_parsed *arg)
{
	const struct fetch_copy copy = { (uint16_t)arg->origin.operand, (uint16_t)arg->at };
	bool is_long = arg->type->size == 8;
	struct fetch_copy *list = is_long ? build->copies : build->words;
	uint32_t *nr = is_long ? &build->nr_copies : &build->nr_words;

	if (list)
		list[*nr] = copy;
	++*nr;
}

void trace_fetch_add_register(struct fetch_build *build, const char *name, uint32_t at)
{
	struct trace_plat_register reg;

	if (!trace_plat_register(name, trace_strlen(name), &reg))
		return;
	if (build->copies)
		build->copies[build->nr_copies] =
			(struct fetch_copy){ (uint16_t)reg.offset, (uint16_t)at };
	build->nr_copies++;
}

/* ---- Instructions ---- */

/* The first time they are counted, and go nowhere. */
static struct expr_insn *fetch_program_add(struct fetch_build *build, enum expr_op op)
{
	build->nr_insns++;
	return build->expr.program ? trace_expr_add(&build->expr, op) : &build->expr.spare;
}

static struct expr_insn *add_own(struct fetch_build *build, enum fetch_code code,
				 const struct fetch_own *own)
{
	struct expr_insn *insn = fetch_program_add(build, EXPR_OWN);

	insn->step = trace_fetch_steps[code];
	memcpy(&insn->own, own, sizeof(*own));
	return insn;
}

static void add_load(struct fetch_build *build, const struct fetch_origin *origin)
{
	const struct expr_value value = { .class = EXPR_CLASS_NUMBER,
					  .place = EXPR_PLACE_FIELD,
					  .offset = (uint32_t)origin->operand,
					  .size = origin->size,
					  .is_signed = origin->is_signed };

	build->nr_insns++;
	if (build->expr.program)
		trace_expr_add_load(&build->expr, &value);
}

static void add_beginning(struct fetch_build *build, const struct fetch_origin *origin)
{
	struct fetch_own own = { .operand = origin->operand };

	if (origin->how == FETCH_LOCATED_BACK) /* from the end of this field */
		own.from = (uint16_t)(own.operand + sizeof(uint32_t));
	if (origin->how == FETCH_LOAD)
		add_load(build, origin);
	else if (origin->how == FETCH_VALUE)
		fetch_program_add(build, EXPR_CONST)->number.operand = origin->operand;
	else
		add_own(build, origin->how, &own);
}

static void add_read(struct fetch_build *build, const struct fetch_read *read)
{
	const struct fetch_own own = { .operand = (uint64_t)read->offset };
	struct expr_insn *insn;

	if (read->is_user) {
		add_own(build, FETCH_READ_USER, &own);
		return;
	}
	insn = fetch_program_add(build, EXPR_READ);
	insn->number.operand = (uint64_t)read->offset;
	insn->number.size = read->size;
}

/*
 * Add the steps up to the read number `nr`, or up to the last. Returns how many of them can fail.
 */
static uint32_t add_value(struct fetch_build *build, const struct fetch_origin *origin, uint32_t nr)
{
	const struct fetch_own none = { .operand = 0 };
	uint32_t nr_failing = nr;

	add_beginning(build, origin);
	for (uint32_t i = 0;; i++) {
		const struct fetch_read *read = &origin->reads[i];

		if (i < origin->nr_reads ? read->is_here : origin->is_here) {
			add_own(build, FETCH_THIS_CPU, &none);
			nr_failing++;
		}
		if (i == nr)
			return nr_failing;
		add_read(build, read);
	}
}

/* Those from number `first` on that can fail go on at `to` then. */
static void set_ways(struct fetch_build *build, uint32_t first, const struct expr_insn *to)
{
	struct expr_insn *insn = build->expr.program ? build->expr.program->insns + first : NULL;

	for (; insn && insn < to; insn++) {
		if (insn->op == EXPR_READ)
			insn->next[true] = insn + 1;
		if (insn->op == EXPR_READ || insn->step == trace_fetch_steps[FETCH_THIS_CPU] ||
		    insn->step == trace_fetch_steps[FETCH_READ_USER])
			insn->next[false] = to;
	}
}

/* ---- Ends ---- */

/*
 * Numbers and texts at an address that a register or the line says are the commonest of all reads:
 * one step. False: they are something else.
 */
static bool add_peek(struct fetch_build *build, const struct fetch_parsed *arg)
{
	const struct fetch_origin *origin = &arg->origin;
	bool is_load =
		origin->how == FETCH_LOAD && origin->size == 8 && origin->operand < FETCH_NOWHERE;
	bool is_word = arg->type->size == 8, is_text = arg->type->kind == FETCH_TEXT;
	struct fetch_own own = { .at = (uint16_t)arg->at,
				 .size = arg->type->size,
				 .from = FETCH_NOWHERE,
				 .operand = (uint64_t)origin->reads[0].offset };

	if (origin->nr_reads != 1 || origin->is_here || origin->reads[0].is_here ||
	    origin->reads[0].is_user || arg->type->is_user || arg->count || arg->bits ||
	    origin->bits || arg->type->kind == FETCH_SYMBOL_TEXT ||
	    (!is_load && origin->how != FETCH_VALUE))
		return false;
	if (is_load)
		own.from = (uint16_t)origin->operand;
	else
		own.operand += origin->operand;
	add_own(build, is_text ? FETCH_PEEK_TEXT : is_word ? FETCH_PEEK_WORD : FETCH_PEEK, &own);
	return true;
}

/* The bits of a number that are asked for, or of which a member consists. */
static void set_shifts(const struct fetch_parsed *arg, struct fetch_own *own)
{
	uint32_t bits = arg->bits ? arg->bits : arg->origin.bits,
		 first = arg->bits ? arg->first_bit : arg->origin.first_bit;

	own->left = (uint8_t)(WORD_BITS - bits - first);
	own->right = (uint8_t)(WORD_BITS - bits);
	own->is_signed = !arg->bits && arg->origin.has_sign;
}

/* The end of an argument that is neither copied nor peeked at. */
static enum fetch_code choose_end(const struct fetch_parsed *arg)
{
	const struct fetch_origin *origin = &arg->origin;

	if (arg->type->kind == FETCH_SYMBOL_TEXT)
		return FETCH_NAME_OF;
	if (arg->type->kind == FETCH_TEXT)
		return arg->count ? FETCH_TEXTS : FETCH_TEXT_AT;
	if (!fetch_is_read(origin) || (origin->bits && !arg->bits && !arg->count))
		return FETCH_STORE;
	return arg->bits ? FETCH_BITS_OF : FETCH_MEMORY;
}

/* Add the bits of the value that are to be stored. */
static void add_shifts(struct fetch_build *build, const struct fetch_own *own)
{
	struct expr_insn *insn = fetch_program_add(build, EXPR_BITS);

	insn->number.left = own->left;
	insn->shift = own->right;
	insn->number.is_signed = own->is_signed;
}

void trace_fetch_add(struct fetch_build *build, const struct fetch_parsed *arg)
{
	const struct fetch_origin *origin = &arg->origin;
	struct fetch_own own = { .at = (uint16_t)arg->at,
				 .size = arg->type->size,
				 .count = (uint8_t)(arg->count ? arg->count : 1) };
	uint32_t first = build->nr_insns, nr = origin->nr_reads, nr_failing;
	enum fetch_code code = choose_end(arg);
	struct expr_insn *end;

	if (is_copy(arg)) {
		add_copy(build, arg);
		return;
	}
	if (fetch_is_own_text(origin)) {
		own.operand = origin->operand;
		own.size = origin->size;
		add_own(build, origin->how, &own);
		return;
	}
	if (add_peek(build, arg))
		return;
	if (code != FETCH_STORE && code != FETCH_NAME_OF && fetch_is_read(origin)) {
		own.operand = (uint64_t)origin->reads[--nr].offset; /* the end reads */
		own.is_user = origin->reads[nr].is_user;
	}
	own.is_user_text =
		arg->type->is_user || build->context->is_user || (own.is_user && !arg->count);
	if (arg->bits || origin->bits)
		set_shifts(arg, &own);
	if (code == FETCH_MEMORY)
		own.size = (uint16_t)(own.size * own.count);
	nr_failing = add_value(build, origin, nr);
	if (code == FETCH_STORE && (arg->bits || origin->bits))
		add_shifts(build, &own);
	end = add_own(build, code, &own);
	if (code != FETCH_STORE && nr_failing) {
		own.size = (uint16_t)(own.size * (code == FETCH_BITS_OF ? own.count : 1));
		end->next[false] = end + 2;
		end = add_own(build, fetch_is_text(arg->type) ? FETCH_NO_TEXTS : FETCH_NO_BYTES,
			      &own);
	}
	set_ways(build, first, end);
}

/* ---- The whole ---- */

static const char *const step_names[FETCH_NR_CODES] = {
	[FETCH_ADDRESS] = "ADDRESS",	 [FETCH_LOCATED] = "LOCATED",
	[FETCH_HEAD] = "HEAD",		 [FETCH_THREAD] = "THREAD",
	[FETCH_THIS_CPU] = "THIS_CPU",	 [FETCH_READ_USER] = "READ_USER",
	[FETCH_LITERAL] = "LITERAL",	 [FETCH_COMM] = "COMM",
	[FETCH_STORE] = "STORE",	 [FETCH_MEMORY] = "MEMORY",
	[FETCH_BITS_OF] = "BITS_OF",	 [FETCH_TEXT_AT] = "TEXT_AT",
	[FETCH_TEXTS] = "TEXTS",	 [FETCH_NAME_OF] = "NAME_OF",
	[FETCH_NO_BYTES] = "NO_BYTES",	 [FETCH_NO_TEXTS] = "NO_TEXTS",
	[FETCH_PEEK] = "PEEK",		 [FETCH_PEEK_WORD] = "PEEK_WORD",
	[FETCH_PEEK_TEXT] = "PEEK_TEXT",
};

void trace_fetch_show(const struct expr_program *program, uint32_t number, struct trace_seq *seq)
{
	const struct expr_insn *insn = &program->insns[number];
	const struct fetch_own *own = (const struct fetch_own *)(const void *)&insn->own;
	uint32_t code = 0;
	char text[48];

	while (code + 1 < FETCH_NR_CODES && trace_fetch_steps[code] != insn->step)
		code++;
	if (code >= FETCH_PEEK && own->from != FETCH_NOWHERE)
		trace_snprintf(text, sizeof(text), "%s at [offset %u] + %lld", step_names[code],
			       own->from, (long long)own->operand);
	else if (code >= FETCH_PEEK || code == FETCH_READ_USER ||
		 (code >= FETCH_MEMORY && code <= FETCH_TEXTS))
		trace_snprintf(text, sizeof(text), "%s at %s%lld%s", step_names[code],
			       code >= FETCH_PEEK ? "" : "value + ", (long long)own->operand,
			       own->is_user || own->is_user_text ? ", of the program" : "");
	else
		trace_strcpy(text, step_names[code] ? step_names[code] : "", sizeof(text));
	trace_expr_show(program, number, text, seq);
}

int trace_fetch_create(struct fetch_build *build, const struct fetch_build *counted,
		       struct fetch_copy *copies)
{
	int err = 0;

	if (counted->nr_insns)
		err = trace_expr_create(&build->expr, counted->nr_insns + 1, 0);
	build->expr.has_own = true;
	build->copies = copies;
	build->words = copies + counted->nr_copies;
	return err;
}

int trace_fetch_finish(struct fetch_build *build, struct fetch_program *out)
{
	struct expr_program *program = build->expr.program;
	int err = 0;

	if (program) {
		trace_expr_add(&build->expr, EXPR_END);
		err = trace_expr_finish(&build->expr);
	}
	if (err) {
		trace_expr_free(program);
		return err;
	}
	*out = (struct fetch_program){ .copies = build->copies,
				       .copies_end = build->words,
				       .steps = program,
				       .is_more = build->nr_words || program,
				       .nr_words = (uint8_t)build->nr_words,
				       .nr_texts = (uint16_t)build->nr_texts,
				       .fixed_bytes = (uint16_t)build->bytes };
	return 0;
}
