/*
 * Changing code that other CPUs execute: see <trace/arch_text.h>.
 *
 * Why the handler may trust what it sees: a CPU in the handler has interrupts off, so it does not
 * answer a core sync. While it is in there, the batch can take no more than the step it is in.
 */
#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>

#include "check.h"
#include "insn.h"

/* Sites written with interrupts off at a stretch. */
#define CHUNK 256

struct batch {
	const struct trace_poke *pokes;
	size_t nr;
};

typedef void (*write_fn)(const struct trace_poke *poke);

static struct {
	_Atomic bool busy;		    /* a batch or a write is under way */
	struct batch batch;		    /* written while nothing is in flight */
	const struct batch *_Atomic flight; /* &batch from before the first int3 to the end */
	_Atomic uint32_t handlers;	    /* CPUs that look at it */
	uint64_t batches, sites, syncs;	    /* owner of busy */
	_Atomic uint64_t int3_hits, emulated, stale;
} poke_state;

static bool is_code(uintptr_t addr)
{
	return trace_arch_is_text(addr) || trace_exec_contains(addr);
}

static uint64_t wanted(const struct trace_poke *poke)
{
	return insn_load(poke->new_insn);
}

/* ---- The handler ---- */

static const struct trace_poke *find_poke(const struct batch *batch, uint32_t site)
{
	size_t low = 0, high = batch->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (batch->pokes[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	return low < batch->nr && batch->pokes[low].site == site ? &batch->pokes[low] : NULL;
}

/* When `site` belongs to the batch in flight, do what it will hold at the end. */
static bool answer_from_flight(const struct interrupted *regs, uintptr_t site)
{
	const struct trace_poke *poke = NULL;
	const struct batch *batch;
	bool done;

	atomic_fetch_add(&poke_state.handlers, 1); /* before the load: finish waits for us */
	batch = atomic_load(&poke_state.flight);
	if (batch)
		poke = find_poke(batch, trace_plat_ip_pack(site));
	done = poke && insn_emulate(regs, site, wanted(poke));
	atomic_fetch_sub_explicit(&poke_state.handlers, 1, memory_order_release);
	if (done)
		atomic_fetch_add_explicit(&poke_state.emulated, 1, memory_order_relaxed);
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
static bool answer_stale(const struct interrupted *regs, uintptr_t site)
{
	if (!insn_emulate(regs, site, insn_load((const void *)site)))
		return false;
	atomic_fetch_add_explicit(&poke_state.stale, 1, memory_order_relaxed);
	return true;
}

bool text_poke_handler(uintptr_t *rip, uintptr_t *rsp)
{
	const struct interrupted regs = { .rip = rip, .rsp = rsp };
	uintptr_t site = *rip - 1;

	if (!is_code(site))
		return false;
	atomic_fetch_add_explicit(&poke_state.int3_hits, 1, memory_order_relaxed);
	/* Asked twice: the site may have become part of a batch after the first look. */
	return answer_from_flight(&regs, site) || answer_stale(&regs, site) ||
	       answer_from_flight(&regs, site);
}

/* ---- Writing ---- */

static void take(void)
{
	bool was_busy = atomic_exchange(&poke_state.busy, true);

	CHECK(!was_busy);
}

static void drop(void)
{
	atomic_store(&poke_state.busy, false);
}

static void write_int3(const struct trace_poke *poke)
{
	*(volatile uint8_t *)trace_arch_view_of(trace_plat_ip_unpack(poke->site)) = INSN_INT3;
}

static void write_tail(const struct trace_poke *poke)
{
	uint8_t *to = trace_arch_view_of(trace_plat_ip_unpack(poke->site));

	__builtin_memcpy(to + 1, poke->new_insn + 1, TRACE_INSN_SIZE - 1);
}

static void write_first(const struct trace_poke *poke)
{
	*(volatile uint8_t *)trace_arch_view_of(trace_plat_ip_unpack(poke->site)) =
		poke->new_insn[0];
}

/* One step for all sites, in stretches, so that interrupts are not kept waiting. */
static TRACE_ALWAYS_INLINE void write_all(const struct batch *batch, write_fn write)
{
	const struct trace_poke *poke = batch->pokes, *end = poke + batch->nr;

	while (poke < end) {
		const struct trace_poke *stop = end - poke < CHUNK ? end : poke + CHUNK;
		struct trace_arch_view view = trace_arch_view_enter();

		for (; poke < stop; poke++)
			write(poke);
		trace_arch_view_leave(view);
	}
}

static void sync_cores(void)
{
	trace_arch_sync_cores();
	poke_state.syncs++;
}

static int mismatch(uintptr_t site, uint64_t expected, struct trace_poke_error *out_error)
{
	out_error->site = site;
	insn_store(out_error->expected, expected);
	insn_store(out_error->found, insn_load((const void *)site));
	return -EINVAL;
}

/* Every site is code, ascends, and holds its old instruction; else -EINVAL and `out_error`. */
static int verify(const struct batch *batch, struct trace_poke_error *out_error)
{
	const struct trace_poke *poke = batch->pokes, *end = poke + batch->nr;
	uint32_t last = 0;

	for (; poke < end; last = poke->site, poke++) {
		uintptr_t site = trace_plat_ip_unpack(poke->site);

		CHECK(is_code(site) && poke->site > last);
		if (insn_load((const void *)site) != insn_load(poke->old_insn))
			return mismatch(site, insn_load(poke->old_insn), out_error);
	}
	return 0;
}

int text_poke_begin(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	struct batch *batch = &poke_state.batch;
	int err;

	take();
	*batch = (struct batch){ .pokes = pokes, .nr = nr };
	err = verify(batch, out_error);
	if (err) {
		drop();
		return err;
	}
	trace_arch_cpus_hold();
	poke_state.batches++;
	poke_state.sites += nr;
	trace_arch_view_open();
	atomic_store(&poke_state.flight, batch); /* before the first int3 can be hit */
	write_all(batch, write_int3);
	sync_cores();
	return 0;
}

void text_poke_finish(void)
{
	struct batch *batch = &poke_state.batch;

	write_all(batch, write_tail);
	sync_cores();
	write_all(batch, write_first);
	sync_cores(); /* nobody is on an int3 any more */
	if (trace_arch_is_emulated())
		write_all(batch, write_first); /* the same bytes: see answer_stale() */
	atomic_store(&poke_state.flight, NULL);
	while (atomic_load_explicit(&poke_state.handlers, memory_order_acquire))
		trace_arch_relax();
	trace_arch_view_close();
	trace_arch_cpus_release();
	drop();
}

int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	int err = text_poke_begin(pokes, nr, out_error);

	if (!err)
		text_poke_finish();
	return err;
}

static int verify_calls(const uintptr_t *sites, size_t nr, uintptr_t target,
			struct trace_poke_error *out_error)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t call = insn_make(INSN_CALL, sites[i], target);

		CHECK(is_code(sites[i]));
		if (insn_load((const void *)sites[i]) != call)
			return mismatch(sites[i], call, out_error);
	}
	return 0;
}

