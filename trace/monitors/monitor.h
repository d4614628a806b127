/*
 * Monitors: automata that follow trace events and report violations of a rule. Linux calls that
 * runtime verification, and compiles each monitor; here a user writes one in a line:
 *
 * 	m:wip per=cpu preemptive -preempt_disable-> non_preemptive -preempt_enable-> preemptive;
 * 	      non_preemptive -sched_waking-> non_preemptive
 *
 * The grammar. Blanks may stand between all of its words.
 *
 * 	LINE   = m:NAME { OPTION } PATH { ; PATH }
 * 	OPTION = per=global | per=cpu | per=thread | per=FIELD | size=N | react=REACTOR | enable=1
 * 	PATH   = [ STATE ] STEP { STEP }
 * 	STEP   = -SYMBOL{|SYMBOL}-> STATE
 * 	SYMBOL = [LABEL=][SYSTEM:]EVENT[\[FIELD\]][{FILTER}][(TERM {, TERM})]
 * 	         or the LABEL of one that came before
 * 	TERM   = CLOCK < TIME | reset(CLOCK)   with < <= > or >=; a TIME has a unit: ns us ms s
 *
 *   STATE    a word. The first one is the initial state, which is also the only final one.
 *   EVENT    a trace event; SYSTEM only when several have an event of that name.
 *   {FILTER} only occurrences that pass it count: docs/event-filters.md. The same event with
 *            another filter is another symbol.
 *   [FIELD]  chooses the automaton's instance; without it, per= does.
 *   CLOCK    a word. The step is only there while its conditions hold, and it resets its clocks.
 *            The same event with other terms is another symbol.
 *   LABEL    its name in reports; by default the name of the event.
 *   PATH     with a step first: the event sets this state, whatever was before.
 *
 * The meaning. An automaton has a state for each CPU, thread or value of a field, or one for all:
 *
 *   per=global  one
 *   per=cpu     that of the CPU on which the event occurs, or that [FIELD] names
 *   per=thread  that of the thread in common_pid, or in [FIELD]. Pid 0 is no thread: each CPU has a
 *               thread of that number. At most `size` threads, 1024 without it
 *   per=FIELD   one for each value of that field, or of [FIELD]. At most `size` values; a further
 *               one is dropped, and counted
 *
 * At first the state is unknown, and events are not judged. A step without a state in front begins:
 * its event makes the state known. If there is none, the events begin that lead into the initial
 * state from others, and nowhere else; if there is none of these either, the steps that leave the
 * initial state. The first is da_handle_start_event on Linux, the last da_handle_start_run_event.
 *
 * From then on an event that the automaton names must have a step from the present state. When
 * several symbols stand for one occurrence, the first of the line that has a step is taken. When
 * there is none, that is a violation: it is counted, the event rv:error_NAME is written, the
 * reactor is called, and the state is unknown again. Each step writes rv:event_NAME. These are
 * trace events as on Linux, so that they have filters, histograms and triggers of their own;
 * nothing is written while they are off.
 *
 * Each instance has up to two clocks of its own, which read the time since they were reset; that is,
 * since an event with reset() led to the present state, or since the state became known. Conditions
 * are not judged by an event that makes it known. A time that passes is no event: an automaton that
 * waits too long is found out by its next event.
 *
 *   event --> probe --> trace_event_write() --> trace_monitor_watch_hit()   behind the record
 *                                                 symbol, instance --> state --> next state
 *                                                                         `--> violation
 *
 * Events are seen in the top instance, whether they are on or off there, and independent of its
 * tracing_on and set_event_pid. On several CPUs at once the steps of one state happen in the order
 * in which they get hold of it.
 *
 * Context:   a hit - any, NMI included, preemption off; it neither allocates nor waits. All
 *            else - thread.
 *            While a clock is being reset, it reads 0 everywhere else; of two resets at once the
 *            later time counts.
 * Locking:   monitors_lock for all that files do; then the config lock for hooking events. States
 *            change by compare-exchange.
 * Ownership: a monitor belongs to the list of monitors, monitor_list.c.
 */
#ifndef TRACE_MONITOR_H
#define TRACE_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/trace_events.h>
#include "events/event_watch.h"
#include "events/filter.h"
#include "expr/expr_value.h"
#include "hist/hist_map.h"

