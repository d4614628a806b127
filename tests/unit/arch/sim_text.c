/*
 * text_poke.c without other CPUs: what it refuses and then leaves alone, what it writes and in what
 * stretches, which int3s it answers and how.
 *
 * links: trace/arch/x86_64/text_poke.c trace/arch/x86_64/text_write.c
 * links: trace/arch/x86_64/breakpoint.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/base.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>
#include "sim.h"
#include "smp_priv.h"
#include "sim_text.h"

#include "insn.h"
#include "text_private.h" /* after a panic its lock is taken back */

#define STRETCH 256u

static struct trace_poke pokes[SIM_MAX_SITES];
static struct trace_poke_error error;

static void make_pokes(uint32_t nr, enum sim_insn from, enum sim_insn to)
{
	for (uint32_t i = 0; i < nr; i++) {
		pokes[i].site = (uint32_t)sim_site(i);
		sim_insn_make(i, from, pokes[i].old_insn);
		sim_insn_make(i, to, pokes[i].new_insn);
	}
}

static bool all_hold(uint32_t first, uint32_t end, enum sim_insn insn)
{
	for (uint32_t i = first; i < end; i++)
		if (!sim_site_holds(i, insn))
			return false;
	return true;
}

/* ---- Refusals ---- */

/* Any byte of any site may be wrong. */
static void refuse_damage(void)
{
	struct trace_poke_stats before, after;
	uint8_t found[TRACE_INSN_SIZE];

	for (uint32_t site = 0; site < 3; site++) {
		for (uint32_t byte = 0; byte < TRACE_INSN_SIZE; byte++) {
			sim_text_reset(SIM_NOP, 0, false);
			make_pokes(3, SIM_NOP, SIM_CALL_A);
			sim_site_damage(site, byte, 0x77);
			memcpy(found, (void *)sim_site(site), sizeof(found));
			trace_plat_poke_stats(&before);
			assert_int_equal(text_poke_batch(pokes, 3, &error), -EINVAL);
			trace_plat_poke_stats(&after);
			assert_memory_equal(&before, &after, sizeof(before));
			assert_true(error.site == sim_site(site));
			assert_memory_equal(error.expected, pokes[site].old_insn, 5);
			assert_memory_equal(error.found, found, sizeof(found));
			assert_int_equal(sim_text_nr_writes(), 0);
			assert_false(sim_view_is_open());
		}
	}
	/* The next one finds nothing locked. */
	sim_text_reset(SIM_NOP, 0, false);
	assert_int_equal(text_poke_batch(pokes, 3, &error), 0);
	assert_true(all_hold(0, 3, SIM_CALL_A) && all_hold(3, 10, SIM_NOP));
	smp_hotplug_lock();
	smp_hotplug_unlock();
}

static void test_refusals(void **state)
{
	(void)state;
	sim_alone(refuse_damage);
}

static void poke_not_ascending(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	make_pokes(3, SIM_NOP, SIM_CALL_A);
	pokes[1] = pokes[0];
	text_poke_batch(pokes, 3, &error);
}

static void poke_no_code(void)
{
	static uint8_t data[16];

	sim_text_reset(SIM_NOP, 0, false);
	make_pokes(1, SIM_NOP, SIM_CALL_A);
	pokes[0].site = (uint32_t)(uintptr_t)data;
	insn_store(data, INSN_NOP);
	text_poke_batch(pokes, 1, &error);
}

static void poke_twice_at_once(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	make_pokes(4, SIM_NOP, SIM_CALL_A);
	text_poke_begin(pokes, 2, &error);
	text_poke_begin(pokes + 2, 2, &error);
}

static void write_no_code(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	trace_text_write((uintptr_t)pokes, pokes, 1);
}

static void write_behind_code(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	trace_text_write(sim_site(0) - 1, pokes, 4);
}

static void write_past_code(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	trace_text_write(sim_site(SIM_MAX_SITES - 1), pokes, PAGE_SIZE);
}

static void write_too_much(void)
{
	sim_text_reset(SIM_NOP, 0, false);
	trace_text_write(sim_site(0), pokes, PAGE_SIZE + 1);
}

static void nop_no_code(void)
{
	uintptr_t site = (uintptr_t)pokes;

	sim_text_reset(SIM_NOP, 0, false);
	trace_plat_nop_sites(&site, 1, &error);
}

