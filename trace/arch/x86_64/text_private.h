/*
 * Shared declarations of the two ways to change code, text_poke.c and text_stop.c: a host links one
 * of them. The functions are in text_write.c.
 */
#ifndef TEXT_PRIVATE_H
#define TEXT_PRIVATE_H

#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/arch_host.h>
#include <trace/platform.h>

/* The number of sites written before interrupts are let in. */
#define TEXT_STRETCH 256

struct text_batch {
	const struct trace_poke *pokes;
	size_t nr;
};

extern struct text_state {
	_Atomic bool busy;		/* a batch or a write is under way */
	uint64_t batches, sites, syncs; /* changed by whoever has set `busy` */
	_Atomic uint64_t int3_hits, emulated, stale;
} trace_text_state;

/* Called around each change of code. Checks that there is only one at a time. */
void trace_text_take(void);
void trace_text_drop(void);
/*
 * Check that the sites ascend, are code, and hold their old instructions. 0, or with `out_error`
 * filled in -EINVAL for other bytes, -EBUSY for a breakpoint, which writing would take away.
 */
int trace_text_verify(const struct text_batch *batch, struct trace_poke_error *out_error);

static TRACE_ALWAYS_INLINE bool text_is_code(uintptr_t addr)
{
	return trace_arch_is_text(addr) || trace_exec_contains(addr);
}

/* Call write() for all sites, with interrupts off, but for TEXT_STRETCH sites at a time only. */
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