struct trace_array;
struct trace_reactor;
struct trace_seq;

#define MONITOR_STATES_MAX   32u
#define MONITOR_SYMBOLS_MAX  32u
#define MONITOR_WORD_BYTES   24u /* a name of a state or a symbol, NUL included; as on Linux */
#define MONITOR_NAME_BYTES   24u
#define MONITOR_SIZE_DEFAULT 1024u
#define MONITOR_SIZE_MAX     (1u << 17)
#define MONITORS_MAX	     64u
#define MONITOR_PLACE_MAX    8u /* addresses of a place in the code */
#define MONITOR_CLOCKS_MAX   2u
#define MONITOR_PLACE_WORDS  (1u + MONITOR_CLOCKS_MAX)

enum monitor_per {
	MONITOR_GLOBAL,
	MONITOR_CPU,
	MONITOR_THREAD,
	MONITOR_FIELD,
};

/* A symbol: the label of steps. */
struct monitor_symbol {
	char label[MONITOR_WORD_BYTES];
	bool is_named; /* the label was written: it may stand for the symbol */
	uint8_t tap;
	struct expr_program *filter;  /* NULL: every occurrence */
	struct expr_word filter_text; /* in monitor->text */
	/* Conditions about an array of times, one of each clock; NULL: they always hold. */
	struct expr_program *guard;
	struct expr_word guard_text; /* in monitor->text */
	uint32_t resets;	     /* a bit for each clock */
};

/* A tap: the watch of an event, for all symbols with the same event and key. */
struct monitor_tap {
	struct trace_event_watch watch;
	struct trace_monitor *monitor;
	struct trace_event_call *call;
	struct expr_value about;  /* a number of the event, which chooses the instance; or none */
	struct expr_program *key; /* its value is that number; NULL: it is the CPU, or 0 */
	uint32_t symbols;	  /* a bit for each */
};

/*
 * A place in memory: a state, and behind it the times at which its clocks were reset.
 *
 *   | owner, 32 | changes, 6 | resets of clock 1, 9 | of clock 0, 9 | state + 1, 8 |  time, 64 | ..
 *
 * A state that is unknown is 0. The owner is the pid of a thread, otherwise 0. A reset is counted
 * from the step until its time is stored, and changes the word for good.
 */
typedef _Atomic uint64_t monitor_word;

#define MONITOR_STATE_MASK     0xffu
#define MONITOR_RESET_SHIFT(n) (8u + 9u * (n))
#define MONITOR_RESETS_MAX     0x1ffu
#define MONITOR_CHANGE	       (1u << 26)

/* Counts of one CPU, on cache lines of its own. */
struct monitor_cpu {
	_Alignas(64) monitor_word place[MONITOR_PLACE_WORDS]; /* per=cpu */
	_Atomic uint32_t depth;				      /* of reactions that run */
	_Atomic uint64_t nr_starts; /* events by which a state became known */
	_Atomic uint64_t nr_early;  /* events while the state was unknown */
	_Atomic uint64_t nr_others; /* events about threads and CPUs that have no state */
	_Atomic uint64_t nr_silent; /* violations in reactions: counted, not reacted to */
	/*
	 * For each state, for each symbol: how often it occurred; and then, if there are clocks, how
	 * often a condition did not hold.
	 */
	_Atomic uint64_t cells[];
};

/* States of threads, by pid: monitor_threads.c. */
struct monitor_threads {
	monitor_word *slots; /* places */
	uint32_t words;	     /* of a place */
	uint32_t mask;	     /* number of slots - 1 */
	uint32_t nr;	     /* threads that have a slot */
	uint32_t max;	     /* that may have one */
	uint64_t nr_lost;    /* threads that found no room */
};

/* The last violation. `is_busy` is held by its writer or reader, without any wait. */
struct monitor_violation {
	_Atomic bool is_busy;
	bool is_valid;
	uint8_t state, symbol;
	uint32_t cpu;
	int32_t pid;
	char comm[TRACE_COMM_LEN];
	uint64_t time_ns;
	uint64_t id;
	uint64_t clocks[MONITOR_CLOCKS_MAX]; /* ns */
	uint32_t nr_ips;
	uint32_t ips[MONITOR_PLACE_MAX]; /* packed; innermost first */
};

