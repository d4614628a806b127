/*
 * Walks over the events of all CPUs, or one, in order of time. Two kinds:
 *
 *   peeking    for the file `trace`: shows the events that there were when it was opened, and takes
 *              nothing away. In the snapshot of a latency tracer it begins where the maximum began
 *   consuming  for trace_pipe: takes the events that it shows; goes on when new ones come
 *
 * Context:   thread. A walk of trace_iter_dump(): any context, takes no lock and no memory.
 * Locking:   steps of a consuming walk are made with the instance's read lock held; the current
 *            event is good until it is released. A peeking walk needs no lock. One user at a time.
 * Ownership: the caller closes what it opened.
 */
#ifndef TRACE_ITER_H
#define TRACE_ITER_H

#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "instance/array.h"
#include "instance/cmdlines.h"
#include "instance/entry.h"
#include "instance/max.h"
#include "instance/snapshot.h"

#define TRACE_ITER_COMMS      16u  /* a power of two */
#define TRACE_ITER_SYMBOLS    256u /* a power of two */
#define TRACE_ITER_SYMBOL_LEN 58u

#define TRACE_ITER_HEAD_LEN 68u /* a name, two pids and a CPU as long as they may be, and a state */

#define TRACE_ITER_SCRATCH 512u /* bytes of text that an event's printing makes on the side */

#define TRACE_ITER_GRAPH_DEPTH 72u /* nested functions that are remembered */

/* A code address as text; kept, because looking it up costs more than all the rest of a line. */
struct trace_iter_symbol {
	uint32_t ip;   /* packed */
	uint8_t flags; /* TRACE_IP_OFFSET and so on */
	uint8_t len;   /* of `text`, which has no NUL; 0: the place is free */
	char text[TRACE_ITER_SYMBOL_LEN];
};

/* The text before the time in the lines of a thread; kept, because most of them begin alike. */
struct trace_iter_head {
	uint32_t cpu;
	uint32_t state; /* of the thread, as trace_print_context() puts it together */
	uint32_t len;	/* of `text`; 0: nothing is kept */
	char text[TRACE_ITER_HEAD_LEN];
};

/* The state of a CPU for the lines of function_graph. */
struct trace_iter_graph {
	bool has_pid;
	bool in_irq;			       /* inside an interrupt that is not shown */
	int32_t pid;			       /* of the last line */
	uint32_t irq_depth;		       /* depth at which that interrupt began */
	int32_t comment_depth;		       /* depth of the function that a comment belongs to */
	uint32_t open[TRACE_ITER_GRAPH_DEPTH]; /* open functions, packed, by depth; 0: not known */
};

/* The next event of one CPU. */
struct trace_iter_cpu {
	struct ring_iter *ring;	 /* for a peeking walk */
	struct ring_event event; /* its next event, if has_event */
	bool has_event;
	uint64_t step;	     /* trace_iter.step when it was fetched */
	uint64_t nr_skipped; /* events that are not shown, because they are before the maximum */
	bool was_seen;	     /* an event of it has been the current one */
	bool is_started;     /* `##### CPU n buffer started ####` was shown, or is not wanted */
	struct trace_iter_graph graph;
};

struct trace_iter {
	struct trace_array *tr;
	const struct tracer *tracer; /* the instance's tracer when it was opened */
	struct trace_max max;	     /* the maximum that it shows; latency_ns 0: it shows none */
	struct ring_buffer *walked;  /* the buffer that the events come from */
	uint64_t start_ts;	     /* the latency format counts from this time */
	int cpu;		     /* or RING_BUFFER_ALL_CPUS */
	uint32_t first_cpu;
	uint32_t nr_cpus;
	bool is_consuming;
	bool is_snapshot;  /* walks the snapshot, not the buffer that is recorded into */
	bool is_ns;	   /* the clock counts nanoseconds */
	bool is_latency;   /* the option latency-format was set */
	bool has_overruns; /* events were overwritten: say where the events of each CPU start */

	/* The current event, after trace_iter_next() returned true. */
	struct ring_event event;
	const struct trace_event *type; /* while its line is printed; NULL: unknown */
	uint64_t index;			/* of the current event, from 0 */
	uint64_t nr_seen;		/* events so far, those that were skipped included */
	uint64_t step;			/* steps of a peeking walk so far, this one included */
	uint64_t next_ts;		/* latency format: time of the next event, or of this one */
	bool is_dump;			/* of trace_iter_dump(): nothing may wait */
	struct trace_cmdline comms[TRACE_ITER_COMMS];	/* names found lately, at pid modulo size */
	struct trace_iter_head heads[TRACE_ITER_COMMS]; /* recent beginnings of lines, by thread */
	struct trace_iter_symbol *symbols;		/* TRACE_ITER_SYMBOLS, found lately */
	struct trace_iter_cpu *cpus;			/* nr_cpus, the first is first_cpu */
	struct ring_buffer *peeked;   /* consuming: the buffer of the last trace_iter_peek() */
	struct trace_seq scratch_seq; /* trace_iter_scratch() */
	char scratch[TRACE_ITER_SCRATCH];
	uint8_t *copy;	     /* memory for a copy of the current event */
	uint32_t copy_bytes; /* its size; longer events are cut, which only dumps can have */
};

static inline const struct trace_entry *trace_iter_entry(const struct trace_iter *iter)
{
	return iter->event.data;
}

/* The place of a thread in comms[] and heads[]; several threads share each. */
static inline uint32_t trace_iter_place(int32_t pid)
{
	return (uint32_t)pid % TRACE_ITER_COMMS;
}

/* Have `seq` print pointers and bit masks as the options of the walk's instance say. */
void trace_iter_style(const struct trace_iter *iter, struct trace_seq *seq);

/* The name of the current event's thread, or of any thread; good until the next of these calls. */
const char *trace_iter_comm(struct trace_iter *iter);
const char *trace_iter_comm_of(struct trace_iter *iter, int32_t pid);
/* The process that a thread is of, by its number; 0: not known. */
int32_t trace_iter_tgid(const struct trace_iter *iter, int32_t pid);

enum trace_iter_kind {
	TRACE_ITER_PEEKING,
	TRACE_ITER_CONSUMING,
	TRACE_ITER_SNAPSHOT, /* peeking, in the snapshot */
};

/*
 * The buffer that the instance has now for walks of this kind; it may have been exchanged since the
 * walk began. NULL: there has never been a snapshot.
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
/* Is there nothing to read in its buffer now? Any context. */
bool trace_iter_is_empty(const struct trace_iter *iter);
/* For a peeking walk before its first step: has it no event to show? */
bool trace_iter_shows_nothing(struct trace_iter *iter);
/* Count the events that a peeking walk shows, without and with the overwritten ones. */
void trace_iter_count(const struct trace_iter *iter, uint64_t *out_entries, uint64_t *out_written);

/*
 * Set up `iter` as a peeking walk for a crash dump. The caller has zeroed it and filled in
 * `symbols`, `cpus` (one for each CPU of the platform), `copy` and `copy_bytes`. It is not closed.
 */
void trace_iter_dump(struct trace_iter *iter, struct trace_array *tr, int cpu);

#endif
