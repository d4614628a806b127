/*
 * Histograms: entries as text, in Linux's form. See hist.h.
 *
 * A view has a copy of all entries, so that what is shown is sorted, and the totals are the sums of
 * what is shown, while counting goes on.
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "hist.h"
#include "text/str.h"

#define BAR_CHARS    20u
#define STACK_INDENT 9

struct hist_view {
	struct hist *hist;
	size_t bytes; /* of the view */
	size_t nr;
	size_t at; /* what comes next */
	bool is_over;
	uint64_t hits, drops;
	uint64_t totals[HIST_VALS_MAX]; /* of hits and sums, for .percent */
	uint64_t maxima[HIST_VALS_MAX]; /* for .graph */
	const uint64_t **order;		/* the entries, sorted: hits, then words */
	uint64_t *copies;
};

/* ---- Sorting ---- */

/* How many words a key has that begins here. */
static size_t key_words(const struct hist_value *key, const uint64_t *words)
{
	const uint32_t *ips = (const void *)words;
	size_t nr = 0;

	if (key->kind == HIST_NUMBER)
		return 1;
	if (key->kind == HIST_TEXT)
		return trace_strlen((const char *)words) / 8 + 1;
	while (ips[nr])
		nr++;
	return nr / 2 + 1;
}

static const uint64_t *key_at(const struct hist *hist, const uint64_t *entry, uint32_t index)
{
	const uint64_t *words = entry + 1;

	for (uint32_t i = 0; i < index; i++)
		words += key_words(&hist->keys[i], words);
	return words;
}

static int compare_numbers(uint64_t a, uint64_t b, bool is_signed)
{
	if (is_signed) {
		a ^= (uint64_t)1 << 63;
		b ^= (uint64_t)1 << 63;
	}
	return a < b ? -1 : a > b;
}

static int compare_stacks(const uint64_t *a, const uint64_t *b)
{
	const uint32_t *ips_a = (const void *)a, *ips_b = (const void *)b;

	while (*ips_a && *ips_a == *ips_b) {
		ips_a++;
		ips_b++;
	}
	return compare_numbers(*ips_a, *ips_b, false);
}

static int compare_keys(const struct hist *hist, const uint64_t *a, const uint64_t *b, uint32_t i)
{
	const struct hist_value *key = &hist->keys[i];

	a = key_at(hist, a, i);
	b = key_at(hist, b, i);
	if (key->kind == HIST_TEXT)
		return trace_strcmp((const char *)a, (const char *)b);
	return key->kind == HIST_STACK ? compare_stacks(a, b)
				       : compare_numbers(*a, *b, key->is_signed);
}

static int compare_by(const struct hist *hist, const struct hist_sort *sort, const uint64_t *a,
		      const uint64_t *b)
{
	uint32_t at;
	int order;

	if (!sort->index) {
		order = compare_numbers(a[0], b[0], false);
	} else if (sort->index <= hist->nr_vals) {
		at = 1u + hist->vals[sort->index - 1].at;
		order = compare_numbers(a[at], b[at], false);
	} else {
		order = compare_keys(hist, a, b, sort->index - 1u - hist->nr_vals);
	}
	return sort->is_descending ? -order : order;
}

/* What is equal by all that was asked for comes in the order of the keys. */
static bool is_before(const struct hist *hist, const uint64_t *a, const uint64_t *b)
{
	int order = 0;

	for (uint32_t i = 0; i < hist->nr_sort && !order; i++)
		order = compare_by(hist, &hist->sort[i], a, b);
	for (uint32_t i = 0; i < hist->nr_keys && !order; i++)
		order = compare_keys(hist, a, b, i);
	return order < 0;
}

/* Put order[at] where it belongs in the heap of the first `nr`, whose largest is the first. */
static void sift(struct hist_view *view, size_t at, size_t nr)
{
	const uint64_t **order = view->order;
	size_t child;

	while ((child = 2 * at + 1) < nr) {
		const uint64_t *moved = order[at];

		if (child + 1 < nr && is_before(view->hist, order[child], order[child + 1]))
			child++;
		if (!is_before(view->hist, moved, order[child]))
			return;
		order[at] = order[child];
		order[child] = moved;
		at = child;
	}
}

