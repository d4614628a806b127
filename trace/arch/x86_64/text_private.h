/*
 * What the two ways to change code share, text_poke.c and text_stop.c: a host links one of them.
 * The functions are in text_write.c.
 */
#ifndef TEXT_PRIVATE_H
#define TEXT_PRIVATE_H

#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/arch_host.h>
#include <trace/platform.h>

/* Sites written with interrupts off at a stretch. */
#define TEXT_STRETCH 256

struct text_batch {
	const struct trace_poke *pokes;
	size_t nr;
};

extern struct text_state {
	_Atomic bool busy;		/* a batch or a write is under way */
	uint64_t batches, sites, syncs; /* owner of busy */
	_Atomic uint64_t int3_hits, emulated, stale;
} text_state;

/* Around each change: one at a time. */
void text_take(void);
void text_drop(void);
/*
 * Every site is code, ascends, and holds its old instruction; else `out_error`, with -EINVAL for
 * other bytes, -EBUSY for a breakpoint in front of it, which a write would take away.
 */
int text_verify(const struct text_batch *batch, struct trace_poke_error *out_error);

static TRACE_ALWAYS_INLINE bool text_is_code(uintptr_t addr)
{
	return trace_arch_is_text(addr) || trace_exec_contains(addr);
}

/* One step for all sites, in stretches, so that interrupts are not kept waiting. */
static TRACE_ALWAYS_INLINE void text_write_all(const struct text_batch *batch,
					       void (*write)(const struct trace_poke *poke))
{
	const struct trace_poke *poke = batch->pokes, *end = poke + batch->nr;

	while (poke < end) {
		const struct trace_poke *stop =
			end - poke < TEXT_STRETCH ? end : poke + TEXT_STRETCH;
		struct trace_arch_view view = trace_arch_view_enter();

		for (; poke < stop; poke++)
			write(poke);
		trace_arch_view_leave(view);
	}
}

#endif
