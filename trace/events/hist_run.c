/*
 * Histograms: what happens at each event. See hist.h, hist_run.h.
 */
#include "hist_run.h"
#include "event_file.h"
#include "hist_action.h"

/* ---- Numbers ---- */

static TRACE_ALWAYS_INLINE uint64_t high_product(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* value / divisor, where magic is 2^64 / divisor, rounded down. */
static TRACE_ALWAYS_INLINE uint64_t divide(uint64_t value, uint64_t divisor, uint64_t magic)
{
	uint64_t quotient;

	if (TRACE_UNLIKELY(divisor == 1))
		return value;
	quotient = high_product(value, magic);
	return quotient + (value - quotient * divisor >= divisor);
}

static TRACE_NOINLINE uint64_t now_of(struct hist_run *run)
{
	if (!run->has_now)
		run->now = run->hist->clock ? run->hist->clock() : trace_plat_clock_ns();
	run->has_now = true;
	return run->now;
}

/* Of Linux: rounded up, and 0 for 0. */
static uint64_t log2_of(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

/* Operations that are not the fields of an event. */
static TRACE_NOINLINE uint64_t compute_other(struct hist_run *run, const struct hist_op *op,
					     uint64_t value)
{
	switch (op->code) {
	case HIST_OP_CONST:
		return op->value;
	case HIST_OP_TIME:
		return now_of(run);
	case HIST_OP_LOG2:
		return log2_of(value);
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

/* Operations of which a key or a value often has nothing else. */
static TRACE_ALWAYS_INLINE uint64_t compute_field(struct hist_run *run, const struct hist_op *op,
						  uint64_t value)
{
	switch (op->code) {
	case HIST_OP_FIELD:
		return hist_field(op, run->hit);
	case HIST_OP_PID:
		return (uint64_t)trace_plat_current_pid();
	case HIST_OP_CPU:
		return trace_plat_cpu_id();
	case HIST_OP_ADDRESS:
		return trace_plat_ip_unpack((uint32_t)value);
	case HIST_OP_ROUND:
		return divide(value, op->value, op->magic) * op->value;
	case HIST_OP_DIVIDE:
		return divide(value, op->value, op->magic);
	default:
		return compute_other(run, op, value);
	}
}

static TRACE_ALWAYS_INLINE uint64_t compute(struct hist_run *run, const struct hist_op *op)
{
	uint64_t value = compute_field(run, op, 0);

	while (TRACE_UNLIKELY(!op->is_last))
		value = compute_field(run, ++op, value);
	return value;
}

uint64_t hist_compute(struct hist_run *run, const struct hist_op *op)
{
	return compute(run, op);
}

/* ---- The key and its entry ---- */

static TRACE_ALWAYS_INLINE void make_key(struct hist_run *run)
{
	const struct hist *hist = run->hist;
	uint64_t *to = run->key, hash = 0;

	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		const struct hist_value *key = &hist->keys[i];
		uint32_t nr;

		if (TRACE_LIKELY(key->kind == HIST_NUMBER)) {
			*to = compute(run, &hist->ops[key->op]);
			hash = hist_hash(hash, *to++);
			continue;
		}
		nr = hist_compute_words(run, &hist->ops[key->op], to, key->words);
		while (nr--)
			hash = hist_hash(hash, *to++); // NOLINT: the call above has set them
	}
	run->hash = hash;
	run->nr_words = (uint32_t)(to - run->key);
}

struct hist_entry *hist_make_entry(struct hist *hist, struct hist_key *key)
{
	uint64_t extra[HIST_COMM_WORDS] = { 0 };
	struct hist_entry *entry;

	key->nr_extra = 0;
	if (TRACE_UNLIKELY(hist->has_comm)) {
		(void)hist_put_comm(extra);
		key->extra = extra;
		key->nr_extra = HIST_COMM_WORDS;
	}
	entry = hist_map_add(hist->map, key);
	key->extra = NULL;
	return entry;
}

void hist_run(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	struct hist_entry *entry;
	struct hist_run run;

	if (TRACE_UNLIKELY(atomic_load_explicit(&hist->is_paused, memory_order_relaxed)))
		return;
	run.hist = hist;
	run.hit = hit;
	run.entry = NULL;
	run.has_now = false;
	make_key(&run);
	if (TRACE_UNLIKELY(hist->nr_refs) && !hist_refs_run(&run))
		return;
	entry = hist_map_find(hist->map, run.key, run.nr_words, run.hash);
	if (TRACE_UNLIKELY(!entry)) {
		struct hist_key key = { .words = run.key,
					.nr_words = run.nr_words,
					.hash = run.hash };

		entry = hist_make_entry(hist, &key);
		if (!entry)
			return;
	}
	run.entry = entry;
	hist_entry_hit(entry);
	if (TRACE_UNLIKELY(hist->nr_vars))
		hist_vars_run(&run);
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		const struct hist_value *value = &hist->vals[i];

		hist_entry_sum(entry, value->at, compute(&run, &hist->ops[value->op]));
	}
	if (TRACE_UNLIKELY(hist->nr_actions))
		hist_run_actions(&run);
}
