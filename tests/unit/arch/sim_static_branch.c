/*
 * The message of a static branch that cannot be switched.
 *
 * links: arch/x86_64/static_branch.c arch/x86_64/smp_sync.c trace/arch/x86_64/text_write.c
 */
#include "unit.h"
#include <string.h>
#include <arch/static_branch.h>
#include <kernel/base.h>
#include <trace/arch_text.h>
#include <trace/static_key.h>
#include "sim.h"

static struct trace_static_key key;
static int poke_err;
static uint8_t text[0x200];

/* The section that linker.ld gathers: one site. */
struct static_site {
	uintptr_t code, target;
	const struct trace_static_key *key;
} static_branches_start[1] = {
	{ .code = (uintptr_t)text, .target = (uintptr_t)text + 0x100, .key = &key }
};
__asm__(".globl static_branches_end\n.set static_branches_end, static_branches_start + 24");

bool trace_text_meant(uintptr_t addr, void *out_bytes, size_t len)
{
	assert_int_equal(addr, (uintptr_t)text);
	assert_int_equal(len, TRACE_INSN_SIZE);
	trace_plat_insn_nop(out_bytes);
	return true;
}

int text_poke_batch(const struct trace_poke *pokes, size_t nr, struct trace_poke_error *out_error)
{
	assert_int_equal(nr, 1);
	out_error->site = trace_plat_ip_unpack(pokes->site);
	return poke_err;
}

/* For more sites than this test has. */
void *trace_plat_alloc(size_t bytes)
{
	(void)bytes;
	return NULL;
}

static bool says(const char *words)
{
	return strstr(sim_last_printed(), words) != NULL;
}

static void switch_on(void)
{
	atomic_store(&key.is_on, true);
	poke_err = 0;
	SIM_CHECK(static_branch_update() == 0);
	SIM_CHECK(sim_nr_printed() == 0);
	poke_err = -EINVAL;
	SIM_CHECK(static_branch_update() == -EINVAL);
	SIM_CHECK(says("does not hold what it should"));
	poke_err = -EBUSY; /* there the text is fine */
	SIM_CHECK(static_branch_update() == -EBUSY);
	SIM_CHECK(says("breakpoint") && !says("does not hold"));
}

static void test_what_is_in_the_way(void **state)
{
	(void)state;
	sim_alone(switch_on);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_in_the_way) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
