/*
 * Slots: data of features in each instance. Each feature has a slot in struct trace_array, zeroed
 * at first. The slot is part of the instance, so that callbacks need not load a pointer to it. Only
 * the feature knows the type of its slot: TRACE_SLOT() in its header makes a function that returns
 * the slot with its type, and is the only place where bytes become that type.
 */
#ifndef TRACE_SLOTS_H
#define TRACE_SLOTS_H

#include <stdint.h>

struct trace_slots {
	_Alignas(16) unsigned char events[32];	 /* events/event_file.h */
	_Alignas(16) unsigned char function[16]; /* tracers/function_tracer.h */
	_Alignas(16) unsigned char graph[224];	 /* tracers/graph_tracer.h */
	_Alignas(16) unsigned char latency[16];	 /* tracers/latency.h */
	_Alignas(16) unsigned char max[80];	 /* max.h */
	_Alignas(16) unsigned char pids[96];	 /* pid_filter.h */
	_Alignas(16) unsigned char sample[48];	 /* sample/sample.h */
	_Alignas(16) unsigned char snapshot[48]; /* snapshot.h */
};

/*
 * Define NAME(tr), which returns the slot `slot` of an instance as a TYPE. It does not compile unless
 * the type fits.
 */
#define TRACE_SLOT(name, type, slot)                                                               \
	_Static_assert(sizeof(type) <= sizeof(((struct trace_slots *)0)->slot) &&                  \
			       _Alignof(type) <= 16,                                               \
		       "the slot is large enough");                                                \
	static inline type *name(const struct trace_array *tr)                                     \
	{                                                                                          \
		return (type *)(uintptr_t)tr->slots.slot;                                          \
	}

#endif