/* Each ends the kernel. */
static void test_broken_promises(void **state)
{
	static const sim_fn broken[] = { write_no_code, write_behind_code, write_past_code,
					 nop_no_code };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		assert_non_null(strstr(sim_panics(broken[i]), "is_code("));
	assert_non_null(strstr(sim_panics(write_too_much), "len <= TEXT_WRITE_MAX"));
	assert_non_null(strstr(sim_panics(poke_not_ascending), "poke->site > last"));
	trace_text_state.busy = false;
	assert_non_null(strstr(sim_panics(poke_no_code), "is_code(site)"));
	trace_text_state.busy = false;
	assert_non_null(strstr(sim_panics(poke_twice_at_once), "!was_busy"));
}

/* ---- Writing ---- */

static void change(uint32_t nr, enum sim_insn from, enum sim_insn to)
{
	struct trace_poke_stats before, after;
	uint64_t serialised = sim_nr_serialised(0);

	sim_text_reset(from, 0, false);
	make_pokes(nr, from, to);
	trace_plat_poke_stats(&before);
	assert_int_equal(text_poke_batch(pokes, nr, &error), 0);
	trace_plat_poke_stats(&after);
	assert_true(all_hold(0, nr, to) && all_hold(nr, SIM_MAX_SITES, from));
	assert_int_equal(sim_text_nr_writes(), 3 * nr);
	assert_int_equal(sim_text_longest_stretch(), nr < STRETCH ? nr : STRETCH);
	assert_int_equal(after.syncs - before.syncs, 3);
	assert_int_equal(sim_nr_serialised(0) - serialised, 3);
	assert_int_equal(after.sites - before.sites, nr);
	assert_int_equal(after.batches - before.batches, 1);
	assert_false(sim_irqs_disabled());
}

static void change_all(void)
{
	static const uint32_t sizes[] = {
		1, 2, STRETCH - 1, STRETCH, STRETCH + 1, 2 * STRETCH, 650
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		change(sizes[i], SIM_NOP, SIM_CALL_A);
		change(sizes[i], SIM_CALL_A, SIM_CALL_B);
		change(sizes[i], SIM_CALL_B, SIM_JMP);
		change(sizes[i], SIM_JMP, SIM_NOP);
	}
}

static void test_sizes(void **state)
{
	(void)state;
	sim_alone(change_all);
}

/* As compilers leave them: calls of fentry, which become NOPs. */
static void nop_sites(void)
{
	uintptr_t sites[4];
	uint8_t call[TRACE_INSN_SIZE];
	uint64_t serialised = sim_nr_serialised(0);

	sim_text_reset(SIM_CALL_A, 0, false);
	for (uint32_t i = 0; i < 4; i++) {
		sites[i] = sim_site(i);
		trace_plat_insn_call(sites[i], trace_plat_fentry(), call);
		memcpy((void *)sites[i], call, sizeof(call));
	}
	sim_site_damage(3, 4, 0x55);
	assert_int_equal(trace_plat_nop_sites(sites, 4, &error), -EINVAL);
	assert_true(error.site == sites[3] && error.found[4] == 0x55);
	assert_memory_equal(error.expected, call, 4);
	assert_int_equal(sim_text_nr_writes(), 0);
	assert_int_equal(trace_plat_nop_sites(sites, 3, &error), 0);
	assert_true(all_hold(0, 3, SIM_NOP) && all_hold(4, 10, SIM_CALL_A));
	assert_int_equal(sim_nr_serialised(0) - serialised, 1);
	assert_false(sim_irqs_disabled() || sim_view_is_open());
}

static void write_text(void)
{
	uint8_t before[64], bytes[64];
	uint64_t serialised = sim_nr_serialised(0);

	sim_text_reset(SIM_NOP, 0, false);
	memcpy(before, (void *)sim_site(0), sizeof(before));
	memset(bytes, 0xab, sizeof(bytes));
	trace_text_write(sim_site(0) + 3, bytes, 17);
	assert_memory_equal((void *)sim_site(0), before, 3);
	assert_memory_equal((void *)(sim_site(0) + 3), bytes, 17);
	assert_memory_equal((void *)(sim_site(0) + 20), before + 20, 40);
	assert_int_equal(sim_nr_serialised(0) - serialised, 1);
	assert_false(sim_irqs_disabled() || sim_view_is_open());
	trace_text_write(sim_site(0), before, sizeof(before)); /* not locked */
	assert_memory_equal((void *)sim_site(0), before, sizeof(before));
}

/* A page, and that the last one. */
static void write_to_the_end(void)
{
	static uint8_t bytes[PAGE_SIZE];

	sim_text_reset(SIM_NOP, 0, false);
	memset(bytes, 0xab, sizeof(bytes));
	trace_text_write(sim_text_end() - PAGE_SIZE, bytes, PAGE_SIZE);
	assert_memory_equal((void *)(sim_text_end() - PAGE_SIZE), bytes, PAGE_SIZE);
	assert_true(sim_site_holds(0, SIM_NOP));
}

