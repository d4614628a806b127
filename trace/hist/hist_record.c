/*
 * Records of histograms. See hist_record.h.
 *
 * A reader notices that a record went to another entry: the word of its own entry was changed
 * before the record was free. Taking it acquires what giving it back has released, and all words of
 * a record are stored with release and loaded with acquire. So a reader that has loaded a word of
 * the new content sees the changed word of the entry, too.
 */
#include <trace/platform.h>
#include "hist_record.h"
#include "text/str.h"

#define CONTEXTS 4u /* thread, softirq, interrupt, NMI */

static _Atomic uint64_t *record_at(struct hist_records *records, uint32_t number)
{
	return &records->memory[(size_t)number * records->words];
}

struct hist_records *trace_hist_records_create(uint32_t nr_entries, uint32_t words)
{
	uint32_t nr = nr_entries + CONTEXTS * trace_plat_nr_cpus();
	size_t bytes =
		sizeof(struct hist_records) + ((size_t)nr + 1) * words * sizeof(_Atomic uint64_t);
	struct hist_records *records = trace_plat_alloc(bytes);

	if (!records)
		return NULL;
	records->nr = nr;
	records->words = words;
	records->bytes = bytes;
	return records;
}

void trace_hist_records_destroy(struct hist_records *records)
{
	if (records)
		trace_plat_free(records, records->bytes);
}

void trace_hist_records_clear(struct hist_records *records)
{
	records->nr_taken = 0;
	records->free = 0;
}

/* ---- Free records: the first word of each is the number of the next one ---- */

static uint32_t take_free(struct hist_records *records)
{
	uint64_t head = atomic_load_explicit(&records->free, memory_order_acquire);

	while ((uint32_t)head) {
		/* When another context takes it at this moment, the count is another one, too. */
		uint64_t next = atomic_load_explicit(record_at(records, (uint32_t)head),
						     memory_order_acquire);
		uint64_t changed = ((head >> 32) + 1) << 32 | (uint32_t)next;

		if (atomic_compare_exchange_weak_explicit(&records->free, &head, changed,
							  memory_order_acquire,
							  memory_order_acquire))
			return (uint32_t)head;
	}
	return 0;
}

/* Take a free record. Returns its number; 0, for none, cannot occur: see hist_record.h. */
static uint32_t hist_record_take(struct hist_records *records)
{
	uint32_t number = take_free(records);
	uint32_t nr = atomic_load_explicit(&records->nr_taken, memory_order_relaxed);

	while (!number && nr < records->nr) {
		if (atomic_compare_exchange_weak_explicit(&records->nr_taken, &nr, nr + 1,
							  memory_order_relaxed,
							  memory_order_relaxed))
			number = nr + 1;
	}
	return number;
}

static void hist_record_give_back(struct hist_records *records, uint32_t number)
{
	_Atomic uint64_t *record = record_at(records, number);
	uint64_t head = atomic_load_explicit(&records->free, memory_order_relaxed);
	uint64_t changed;

	do {
		hist_record_set(record, 0, (uint32_t)head);
		changed = ((head >> 32) + 1) << 32 | number;
	} while (!atomic_compare_exchange_weak_explicit(
		&records->free, &head, changed, memory_order_release, memory_order_relaxed));
}

/* ---- Replacing ---- */

static uint64_t kept_value(struct hist_records *records, uint64_t word)
{
	if (!(uint32_t)word)
		return 0;
	return atomic_load_explicit(record_at(records, (uint32_t)word), memory_order_acquire);
}

static uint32_t make_record(struct hist_records *records, const struct hist_record_wish *wish)
{
	uint32_t number = hist_record_take(records);

	if (number) {
		wish->fill(wish->context, record_at(records, number));
		hist_record_set(record_at(records, number), 0, wish->value);
	}
	return number;
}

bool trace_hist_record_replace(struct hist_records *records, _Atomic uint64_t *place,
			       const struct hist_record_wish *wish)
{
	uint64_t word = atomic_load_explicit(place, memory_order_acquire), again, changed;
	bool is_replaced = false;
	uint32_t own = 0;

	while (!is_replaced) {
		if (!wish->replaces(kept_value(records, word), wish->value)) {
			again = atomic_load_explicit(place, memory_order_acquire);
			if (again == word)
				break;
			word = again;
			continue;
		}
		if (!own)
			own = make_record(records, wish);
		if (!own)
			break;
		changed = ((word >> 32) + 1) << 32 | own;
		is_replaced = atomic_compare_exchange_strong_explicit(
			place, &word, changed, memory_order_acq_rel, memory_order_acquire);
	}
	if (is_replaced)
		own = (uint32_t)word;
	if (own)
		hist_record_give_back(records, own);
	return is_replaced;
}

void trace_hist_record_read(const struct hist_records *records, const _Atomic uint64_t *place,
			    uint64_t *out_words)
{
	uint64_t word = atomic_load_explicit(place, memory_order_acquire), before;

	do {
		const _Atomic uint64_t *record =
			&records->memory[(size_t)(uint32_t)word * records->words];

		before = word;
		for (uint32_t i = 0; i < records->words; i++)
			out_words[i] = atomic_load_explicit(&record[i], memory_order_acquire);
		word = atomic_load_explicit(place, memory_order_acquire);
	} while (word != before);
}
