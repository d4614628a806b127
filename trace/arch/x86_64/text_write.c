/*
 * Changing code: the checks before, and writing bytes that no CPU executes. See
 * <trace/arch_text.h>.
 */
#include <trace/arch_text.h>

#include "check.h"
#include "insn.h"
#include "text_private.h"

struct text_state trace_text_state;

void trace_text_take(void)
{
	bool was_busy = atomic_exchange(&trace_text_state.busy, true);

	CHECK(!was_busy);
}

void trace_text_drop(void)
{
	atomic_store(&trace_text_state.busy, false);
}

/*
 * A site does not hold `expected`, in the bytes that `mask` has. Returns -EBUSY if it would without
 * a debugger's breakpoint, otherwise -EINVAL: the text is damaged.
 */
static int mismatch(uintptr_t site, uint64_t expected, uint64_t mask,
		    struct trace_poke_error *out_error)
{
	uint64_t meant = 0; /* its 5 low bytes are those at the site */

	trace_text_meant(site, &meant, TRACE_INSN_SIZE);
	out_error->site = site;
	insn_store(out_error->expected, expected);
	insn_store(out_error->found, insn_load((const void *)site));
	return (meant ^ expected) & mask ? -EINVAL : -EBUSY;
}

int trace_text_verify(const struct text_batch *batch, struct trace_poke_error *out_error)
{
	const struct trace_poke *poke = batch->pokes, *end = poke + batch->nr;
	uint32_t last = 0;

	for (; poke < end; last = poke->site, poke++) {
		uintptr_t site = trace_plat_ip_unpack(poke->site);
		uint64_t expected = insn_load(poke->old_insn);
		uint64_t mask = poke->len == 1 ? 0xff : INSN_MASK;

		CHECK(text_is_code(site) && poke->site > last);
		if ((insn_load((const void *)site) ^ expected) & mask)
			return mismatch(site, expected, mask, out_error);
	}
	return 0;
}

static int verify_calls(const uintptr_t *sites, size_t nr, uintptr_t target,
			struct trace_poke_error *out_error)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t call = insn_make(INSN_CALL, sites[i], target);

		CHECK(text_is_code(sites[i]));
		if (insn_load((const void *)sites[i]) != call)
			return mismatch(sites[i], call, INSN_MASK, out_error);
	}
	return 0;
}

int trace_plat_nop_sites(const uintptr_t *sites, size_t nr, struct trace_poke_error *out_error)
{
	int err = verify_calls(sites, nr, trace_plat_fentry(), out_error);
	struct trace_arch_view view;

	if (err)
		return err;
	trace_text_take();
	trace_arch_view_open();
	view = trace_arch_view_enter();
	for (size_t i = 0; i < nr; i++)
		insn_store(trace_arch_view_of(sites[i]), INSN_NOP);
	trace_arch_view_leave(view);
	trace_arch_view_close();
	trace_arch_serialise();
	trace_text_drop();
	return 0;
}

void trace_text_write(uintptr_t addr, const void *bytes, size_t len)
{
	struct trace_arch_view view;
	volatile uint8_t *to;

	CHECK(text_is_code(addr) && text_is_code(addr + len - 1) && len <= TEXT_WRITE_MAX);
	trace_text_take();
	trace_arch_view_open();
	view = trace_arch_view_enter();
	to = trace_arch_view_of(addr);
	for (size_t i = 0; i < len; i++)
		to[i] = ((const uint8_t *)bytes)[i];
	trace_arch_view_leave(view);
	trace_arch_view_close();
	trace_arch_serialise();
	trace_text_drop();
}

/* ---- <trace/platform.h> ---- */

void trace_plat_poke_stats(struct trace_poke_stats *out_stats)
{
	*out_stats = (struct trace_poke_stats){ .batches = trace_text_state.batches,
						.sites = trace_text_state.sites,
						.syncs = trace_text_state.syncs,
						.int3_hits = trace_text_state.int3_hits,
						.emulated = trace_text_state.emulated,
						.stale = trace_text_state.stale };
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
