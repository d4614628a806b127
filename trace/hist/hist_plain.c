/*
 * Fast counting for simple histograms, which most are: keys and values are fields, the running
 * thread or CPU, and there are no variables or actions. See hist.h; trace_hist_run() counts in all
 * others.
 *
 * Context: any, NMI included, preemption off.
 */
#include "hist_program.h"
#include "hist_words.h"

/* Length of texts of two words: the second word has at least one character, and a NUL. */
#define SHORT_TEXT_MIN 10u
#define SHORT_TEXT_MAX 16u

static TRACE_ALWAYS_INLINE uint64_t hist_plain_number_of(const struct expr_insn *insn,
							 const struct trace_trigger_hit *hit)
{
	if (TRACE_LIKELY(insn->op == EXPR_FIELD))
		return expr_field(insn, hit->entry);
	return insn->op == EXPR_PID ? (uint64_t)trace_plat_current_pid() : trace_plat_cpu_id();
}

/* ---- Rare cases, called last ---- */

static TRACE_NOINLINE void add_sums(const struct hist *hist, const struct trace_trigger_hit *hit,
				    struct hist_entry *entry)
{
	_Atomic uint64_t *sum = &entry->words[hist->sums_at];
	const struct expr_insn *insn = &hist->plain[hist->nr_keys];
	uint32_t nr = hist->nr_vals;

	do {
		atomic_fetch_add_explicit(sum++, hist_plain_number_of(insn++, hit),
					  memory_order_relaxed);
	} while (--nr);
}

static TRACE_ALWAYS_INLINE void hist_plain_count(const struct hist *hist,
						 const struct trace_trigger_hit *hit,
						 struct hist_entry *entry)
{
	hist_entry_hit(entry);
	if (TRACE_UNLIKELY(hist->nr_vals))
		add_sums(hist, hit, entry);
}

static TRACE_NOINLINE void hist_plain_make_and_count(struct hist *hist,
						     const struct trace_trigger_hit *hit,
						     struct hist_key *key)
{
	struct hist_entry *entry = trace_hist_make_entry(hist, key);

	if (entry)
		hist_plain_count(hist, hit, entry);
}

/* Count a new key of one to three numbers; in a full table that happens often. */
// NOLINTNEXTLINE(readability-function-size): the numbers stay in registers
static TRACE_NOINLINE void count_new(struct hist *hist, const struct trace_trigger_hit *hit,
				     uint64_t hash, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t words[HIST_KEYS_MAX] = { a, b, c };
	struct hist_key key = { .words = words, .nr_words = hist->nr_keys, .hash = hash };

	hist_plain_make_and_count(hist, hit, &key);
}

/* ---- Keys ---- */

static TRACE_ALWAYS_INLINE bool is_paused(const struct hist *hist)
{
	return TRACE_UNLIKELY(atomic_load_explicit(&hist->is_paused, memory_order_relaxed));
}

/*
 * Find the entry of a key. A missing entry is made and counted here, and NULL returned. `nr`, 1 to
 * 3, is a constant, so that the key stays in registers.
 */
static TRACE_ALWAYS_INLINE struct hist_entry *find_numbers(struct hist *hist,
							   const struct trace_trigger_hit *hit,
							   const uint64_t *key, uint32_t nr)
{
	struct hist_map *map = hist->map;
	struct hist_entry *entry;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < nr; i++)
		hash = hist_hash(hash, key[i]);
	entry = hist_map_find(map, key, nr, hash);
	if (TRACE_UNLIKELY(!entry) && !hist_map_drops(map))
		count_new(hist, hit, hash, key[0], key[1], key[2]);
	return entry;
}

static TRACE_ALWAYS_INLINE void count_numbers(struct hist *hist,
					      const struct trace_trigger_hit *hit,
					      const uint64_t *key, uint32_t nr)
{
	struct hist_entry *entry = find_numbers(hist, hit, key, nr);

	if (TRACE_LIKELY(entry))
		hist_plain_count(hist, hit, entry);
}

static void run_field(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	uint64_t key[HIST_KEYS_MAX] = { 0 };

	if (is_paused(hist))
		return;
	key[0] = expr_field(&hist->plain[0], hit->entry);
	count_numbers(hist, hit, key, 1);
}

/* Count by one field, with the sum of another. */
static void run_field_sum(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	uint64_t key[HIST_KEYS_MAX] = { 0 };
	struct hist_entry *entry;

	if (is_paused(hist))
		return;
	key[0] = expr_field(&hist->plain[0], hit->entry);
	entry = find_numbers(hist, hit, key, 1);
	if (TRACE_UNLIKELY(!entry))
		return;
	hist_entry_hit(entry);
	hist_entry_sum(entry, 1, expr_field(&hist->plain[1], hit->entry));
}

static void run_pid(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	uint64_t key[HIST_KEYS_MAX] = { 0 };

	if (is_paused(hist))
		return;
	key[0] = (uint64_t)trace_plat_current_pid();
	count_numbers(hist, hit, key, 1);
}

