/*
 * Probes of several kinds that are armed, disarmed and removed together, on the fake machine: one
 * batch of text changes whatever they are, and if that fails nothing has changed.
 */
#include "unit.h"
#include <stdio.h>
#include <trace/recursion.h>

#define NR_FUNCS 200u
#define NR_KINDS 4u
#define MAX	 (NR_KINDS * 40u)
#include "kprobe_help.h"

#define DIRECT (FAKE_TEXT + 0x300000)
#define JUMP   6u /* bytes of the instructions that a jump takes the place of */

static uint32_t nr_hits[MAX], nr_other_hits, nr_syncs;

static int count(struct kprobe *p, struct ftrace_regs *fregs)
{
	nr_hits[p - probes]++;
	assert_true(p->flags & KPROBE_FLAG_ARGS || fregs->is_full);
	return 0;
}

/* How many of `nr` probes are called once when a CPU comes to their places, one after the other. */
static size_t nr_called(size_t nr)
{
	size_t called = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_hits[i] = 0;
		kprobe_come_to(probes[i].addr);
		assert_true(nr_hits[i] <= 1);
		called += nr_hits[i];
	}
	return called;
}

static struct kprobe *probe_at(size_t i, uintptr_t addr, uint32_t flags)
{
	return kprobe_make(i, addr, count, flags);
}

/* In no order: call sites with arguments and with all registers, two instructions in functions. */
static size_t probe_mixed(size_t nr, uint32_t flags)
{
	for (size_t i = 0; i < nr; i++) {
		uintptr_t func = fake_func((i * 77) % NR_FUNCS);
		const uintptr_t addrs[NR_KINDS] = { func, func, func + TRACE_INSN_SIZE,
						    func + TRACE_INSN_SIZE + 6 };

		probe_at(i, addrs[i % NR_KINDS], flags | (i % NR_KINDS ? 0 : KPROBE_FLAG_ARGS));
	}
	return nr;
}

static void note_sync(void)
{
	nr_syncs++;
}

static int end(void **state)
{
	return kprobe_end(state) || ftrace_is_dead();
}

/* ---- One batch ---- */

static void mixed(void **state)
{
	size_t nr = probe_mixed(MAX, 0);
	uint64_t before = fake_nr_batches;

	(void)state;
	assert_int_equal(register_kprobes(pointers, nr), 0);
	assert_int_equal(fake_nr_batches, before + 1);
	assert_int_equal(nr_called(nr), nr);
	assert_int_equal(disable_kprobes(pointers, nr), 0);
	assert_int_equal(fake_nr_batches, before + 2);
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(enable_kprobes(pointers, nr), 0);
	assert_int_equal(kprobes_set_enabled(false), 0);
	assert_int_equal(fake_nr_batches, before + 4);
	assert_int_equal(nr_called(nr), 0);
	assert_int_equal(kprobes_set_enabled(true), 0);
	assert_int_equal(nr_called(nr), nr);
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 6);
}

/* Of what is armed, some goes: the ops of call sites lose some, or all of the one kind. */
static void some(void **state)
{
	size_t nr = probe_mixed(MAX, 0);
	uint64_t before;

	(void)state;
	assert_int_equal(register_kprobes(pointers, nr), 0);
	before = fake_nr_batches;
	assert_int_equal(disable_kprobes(pointers + 10, nr - 10), 0);
	assert_int_equal(fake_nr_batches, before + 1);
	assert_int_equal(nr_called(nr), 10);
	assert_int_equal(enable_kprobes(pointers + 10, 20), 0);
	assert_int_equal(fake_nr_batches, before + 2);
	assert_int_equal(nr_called(nr), 30);
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 3);
}

/* Jumps go with the rest; they come in a batch of their own, for all. */
static void jumps(void **state)
{
	size_t nr = probe_mixed(MAX, 0), nr_jumps = 0;
	uint64_t before = fake_nr_batches;

	(void)state;
	fake_jump_bytes = JUMP;
	assert_int_equal(register_kprobes(pointers, nr), 0);
	kprobe_run_worker();
	assert_int_equal(fake_nr_batches, before + 2);
	for (size_t i = 0; i < nr; i++)
		nr_jumps += (probes[i].flags & KPROBE_FLAG_OPTIMIZED) != 0;
	assert_int_equal(nr_jumps, nr / NR_KINDS); /* the others are too near the end */
	assert_int_equal(nr_called(nr), nr);
	assert_int_equal(disable_kprobes(pointers, nr), 0);
	assert_int_equal(fake_nr_batches, before + 3);
	assert_int_equal(enable_kprobes(pointers, nr), 0);
	kprobe_run_worker();
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 6);
}

