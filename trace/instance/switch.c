/*
 * See switch.h.
 */
#include "array.h"
#include "kept.h"
#include "switch.h"
#include "text/str.h"

#define NR_WORDS (sizeof(struct trace_off) / sizeof(uint64_t))
#define TRIES	 8

static void switch_note(struct trace_off_note *to, const struct trace_off *off)
{
	uint32_t version = atomic_load(&to->version);
	uint64_t words[NR_WORDS];

	if (version & 1 || !atomic_compare_exchange_strong(&to->version, &version, version + 1))
		return;
	memcpy(words, off, sizeof(words));
	/*
	 * Pairs with the acquire fence in try_read(): a reader of a new word sees the odd version.
	 */
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < NR_WORDS; i++)
		atomic_store_explicit(&to->words[i], words[i], memory_order_relaxed);
	atomic_store_explicit(&to->version, version + 2, memory_order_release);
}

bool trace_array_off(struct trace_array *tr, const struct trace_off_from *from)
{
	struct trace_off off = { .by = from->by, .ip = from->ip };
	bool has_moved;

	trace_plat_preempt_disable();
	has_moved = ring_buffer_record_off(tr->buffer);
	if (has_moved) {
		off.time_ns = trace_plat_clock_ns();
		off.pid = trace_plat_current_pid();
		trace_plat_current_comm(off.comm);
		if (from->name)
			trace_strcpy(off.name, from->name, sizeof(off.name));
		switch_note(&tr->off, &off);
	}
	trace_plat_preempt_enable();
	return has_moved;
}

bool trace_array_on(struct trace_array *tr)
{
	/* Events of the last kernel go only when a user says so, or writes to tracing_on. */
	return !trace_kept_holds(tr) && ring_buffer_record_on(tr->buffer);
}

static bool try_read(const struct trace_off_note *from, struct trace_off *out_off)
{
	uint32_t version = atomic_load_explicit(&from->version, memory_order_acquire);
	uint64_t words[NR_WORDS];

	for (size_t i = 0; i < NR_WORDS; i++)
		words[i] = atomic_load_explicit(&from->words[i], memory_order_relaxed);
	memcpy(out_off, words, sizeof(words));
	atomic_thread_fence(memory_order_acquire);
	return !(version & 1) &&
	       atomic_load_explicit(&from->version, memory_order_relaxed) == version;
}

bool trace_array_last_off(const struct trace_array *tr, struct trace_off *out_off)
{
	for (int i = 0; i < TRIES; i++) {
		if (try_read(&tr->off, out_off))
			return out_off->by != TRACE_OFF_BY_NOBODY;
	}
	return false;
}