static void test_writes(void **state)
{
	(void)state;
	sim_alone(nop_sites);
	sim_alone(write_text);
	sim_alone(write_to_the_end);
}

/* ---- The handler ---- */

struct hit {
	uintptr_t rip, rsp;
};

static bool hit(uintptr_t site, struct hit *regs, uint64_t *top)
{
	*regs = (struct hit){ site + 1, (uintptr_t)top };
	return trace_breakpoint_dispatch(&regs->rip, &regs->rsp, NULL);
}

static void handle_in_batch(void)
{
	struct trace_poke_stats before, after;
	struct hit regs;
	uint64_t stack[4];

	sim_text_reset(SIM_NOP, 0, false);
	make_pokes(301, SIM_NOP, SIM_CALL_A);
	trace_plat_poke_stats(&before);
	text_poke_begin(pokes, 301, &error);
	for (uint32_t i = 0; i < 301; i++) {
		assert_true(hit(sim_site(i), &regs, stack + 3));
		assert_int_equal(regs.rsp, (uintptr_t)(stack + 2));
		assert_int_equal(stack[2], sim_site(i) + TRACE_INSN_SIZE);
		assert_int_equal(regs.rip, insn_target(insn_load(pokes[i].new_insn), sim_site(i)));
	}
	/* One of no batch, where memory holds an instruction: that one is done. */
	assert_true(hit(sim_site(400), &regs, stack + 3));
	assert_int_equal(regs.rip, sim_site(400) + TRACE_INSN_SIZE);
	assert_int_equal(regs.rsp, (uintptr_t)(stack + 3));
	/* Between two instructions; and not in text at all. */
	assert_false(hit(sim_site(400) + 2, &regs, stack + 3));
	assert_int_equal(regs.rip, sim_site(400) + 3);
	assert_false(hit((uintptr_t)stack, &regs, stack + 3));
	trace_plat_poke_stats(&after);
	assert_int_equal(after.int3_hits - before.int3_hits, 303);
	assert_int_equal(after.emulated - before.emulated, 301);
	assert_int_equal(after.stale - before.stale, 1);
	text_poke_finish();
}

/* Sites beside those of the batch: between two of them, and behind the last. */
static void handle_beside_batch(void)
{
	struct hit regs;
	uint64_t stack[4];

	sim_text_reset(SIM_NOP, 0, false);
	make_pokes(7, SIM_NOP, SIM_CALL_A);
	pokes[1] = pokes[2];
	pokes[2] = pokes[4];
	pokes[3] = pokes[5]; /* not part of it */
	text_poke_begin(pokes, 3, &error);
	for (uint32_t i = 1; i < 6; i++) {
		bool is_poked = i == 2 || i == 4;

		assert_true(hit(sim_site(i), &regs, stack + 3));
		assert_int_equal(regs.rsp, (uintptr_t)(is_poked ? stack + 2 : stack + 3));
	}
	text_poke_finish();
}

static void handle_after_batch(void)
{
	struct hit regs;
	uint64_t stack[4];

	change(2, SIM_NOP, SIM_CALL_B);
	assert_true(hit(sim_site(1), &regs, stack + 3));
	assert_int_equal(stack[2], sim_site(1) + TRACE_INSN_SIZE);
	change(2, SIM_NOP, SIM_JMP);
	assert_true(hit(sim_site(0), &regs, stack + 3));
	assert_int_equal(regs.rip, insn_target(insn_load((void *)sim_site(0)), sim_site(0)));
	assert_int_equal(regs.rsp, (uintptr_t)(stack + 3));
}

static void test_handler(void **state)
{
	(void)state;
	sim_alone(handle_in_batch);
	sim_alone(handle_beside_batch);
	sim_alone(handle_after_batch);
}

/* ---- Instructions ---- */

static void test_instructions(void **state)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const uint8_t call[] = { 0xe8, 0xfb, 0x0f, 0x00, 0x00 };
	static const uint8_t jmp[] = { 0xe9, 0xfb, 0xef, 0xff, 0xff };
	uint8_t insn[TRACE_INSN_SIZE];

	(void)state;
	trace_plat_insn_nop(insn);
	assert_memory_equal(insn, nop, sizeof(nop));
	trace_plat_insn_call(0x400000, 0x401000, insn);
	assert_memory_equal(insn, call, sizeof(call));
	trace_plat_insn_jmp(0x400000, 0x3ff000, insn);
	assert_memory_equal(insn, jmp, sizeof(jmp));
	assert_int_equal(insn_target(insn_make(INSN_CALL, 0x400000, 0x3ff000), 0x400000), 0x3ff000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),     cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_writes),	     cmocka_unit_test(test_handler),
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_broken_promises),
	};

	smp_sync_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
