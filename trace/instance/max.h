/*
 * The longest time that a latency tracer has seen, which its snapshot shows: see
 * tracers/latency.h, which finds it, and print/, which shows it.
 *
 * Context:   any but NMI.
 * Locking:   one lock for those of all instances, interrupts off.
 */
#ifndef TRACE_MAX_H
#define TRACE_MAX_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/platform.h>
#include "array.h"

struct trace_max {
	uint64_t latency_ns;
	uint64_t start_ts;    /* by the buffer's clock; older events do not belong to it */
	uintptr_t started_at; /* address where it began; 0: the tracer does not tell */
	uintptr_t ended_at;
	uint32_t cpu;
	bool is_one_cpu; /* it happened on `cpu` alone */
	uint8_t policy;
	int32_t pid;
	int32_t prio;
	char comm[TRACE_COMM_LEN];
};

/* The longest time of an instance. */
struct trace_maximum {
	_Atomic uint64_t latency_ns; /* tracing_max_latency: a new maximum has to be longer */
	struct trace_max kept;	     /* the maximum shown with the snapshot */
};
TRACE_SLOT(trace_max_of, struct trace_maximum, max)

/* Held while a new maximum is compared and stored. unlock takes the result of lock. */
uint64_t trace_max_lock(void);
void trace_max_unlock(uint64_t flags);
/* The maximum becomes `ns`, if that is longer. Any context but NMI. */
void trace_max_raise(struct trace_array *tr, uint64_t ns);
/* A consistent copy of `kept`. */
void trace_max_read(const struct trace_array *tr, struct trace_max *out_max);

#endif
