/*
 * Changing code that other CPUs execute, and go on executing: see <trace/arch_text.h>. The other
 * way is text_stop.c.
 *
 * The handler can rely on what it sees: a CPU in the handler has interrupts off and does not answer
 * a core sync, so until it leaves, the batch cannot get beyond the next sync.
 */
#include <stdatomic.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>

#include "insn.h"
#include "text_private.h"

static struct {
	struct text_batch batch;		 /* written while nothing is in flight */
	const struct text_batch *_Atomic flight; /* &batch from before the first int3 to the end */
	_Atomic uint32_t lookers;		 /* CPUs between look_at_flight() and look_away() */
	bool is_consumer; /* registered as consumer of breakpoints; guarded by the text lock */
} poke_state;

static uint64_t text_poke_wanted(const struct trace_poke *poke)
{
	return insn_load(poke->new_insn);
}

/* ---- The batch in flight ---- */

/* The batch that is being made, or NULL; it does not change until look_away(). */
static const struct text_batch *look_at_flight(void)
{
	atomic_fetch_add(&poke_state.lookers, 1); /* before the load: finish waits for 0 */
	return atomic_load(&poke_state.flight);
}

static void look_away(void)
{
	atomic_fetch_sub_explicit(&poke_state.lookers, 1, memory_order_release);
}

/* The first poke that is not before `site`: an index, batch->nr when there is none. */
static size_t find_poke(const struct text_batch *batch, uint32_t site)
{
	size_t low = 0, high = batch->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (batch->pokes[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- Breakpoints ---- */

/*
 * If the site belongs to the batch in flight, do what its new instruction does. Not if it is a
 * probe's: the breakpoint is answered by who has the probe then.
 */
static bool answer_from_flight(const struct trace_breakpoint_hit *hit)
{
	const struct text_batch *batch = look_at_flight();
	uint32_t site = trace_plat_ip_pack(hit->site);
	size_t at = batch ? find_poke(batch, site) : 0;
	bool done = batch && at < batch->nr && batch->pokes[at].site == site &&
		    !batch->pokes[at].is_probe &&
		    insn_emulate(hit, text_poke_wanted(&batch->pokes[at]));

	look_away();
	if (done)
		atomic_fetch_add_explicit(&trace_text_state.emulated, 1, memory_order_relaxed);
	return done;
}

/*
 * This CPU executed an int3 that memory does not hold any more. No real CPU does that after the
 * last sync, but QEMU's TCG does: another CPU's write between reading the code and entering the
 * translation into its tables leaves a translation of the old bytes behind, and returning to it
 * would hit the same int3 for ever. So do what memory says now.
 *
 * Such a translation is in the tables when its CPU has answered the last sync, and the next write
 * to its bytes removes it: that is why a batch ends with a write that changes nothing.
 */
static bool answer_stale(const struct trace_breakpoint_hit *hit)
{
	if (!insn_emulate(hit, insn_load((const void *)hit->site)))
		return false;
	atomic_fetch_add_explicit(&trace_text_state.stale, 1, memory_order_relaxed);
	return true;
}

static bool text_poke_answer(struct trace_breakpoint_consumer *consumer,
			     const struct trace_breakpoint_hit *hit)
{
	(void)consumer;
	if (!text_is_code(hit->site))
		return false;
	atomic_fetch_add_explicit(&trace_text_state.int3_hits, 1, memory_order_relaxed);
	/* The batch is asked twice: the site may have become part of one after the first look. */
	return answer_from_flight(hit) || answer_stale(hit) || answer_from_flight(hit);
}

static void restore_site(const struct trace_poke *poke, uintptr_t addr, uint8_t *bytes, size_t len)
{
	uintptr_t at = trace_plat_ip_unpack(poke->site) - addr; /* wraps when it lies before */

	for (size_t i = 0; i < TRACE_INSN_SIZE; i++) {
		if (at + i < len)
			bytes[at + i] = poke->new_insn[i];
	}
}

/*
 * Put in the new instructions of the batch in flight: CPUs that hit its int3s do those already. The
 * bytes meant to be at a probe are known to the probe's consumer.
 */
static void text_poke_restore(struct trace_breakpoint_consumer *consumer, uintptr_t addr,
			      uint8_t *bytes, size_t len)
{
	const struct text_batch *batch = look_at_flight();
	size_t at = batch ? find_poke(batch, trace_plat_ip_pack(addr - (TRACE_INSN_SIZE - 1))) : 0;

	(void)consumer;
	for (; batch && at < batch->nr; at++) {
		const struct trace_poke *poke = &batch->pokes[at];

		if (poke->site > trace_plat_ip_pack(addr + len - 1))
			break;
		if (!poke->is_probe)
			restore_site(poke, addr, bytes, len);
	}
	look_away();
}

/* Register as a consumer of breakpoints, once, before the first int3 is written. */
static void become_consumer(void)
{
	static struct trace_breakpoint_consumer consumer = { .priority =
								     TRACE_BREAKPOINT_PRIORITY_POKE,
							     .answer = text_poke_answer,
							     .restore = text_poke_restore };

	if (!poke_state.is_consumer)
		trace_breakpoint_register(&consumer);
	poke_state.is_consumer = true;
}

/* ---- Writing ---- */

static void write_int3(const struct trace_poke *poke)
{
	*(volatile uint8_t *)trace_arch_view_of(trace_plat_ip_unpack(poke->site)) = INSN_INT3;
}

static void write_tail(const struct trace_poke *poke)
{
	uint8_t *to = trace_arch_view_of(trace_plat_ip_unpack(poke->site));

	if (poke->len != 1)
		__builtin_memcpy(to + 1, poke->new_insn + 1, TRACE_INSN_SIZE - 1);
}

static void write_first(const struct trace_poke *poke)
{
	*(volatile uint8_t *)trace_arch_view_of(trace_plat_ip_unpack(poke->site)) =
		poke->new_insn[0];
}

static void sync_cores(void)
{
	trace_arch_sync_cores();
	trace_text_state.syncs++;
}

int text_poke_begin(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	struct text_batch *batch = &poke_state.batch;
	int err;

	become_consumer();
	trace_text_take();
	*batch = (struct text_batch){ .pokes = pokes, .nr = nr };
	err = trace_text_verify(batch, out_error);
	if (err) {
		trace_text_drop();
		return err;
	}
	trace_arch_cpus_hold();
	trace_text_state.batches++;
	trace_text_state.sites += nr;
	trace_arch_view_open();
	atomic_store(&poke_state.flight, batch); /* before the first int3 can be hit */
	text_write_all(batch, write_int3);
	sync_cores();
	return 0;
}

void text_poke_finish(void)
{
	struct text_batch *batch = &poke_state.batch;

	text_write_all(batch, write_tail);
	sync_cores();
	text_write_all(batch, write_first);
	sync_cores(); /* no CPU is on an int3 any more */
	if (trace_arch_is_emulated())
		text_write_all(batch, write_first); /* the same bytes: see answer_stale() */
	trace_breakpoint_forget();
	atomic_store(&poke_state.flight, NULL);
	while (atomic_load_explicit(&poke_state.lookers, memory_order_acquire))
		trace_arch_relax();
	trace_arch_view_close();
	trace_arch_cpus_release();
	trace_text_drop();
}

int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	int err = text_poke_begin(pokes, nr, out_error);

	if (!err)
		text_poke_finish();
	return err;
}
