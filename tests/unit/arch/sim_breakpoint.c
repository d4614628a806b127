/*
 * The chain of breakpoint consumers: who is asked in which order, who is not asked any more, and
 * what readers of code see of int3s that come and go while they read.
 *
 * links: trace/arch/x86_64/breakpoint.c trace/arch/x86_64/text_poke.c
 * links: trace/arch/x86_64/text_write.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <stdatomic.h>
#include <string.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include "sim.h"
#include "sim_text.h"

#include "text_private.h" /* after a panic its lock is taken back */

#define INT3   0xcc
#define FILLER 0x90
#define ADDR   (sim_site(0) + TRACE_INSN_SIZE) /* between two sites */

/* ---- Order ---- */

struct named {
	struct trace_breakpoint_consumer consumer;
	char name;
	bool takes_it;
};

static char asked[16];
static uint64_t stack[4];
static uintptr_t rip, rsp;
static int frame;

static bool answer(struct trace_breakpoint_consumer *consumer,
		   const struct trace_breakpoint_hit *hit)
{
	struct named *named = (struct named *)(void *)consumer;

	assert_true(hit->site == ADDR && *hit->rip == ADDR + 1 && hit->frame == &frame);
	assert_true(*hit->rsp == (uintptr_t)&stack[2]);
	strncat(asked, &named->name, 1);
	if (named->takes_it)
		*hit->rip += 2;
	return named->takes_it;
}

static bool dispatch(void)
{
	asked[0] = '\0';
	rip = ADDR + 1;
	rsp = (uintptr_t)&stack[2];
	return trace_breakpoint_dispatch(&rip, &rsp, &frame);
}

static struct named named_as(char name, int priority)
{
	return (struct named){ .consumer = { .priority = priority, .answer = answer },
			       .name = name };
}

static void order(void)
{
	struct named a = named_as('a', 5), b = named_as('b', 5), c = named_as('c', 9);
	struct named d = named_as('d', -1);

	assert_false(dispatch());
	assert_string_equal(asked, "");
	trace_breakpoint_register(&a.consumer);
	trace_breakpoint_register(&d.consumer);
	trace_breakpoint_register(&c.consumer);
	trace_breakpoint_register(&b.consumer);
	assert_false(dispatch());
	assert_string_equal(asked, "cabd");
	assert_true(rip == ADDR + 1);
	b.takes_it = true;
	assert_true(dispatch());
	assert_string_equal(asked, "cab");
	assert_true(rip == ADDR + 3);
	trace_breakpoint_unregister(&b.consumer);
	trace_breakpoint_unregister(&c.consumer);
	assert_false(dispatch());
	assert_string_equal(asked, "ad");
	trace_breakpoint_unregister(&d.consumer);
	trace_breakpoint_unregister(&a.consumer);
	assert_false(dispatch());
	assert_string_equal(asked, "");
}

static void test_order(void **state)
{
	(void)state;
	sim_alone(order);
}

static void unregister_stranger(void)
{
	struct named a = named_as('a', 0);

	trace_breakpoint_unregister(&a.consumer);
}

static void register_in_batch(void)
{
	static struct trace_poke poke;
	struct trace_poke_error error;
	struct named a = named_as('a', 0);

	sim_text_reset(SIM_NOP, 0, false);
	poke.site = (uint32_t)sim_site(0);
	sim_insn_make(0, SIM_NOP, poke.old_insn);
	sim_insn_make(0, SIM_CALL_A, poke.new_insn);
	text_poke_begin(&poke, 1, &error);
	trace_breakpoint_register(&a.consumer);
}

static void test_broken_promises(void **state)
{
	(void)state;
	assert_non_null(strstr(sim_panics(unregister_stranger), "next"));
	trace_text_state.busy = false;
	assert_non_null(strstr(sim_panics(register_in_batch), "!was_busy"));
	trace_text_state.busy = false;
}

/* ---- Consumers that come and go while breakpoints are hit ---- */

static struct named walked[2];
static _Atomic uint32_t nr_walks; /* odd: within one */
static bool gone[2];
static bool is_in, was_asked; /* walked[0] */

static bool answer_alive(struct trace_breakpoint_consumer *consumer,
			 const struct trace_breakpoint_hit *hit)
{
	(void)hit;
	SIM_CHECK(!gone[(struct named *)(void *)consumer - walked]);
	was_asked |= consumer == &walked[0].consumer;
	return false;
}