int trace_plat_nop_sites(const uintptr_t *sites, size_t nr, struct trace_poke_error *out_error)
{
	int err = verify_calls(sites, nr, trace_plat_fentry(), out_error);
	struct trace_arch_view view;

	if (err)
		return err;
	take();
	trace_arch_view_open();
	view = trace_arch_view_enter();
	for (size_t i = 0; i < nr; i++)
		insn_store(trace_arch_view_of(sites[i]), INSN_NOP);
	trace_arch_view_leave(view);
	trace_arch_view_close();
	trace_arch_serialise();
	drop();
	return 0;
}

void text_write(uintptr_t addr, const void *bytes, size_t len)
{
	struct trace_arch_view view;
	volatile uint8_t *to;

	CHECK(is_code(addr) && is_code(addr + len - 1) && len <= TEXT_WRITE_MAX);
	take();
	trace_arch_view_open();
	view = trace_arch_view_enter();
	to = trace_arch_view_of(addr);
	for (size_t i = 0; i < len; i++)
		to[i] = ((const uint8_t *)bytes)[i];
	trace_arch_view_leave(view);
	trace_arch_view_close();
	trace_arch_serialise();
	drop();
}

/* ---- <trace/platform.h> ---- */

void trace_plat_poke_stats(struct trace_poke_stats *out_stats)
{
	*out_stats = (struct trace_poke_stats){ .batches = poke_state.batches,
						.sites = poke_state.sites,
						.syncs = poke_state.syncs,
						.int3_hits = poke_state.int3_hits,
						.emulated = poke_state.emulated,
						.stale = poke_state.stale };
}

void trace_plat_insn_nop(uint8_t *out_insn)
{
	insn_store(out_insn, INSN_NOP);
}

void trace_plat_insn_call(uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	insn_store(out_insn, insn_make(INSN_CALL, site, target));
}

void trace_plat_insn_jmp(uintptr_t site, uintptr_t target, uint8_t *out_insn)
{
	insn_store(out_insn, insn_make(INSN_JMP, site, target));
}
