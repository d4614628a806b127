/*
 * Reasons why a trace is empty, short or late: the sentences of an instance's file `why`.
 *
 *   struct trace_why_check   looks at one part of the state and says 0 or more sentences; features
 *                            register tables of them
 *   struct trace_why         one reading of the file: the state of the buffer, what is on, and the
 *                            text
 *
 * trace/why/ calls the checks in the order of their places: those that explain more come first.
 *
 * Context:   checks - thread; they may sleep, but not wait for other threads or CPUs.
 * Locking:   a check takes no lock whose holder may wait for other CPUs or threads: neither the
 *            config lock, nor ftrace's, nor those of the ring buffer. `why` has to answer while
 *            tracing hangs. Objects that may be freed are read with preemption off; a change
 *            meanwhile makes a sentence untrue that would have been untrue a moment later anyway.
 * Ownership: the reader of the file owns the struct trace_why and its contents.
 */
#ifndef TRACE_WHY_H
#define TRACE_WHY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "ring/ring_glance.h"

struct trace_array;

#define TRACE_WHY_TYPES	    4096u /* events of higher types are not counted one by one */
#define TRACE_WHY_NAMES	    128u
#define TRACE_WHY_MAX_NAMED 5u /* of many of a kind that many are named */

/* The contents of the ring of a CPU, or of all of them. */
struct trace_why_ring {
	struct ring_glance glance;
	uint64_t size_bytes;
	uint64_t entries;     /* still there */
	uint64_t event_bytes; /* of these, with their heads of 4 bytes */
	uint64_t overrun;
	uint64_t nr_last_second; /* of `entries`; 0 unless the clock counts nanoseconds */
	uint64_t first_ts;	 /* of the oldest entry, by the buffer's clock */
};

/* Entries of a type. */
struct trace_why_type {
	uint64_t nr;
	/*
	 * When the newest came, by trace_plat_clock_ns(): no earlier than it did, and less than the
	 * time of a look later. UINT64_MAX when the buffer's clock does not count nanoseconds.
	 */
	uint64_t newest_ns;
};

struct trace_why {
	struct trace_array *tr;
	struct trace_seq *seq;
	uint64_t now_ns;  /* trace_plat_clock_ns() */
	uint32_t nr_said; /* by trace_why_say() */

	uint32_t nr_cpus;
	struct trace_why_ring all; /* sums of what is counted in events */
	struct trace_why_ring *cpus;
	struct trace_why_type *types; /* types below TRACE_WHY_TYPES */
	bool has_types;		      /* there were no others */

	/* Counts of things that checks at TRACE_WHY_SOURCES have found to be on. */
	uint32_t nr_hists;
	uint32_t nr_scripts;
	uint32_t nr_events;
	char event_names[TRACE_WHY_NAMES]; /* of the first ones */
};

/* The order of sentences. */
enum trace_why_place {
	TRACE_WHY_SOURCES, /* no sentence; counts the things that are on */
	TRACE_WHY_DEAD,
	TRACE_WHY_OFF,
	TRACE_WHY_DISABLED,
	TRACE_WHY_NOTHING_ON,
	TRACE_WHY_FUNCTIONS, /* the tracer can see no function */
	TRACE_WHY_THREADS,
	TRACE_WHY_CPUS,
	TRACE_WHY_EVENTS,
	TRACE_WHY_TRACER, /* the event that the tracer is waiting for */
	TRACE_WHY_LOST,
	TRACE_WHY_EMPTIED,
	TRACE_WHY_READERS,
	TRACE_WHY_OPTIONS,
	TRACE_WHY_LATE,
	TRACE_WHY_HISTS,
	TRACE_WHY_SCRIPTS,
	TRACE_WHY_FINE, /* the sentence about recording, when there is no other */
	TRACE_NR_WHY_PLACES,
};

struct trace_why_check {
	enum trace_why_place place;
	void (*say)(struct trace_why *why);
};

/* A table of checks of a feature, which a check without a function ends, in the list of all. */
struct trace_whys {
	const struct trace_why_check *checks;
	struct trace_whys *next;
};
/* Add the checks of a feature; for its init(). */
void trace_whys_register(struct trace_whys *whys);
/* The first table that was registered, or NULL. */
const struct trace_whys *trace_whys_first(void);

/* Checks of snapshot.c. */
extern const struct trace_why_check trace_snapshot_whys[];

/* ---- For checks ---- */

/* Add a sentence: a line of its own. */
void trace_why_say(struct trace_why *why, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* Add a sentence that explains, and is no reason to worry by itself. */
void trace_why_note(struct trace_why *why, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* Add an event to those that are on. */
void trace_why_add_event(struct trace_why *why, const char *name);

/* Words for sentences, to be used at once: trace_why_number(n).text */
struct trace_why_text {
	char text[48];
};
struct trace_why_text trace_why_number(uint64_t number);			    /* 1,234,567 */
struct trace_why_text trace_why_time(uint64_t ns);				    /* 3.2 s */
struct trace_why_text trace_why_ago(const struct trace_why *why, uint64_t then_ns); /* 3.2 s */
struct trace_why_text trace_why_percent(uint64_t part, uint64_t all);		    /* 88 % */
/* sh-12; `comm` NULL: as it is called now. */
struct trace_why_text trace_why_thread(int32_t pid, const char *comm);
/* Name of the function at `ip`, or its address. */
struct trace_why_text trace_why_function(uintptr_t ip);
/* "" for 1, otherwise "s" */
const char *trace_why_s(uint64_t number);

#endif