/* The code of all of them goes. */
static void code_goes(void **state)
{
	size_t nr = probe_mixed(MAX, 0);
	uint64_t before;

	(void)state;
	assert_int_equal(register_kprobes(pointers, nr), 0);
	before = fake_nr_batches;
	assert_int_equal(kprobes_code_goes(fake_func(0), fake_func(NR_FUNCS)), 0);
	assert_int_equal(fake_nr_batches, before + 1);
	assert_int_equal(nr_called(nr), 0);
	unregister_kprobes(pointers, nr);
	assert_int_equal(fake_nr_batches, before + 1);
}

/* However many go, so often is waited for CPUs. */
static void grace_periods(void **state)
{
	uint32_t waits[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		size_t nr = probe_mixed(i ? MAX : 2 * NR_KINDS, 0);

		assert_int_equal(register_kprobes(pointers, nr), 0);
		fake_on_sync = note_sync;
		nr_syncs = 0;
		assert_int_equal(disable_kprobes(pointers, nr), 0);
		unregister_kprobes(pointers, nr);
		waits[i] = nr_syncs;
		fake_on_sync = NULL;
	}
	assert_int_equal(waits[0], waits[1]);
	assert_true(waits[0] <= 4);
}

/* ---- Others at the same sites ---- */

static void other(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		  struct ftrace_regs *fregs)
{
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	nr_other_hits++;
}

static struct ftrace_ops other_ops;

enum others {
	NO_OTHERS,
	OTHER_CALLBACK,
	OTHER_DIRECT,
	NR_OTHERS
};

static void others_come(enum others kind)
{
	if (kind == NO_OTHERS)
		return;
	other_ops = (struct ftrace_ops){ .func = kind == OTHER_CALLBACK ? other : NULL };
	assert_int_equal(ftrace_set_filter_ip(&other_ops, fake_func(0), false, true), 0);
	if (kind == OTHER_CALLBACK)
		assert_int_equal(register_ftrace_function(&other_ops), 0);
	else
		assert_int_equal(register_ftrace_direct(&other_ops, DIRECT), 0);
}

static void others_go(enum others kind)
{
	if (kind == OTHER_CALLBACK)
		assert_int_equal(unregister_ftrace_function(&other_ops), 0);
	else if (kind == OTHER_DIRECT)
		assert_int_equal(unregister_ftrace_direct(&other_ops, DIRECT, false), 0);
	ftrace_free_filter(&other_ops);
}

/* A CPU comes to the site: the first probe there is called once, whatever is being changed. */
static void come_meanwhile(void)
{
	uint32_t before = nr_hits[0];

	kprobe_come_to(fake_func(0));
	assert_int_equal(nr_hits[0], before + 1);
}

static void come_in_batch(const struct trace_poke *pokes, size_t nr)
{
	(void)pokes;
	(void)nr;
	come_meanwhile();
}

static uint64_t batches_of_switch(struct kprobe *p, bool on)
{
	uint64_t before = fake_nr_batches;

	fake_on_batch = come_in_batch;
	fake_on_sync = come_meanwhile;
	assert_int_equal(on ? enable_kprobe(p) : disable_kprobe(p), 0);
	fake_on_batch = NULL;
	fake_on_sync = NULL;
	return fake_nr_batches - before;
}

static void move_there_and_back(enum others kind, bool has_trampolines)
{
	struct kprobe *p = probe_at(0, fake_func(0), KPROBE_FLAG_ARGS);
	struct kprobe *q = probe_at(1, fake_func(0), KPROBE_FLAG_DISABLED);
	uint64_t most = has_trampolines ? 1 : 2;

	fake_trampoline_budget = has_trampolines ? -1 : 0;
	others_come(kind);
	assert_int_equal(register_kprobe(p), 0);
	assert_int_equal(register_kprobe(q), 0);
	assert_int_equal(nr_called(2), 1);
	assert_true(batches_of_switch(q, true) <= most);
	assert_int_equal(nr_called(2), 2);
	assert_true(batches_of_switch(q, false) <= most);
	assert_int_equal(nr_called(2), 1);
	nr_other_hits = 0;
	kprobe_come_to(fake_func(0));
	assert_int_equal(nr_other_hits, kind == OTHER_CALLBACK);
	unregister_kprobes(pointers, 2);
	others_go(kind);
	fake_trampoline_budget = -1;
}

/*
 * A site whose second probe wants all registers moves from one ops to the other and back: one batch,
 * or at most two where there are no trampolines, and no hit is lost.
 */
static void moves(void **state)
{
	(void)state;
	for (enum others kind = NO_OTHERS; kind < NR_OTHERS; kind++) {
		move_there_and_back(kind, true);
		move_there_and_back(kind, false);
	}
}

