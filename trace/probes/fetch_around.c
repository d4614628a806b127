/*
 * Memory and per-CPU variables that are read around a value. See fetch.h.
 *
 * 	+8(+0($arg1))                 memory at an address that is in memory
 * 	+u8($arg1)                    the same of the running program
 * 	this_cpu_ptr(@run_queues)     the address of a variable on the CPU that is hit
 * 	this_cpu_read(@run_queues)    +0(this_cpu_ptr(@run_queues))
 */
#include <trace/platform.h>
#include "fetch_private.h"
#include "text/str.h"

#define READS_MAX  14u /* around each other, and steps, as many as Linux has room for */
#define STEPS_MAX  FETCH_READS_MAX
#define WORD_BYTES 8u

#define PER_CPU_READ "this_cpu_read("
#define PER_CPU_PTR  "this_cpu_ptr("

/* Is there room for one more step? -EINVAL after blaming `at`. */
static int fetch_around_check(const struct fetch_parse *parse, const char *at)
{
	const struct fetch_origin *origin = parse->origin;
	uint32_t nr_steps = 1 + origin->nr_reads + origin->is_here;

	for (uint32_t i = 0; i < origin->nr_reads; i++)
		nr_steps += origin->reads[i].is_here;
	return nr_steps < STEPS_MAX
		       ? 0
		       : trace_fetch_refuse(parse, at, "Dereference is too much nested");
}

int trace_fetch_read(struct fetch_parse *parse, int64_t offset, uint32_t size, const char *at)
{
	int err = fetch_around_check(parse, at);

	if (!err)
		fetch_add_read(parse, offset, size);
	return err;
}

/* A read: +offset(VALUE). Or a per-CPU variable: this_cpu_read(VALUE), this_cpu_ptr(VALUE). */
struct fetch_around {
	uint64_t offset;   /* modulo 2^64 */
	const char *inner; /* VALUE */
	bool is_user;	   /* +u */
	bool is_per_cpu;
	bool is_ptr; /* this_cpu_ptr() */
};

bool trace_fetch_is_per_cpu(const struct expr_word *word)
{
	return trace_expr_starts(word, PER_CPU_READ) || trace_expr_starts(word, PER_CPU_PTR);
}

/* Find the parentheses, and leave VALUE of `word`; a read has its parenthesis at `open`. */
static int take_inner(struct fetch_parse *parse, struct expr_word *word, const char *open,
		      struct fetch_around *out)
{
	const char *end = word->at + word->len, *close = end - 1;

	while (close > open && *close != ')')
		close--;
	if (close == open)
		return trace_fetch_refuse(parse, end, "Dereference brace is not closed");
	if (close + 1 != end)
		return trace_fetch_refuse(parse, close + 1, "Invalid fetch argument");
	out->inner = open + 1;
	*word = expr_between(open + 1, close);
	return 0;
}

/* Take this_cpu_read() or this_cpu_ptr() off `word`. */
static int take_per_cpu(struct fetch_parse *parse, struct expr_word *word, struct fetch_around *out)
{
	bool is_ptr = trace_expr_starts(word, PER_CPU_PTR);
	size_t len = trace_strlen(is_ptr ? PER_CPU_PTR : PER_CPU_READ);

	/* An event was recorded by another CPU, perhaps; programs have no such variables. */
	if (parse->build->context->place == FETCH_AT_EVENT || parse->build->context->is_user)
		return trace_fetch_refuse(parse, word->at,
					  "Per-cpu variable access is only for kernel probes");
	*out = (struct fetch_around){ .is_per_cpu = true, .is_ptr = is_ptr };
	return take_inner(parse, word, word->at + len - 1, out);
}

/* Take one read off `word`, of which VALUE is left. */
static int take_read(struct fetch_parse *parse, struct expr_word *word, struct fetch_around *out)
{
	struct expr_word rest = expr_behind(word, 1), number;

	*out = (struct fetch_around){ .is_user = expr_take(&rest, 'u') };
	number = expr_take_until(&rest, "(");
	if (!rest.len)
		return trace_fetch_refuse(parse, word->at, "Dereference needs a brace");
	if (trace_expr_number(&number, 0, true, &out->offset) || *number.at == '-' ||
	    *number.at == '+')
		return trace_fetch_refuse(parse, word->at, "Invalid dereference offset");
	if (*word->at == '-')
		out->offset = 0 - out->offset;
	return take_inner(parse, word, rest.at, out);
}

/* The address of the variable on this CPU. What is at @SYMBOL was to be read: it is not. */
static int add_this_cpu(struct fetch_parse *parse, const struct fetch_around *around)
{
	struct fetch_origin *origin = parse->origin;
	bool is_symbol = *around->inner == '@'; // NOLINT: set by take_inner()
	int err = 0;

	if (is_symbol && !trace_plat_this_cpu_ptr(origin->operand))
		return trace_fetch_refuse(parse, around->inner, "This is not a per-CPU variable");
	if (is_symbol)
		origin->nr_reads = origin->nr_own = 0;
	else
		err = fetch_around_check(parse, around->inner);
	if (err)
		return err;
	origin->is_here = true;
	return around->is_ptr ? 0 : trace_fetch_read(parse, 0, WORD_BYTES, around->inner);
}

static int add_memory(struct fetch_parse *parse, const struct fetch_around *around)
{
	int err = trace_fetch_read(parse, (int64_t)around->offset, WORD_BYTES, around->inner);

	if (!err && around->is_user)
		parse->origin->reads[parse->origin->nr_reads - 1].is_user = true;
	return err;
}

static int add_around(struct fetch_parse *parse, const struct fetch_around *around)
{
	if (fetch_is_own_text(parse->origin))
		return trace_fetch_refuse(parse, around->inner, "$comm can not be dereferenced");
	parse->own_type = NULL;
	parse->btf = 0;
	parse->origin->type = 0;
	parse->origin->bits = 0;
	if (around->is_per_cpu)
		return add_this_cpu(parse, around);
	return add_memory(parse, around);
}

static bool is_around(const struct expr_word *word)
{
	return word->len && (*word->at == '+' || *word->at == '-' || trace_fetch_is_per_cpu(word));
}

int trace_fetch_value(struct fetch_parse *parse, const struct expr_word *word)
{
	struct fetch_around reads[READS_MAX + 1] = { { 0 } };
	struct expr_word rest = *word;
	uint32_t nr = 0;
	int err = 0;

	while (!err && is_around(&rest)) {
		if (nr > READS_MAX)
			return trace_fetch_refuse(parse, reads[0].inner,
						  "Dereference is too much nested");
		if (trace_fetch_is_per_cpu(&rest))
			err = take_per_cpu(parse, &rest, &reads[nr++]);
		else
			err = take_read(parse, &rest, &reads[nr++]);
	}
	if (!err)
		err = trace_fetch_start(parse, &rest);
	while (!err && nr)
		err = add_around(parse, &reads[--nr]);
	return err;
}