static void walker(void)
{
	for (int i = 0; i < 4; i++) {
		bool was_in = is_in;

		was_asked = false;
		atomic_fetch_add(&nr_walks, 1);
		SIM_CHECK(!dispatch());
		SIM_CHECK(was_asked || !was_in || !is_in);
		atomic_fetch_add(&nr_walks, 1);
	}
}

/* The work of trace_plat_synchronize_preempt(). */
static void wait_for_walk(void)
{
	uint32_t nr = atomic_load(&nr_walks);

	while (nr % 2 && atomic_load(&nr_walks) == nr)
		trace_arch_relax();
}

static void change_chain(void)
{
	for (int i = 0; i < 2; i++) {
		walked[i] = named_as('w', i);
		walked[i].consumer.answer = answer_alive;
		gone[i] = false;
		trace_breakpoint_register(&walked[i].consumer);
		is_in = true;
	}
	for (int i = 1; i >= 0; i--) {
		is_in = i == 1;
		trace_breakpoint_unregister(&walked[i].consumer);
		wait_for_walk();
		gone[i] = true;
		memset(&walked[i].consumer, 0xee, sizeof(walked[i].consumer));
	}
}

static void test_walks(void **state)
{
	const struct sim_setup setup = { .name = "consumers come and go",
					 .nr_cpus = 2,
					 .main = { change_chain, walker } };

	(void)state;
	assert_true(sim_all(&setup, 3) > 1000);
}

/* ---- An int3 of a probe, which comes and goes while the text is read ---- */

static struct {
	struct trace_breakpoint_consumer consumer;
	_Atomic bool is_armed;
	uint8_t original;
	bool stays; /* until its consumer goes */
} probe;

static void restore_probe(struct trace_breakpoint_consumer *consumer, uintptr_t addr,
			  uint8_t *bytes, size_t len)
{
	SIM_CHECK(consumer == &probe.consumer);
	if (atomic_load(&probe.is_armed) && ADDR - addr < len)
		bytes[ADDR - addr] = probe.original;
}

static bool answer_none(struct trace_breakpoint_consumer *consumer,
			const struct trace_breakpoint_hit *hit)
{
	(void)consumer;
	(void)hit;
	return false;
}

static void arm_and_disarm(void)
{
	uint8_t int3 = INT3;

	probe.consumer = (struct trace_breakpoint_consumer){ .answer = answer_none,
							     .restore = restore_probe };
	probe.original = FILLER;
	trace_breakpoint_register(&probe.consumer);
	atomic_store(&probe.is_armed, true);
	trace_text_write(ADDR, &int3, 1);
	trace_text_write(ADDR, &probe.original, 1);
	if (!probe.stays) {
		trace_breakpoint_forget();
		atomic_store(&probe.is_armed, false);
	}
	trace_breakpoint_unregister(&probe.consumer);
}

static void reader(void)
{
	for (int i = 0; i < 2; i++) {
		uint8_t found[3];

		SIM_CHECK(trace_text_meant(ADDR - 1, found, sizeof(found)));
		SIM_CHECK(found[1] == FILLER);
	}
}

static void start_text(void)
{
	sim_text_reset(SIM_NOP, 0, false);
}

static void test_reader(void **state)
{
	const struct sim_setup setup = { .name = "a reader beside a probe",
					 .nr_cpus = 2,
					 .main = { arm_and_disarm, reader },
					 .start = start_text };

	(void)state;
	probe.stays = false;
	assert_true(sim_all(&setup, 3) > 1000);
	probe.stays = true;
	assert_true(sim_all(&setup, 3) > 1000);
}

/* ---- Bytes that are read, before and after a batch ---- */

static void arm(uintptr_t addr)
{
	uint8_t int3 = INT3;

	probe.original = *(const uint8_t *)addr;
	trace_text_write(addr, &int3, 1);
}

static uintptr_t probe_at;

static void restore_at(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
		       size_t len)
{
	(void)consumer;
	if (probe_at - addr < len)
		bytes[probe_at - addr] = probe.original;
}

static void make_poke(struct trace_poke *poke, uint32_t site)
{
	poke->site = (uint32_t)sim_site(site);
	sim_insn_make(site, SIM_NOP, poke->old_insn);
	sim_insn_make(site, SIM_CALL_A, poke->new_insn);
}

