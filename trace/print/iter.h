/*
 * Walks over the events of all CPUs, or one, in order of time. Two kinds:
 *
 *   peeking    for the file `trace`: sees what there was when it was opened, takes nothing away;
 *              in the snapshot of a latency tracer it begins where the maximum does
 *   consuming  for trace_pipe: takes what it shows, never ends, only runs empty
 *
 * Context:   thread; the dump walk (trace_iter_dump) any context, without locks or memory.
 * Locking:   a consuming walk is made under the instance's read lock: the event is good until the
 *            lock is dropped. A peeking one needs none.
 * Ownership: the caller closes what it opened.
 */
#ifndef TRACE_ITER_H
#define TRACE_ITER_H

#include <trace/ring_buffer.h>
#include "instance/array.h"
#include "instance/cmdlines.h"
#include "instance/entry.h"
#include "instance/max.h"
#include "instance/snapshot.h"

#define TRACE_ITER_COMMS      16u  /* a power of two */
#define TRACE_ITER_SYMBOLS    256u /* likewise */
#define TRACE_ITER_SYMBOL_LEN 58u

#define TRACE_ITER_GRAPH_DEPTH 72u /* nested functions that are kept */

/* A code address as text. Looking it up costs more than all the rest of a line. */
struct trace_iter_symbol {
	uint32_t ip;   /* packed */
	uint8_t flags; /* TRACE_IP_OFFSET and so on */
	uint8_t len;   /* 0: empty */
	char text[TRACE_ITER_SYMBOL_LEN];
};

/* What the lines of function_graph remember of a CPU. */
struct trace_iter_graph {
	bool has_pid;
	bool in_irq;			       /* in an interrupt that is not shown */
	int32_t pid;			       /* of the last line */
	uint32_t irq_depth;		       /* where it began */
	int32_t comment_depth;		       /* a comment belongs to the function at this depth */
	uint32_t open[TRACE_ITER_GRAPH_DEPTH]; /* packed, by depth; 0: none, or not seen */
};

/* What one CPU has next. */
struct trace_iter_cpu {
	struct ring_iter *ring; /* of a peeking walk */
	struct ring_event event;
	bool has_event;
	uint64_t nr_skipped; /* events before the maximum */
	bool was_seen;	     /* an event of it was the current one */
	bool is_started;     /* an event of it was shown, or nothing is to be said about it */
	struct trace_iter_graph graph;
};

struct trace_iter {
	struct trace_array *tr;
	const struct tracer *tracer; /* current when it was opened */
	struct trace_max max;	     /* what it shows: latency_ns is 0 when it shows just events */
	struct ring_buffer *walked;  /* where its events come from */
	uint64_t start_ts;	     /* zero of the latency format */
	int cpu;		     /* or RING_BUFFER_ALL_CPUS */
	uint32_t first_cpu;
	uint32_t nr_cpus;
	bool is_consuming;
	bool is_snapshot;  /* walks the snapshot, not what is recorded into */
	bool is_ns;	   /* the clock counts nanoseconds */
	bool is_latency;   /* latency-format was set */
	bool has_overruns; /* buffers do not start at the same time: say where they start */

	/* The current event, after trace_iter_next() returned true. */
	struct ring_event event;
	const struct trace_event *type; /* while its line is printed; NULL: unknown */
	uint64_t index;			/* from 0 */
	uint64_t nr_seen;		/* events so far */
	uint64_t next_ts;		/* latency format: of the event after it, or its own */
	bool is_dump;			/* of a crash: nothing may wait */
	struct trace_cmdline comms[TRACE_ITER_COMMS]; /* found lately; place is pid modulo size */
	struct trace_iter_symbol *symbols;	      /* TRACE_ITER_SYMBOLS, found lately */
	struct trace_iter_cpu *cpus;
	struct ring_buffer *peeked; /* consuming walks: where the event lies that was peeked */
	uint8_t *copy;		    /* where the current event is kept */
	uint32_t copy_bytes;	    /* the longest one of a peeking walk; a dump's are cut */
};

static inline const struct trace_entry *trace_iter_entry(const struct trace_iter *iter)
{
	return iter->event.data;
}

/* Name of the current event's thread, of any; good until the next call. */
const char *trace_iter_comm(struct trace_iter *iter);
const char *trace_iter_comm_of(struct trace_iter *iter, int32_t pid);

enum trace_iter_kind {
	TRACE_ITER_PEEKING,
	TRACE_ITER_CONSUMING,
	TRACE_ITER_SNAPSHOT, /* peeking too */
};

/*
 * The buffer that is walked: what it is now, for an exchange may have come since the walk began.
 * NULL: there has never been a snapshot.
 */
static inline struct ring_buffer *trace_iter_buffer(const struct trace_iter *iter)
{
	return iter->is_snapshot ? trace_snapshot_of(iter->tr)->buffer : iter->tr->buffer;
}

/* NULL when out of memory. */
struct trace_iter *trace_iter_open(struct trace_array *tr, int cpu, enum trace_iter_kind kind);
void trace_iter_close(struct trace_iter *iter);
/* Back to the oldest event; peeking walks only. */
void trace_iter_rewind(struct trace_iter *iter);
/* Go to the next event; false at the end. */
bool trace_iter_next(struct trace_iter *iter);
/*
 * The event behind the current one on the same CPU; false when there is none yet. It is good until
 * the next call for this walk; the current event stays good, but may have moved.
 */
bool trace_iter_peek(struct trace_iter *iter, struct ring_event *out_event);
/* Pass over what trace_iter_peek() has just shown. */
void trace_iter_skip(struct trace_iter *iter);
/* Is there nothing in its buffer now? Any context. */
bool trace_iter_is_empty(const struct trace_iter *iter);
/* The same for a peeking walk that has not begun. */
bool trace_iter_shows_nothing(struct trace_iter *iter);
/* Events that a peeking walk shows, and those with them that were overwritten. */
void trace_iter_count(const struct trace_iter *iter, uint64_t *out_entries, uint64_t *out_written);

/*
 * Set up `iter` as a peeking walk for a crash dump. Its `symbols`, `cpus` (one for each CPU of the
 * platform) and `copy`, of `copy_bytes`, are the caller's.
 */
void trace_iter_dump(struct trace_iter *iter, struct trace_array *tr, int cpu);

#endif
