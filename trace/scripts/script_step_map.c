/* Steps about tables: see script_step.h. */
#include <trace/platform.h>
#include "script_step.h"
#include "text/str.h"

/* ---- Tables ---- */

static struct script_map *script_step_map(const struct expr_insn *insn)
{
	return (struct script_map *)(uintptr_t)insn->own.data;
}

static TRACE_ALWAYS_INLINE struct script_entry *script_step_entry(struct expr_run *expr,
								  const struct expr_insn *insn,
								  struct script_bucket **out_bucket)
{
	return script_map_find(script_step_map(insn), script_step_word(expr, insn->offset),
			       out_bucket);
}

/*
 * Make the entry that a step has not found, and take the step again; without room, go on behind it. An
 * entry that another CPU deletes in between is made once more.
 */
static TRACE_NOINLINE void script_step_make(struct expr_run *expr, const struct expr_insn *insn,
					    uint64_t value)
{
	bool is_there =
		trace_script_map_make(script_step_map(insn), script_step_word(expr, insn->offset));

	if (!is_there)
		insn++;
	insn->step(expr, insn, value);
}

void trace_script_step_map_get(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);

	value = 0;
	if (entry) {
		value = *script_entry_value(script_step_map(insn), entry);
		script_unlock(&bucket->lock);
	}
	expr_next(expr, insn, value);
}

/* The same of a value that is no word. */
void trace_script_step_map_copy(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_map *map = script_step_map(insn);
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);
	uint64_t *to = script_step_word(expr, (uint32_t)insn->own.words[0]);

	if (entry) {
		memcpy(to, script_entry_value(map, entry), map->value.bytes);
		script_unlock(&bucket->lock);
	} else {
		memset(to, 0, map->value.bytes);
	}
	expr_next(expr, insn, value);
}

void trace_script_step_map_set(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);

	if (TRACE_UNLIKELY(!entry)) {
		script_step_make(expr, insn, value);
		return;
	}
	*script_entry_value(script_step_map(insn), entry) = value;
	script_unlock(&bucket->lock);
	expr_next(expr, insn, value);
}

void trace_script_step_map_put(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_map *map = script_step_map(insn);
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);

	if (TRACE_UNLIKELY(!entry)) {
		script_step_make(expr, insn, value);
		return;
	}
	memcpy(script_entry_value(map, entry), script_step_word(expr, (uint32_t)insn->own.words[0]),
	       map->value.bytes);
	script_unlock(&bucket->lock);
	expr_next(expr, insn, value);
}

void trace_script_step_map_add(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);
	uint64_t *at;

	if (TRACE_UNLIKELY(!entry)) {
		script_step_make(expr, insn, value);
		return;
	}
	at = script_entry_value(script_step_map(insn), entry);
	value += *at;
	*at = value;
	script_unlock(&bucket->lock);
	expr_next(expr, insn, value);
}

void trace_script_step_map_delete(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value)
{
	struct script_map *map = script_step_map(insn);

	if (map->is_counter)
		trace_script_counter_clear(map);
	else
		(void)trace_script_map_delete(map, script_step_word(expr, insn->offset));
	expr_next(expr, insn, value);
}

/* A number without an entry is a round of the run's loops, as an entry is by itself. */
void trace_script_step_map_next(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_map *map = script_step_map(insn);
	uint64_t *place = script_step_word(expr, (uint32_t)insn->own.words[0]);
	uint64_t *key = script_step_word(expr, insn->offset);

	*place = trace_script_map_next(map, (uint32_t)*place, &script_step_run(expr)->rounds_left,
				       key, insn->own.words[1]);
	value = *place;
	expr_next(expr, insn, value);
}

void trace_script_step_count(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);

	if (TRACE_UNLIKELY(!entry)) {
		script_step_make(expr, insn, value);
		return;
	}
	++*script_entry_value(script_step_map(insn), entry);
	script_unlock(&bucket->lock);
	expr_next(expr, insn, value);
}

void trace_script_step_counter(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	script_step_cpu(expr)->counters[insn->to]++;
	expr_next(expr, insn, value);
}

void trace_script_step_counter_get(struct expr_run *expr, const struct expr_insn *insn,
				   uint64_t value)
{
	value = trace_script_counter_get(script_step_map(insn));
	expr_next(expr, insn, value);
}

void trace_script_step_len(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	const struct script_map *map = script_step_map(insn);

	value = map->is_counter ? 1 : atomic_load_explicit(&map->nr_keys, memory_order_relaxed);
	expr_next(expr, insn, value);
}

static uint32_t script_step_log2_slot(const struct script_type *type, uint64_t value)
{
	if (type->is_signed && (int64_t)value < 0)
		return 0;
	return value ? 65 - (uint32_t)__builtin_clzll(value) : 1;
}

static uint32_t script_step_linear_slot(const struct script_type *type, uint64_t value)
{
	int64_t number = (int64_t)value;

	if (number < type->min)
		return 0;
	if (number >= type->max)
		return (uint32_t)((type->max - type->min) / type->step) + 1;
	return (uint32_t)((number - type->min) / type->step) + 1;
}

static void script_step_take_in(const struct script_type *type, uint64_t *words, uint64_t value)
{
	bool is_first;

	switch (type->kind) {
	case SCRIPT_SUM:
		words[0] += value;
		break;
	case SCRIPT_AVG:
	case SCRIPT_STATS:
		words[0] += value;
		words[1]++;
		break;
	case SCRIPT_MIN:
	case SCRIPT_MAX:
		is_first = !words[1];
		if (is_first || trace_script_holds(type->kind == SCRIPT_MIN ? SCRIPT_LT : SCRIPT_GT,
						   type->is_signed, value, words[0]))
			words[0] = value;
		words[1] = 1;
		break;
	case SCRIPT_HIST:
		words[script_step_log2_slot(type, value)]++;
		break;
	default:
		words[script_step_linear_slot(type, value)]++;
		break;
	}
}

void trace_script_step_aggregate(struct expr_run *expr, const struct expr_insn *insn,
				 uint64_t value)
{
	struct script_map *map = script_step_map(insn);
	struct script_bucket *bucket;
	struct script_entry *entry = script_step_entry(expr, insn, &bucket);

	if (TRACE_UNLIKELY(!entry)) {
		script_step_make(expr, insn, value);
		return;
	}
	script_step_take_in(&map->value, script_entry_value(map, entry), value);
	script_unlock(&bucket->lock);
	expr_next(expr, insn, value);
}

bool trace_script_holds(enum script_binary binary, bool is_signed, uint64_t a, uint64_t b)
{
	if (is_signed) { /* the same order, without signs */
		a ^= 1ull << 63;
		b ^= 1ull << 63;
	}
	switch (binary) {
	case SCRIPT_EQ:
		return a == b;
	case SCRIPT_NE:
		return a != b;
	case SCRIPT_LE:
		return a <= b;
	case SCRIPT_GE:
		return a >= b;
	case SCRIPT_LT:
		return a < b;
	default:
		return a > b;
	}
}
