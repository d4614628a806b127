/*
 * Changing code in the simple way: all other CPUs are stopped meanwhile, and serialise before they
 * go on. A site is a single instruction, so no CPU is stopped in the middle of one. See
 * <trace/arch_text.h>.
 */
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>

#include "insn.h"
#include "text_private.h"

static void write_whole(const struct trace_poke *poke)
{
	uint8_t *to = trace_arch_view_of(trace_plat_ip_unpack(poke->site));

	if (poke->len == 1)
		*(volatile uint8_t *)to = poke->new_insn[0];
	else
		insn_store(to, insn_load(poke->new_insn));
}

int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	const struct text_batch batch = { .pokes = pokes, .nr = nr };
	int err;

	trace_text_take();
	err = trace_text_verify(&batch, out_error);
	if (!err) {
		trace_arch_view_open();
		trace_arch_stop_others();
		text_write_all(&batch, write_whole);
		trace_arch_serialise();
		trace_breakpoint_forget(); /* CPUs stopped in trace_text_meant() read again */
		trace_arch_resume_others();
		trace_arch_view_close();
		trace_text_state.batches++;
		trace_text_state.sites += nr;
		trace_text_state.syncs++;
	}
	trace_text_drop();
	return err;
}
