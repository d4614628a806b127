/*
 * The states of threads, by pid: a table that changes when threads come and go, and in which probes
 * look up without a lock.
 *
 *   slots   pid | state | clocks     0: free, and the end of each search; pid -1: free, but not the end
 *
 * A thread that is made gets the first free slot from where its number leads to; so it is found by
 * going on from there. The pid and the state are one word: when a thread has gone and its slot is
 * another one's, a probe that still has the old word in its hands cannot change the new one.
 *
 * See monitor.h.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "text/str.h"

#define GONE ((uint64_t)UINT32_MAX << 32)

static size_t monitor_threads_bytes_of(const struct monitor_threads *threads)
{
	return ((size_t)threads->mask + 1) * threads->words * sizeof(*threads->slots);
}

int trace_monitor_threads_init(struct monitor_threads *threads, uint32_t max, uint32_t nr_clocks)
{
	uint32_t nr = 2;

	while (nr < 2 * max)
		nr *= 2;
	*threads = (struct monitor_threads){ .words = 1 + nr_clocks, .mask = nr - 1, .max = max };
	threads->slots = trace_plat_alloc(monitor_threads_bytes_of(threads));
	return threads->slots ? 0 : -ENOMEM;
}

void trace_monitor_threads_destroy(struct monitor_threads *threads)
{
	if (threads->slots)
		trace_plat_free(threads->slots, monitor_threads_bytes_of(threads));
	*threads = (struct monitor_threads){ 0 };
}

static uint32_t monitor_threads_first_of(int32_t pid)
{
	return (uint32_t)pid * 0x9e3779b1u >> 8;
}

static bool is_of(uint64_t word, int32_t pid)
{
	return (uint32_t)(word >> 32) == (uint32_t)pid;
}

monitor_word *trace_monitor_threads_find(const struct monitor_threads *threads, int32_t pid)
{
	if (pid <= 0)
		return NULL;
	for (uint32_t at = monitor_threads_first_of(pid), i = 0; i <= threads->mask; at++, i++) {
		monitor_word *slot = monitor_threads_slot(threads, at);
		uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);

		if (is_of(word, pid))
			return slot;
		if (!word)
			break;
	}
	return NULL;
}

void trace_monitor_threads_add(struct monitor_threads *threads, int32_t pid)
{
	if (pid <= 0 || trace_monitor_threads_find(threads, pid))
		return;
	if (threads->nr == threads->max) {
		threads->nr_lost++;
		return;
	}
	for (uint32_t at = monitor_threads_first_of(pid);; at++) {
		monitor_word *slot = monitor_threads_slot(threads, at);

		if (*slot && *slot != GONE)
			continue;
		atomic_store(slot, (uint64_t)(uint32_t)pid << 32);
		threads->nr++;
		return;
	}
}

/* A slot in front of a free one need not be passed on a search, so it is free as well. */
void trace_monitor_threads_remove(struct monitor_threads *threads, int32_t pid)
{
	monitor_word *slot = trace_monitor_threads_find(threads, pid);
	uint32_t at;

	if (!slot)
		return;
	threads->nr--;
	atomic_store(slot, GONE);
	at = (uint32_t)(slot - threads->slots) / threads->words;
	if (*monitor_threads_slot(threads, at + 1))
		return;
	for (; *monitor_threads_slot(threads, at) == GONE; at--)
		atomic_store(monitor_threads_slot(threads, at), 0);
}