static TRACE_ALWAYS_INLINE void hist_plain_run_numbers(const struct trace_trigger *trigger,
						       const struct trace_trigger_hit *hit,
						       uint32_t nr)
{
	struct hist *hist = trigger->private;
	uint64_t key[HIST_KEYS_MAX] = { 0 };

	if (is_paused(hist))
		return;
	key[0] = hist_plain_number_of(&hist->plain[0], hit);
	if (nr > 1)
		key[1] = hist_plain_number_of(&hist->plain[1], hit);
	if (nr > 2)
		key[2] = hist_plain_number_of(&hist->plain[2], hit);
	count_numbers(hist, hit, key, nr);
}

static void run_one(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	hist_plain_run_numbers(trigger, hit, 1);
}

static void run_two(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	hist_plain_run_numbers(trigger, hit, 2);
}

static void run_three(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	hist_plain_run_numbers(trigger, hit, 3);
}

static TRACE_NOINLINE void count_new_text(struct hist *hist, const struct trace_trigger_hit *hit,
					  const uint64_t *words, uint32_t nr_words, uint64_t hash)
{
	struct hist_key key = { .words = words, .nr_words = nr_words, .hash = hash };

	hist_plain_make_and_count(hist, hit, &key);
}

/*
 * Count a new array of SHORT_TEXT_MIN to SHORT_TEXT_MAX characters, such as the name of a thread.
 */
static TRACE_NOINLINE void count_new_short(struct hist *hist, const struct trace_trigger_hit *hit,
					   uint64_t hash, uint64_t first, uint64_t second)
{
	const uint64_t words[] = { first, second };

	count_new_text(hist, hit, words, hist_zeros_in(first) ? 1 : 2, hash);
}

static void run_short_text(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	struct hist *hist = trigger->private;
	const struct expr_insn *insn = &hist->plain[0];
	const char *text = (const char *)hit->entry + insn->offset;
	struct hist_entry *entry;
	uint64_t words[2], zeros, hash;

	if (is_paused(hist))
		return;
	__builtin_memcpy(&words[0], text, 8);
	zeros = hist_zeros_in(words[0]);
	if (zeros) {
		words[0] = hist_cut_word(words[0], zeros);
		words[1] = 0; /* as in the entry */
		hash = hist_hash(0, words[0]);
	} else {
		__builtin_memcpy(&words[1], text + insn->with.size - 1 - 8, 8);
		words[1] >>= insn->shift;
		words[1] = hist_cut_word(words[1], hist_zeros_in(words[1]));
		hash = hist_hash(hist_hash(0, words[0]), words[1]);
	}
	entry = hist_map_find(hist->map, words, 2, hash);
	if (TRACE_LIKELY(entry))
		hist_plain_count(hist, hit, entry);
	else if (!hist_map_drops(hist->map))
		count_new_short(hist, hit, hash, words[0], words[1]);
}

static void run_text(struct trace_trigger *trigger, const struct trace_trigger_hit *hit)
{
	uint64_t words[HIST_TEXT_MAX / 8], hash = 0;
	struct hist *hist = trigger->private;
	const struct expr_insn *insn = &hist->plain[0];
	struct hist_entry *entry;
	uint32_t nr;

	if (is_paused(hist))
		return;
	nr = hist_put_text(words, (const char *)hit->entry + insn->offset, insn->with.size - 1u,
			   &hash);
	entry = hist_map_find(hist->map, words, nr, hash);
	if (TRACE_LIKELY(entry))
		hist_plain_count(hist, hit, entry);
	else if (!hist_map_drops(hist->map))
		count_new_text(hist, hit, words, nr, hash);
}

/* ---- The choice of the function ---- */

static bool is_number(const struct expr_insn *insn)
{
	return insn->op == EXPR_FIELD || insn->op == EXPR_PID || insn->op == EXPR_CPU;
}

/* Does each key and value, but perhaps the first key, take one instruction, a number? */
static bool hist_is_plain(const struct hist *hist)
{
	uint32_t nr = (uint32_t)hist->nr_keys + hist->nr_vals;

	if (hist->values->nr != 2 * nr || hist->nr_vars || hist->nr_refs || hist->nr_actions)
		return false;
	for (uint32_t i = 1; i < nr; i++) {
		if (!is_number(&hist->values->insns[2ul * i]))
			return false;
	}
	return hist->values->insns[1].op == EXPR_END;
}

static bool is_text(const struct expr_insn *insn)
{
	return hist_is_step(insn, HIST_STEP_WORDS) && insn->place == EXPR_PLACE_FIELD;
}

static bool is_short(const struct expr_insn *insn)
{
	return insn->with.size >= SHORT_TEXT_MIN && insn->with.size <= SHORT_TEXT_MAX;
}

trace_trigger_fn trace_hist_choose_run(const struct hist *hist)
{
	static const trace_trigger_fn by_numbers[] = { run_one, run_two, run_three };
	const struct expr_insn *first = hist->values->insns;

	if (!hist_is_plain(hist))
		return trace_hist_run;
	if (hist->nr_keys == 1 && is_text(first))
		return is_short(first) ? run_short_text : run_text;
	if (!is_number(first))
		return trace_hist_run;
	if (hist->nr_keys > 1 || first->op == EXPR_CPU)
		return by_numbers[hist->nr_keys - 1]; // NOLINT: there are 1 to 3
	if (first->op == EXPR_PID)
		return run_pid;
	return hist->nr_vals == 1 && first[2].op == EXPR_FIELD ? run_field_sum : run_field;
}
