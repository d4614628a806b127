/*
 * The tracer hwlat: a thread reads the clock again and again with interrupts off. When two readings are
 * far apart, neither a thread nor an interrupt of this system ran between them: the machine did.
 *
 *   | window                              | window
 *   | width: watches  | sleeps            | width: watches ...
 *
 *   hwlat.c        the threads and the tracer
 *   hwlat_watch.c  one time of watching, and NMIs that come into it
 *   hwlat_event.c  the event ftrace:hwlat
 *   hwlat_files.c  the directory hwlat_detector/, and the feature
 *
 * Context:   thread, where nothing else is said.
 * Locking:   the config lock guards the settings; threads read the atomic ones without it, and never
 *            take it.
 */
#ifndef TRACE_HWLAT_H
#define TRACE_HWLAT_H

#include <stdatomic.h>
#include <trace/noise.h>
#include "instance/array.h"
#include "instance/entry.h"

#define HWLAT_US_NS	1000u /* nanoseconds in a microsecond */
#define HWLAT_S_NS	1000000000u
#define HWLAT_SLEEP_NS	1000000u /* between two times of watching, at least */
#define HWLAT_WINDOW_US 1000000u /* the settings at first, as on Linux */
#define HWLAT_WIDTH_US	500000u
#define HWLAT_THRESH_NS 10000u

enum hwlat_mode {
	HWLAT_NONE,	   /* one thread, on any CPU */
	HWLAT_ROUND_ROBIN, /* one thread, which goes to the next CPU with each window */
	HWLAT_PER_CPU,	   /* a thread for each CPU */
	HWLAT_NR_MODES
};

struct hwlat_settings {
	_Atomic uint64_t width_us;
	_Atomic uint64_t window_us; /* not less than width_us */
	_Atomic uint32_t mode;	    /* enum hwlat_mode */
};
extern struct hwlat_settings trace_hwlat_settings;

/* The event; ftrace:hwlat of Linux. */
#define TRACE_TYPE_HWLAT 15
struct hwlat_entry {
	struct trace_entry ent;
	uint64_t
		duration; /* the longest time between the two readings of a turn, in microseconds */
	uint64_t outer_duration; /* the same from one turn to the next */
	uint64_t nmi_total_ts;	 /* in NMIs, in microseconds */
	int64_t tv_sec;		 /* of the first that was too long; since 1970 */
	int64_t tv_nsec;
	uint32_t nmi_count;
	uint32_t seqnum;
	uint32_t count; /* turns that were too long */
} TRACE_ENTRY_ALIGNED;
extern struct trace_event trace_hwlat_event;

/* The findings of one time of watching, in nanoseconds. */
struct hwlat_found {
	uint64_t inner_ns;
	uint64_t outer_ns;
	uint64_t nmi_ns;
	uint64_t first_ns; /* since 1970 */
	uint32_t nr_nmis;
	uint32_t count; /* 0: nothing was too long */
};

extern const struct trace_noise_host *trace_noise_host; /* NULL: there is none */
/* Another listener of trace_noise_nmi(), or NULL. */
extern void (*_Atomic trace_noise_nmi_next)(bool enters);
extern struct tracer trace_hwlat;

/* Room for the counts of NMIs. 0 or -ENOMEM. Start. */
int trace_hwlat_watch_init(void);
/* Watch this CPU for `width_ns`, or until `is_ending`. Interrupts off. */
void trace_hwlat_watch(uint64_t width_ns, const _Atomic bool *is_ending, struct hwlat_found *out);
/*
 * Change the mode; threads that run are ended, and begin anew. 0, or -ENOMEM: the tracer runs without
 * threads. Config lock held.
 */
int trace_hwlat_set_mode(enum hwlat_mode mode);
/* Threads that run end, and begin anew with `is_done`. Config lock held. */
void trace_hwlat_cpus_change(bool is_done);

#endif
