/*
 * Records: what an entry of a histogram keeps of one event, and replaces by what it keeps of
 * another one, all of it at once.
 *
 *   word of an entry   changes | number ---+     0: nothing is kept
 *                                          v
 *   records            value | words ...         all of one size; number 0 is not used
 *
 * Who has something better takes a free record, writes it, and puts its number in the place of the
 * old one by one compare-exchange; the old record is free then. If somebody else was faster,
 * another CPU or an NMI, he compares with what that one has kept, and perhaps gives up. So what is
 * kept is always of one event, no value that is better is ever replaced by a worse one, and nobody
 * waits. A record may be taken by others while it is read: a reader reads again until the word of
 * the entry was the same before and behind.
 *
 * There are as many records as entries, and one more for each context of each CPU, so that there is
 * always a free one.
 *
 * Context:   replace - any, NMI included, preemption off. The rest - thread.
 * Locking:   none for replace and read. clear and destroy: nobody else uses the records.
 * Ownership: the user's.
 */
#ifndef HIST_RECORD_H
#define HIST_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hist_records {
	uint32_t nr;		   /* without number 0 */
	uint32_t words;		   /* of each, with the value */
	size_t bytes;		   /* of all */
	_Atomic uint32_t nr_taken; /* records that were ever taken: the first ones */
	/* Those of them that are free: number of the first one, above it a count of changes. */
	_Atomic uint64_t free;
	_Atomic uint64_t memory[];
};

/* A better record. */
struct hist_record_wish {
	uint64_t value;
	/* Is it better than what is kept? 0 is compared with when nothing is. */
	bool (*replaces)(uint64_t kept, uint64_t value);
	/* Write the words behind the value by hist_record_set(). */
	void (*fill)(void *context, _Atomic uint64_t *record);
	void *context;
};

/* For `nr_entries` entries. NULL when out of memory. */
struct hist_records *trace_hist_records_create(uint32_t nr_entries, uint32_t words);
/* NULL is allowed. */
void trace_hist_records_destroy(struct hist_records *records);
/* All are free; words of entries are 0 again. */
void trace_hist_records_clear(struct hist_records *records);

/* Was what `place` keeps replaced? */
bool trace_hist_record_replace(struct hist_records *records, _Atomic uint64_t *place,
			       const struct hist_record_wish *wish);
/* A copy of what it keeps, or zeros. */
void trace_hist_record_read(const struct hist_records *records, const _Atomic uint64_t *place,
			    uint64_t *out_words);

/* Word `at` of a record that is being filled. The release pairs with the acquires of readers. */
static inline void hist_record_set(_Atomic uint64_t *record, uint32_t at, uint64_t word)
{
	atomic_store_explicit(&record[at], word, memory_order_release);
}

#endif
