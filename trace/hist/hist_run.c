/* Histograms: counting an event. See hist.h, hist_run.h, hist_program.h. */
#include <trace/event_probe.h>
#include "hist_run.h"
#include "events/event_file.h"
#include "hist_action.h"
#include "hist_program.h"

uint64_t trace_hist_compute(struct hist_run *run, const struct expr_insn *insn)
{
	insn->step(&run->expr, insn, 0);
	return run->expr.result;
}

/* ---- Steps: see hist_program.h. Each ends by calling the next one. ---- */

static void step_time(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	(void)value;
	expr_next(expr, insn, run->time.now);
}

static void step_ref(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	(void)value;
	expr_next(expr, insn, run->refs[insn->to]);
}

static void step_var(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	(void)value;
	expr_next(expr, insn, run->vars[insn->to]);
}

static void step_clock(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	value = ((ring_clock_fn)(uintptr_t)insn->own.words[0])();
	run->time.now = value;
	expr_next(expr, insn, value);
}

static void step_decrease(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	expr_next(expr, insn, value - run->refs[insn->to]);
}

/* ---- The key ---- */

static void step_key(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	run->hash = hist_hash(run->hash, value);
	run->key[run->nr_words++] = value;
	expr_next(expr, insn, value);
}

static void step_key_number(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	run->hash = hist_hash(0, value);
	run->key[0] = value;
	run->nr_words = 1;
	expr_next(expr, insn, value);
}

static void step_words(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	uint64_t *to = &run->key[run->nr_words];
	uint32_t nr = trace_hist_compute_words(run, insn, to);

	run->nr_words += nr;
	while (nr--)
		run->hash = hist_hash(run->hash, *to++); // NOLINT: the call above has set them
	expr_next(expr, insn, value);
}

/* ---- Variables of other histograms ---- */

/*
 * Is the variable set in this entry? A variable that is used up becomes unset. The acquire pairs
 * with the release in the steps that set it.
 */
static TRACE_ALWAYS_INLINE bool is_set(struct hist_entry *entry, const struct expr_insn *insn,
				       bool is_used_up)
{
	_Atomic uint64_t *set = &entry->words[insn->own.words[0]];
	uint64_t bit = (uint64_t)1 << insn->shift;

	if (is_used_up)
		return atomic_fetch_and_explicit(set, ~bit, memory_order_acquire) & bit;
	return atomic_load_explicit(set, memory_order_acquire) & bit;
}

static void step_take(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	struct hist_entry *entry = hist_map_find(insn->own.data, run->key, 1, run->hash);

	if (!entry || !is_set(entry, insn, true))
		return;
	run->refs[insn->to] = hist_entry_word(entry, insn->offset);
	expr_next(expr, insn, value);
}

static TRACE_ALWAYS_INLINE void read_of(struct hist_run *run, const struct expr_insn *insn,
					uint64_t value, struct hist_entry *entry)
{
	const struct hist_ref *ref = &run->hist->refs[insn->to];

	if (!entry || !is_set(entry, insn, ref->is_consumed))
		return;
	run->refs[insn->to] = ref->hist->vars[ref->var].kind == HIST_NUMBER
				      ? hist_entry_word(entry, insn->offset)
				      : (uint64_t)(uintptr_t)entry;
	expr_next(&run->expr, insn, value);
}

static void hist_run_step_read(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	read_of(run, insn, value,
		hist_map_find(insn->own.data, run->key, run->nr_words, run->hash));
}

static void step_beginning(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	run->beginning[insn->to].hash = run->hash;
	run->beginning[insn->to].nr_words = run->nr_words;
	expr_next(expr, insn, value);
}