static void sort_entries(struct hist_view *view)
{
	for (size_t at = view->nr / 2; at-- > 0;)
		sift(view, at, view->nr);
	for (size_t nr = view->nr; nr-- > 1;) {
		const uint64_t *first = view->order[0];

		view->order[0] = view->order[nr];
		view->order[nr] = first;
		sift(view, 0, nr);
	}
}

/* ---- A view ---- */

static uint32_t entry_words(const struct hist *hist)
{
	const struct hist_map_shape *shape = &hist->map->shape;

	return 1 + shape->key_words + shape->sum_words + shape->extra_words;
}

static void note(struct hist_view *view, uint32_t i, uint64_t value)
{
	view->totals[i] += value;
	if (value > view->maxima[i])
		view->maxima[i] = value;
}

static void copy_entry(struct hist_view *view, const struct hist_entry *entry)
{
	const struct hist *hist = view->hist;
	uint32_t nr_words = entry_words(hist);
	uint64_t *copy = view->copies + view->nr * nr_words;

	copy[0] = entry->hits;
	for (uint32_t i = 1; i < nr_words; i++)
		copy[i] = hist_entry_word(entry, i - 1);
	view->order[view->nr++] = copy;
	view->hits += copy[0];
	note(view, 0, copy[0]);
	for (uint32_t i = 0; i < hist->nr_vals; i++)
		note(view, i + 1, copy[1 + hist->vals[i].at]);
}

struct hist_view *hist_view_create(struct hist *hist)
{
	/* Entries that come while they are copied are left out. */
	size_t room = hist->map->nr_taken, at = 0;
	size_t bytes = sizeof(struct hist_view) +
		       room * (sizeof(uint64_t *) + sizeof(uint64_t) * entry_words(hist));
	struct hist_view *view = trace_plat_alloc(bytes);
	const struct hist_entry *entry;

	if (!view)
		return NULL;
	view->hist = hist;
	hist->nr_holders++;
	view->bytes = bytes;
	view->copies = (uint64_t *)(void *)(view + 1);
	view->order = (const uint64_t **)(void *)(view->copies + room * entry_words(hist));
	while (view->nr < room && (entry = hist_map_next(hist->map, &at)))
		copy_entry(view, entry);
	view->drops = hist->map->drops;
	sort_entries(view);
	return view;
}

void hist_view_destroy(struct hist_view *view)
{
	if (!view)
		return;
	hist_put(view->hist);
	trace_plat_free(view, view->bytes);
}

/* ---- Keys ---- */

static void print_symbol(uint64_t address, bool has_offset, struct trace_seq *seq)
{
	char text[TRACE_SYM_LEN + 48];
	int width = has_offset ? 55 : 45;

	(void)trace_snprintf(text, sizeof(text), has_offset ? "%pS" : "%ps",
			     (void *)(uintptr_t)address);
	trace_seq_printf(seq, "[%llx] %-*s", (unsigned long long)address, width, text);
}

static void print_stack(const uint32_t *ips, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < HIST_STACK_MAX && ips[i]; i++)
		trace_seq_printf(seq, "%*c%pB\n", STACK_INDENT, ' ',
				 (void *)trace_plat_ip_unpack(ips[i]));
}

