/*
 * Boot self-test of the int3 emulation: a NOP, a CALL and a JMP are put on private sites, and the
 * code is run while the sites are int3. Its result tells the instruction that was emulated, and
 * that the stack was right. See text_poke_sites.asm.
 */
#include <trace/arch_host.h>
#include <trace/arch_text.h>

#include "insn.h"

/* Return 1 after a NOP, 2 after a CALL of text_poke_test_target, 3 after a JMP to it. */
extern uint64_t text_poke_test_run(void);
extern const char text_poke_test_site[], text_poke_test_called[], text_poke_test_jumped[];

static struct trace_poke poke_from(uint64_t old_insn, uint64_t new_insn)
{
	struct trace_poke poke = { .site = trace_plat_ip_pack((uintptr_t)text_poke_test_site) };

	insn_store(poke.old_insn, old_insn);
	insn_store(poke.new_insn, new_insn);
	return poke;
}

/* Does the site give `expected`, both while it is an int3 and with the finished instruction? */
static bool poke_test_check(uint64_t old_insn, uint64_t new_insn, uint64_t expected)
{
	struct trace_poke poke = poke_from(old_insn, new_insn);
	struct trace_poke_error error;
	uint64_t emulated;

	if (text_poke_begin(&poke, 1, &error))
		return false;
	emulated = text_poke_test_run();
	text_poke_finish();
	return emulated == expected && text_poke_test_run() == expected;
}

void text_poke_selftest(void)
{
	uintptr_t site = (uintptr_t)text_poke_test_site;
	uint64_t call = insn_make(INSN_CALL, site, (uintptr_t)text_poke_test_called);
	uint64_t jmp = insn_make(INSN_JMP, site, (uintptr_t)text_poke_test_jumped);
	struct trace_poke_stats before, after;

	trace_plat_poke_stats(&before);
	if (!poke_test_check(INSN_NOP, call, 2) || !poke_test_check(call, jmp, 3) ||
	    !poke_test_check(jmp, INSN_NOP, 1))
		trace_arch_broken("text poke: self-test failed: int3 is not emulated");
	trace_plat_poke_stats(&after);
	if (after.emulated - before.emulated != 3)
		trace_arch_broken("text poke: self-test failed: not all int3 were hit");
	trace_plat_log("text poke: int3 self-test passed: nop, call, jmp");
}