struct trace_monitor {
	char name[MONITOR_NAME_BYTES];
	const char *desc; /* of one that comes with trace/; or NULL */
	uint64_t number;  /* never used for another one */
	char *text;	  /* the line, from its options on */
	size_t text_bytes;

	/* ---- Members from the line: monitor_parse.c ---- */
	uint8_t per; /* enum monitor_per */
	uint32_t size;
	char per_field[MONITOR_WORD_BYTES]; /* with MONITOR_FIELD */
	uint32_t nr_states, nr_symbols, nr_taps, nr_clocks;
	char clocks[MONITOR_CLOCKS_MAX][MONITOR_WORD_BYTES];
	char states[MONITOR_STATES_MAX][MONITOR_WORD_BYTES];
	struct monitor_symbol symbols[MONITOR_SYMBOLS_MAX];
	struct monitor_tap taps[MONITOR_SYMBOLS_MAX];
	/* For each state the symbols that have a step, and the next states. */
	uint32_t allowed[MONITOR_STATES_MAX];
	uint8_t next[MONITOR_STATES_MAX][MONITOR_SYMBOLS_MAX];
	/* Symbols of steps that begin, and their next states. */
	uint32_t starts;
	uint8_t start_state[MONITOR_SYMBOLS_MAX];
	bool has_filters;
	bool wants_enable; /* enable=1 */

	/* ---- While it runs, and afterwards for who reads: monitor_run.c ---- */
	_Atomic bool is_running; /* hits count */
	bool is_enabled;
	unsigned char *cpus; /* a struct monitor_cpu every cpu_bytes, for all CPUs; NULL at first */
	size_t cpu_bytes;
	uint32_t nr_cpus;
	monitor_word place[MONITOR_PLACE_WORDS]; /* per=global */
	struct monitor_threads threads;
	struct hist_map fields;
	struct monitor_violation last;
	const struct trace_reactor *_Atomic reactor; /* changes while it runs */

	/* ---- Its events: monitor_events.c ---- */
	char event_name[8 + MONITOR_NAME_BYTES], error_name[8 + MONITOR_NAME_BYTES];
	struct trace_event_call event_call, error_call;
};

/* ---- monitor_run.c ---- */

/* The switches monitoring_on and reacting_on. */
extern _Atomic bool trace_monitors_are_on, trace_monitors_react;

/* ---- monitor_list.c ---- */

void trace_monitors_lock(void);
void trace_monitors_unlock(void);
/* The next monitor by name, or NULL. Lock held. */
struct trace_monitor *trace_monitor_behind(const struct trace_monitor *before);
struct trace_monitor *trace_monitor_find(const char *name, size_t len);
/* Find a monitor by its number; NULL when it has gone. */
struct trace_monitor *trace_monitor_of(uint64_t number);

/*
 * Carry out a line of `monitors`: m:... makes a monitor, -:NAME or !NAME removes it. Returns 0, or
 * -errno with *error. Lock held.
 */
int trace_monitors_write(char *line, struct expr_error *error);
/* Remove all monitors of users. Returns 0, or -EBUSY when events of some are in use, which stay. */
int trace_monitors_clear(void);
/* Switch a monitor. Returns 0, or -errno with nothing changed. Lock held. */
int trace_monitor_enable(struct trace_monitor *monitor, bool on);
int trace_monitor_set_reactor(struct trace_monitor *monitor, const struct trace_reactor *reactor);
void trace_monitors_switch(bool on);

/* For the feature, in monitor_files.c. */
int trace_monitors_init(void);
void trace_monitors_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
void trace_monitors_thread_exited(int32_t pid, struct trace_thread *thread);

/*
 * For the directory of monitors, without the lock above: a number that changes when a monitor comes
 * or goes, and the monitors by `index` from 0; returns false behind the last. Any lock may be held.
 */
uint64_t trace_monitors_version(void);
bool trace_monitor_at(size_t index, char *out_name, uint64_t *out_number, size_t *out_place);

/* ---- monitor_show.c. Lock held. ---- */

void trace_monitor_show_line(const struct trace_monitor *monitor, struct trace_seq *seq);
void trace_monitor_show_states(struct trace_monitor *monitor, struct trace_seq *seq);
void trace_monitor_show_hits(struct trace_monitor *monitor, struct trace_seq *seq);

#endif