/* Read a variable of a histogram with fewer keys, the first ones of this one. */
static void step_read_by(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	uint32_t nr_words = run->beginning[insn->own.words[1]].nr_words;
	uint64_t hash = run->beginning[insn->own.words[1]].hash;
	const struct hist_map *map = insn->own.data;

	/* Entries with less room for a key cannot have this one. */
	if (nr_words <= map->shape.key_words)
		read_of(run, insn, value, hist_map_find(map, run->key, nr_words, hash));
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

static TRACE_ALWAYS_INLINE void hist_run_count(struct hist_run *run, const struct expr_insn *insn,
					       uint64_t value, struct hist_entry *entry)
{
	run->entry = entry;
	hist_entry_hit(entry);
	expr_next(&run->expr, insn, value);
}

static TRACE_NOINLINE void hist_run_make_and_count(struct hist_run *run,
						   const struct expr_insn *insn, uint64_t value)
{
	struct hist_key key = { .words = run->key, .nr_words = run->nr_words, .hash = run->hash };
	struct hist_entry *entry = trace_hist_make_entry(run->hist, &key);

	if (entry)
		hist_run_count(run, insn, value, entry);
}

static void step_find(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	struct hist_entry *entry =
		hist_map_find(run->hist->map, run->key, run->nr_words, run->hash);

	if (TRACE_LIKELY(entry))
		hist_run_count(run, insn, value, entry);
	else
		hist_run_make_and_count(run, insn, value);
}

static void step_find_number(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	struct hist_entry *entry = hist_map_find(run->hist->map, run->key, 1, run->hash);

	if (TRACE_LIKELY(entry))
		hist_run_count(run, insn, value, entry);
	else
		hist_run_make_and_count(run, insn, value);
}

/* ---- Own variables and values ---- */

static TRACE_ALWAYS_INLINE void set_number(struct hist_run *run, const struct expr_insn *insn,
					   uint64_t value)
{
	run->vars[insn->to] = value;
	atomic_store_explicit(&run->entry->words[insn->offset], value, memory_order_relaxed);
}

static void step_set(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	set_number(run, insn, value);
	expr_next(expr, insn, value);
}

static void step_set_words(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);
	const struct hist_value *var = &run->hist->vars[insn->to];
	uint64_t words[HIST_TEXT_MAX / 8];
	uint32_t nr = trace_hist_compute_words(run, hist_insn_of(run->hist, var), words);

	for (uint32_t i = 0; i < nr; i++)
		atomic_store_explicit(&run->entry->words[var->at + i], words[i],
				      memory_order_relaxed);
	expr_next(expr, insn, value);
}

/* Release: a reader that finds the variables set finds their values. */
static void step_set_all(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	atomic_fetch_or_explicit(&run->entry->words[insn->own.words[0]], insn->own.words[1],
				 memory_order_release);
	expr_next(expr, insn, value);
}

static void step_set_one(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	set_number(run, insn, value);
	atomic_fetch_or_explicit(&run->entry->words[insn->own.words[0]], 1, memory_order_release);
	expr_next(expr, insn, value);
}

static void step_sum(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	hist_entry_sum(run->entry, insn->offset, value);
	expr_next(expr, insn, value);
}

/* ---- Actions ---- */

static void step_if_wanted(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	const struct trace_event_call *call = insn->own.data;

	if (!(trace_event_flags(trace_event_front_of(call)) & TRACE_EVENT_WANTED))
		insn = insn->next[false] - 1;
	expr_next(expr, insn, value);
}

static void hist_run_step_argument(struct expr_run *expr, const struct expr_insn *insn,
				   uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	__builtin_memcpy((uint8_t *)run->built + insn->offset, &value, sizeof(value));
	expr_next(expr, insn, value);
}

static TRACE_ALWAYS_INLINE void hist_run_call(struct hist_run *run, const struct expr_insn *insn)
{
	((hist_act_fn)(uintptr_t)insn->own.words[0])(run, (void *)(uintptr_t)insn->own.data);
}

static void step_act(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	hist_run_call(run, insn);
	expr_next(expr, insn, value);
}

static void step_act_last(struct expr_run *expr, const struct expr_insn *insn, uint64_t value)
{
	struct hist_run *run = hist_run_of(expr);

	(void)value;
	hist_run_call(run, insn);
}

const expr_step_fn trace_hist_steps[HIST_NR_STEPS] = {
	[HIST_STEP_TIME] = step_time,
	[HIST_STEP_REF] = step_ref,
	[HIST_STEP_VAR] = step_var,
	[HIST_STEP_CLOCK] = step_clock,
	[HIST_STEP_DECREASE] = step_decrease,
	[HIST_STEP_KEY] = step_key,
	[HIST_STEP_KEY_NUMBER] = step_key_number,
	[HIST_STEP_WORDS] = step_words,
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
};

void trace_hist_run(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	const struct expr_insn *first = hist->program->insns;
	struct hist_run run;

	if (TRACE_UNLIKELY(atomic_load_explicit(&hist->is_paused, memory_order_relaxed)))
		return;
	run.expr.data = hit->entry;
	run.hist = hist;
	run.hit = hit;
	run.frame = (uintptr_t)__builtin_frame_address(0);
	run.hash = 0;
	run.nr_words = 0;
	first->step(&run.expr, first, 0);
}