/* Pieces of two sites, and of the bytes between, in any cut. */
static void read_pieces(void)
{
	struct trace_poke pokes[2];
	struct trace_poke_error error;
	uint8_t whole[40], part[40];
	uintptr_t from = sim_site(1) - 4;

	sim_text_reset(SIM_NOP, 0, false);
	make_poke(&pokes[0], 1);
	make_poke(&pokes[1], 2);
	memcpy(whole, (const void *)from, sizeof(whole));
	memcpy(whole + (sim_site(1) - from), pokes[0].new_insn, TRACE_INSN_SIZE);
	memcpy(whole + (sim_site(2) - from), pokes[1].new_insn, TRACE_INSN_SIZE);
	assert_int_equal(text_poke_begin(pokes, 2, &error), 0);
	for (size_t at = 0; at < sizeof(whole); at++) {
		for (size_t len = 1; at + len <= sizeof(whole); len++) {
			memset(part, 0x11, sizeof(part));
			assert_true(trace_text_meant(from + at, part, len));
			assert_memory_equal(part, whole + at, len);
			assert_true(len == sizeof(part) || part[len] == 0x11);
		}
	}
	text_poke_finish();
	assert_memory_equal((const void *)from, whole, sizeof(whole));
}

static void read_no_code(void)
{
	uint8_t bytes[16];

	sim_text_reset(SIM_NOP, 0, false);
	assert_false(trace_text_meant((uintptr_t)bytes, bytes, 4));
	assert_false(trace_text_meant(sim_site(0) - 1, bytes, 4));
	assert_false(trace_text_meant(sim_text_end() - 3, bytes, 4));
	assert_true(trace_text_meant(sim_text_end() - 4, bytes, 4));
	assert_false(trace_text_meant(sim_site(0), bytes, 0));
	assert_false(trace_text_meant(sim_site(1), bytes, SIZE_MAX));
}

/* A batch would take a probe's int3 away without knowing: it refuses, and says why. */
static void refuse_probed(void)
{
	struct trace_poke poke;
	struct trace_poke_error error;
	struct trace_breakpoint_consumer consumer = { .answer = answer_none,
						      .restore = restore_at };
	uint64_t nr_writes;

	sim_text_reset(SIM_NOP, 0, false);
	make_poke(&poke, 1);
	for (uint32_t byte = 0; byte < TRACE_INSN_SIZE; byte++) {
		probe_at = sim_site(1) + byte;
		trace_breakpoint_register(&consumer);
		arm(probe_at);
		nr_writes = sim_text_nr_writes();
		assert_int_equal(text_poke_batch(&poke, 1, &error), -EBUSY);
		assert_true(error.site == sim_site(1) && error.found[byte] == INT3);
		assert_true(sim_text_nr_writes() == nr_writes);
		trace_breakpoint_unregister(&consumer);
		assert_int_equal(text_poke_batch(&poke, 1, &error), -EINVAL);
		trace_text_write(probe_at, &probe.original, 1);
	}
	assert_int_equal(text_poke_batch(&poke, 1, &error), 0);
}

static void finish_batch(struct trace_breakpoint_consumer *consumer, uintptr_t addr, uint8_t *bytes,
			 size_t len)
{
	(void)consumer;
	(void)addr;
	(void)bytes;
	(void)len;
	if (trace_text_state.busy)
		text_poke_finish();
}

/* The batch ends after the int3 was copied, and before text poke is asked what it stands for. */
static void read_at_the_end(void)
{
	struct trace_poke poke;
	struct trace_poke_error error;
	struct trace_breakpoint_consumer first = { .priority = TRACE_BREAKPOINT_PRIORITY_POKE + 1,
						   .answer = answer_none,
						   .restore = finish_batch };
	uint8_t found[TRACE_INSN_SIZE];

	sim_text_reset(SIM_NOP, 0, false);
	make_poke(&poke, 1);
	trace_breakpoint_register(&first);
	assert_int_equal(text_poke_begin(&poke, 1, &error), 0);
	assert_true(trace_text_meant(sim_site(1), found, sizeof(found)));
	assert_memory_equal(found, poke.new_insn, sizeof(found));
	assert_false(trace_text_state.busy);
	trace_breakpoint_unregister(&first);
}

static void test_reading(void **state)
{
	(void)state;
	sim_alone(read_at_the_end);
	sim_alone(read_pieces);
	sim_alone(read_no_code);
	sim_alone(refuse_probed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_reader),		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_broken_promises),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
