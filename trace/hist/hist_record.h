/*
 * Records: data of one event that an entry of a histogram keeps, and replaces all at once by the
 * data of another event.
 *
 *   word of an entry   changes | number ---+     0: no record
 *                                          v
 *   records            value | words ...         all of one size; number 0 is not used
 *
 * A probe with a better value takes a free record, writes it, and puts its number in the place of
 * the old one by one compare-exchange; the old record is free then. If another CPU or an NMI was
 * faster, the probe compares with the value kept now, and perhaps gives up. So a record is always
 * of one event, a better value is never replaced by a worse one, and no probe waits. A record may
 * be taken by others while it is read: a reader reads again until the word of the entry was the
 * same before and behind.
 *
 * There are as many records as entries, and one more for each context of each CPU, so that there is
 * always a free one.
 *
 * Context:   replace - any, NMI included, preemption off. The rest - thread.
 * Locking:   none for replace and read. clear and destroy: without any other user.
 * Ownership: the records belong to their user.
 */
#ifndef HIST_RECORD_H
#define HIST_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hist_records {
	uint32_t nr;		   /* number of records, without number 0 */
	uint32_t words;		   /* words of a record, with the value */
	size_t bytes;		   /* bytes of all records */
	_Atomic uint32_t nr_taken; /* records ever taken: the first ones */
	/*
	 * Free records among them, as a list: number of the first one, above it a count of changes.
	 */
	_Atomic uint64_t free;
	_Atomic uint64_t memory[];
};

/* A candidate for a record: its value, and the functions that compare and write it. */
struct hist_record_wish {
	uint64_t value;
	/* Is `value` better than the kept one? `kept` is 0 when there is none. */
	bool (*replaces)(uint64_t kept, uint64_t value);
	/* Write the words behind the value, by hist_record_set(). */
	void (*fill)(void *context, _Atomic uint64_t *record);
	void *context;
};

/* Make records for `nr_entries` entries. Returns NULL when out of memory. */
struct hist_records *trace_hist_records_create(uint32_t nr_entries, uint32_t words);
/* Free the records; NULL is allowed. */
void trace_hist_records_destroy(struct hist_records *records);
/* Make all records free. The caller sets the words of the entries to 0. */
void trace_hist_records_clear(struct hist_records *records);

/* Replace the record at `place` if the candidate is better. Returns true if it was replaced. */
bool trace_hist_record_replace(struct hist_records *records, _Atomic uint64_t *place,
			       const struct hist_record_wish *wish);
/* Copy the record at `place`, or zeros if there is none. */
void trace_hist_record_read(const struct hist_records *records, const _Atomic uint64_t *place,
			    uint64_t *out_words);

/* Word `at` of a record that is being filled. The release pairs with the acquires of readers. */
static inline void hist_record_set(_Atomic uint64_t *record, uint32_t at, uint64_t word)
{
	atomic_store_explicit(&record[at], word, memory_order_release);
}

#endif
