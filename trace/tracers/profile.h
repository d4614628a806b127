/*
 * Counts of the function profiler: per CPU a table from call site to hits and times.
 *
 *   struct profile_table:  | head | rec | rec | free | rec | ...     open addressing on the packed
 *                                                                    address of the site
 *
 * A record is claimed by the first call of a function and never freed, so pointers to it stay good.
 * A table has room for all sites; if there is not enough memory for that, it is smaller, and calls
 * that find it full are counted in `dropped`.
 *
 * Context:   find, get, add - probe, on the CPU that the table belongs to; interrupts and NMIs of
 *            that CPU may come between any two instructions. Everything else - thread.
 * Locking:   none: one CPU writes. Readers see numbers that may be a call apart.
 * Ownership: the table owns its records; statistics are copies, the caller's.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include <stdatomic.h>
#include <trace/platform.h>

struct trace_seq;

struct profile_rec {
	_Atomic uint32_t ip; /* trace_plat_ip_pack(); 0: free */
	uint32_t cpu;	     /* whose table it is in */
	uint64_t hits;
	uint64_t time_ns;
	uint64_t unused;
	struct trace_pair square; /* sum of squares of the times, 128 bits */
	uint64_t unused2[2];
};
_Static_assert(sizeof(struct profile_rec) == 64, "a call touches one cache line");

struct profile_table {
	uint32_t offset_mask; /* bytes of the records, less one record */
	uint32_t mask;	      /* slots - 1 */
	uint32_t cpu;
	uint32_t max; /* records that may be claimed */
	_Atomic uint32_t nr;
	uint32_t unused;
	uint64_t dropped; /* calls that found the table full */
	uint64_t bytes;	  /* size of the whole table */
	uint64_t unused2[3];
	struct profile_rec rec[];
};

/*
 * A table for `cpu` with room for `functions` functions, or for fewer when memory is short; NULL
 * when there is too little for a small one. It stays for good.
 */
struct profile_table *trace_profile_table_create(uint32_t cpu, uint32_t functions);
/* Empty the table, while it is not written to. */
void trace_profile_table_reset(struct profile_table *table);
/* Claim a record; NULL when the table is full. */
struct profile_rec *trace_profile_table_claim(struct profile_table *table, uint32_t ip);

/*
 * The start of the search for `ip`. Functions lie 16 bytes apart or more, and far fewer than that
 * in any stretch of code, so the address itself, in units of 16 bytes, spreads them well.
 */
static TRACE_ALWAYS_INLINE struct profile_rec *profile_table_slot(struct profile_table *table,
								  uint32_t ip)
{
	uint32_t offset = ip * (sizeof(struct profile_rec) / 16) & table->offset_mask;

	return (void *)((char *)table->rec + offset);
}

/* The record of `ip`, NULL when there is none. */
struct profile_rec *trace_profile_table_find(struct profile_table *table, uint32_t ip);

/* One call that took `ns`. */
static TRACE_ALWAYS_INLINE void profile_rec_add(struct profile_rec *rec, uint64_t ns)
{
	unsigned __int128 square = (unsigned __int128)ns * ns;

	trace_plat_local_add(&rec->time_ns, ns);
	trace_plat_local_add_pair(&rec->square, (uint64_t)square, (uint64_t)(square >> 64));
}

/* ---- The profiler, profile.c. Thread context. ---- */

/*
 * The profiler obeys the options sleep-time and graph-time of function_graph in the global
 * instance: tell it that option `bit` is being changed. 0, or an error of ftrace_graph_sleep_get(),
 * with the profiler's option as it was.
 */
int trace_profile_set_option(uint32_t bit, bool on);
bool trace_profile_enabled(void);
/*
 * Start or stop the profiler. Starting forgets earlier counts. 0, -ENOMEM, or an error of
 * register_ftrace_function().
 */
int trace_profile_enable(bool on);

/* ---- Statistics ---- */

struct profile_stat {
	uint32_t ip;
	uint32_t unused;
	uint64_t hits;
	uint64_t time_ns;
	struct trace_pair square;
};

struct profile_stats {
	size_t nr;
	size_t bytes; /* of `stat` */
	uint64_t dropped;
	struct profile_stat *stat;
};

/* Read the counts of CPU `cpu`. Returns 0 or -ENOMEM. */
int trace_profile_read(struct profile_stats *stats, uint32_t cpu);
/* The records of `table` (NULL: none), the most time first. 0 or -ENOMEM. */
int trace_profile_stats_create(struct profile_stats *stats, const struct profile_table *table);
void trace_profile_stats_free(struct profile_stats *stats);
/*
 * The sample variance of the times, in ns^2 / 1000 as Linux shows it, rounded down; UINT64_MAX when
 * it does not fit.
 */
uint64_t trace_profile_variance(const struct profile_stat *stat);
void trace_profile_stat_head(struct trace_seq *seq);
void trace_profile_stat_line(struct trace_seq *seq, const struct profile_stat *stat);

#endif