static void print_number_key(const struct hist *hist, const struct hist_value *key,
			     const uint64_t *entry, uint64_t value, struct trace_seq *seq)
{
	unsigned long long number = value;

	trace_seq_printf(seq, "%s: ", key->name);
	switch (key->modifier) {
	case HIST_HEX:
		trace_seq_printf(seq, "%llx", number);
		break;
	case HIST_SYM:
	case HIST_SYM_OFFSET:
		print_symbol(value, key->modifier == HIST_SYM_OFFSET, seq);
		break;
	case HIST_EXECNAME:
		trace_seq_printf(seq, "%-16s[%10llu]", (const char *)(entry + 1 + hist->comm_at),
				 number);
		break;
	case HIST_SYSCALL:
		trace_seq_printf(seq, "%-30s[%3llu]", "unknown_syscall", number);
		break;
	case HIST_LOG2:
		trace_seq_printf(seq, "~ 2^%-2llu", number);
		break;
	case HIST_BUCKETS:
		trace_seq_printf(seq, "~ %llu-%llu", number,
				 number + (unsigned long long)key->buckets - 1);
		break;
	default:
		trace_seq_printf(seq, "%10llu", number);
	}
}

static void print_key(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq)
{
	bool has_lines = false;

	trace_seq_puts(seq, "{ ");
	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		const struct hist_value *key = &hist->keys[i];
		const uint64_t *words = key_at(hist, entry, i);

		if (i)
			trace_seq_puts(seq, ", ");
		if (key->kind == HIST_NUMBER) {
			print_number_key(hist, key, entry, *words, seq);
		} else if (key->kind == HIST_TEXT) {
			trace_seq_printf(seq, "%s: %-50s", key->name, (const char *)words);
		} else {
			trace_seq_printf(seq, key->field ? "%s.stacktrace:\n" : "%s:\n", key->name);
			print_stack((const void *)words, seq);
			has_lines = true;
		}
	}
	trace_seq_puts(seq, has_lines ? "}" : " }");
}

/* ---- Values ---- */

/* In hundredths of a percent; `total` is not 0. */
static uint32_t share_of(uint64_t value, uint64_t total)
{
	while (value > UINT64_MAX / 10000) {
		value /= 2;
		total /= 2;
	}
	return total ? (uint32_t)(value * 10000 / total) : 10000;
}

static void print_bar(uint64_t value, uint64_t max, struct trace_seq *seq)
{
	uint32_t len = max ? share_of(value, max) * BAR_CHARS / 10000 : 0;

	for (uint32_t i = 0; i < BAR_CHARS; i++)
		trace_seq_putc(seq, i < len ? '#' : ' ');
}

/* Sum number `i`: 0 the hits, then the values. */
static void print_sum(const struct hist_view *view, uint32_t i, uint64_t sum, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;
	const char *name = i ? hist->vals[i - 1].name : "hitcount";
	uint32_t share = view->totals[i] ? share_of(sum, view->totals[i]) : 0;

	switch (i ? hist->vals[i - 1].modifier : hist->hits_modifier) {
	case HIST_PERCENT:
		trace_seq_printf(seq, " %s (%%): %3u.%02u", name, share / 100, share % 100);
		break;
	case HIST_GRAPH:
		trace_seq_printf(seq, " %s: ", name);
		print_bar(sum, view->maxima[i], seq);
		break;
	case HIST_HEX:
		trace_seq_printf(seq, " %s: %10llx", name, (unsigned long long)sum);
		break;
	default:
		trace_seq_printf(seq, " %s: %10llu", name, (unsigned long long)sum);
	}
}

static void print_entry(const struct hist_view *view, const uint64_t *entry, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;

	print_key(hist, entry, seq);
	if (!hist->no_hitcount)
		print_sum(view, 0, entry[0], seq);
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		const struct hist_value *value = &hist->vals[i];

		if (value->is_expression)
			continue;
		trace_seq_putc(seq, ' ');
		print_sum(view, i + 1, entry[1 + value->at], seq);
	}
	trace_seq_putc(seq, '\n');
}

bool hist_view_next(struct hist_view *view, struct trace_seq *seq)
{
	if (view->at < view->nr) {
		print_entry(view, view->order[view->at++], seq);
		return true;
	}
	if (view->is_over)
		return false;
	view->is_over = true;
	trace_seq_printf(seq, "\nTotals:\n    Hits: %llu\n    Entries: %zu\n    Dropped: %llu\n",
			 (unsigned long long)view->hits, view->nr, (unsigned long long)view->drops);
	return true;
}
