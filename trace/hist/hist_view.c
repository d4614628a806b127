/* Sorted copies of histograms' entries. See hist_view.h. */
#include "hist_record.h"
#include "hist_user.h"
#include "hist_view.h"
#include "text/str.h"

/* ---- Sorting ---- */

/* The number of words of a key that begins here. */
static size_t key_words(const struct hist_value *key, const uint64_t *words)
{
	const uint32_t *ips = (const void *)words;
	size_t nr = 0;

	if (key->kind == HIST_NUMBER)
		return 1;
	if (key->kind == HIST_TEXT)
		return trace_strlen((const char *)words) / 8 + 1;
	if (key->kind == HIST_USER_STACK)
		return hist_user_words((const void *)words);
	while (ips[nr])
		nr++;
	return nr / 2 + 1;
}

const uint64_t *trace_hist_key_at(const struct hist *hist, const uint64_t *entry, uint32_t index)
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

int trace_hist_compare_keys(const struct hist *hist, const uint64_t *a, const uint64_t *b,
			    uint32_t index)
{
	const struct hist_value *key = &hist->keys[index];

	a = trace_hist_key_at(hist, a, index);
	b = trace_hist_key_at(hist, b, index);
	if (key->kind == HIST_TEXT)
		return trace_strcmp((const char *)a, (const char *)b);
	if (key->kind == HIST_USER_STACK)
		return trace_hist_user_compare((const void *)a, (const void *)b);
	return key->kind == HIST_STACK ? compare_stacks(a, b)
				       : compare_numbers(*a, *b, key->is_signed);
}

static int compare_by(const struct hist *hist, const struct hist_sort *sort, const uint64_t *a,
		      const uint64_t *b)
{
	int order;

	if (sort->index <= hist->nr_vals)
		order = compare_numbers(hist_sum_at(hist, a, sort->index),
					hist_sum_at(hist, b, sort->index), false);
	else
		order = trace_hist_compare_keys(hist, a, b, sort->index - 1u - hist->nr_vals);
	return sort->is_descending ? -order : order;
}

/* Compare two entries in the order shown. Equal ones are in the order of their keys. */
static bool is_shown_before(const void *context, const void *a, const void *b)
{
	const struct hist *hist = context;
	int order = 0;

	for (uint32_t i = 0; i < hist->nr_sort && !order; i++)
		order = compare_by(hist, &hist->sort[i], a, b);
	for (uint32_t i = 0; i < hist->nr_keys && !order; i++)
		order = trace_hist_compare_keys(hist, a, b, i);
	return order < 0;
}

struct heap {
	const void **order;
	size_t nr;
	hist_before_fn is_before;
	const void *context;
};

/* Sift order[at] to its place in the heap, whose largest is the first. */
static void sift(const struct heap *heap, size_t at)
{
	const void **order = heap->order;
	size_t child;

	while ((child = 2 * at + 1) < heap->nr) {
		const void *moved = order[at];

		if (child + 1 < heap->nr &&
		    heap->is_before(heap->context, order[child], order[child + 1]))
			child++;
		if (!heap->is_before(heap->context, moved, order[child]))
			return;
		order[at] = order[child];
		order[child] = moved;
		at = child;
	}
}

void trace_hist_sort(const void **order, size_t nr, hist_before_fn is_before, const void *context)
{
	struct heap heap = { order, nr, is_before, context };

	for (size_t at = nr / 2; at-- > 0;)
		sift(&heap, at);
	while (heap.nr > 1) {
		const void *first = order[0];

		order[0] = order[--heap.nr];
		order[heap.nr] = first;
		sift(&heap, 0);
	}
}

/* ---- A view ---- */

static uint32_t entry_words(const struct hist *hist)
{
	const struct hist_map_shape *shape = &hist->map->shape;

	return 1 + shape->key_words + shape->sum_words + shape->extra_words;
}

static uint32_t record_words(const struct hist *hist)
{
	return hist->records ? hist->records->words : 0;
}

static void hist_view_note(struct hist_view *view, uint32_t i, uint64_t value)
{
	view->totals[i] += value;
	if (value > view->maxima[i])
		view->maxima[i] = value;
}

static void copy_entry(struct hist_view *view, const struct hist_entry *entry)
{
	const struct hist *hist = view->hist;
	uint64_t *copy = view->copies + view->nr * (view->entry_words + view->record_words);

	copy[0] = entry->hits;
	for (uint32_t i = 1; i < view->entry_words; i++)
		copy[i] = hist_entry_word(entry, i - 1);
	if (view->record_words)
		trace_hist_record_read(hist->records, &entry->words[hist->record_at],
				       copy + view->entry_words);
	view->order[view->nr++] = copy;
	view->hits += copy[0];
	for (uint32_t i = 0; i <= hist->nr_vals; i++)
		hist_view_note(view, i, hist_sum_at(hist, copy, i));
}

struct hist_view *trace_hist_view_create(struct hist *hist)
{
	/* Entries that appear during the copy are left out. */
	size_t room = hist->map->nr_taken, at = 0;
	size_t words = entry_words(hist) + record_words(hist);
	size_t bytes =
		sizeof(struct hist_view) + room * (sizeof(uint64_t *) + sizeof(uint64_t) * words);
	struct hist_view *view = trace_plat_alloc(bytes);
	const struct hist_entry *entry;

	if (!view)
		return NULL;
	view->hist = hist;
	hist->nr_holders++;
	view->bytes = bytes;
	view->copies = (uint64_t *)(void *)(view + 1);
	view->order = (const void **)(void *)(view->copies + room * words);
	view->entry_words = entry_words(hist);
	view->record_words = record_words(hist);
	while (view->nr < room && (entry = trace_hist_map_next(hist->map, &at)))
		copy_entry(view, entry);
	view->drops = hist->map->drops;
	trace_hist_sort(view->order, view->nr, is_shown_before, hist);
	return view;
}

void trace_hist_view_destroy(struct hist_view *view)
{
	if (!view)
		return;
	if (view->private)
		trace_plat_free(view->private, view->private_bytes);
	trace_hist_put(view->hist);
	trace_plat_free(view, view->bytes);
}

void *trace_hist_view_alloc(struct hist_view *view, size_t bytes)
{
	view->private = trace_plat_alloc(bytes);
	view->private_bytes = bytes;
	return view->private;
}