/* Sites that go from each ops to the other at once, one that comes and one that goes. */
static void moves_across(void **state)
{
	const uint32_t flags[] = { KPROBE_FLAG_ARGS, KPROBE_FLAG_DISABLED, KPROBE_FLAG_ARGS, 0 };
	uint64_t before;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		probe_at(i, fake_func(i / 2), flags[i]);
	probe_at(4, fake_func(5), KPROBE_FLAG_DISABLED | KPROBE_FLAG_ARGS);
	probe_at(5, fake_func(6), 0);
	assert_int_equal(register_kprobes(pointers, 6), 0);
	assert_int_equal(kprobes_set_enabled(false), 0);
	assert_int_equal(enable_kprobe(pointers[1]), 0);
	assert_int_equal(disable_kprobe(pointers[3]), 0);
	assert_int_equal(enable_kprobe(pointers[4]), 0);
	assert_int_equal(disable_kprobe(pointers[5]), 0);
	before = fake_nr_batches;
	assert_int_equal(kprobes_set_enabled(true), 0);
	assert_int_equal(fake_nr_batches, before + 1);
	assert_int_equal(nr_called(6), 4);
	unregister_kprobes(pointers, 6);
}

/* ---- Failures ---- */

/* An unknown breakpoint is at the last place of many: all is as before, and as it was for others. */
static void refused(void **state)
{
	size_t nr = probe_mixed(MAX, KPROBE_FLAG_DISABLED);
	uint8_t *busy = fake_text_at(probes[nr - 1].addr), text[sizeof(text_before)];
	struct kprobe *armed = probe_at(0, fake_func(0), KPROBE_FLAG_ARGS);
	uint64_t nr_enabled;

	(void)state;
	probes[1].addr = fake_func(0); /* this site would move */
	for (enum others kind = NO_OTHERS; kind < NR_OTHERS; kind++) {
		others_come(kind);
		assert_int_equal(register_kprobes(pointers, nr), 0);
		memcpy(text, fake_text_at(FAKE_TEXT), sizeof(text));
		nr_enabled = ftrace_nr_enabled();
		*busy ^= 1;
		fake_breakpoint = probes[nr - 1].addr;
		assert_int_equal(enable_kprobes(pointers, nr), -EBUSY);
		*busy ^= 1;
		fake_breakpoint = 0;
		assert_memory_equal(text, fake_text_at(FAKE_TEXT), sizeof(text));
		assert_int_equal(ftrace_nr_enabled(), nr_enabled);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(!(probes[i].flags & KPROBE_FLAG_DISABLED),
					 &probes[i] == armed);
		assert_int_equal(nr_called(nr), 1);
		nr_other_hits = 0;
		kprobe_come_to(fake_func(0));
		assert_int_equal(nr_other_hits, kind == OTHER_CALLBACK);
		assert_int_equal(enable_kprobes(pointers, nr), 0);
		assert_int_equal(nr_called(nr), nr);
		unregister_kprobes(pointers, nr);
		others_go(kind);
		for (size_t i = 1; i < nr; i++)
			probes[i].flags |= KPROBE_FLAG_DISABLED;
	}
}

/* Registering, too, is all or none. */
static void not_registered(void **state)
{
	size_t nr = probe_mixed(MAX, 0) - 1;
	struct kprobe *disabled = pointers[nr];
	uint8_t *busy = fake_text_at(disabled->addr);

	(void)state;
	disabled->flags = KPROBE_FLAG_DISABLED;
	assert_int_equal(register_kprobe(disabled), 0);
	probes[nr - 1].addr = disabled->addr;
	*busy ^= 1;
	fake_breakpoint = disabled->addr;
	assert_int_equal(register_kprobes(pointers, nr), -EBUSY);
	*busy ^= 1;
	fake_breakpoint = 0;
	assert_int_equal(nr_called(nr), 0);
	unregister_kprobe(disabled);
}

/* Without memory for something: in more batches, or not at all. */
static void no_memory(void **state)
{
	int err = -ENOMEM;
	size_t nr;

	(void)state;
	for (long budget = 0; err; budget++) {
		nr = probe_mixed(MAX, KPROBE_FLAG_DISABLED);
		assert_int_equal(register_kprobes(pointers, nr), 0);
		fake_alloc_budget = budget;
		err = enable_kprobes(pointers, nr);
		assert_true(!err || err == -ENOMEM);
		assert_int_equal(nr_called(nr), err ? 0 : nr);
		assert_int_equal(disable_kprobes(pointers, nr), 0);
		assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
		fake_alloc_budget = -1;
		unregister_kprobes(pointers, nr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mixed, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(some, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(jumps, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(code_goes, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(grace_periods, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(moves, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(moves_across, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(refused, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(not_registered, kprobe_begin, end),
		cmocka_unit_test_setup_teardown(no_memory, kprobe_begin, end),
	};

	return cmocka_run_group_tests_name("kprobe_batch", tests, funcs_make, NULL);
}
