/* Histograms: counting an event. See hist.h, hist_run.h, hist_program.h. */
#include <trace/event_probe.h>
#include "hist_run.h"
#include "events/event_file.h"
#include "hist_action.h"
#include "hist_program.h"

/* ---- Numbers ---- */

static TRACE_ALWAYS_INLINE uint64_t high_product(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* Divide value by divisor, which is 2 or more; magic is 2^64 / divisor, rounded down. */
static TRACE_ALWAYS_INLINE uint64_t quotient(uint64_t value, uint64_t divisor, uint64_t magic)
{
	uint64_t estimate = high_product(value, magic);

	return estimate + (value - estimate * divisor >= divisor);
}

static uint64_t hist_run_divide(uint64_t value, uint64_t divisor, uint64_t magic)
{
	return divisor == 1 ? value : quotient(value, divisor, magic);
}

/* Linux's binary logarithm: rounded up, and 0 for 0. */
static uint64_t log2_of(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

/* Compute one operation. */
static uint64_t compute(struct hist_run *run, const struct hist_op *op, uint64_t value)
{
	switch (op->code) {
	case HIST_OP_FIELD:
		return hist_field(op, run->hit);
	case HIST_OP_CONST:
		return op->value;
	case HIST_OP_PID:
		return (uint64_t)trace_plat_current_pid();
	case HIST_OP_CPU:
		return trace_plat_cpu_id();
	case HIST_OP_TIME:
		return run->time.now;
	case HIST_OP_ADDRESS:
		return trace_plat_ip_unpack((uint32_t)value);
	case HIST_OP_LOG2:
		return log2_of(value);
	case HIST_OP_ROUND:
		return hist_run_divide(value, op->value, op->magic) * op->value;
	case HIST_OP_DIVIDE:
		return hist_run_divide(value, op->value, op->magic);
	case HIST_OP_SAVE:
		run->temps[op->to] = value;
		return value;
	case HIST_OP_ADD:
		return run->temps[op->to] + value;
	case HIST_OP_SUB:
		return run->temps[op->to] - value;
	case HIST_OP_MUL:
		return run->temps[op->to] * value;
	case HIST_OP_DIV:
		return value ? run->temps[op->to] / value : UINT64_MAX;
	case HIST_OP_NEG:
		return 0 - value;
	case HIST_OP_REF:
		return run->refs[op->to];
	case HIST_OP_VAR:
		return run->vars[op->to];
	default:
		return 0;
	}
}

uint64_t trace_hist_compute(struct hist_run *run, const struct hist_op *op)
{
	uint64_t value = compute(run, op, 0);

	while (!op->is_last)
		value = compute(run, ++op, value);
	return value;
}

/* ---- Steps: see hist_program.h. Each ends by calling the next one. ---- */

static TRACE_ALWAYS_INLINE void next(struct hist_run *run, const struct hist_step *step,
				     uint64_t value)
{
	step++;
	TRACE_OPAQUE(step); /* one register for the step and its function */
	step->func(run, step, value);
}

static void step_field(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	int64_t word;

	__builtin_memcpy(&word, (const char *)run->hit->entry + step->offset, sizeof(word));
	value = (uint64_t)(word >> step->shift) & step->operand;
	next(run, step, value);
}

static void step_divide(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	next(run, step, quotient(value, step->operand, step->magic));
}

static void step_var(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	value = run->vars[step->to];
	next(run, step, value);
}

static void step_other(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	next(run, step, compute(run, step->op, value));
}

static void step_clock(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	value = step->clock();
	run->time.now = value;
	next(run, step, value);
}

static void step_decrease(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	next(run, step, value - run->refs[step->to]);
}

/* ---- The key ---- */

static void step_key(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	run->hash = hist_hash(run->hash, value);
	run->key[run->nr_words++] = value;
	next(run, step, value);
}

static void step_key_number(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	run->hash = hist_hash(0, value);
	run->key[0] = value;
	run->nr_words = 1;
	next(run, step, value);
}

static void step_key_words(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	const struct hist_value *key = &run->hist->keys[step->to];
	uint64_t *to = &run->key[run->nr_words];
	uint32_t nr = trace_hist_compute_words(run, &run->hist->ops[key->op], to, key->words);

	run->nr_words += nr;
	while (nr--)
		run->hash = hist_hash(run->hash, *to++); // NOLINT: the call above has set them
	next(run, step, value);
}

/* ---- Variables of other histograms ---- */

/*
 * Is the variable set in this entry? A variable that is used up becomes unset. The acquire pairs
 * with the release in the steps that set it.
 */
static TRACE_ALWAYS_INLINE bool is_set(struct hist_entry *entry, const struct hist_step *step,
				       bool is_used_up)
{
	_Atomic uint64_t *set = &entry->words[step->set_at];
	uint64_t bit = (uint64_t)1 << step->shift;

	if (is_used_up)
		return atomic_fetch_and_explicit(set, ~bit, memory_order_acquire) & bit;
	return atomic_load_explicit(set, memory_order_acquire) & bit;
}

static void step_take(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	struct hist_entry *entry = hist_map_find(step->map, run->key, 1, run->hash);

	if (!entry || !is_set(entry, step, true))
		return;
	run->refs[step->to] = hist_entry_word(entry, step->offset);
	next(run, step, value);
}

static TRACE_ALWAYS_INLINE void read_of(struct hist_run *run, const struct hist_step *step,
					uint64_t value, struct hist_entry *entry)
{
	const struct hist_ref *ref = &run->hist->refs[step->to];

	if (!entry || !is_set(entry, step, ref->is_consumed))
		return;
	run->refs[step->to] = ref->hist->vars[ref->var].kind == HIST_NUMBER
				      ? hist_entry_word(entry, step->offset)
				      : (uint64_t)(uintptr_t)entry;
	next(run, step, value);
}

static void hist_run_step_read(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	read_of(run, step, value, hist_map_find(step->map, run->key, run->nr_words, run->hash));
}

static void step_beginning(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	run->beginning[step->to].hash = run->hash;
	run->beginning[step->to].nr_words = run->nr_words;
	next(run, step, value);
}

/* Read a variable of a histogram with fewer keys, the first ones of this one. */
static void step_read_by(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	uint32_t nr_words = run->beginning[step->skip].nr_words;
	uint64_t hash = run->beginning[step->skip].hash;

	/* Entries with less room for a key cannot have this one. */
	if (nr_words <= step->map->shape.key_words)
		read_of(run, step, value, hist_map_find(step->map, run->key, nr_words, hash));
}

/* ---- The entry ---- */

struct hist_entry *trace_hist_make_entry(struct hist *hist, struct hist_key *key)
{
	uint64_t extra[HIST_COMM_WORDS] = { 0 };
	struct hist_entry *entry;

	key->nr_extra = 0;
	if (TRACE_UNLIKELY(hist->has_comm)) {
		(void)trace_hist_put_comm(extra);
		key->extra = extra;
		key->nr_extra = HIST_COMM_WORDS;
	}
	entry = trace_hist_map_add(hist->map, key);
	key->extra = NULL;
	return entry;
}

static TRACE_ALWAYS_INLINE void hist_run_count(struct hist_run *run, const struct hist_step *step,
					       uint64_t value, struct hist_entry *entry)
{
	run->entry = entry;
	hist_entry_hit(entry);
	next(run, step, value);
}

static TRACE_NOINLINE void hist_run_make_and_count(struct hist_run *run,
						   const struct hist_step *step, uint64_t value)
{
	struct hist_key key = { .words = run->key, .nr_words = run->nr_words, .hash = run->hash };
	struct hist_entry *entry = trace_hist_make_entry(run->hist, &key);

	if (entry)
		hist_run_count(run, step, value, entry);
}

static void step_find(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	struct hist_entry *entry =
		hist_map_find(run->hist->map, run->key, run->nr_words, run->hash);

	if (TRACE_LIKELY(entry))
		hist_run_count(run, step, value, entry);
	else
		hist_run_make_and_count(run, step, value);
}

static void step_find_number(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	struct hist_entry *entry = hist_map_find(run->hist->map, run->key, 1, run->hash);

	if (TRACE_LIKELY(entry))
		hist_run_count(run, step, value, entry);
	else
		hist_run_make_and_count(run, step, value);
}

/* ---- Own variables and values ---- */

static TRACE_ALWAYS_INLINE void set_number(struct hist_run *run, const struct hist_step *step,
					   uint64_t value)
{
	run->vars[step->to] = value;
	atomic_store_explicit(&run->entry->words[step->offset], value, memory_order_relaxed);
}

static void step_set(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	set_number(run, step, value);
	next(run, step, value);
}

static void step_set_words(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	const struct hist_value *var = &run->hist->vars[step->to];
	uint64_t words[HIST_TEXT_MAX / 8];
	uint32_t nr = trace_hist_compute_words(run, &run->hist->ops[var->op], words, var->words);

	for (uint32_t i = 0; i < nr; i++)
		atomic_store_explicit(&run->entry->words[var->at + i], words[i],
				      memory_order_relaxed);
	next(run, step, value);
}

/* Release: a reader that finds the variables set finds their values. */
static void step_set_all(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	atomic_fetch_or_explicit(&run->entry->words[step->set_at], step->operand,
				 memory_order_release);
	next(run, step, value);
}

static void step_set_one(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	set_number(run, step, value);
	atomic_fetch_or_explicit(&run->entry->words[step->set_at], 1, memory_order_release);
	next(run, step, value);
}

static void step_sum(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	hist_entry_sum(run->entry, step->offset, value);
	next(run, step, value);
}

/* ---- Actions ---- */

static void step_if_wanted(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	if (!(trace_event_flags(trace_event_front_of(step->call)) & TRACE_EVENT_WANTED))
		step += step->skip;
	next(run, step, value);
}

static void hist_run_step_argument(struct hist_run *run, const struct hist_step *step,
				   uint64_t value)
{
	__builtin_memcpy((uint8_t *)run->built + step->offset, &value, sizeof(value));
	next(run, step, value);
}

static void step_act(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	step->act(run, step->action);
	next(run, step, value);
}

static void step_act_last(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	(void)value;
	step->act(run, step->action);
}

static void step_end(struct hist_run *run, const struct hist_step *step, uint64_t value)
{
	(void)run;
	(void)step;
	(void)value;
}

const hist_step_fn trace_hist_step_funcs[HIST_NR_STEPS] = {
	[HIST_STEP_FIELD] = step_field,
	[HIST_STEP_DIVIDE] = step_divide,
	[HIST_STEP_VAR] = step_var,
	[HIST_STEP_OTHER] = step_other,
	[HIST_STEP_CLOCK] = step_clock,
	[HIST_STEP_DECREASE] = step_decrease,
	[HIST_STEP_KEY] = step_key,
	[HIST_STEP_KEY_NUMBER] = step_key_number,
	[HIST_STEP_KEY_WORDS] = step_key_words,
	[HIST_STEP_TAKE] = step_take,
	[HIST_STEP_READ] = hist_run_step_read,
	[HIST_STEP_BEGINNING] = step_beginning,
	[HIST_STEP_READ_BY] = step_read_by,
	[HIST_STEP_FIND] = step_find,
	[HIST_STEP_FIND_NUMBER] = step_find_number,
	[HIST_STEP_SET] = step_set,
	[HIST_STEP_SET_WORDS] = step_set_words,
	[HIST_STEP_SET_ALL] = step_set_all,
	[HIST_STEP_SET_ONE] = step_set_one,
	[HIST_STEP_SUM] = step_sum,
	[HIST_STEP_IF_WANTED] = step_if_wanted,
	[HIST_STEP_ARGUMENT] = hist_run_step_argument,
	[HIST_STEP_ACT] = step_act,
	[HIST_STEP_ACT_LAST] = step_act_last,
	[HIST_STEP_END] = step_end,
};

void trace_hist_run(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	const struct hist_step *first = hist->program;
	struct hist_run run;

	if (TRACE_UNLIKELY(atomic_load_explicit(&hist->is_paused, memory_order_relaxed)))
		return;
	run.hist = hist;
	run.hit = hit;
	run.frame = (uintptr_t)__builtin_frame_address(0);
	run.hash = 0;
	run.nr_words = 0;
	first->func(&run, first, 0);
}
