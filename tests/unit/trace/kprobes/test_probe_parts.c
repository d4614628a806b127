/*
 * kprobes and kretprobes that are enabled and disabled together, on the fake machine: one batch of
 * text changes, and if it fails for any reason nothing has changed.
 */
#include "unit.h"
#include <string.h>
#include "fake/fake.h"
#include "kprobes/probe_parts.h"
#include "ops/ftrace_private.h"

#define NR_FUNCS  200u
#define NR_EACH	  100u
#define FEW	  3u
#define PARENT	  (FAKE_TEXT + 0x100000)
#define FIRST_PID 100

static struct kprobe probes[NR_EACH], *all_probes[NR_EACH];
static struct kretprobe returns[NR_EACH], *all_returns[NR_EACH];
static uint32_t nr_hits, nr_returns;
static const struct kretprobe *order[4]; /* of returns */
static uint8_t text_before[NR_FUNCS * FAKE_FUNC_BYTES], text[sizeof(text_before)];
static long out_before;

static int on_hit(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	nr_hits++;
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct ftrace_regs *regs)
{
	(void)regs;
	order[nr_returns++ % 4] = ri->rp;
	return 0;
}

/* At the same functions as the kprobes at sites, and two at each. */
static struct kretprobe return_at(size_t i)
{
	return (struct kretprobe){ .kp = { .addr = fake_func(2 * (i / 2)),
					   .flags = KRETPROBE_FLAG_DISABLED },
				   .handler = on_return };
}

/* Registered and disabled. */
static void make_all(void)
{
	for (size_t i = 0; i < NR_EACH; i++) {
		probes[i] = (struct kprobe){ .addr = fake_func(i) + (i % 2 ? TRACE_INSN_SIZE : 0),
					     .pre_handler = on_hit,
					     .flags = KPROBE_FLAG_DISABLED | KPROBE_FLAG_ARGS };
		returns[i] = return_at(i);
		all_probes[i] = &probes[i];
		all_returns[i] = &returns[i];
	}
	assert_int_equal(register_kprobes(all_probes, NR_EACH), 0);
	assert_int_equal(register_kretprobes(all_returns, NR_EACH), 0);
}

static void unmake_all(void)
{
	unregister_kprobes(all_probes, NR_EACH);
	unregister_kretprobes(all_returns, NR_EACH);
}

static int switch_some(size_t nr, bool on)
{
	struct kprobe_part kprobes;
	struct kretprobe_part kretprobes;
	struct ftrace_part *parts[] = { &kprobes.part, &kretprobes.part };

	kprobe_part_init(&kprobes, all_probes, nr, on);
	kretprobe_part_init(&kretprobes, all_returns, nr, on);
	return ftrace_parts_change(parts, 2);
}

/* Each place of the first `nr` is come to once, each function called once; how often was a handler? */
static void check_called(size_t nr, uint32_t hits, uint32_t returned)
{
	uintptr_t stack = PARENT;
	struct ftrace_regs regs = { .parent = PARENT, .slot = &stack };

	nr_hits = nr_returns = 0;
	fake_run(FIRST_PID);
	for (size_t i = 0; i < nr; i++) {
		if (i % 2) {
			fake_step(probes[i].addr, &regs);
			continue;
		}
		(void)fake_enter(i, PARENT);
		assert_int_equal(fake_leave(1), PARENT);
	}
	assert_int_equal(nr_hits, hits);
	assert_int_equal(nr_returns, returned);
}

static void are_disabled(size_t nr, bool is_disabled)
{
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(!!(probes[i].flags & KPROBE_FLAG_DISABLED), is_disabled);
		assert_int_equal(!!(returns[i].kp.flags & KRETPROBE_FLAG_DISABLED), is_disabled);
	}
}

/* The call of the first function returns: its probes are called, the last registered one first. */
static void check_order(void)
{
	nr_returns = 0;
	fake_run(FIRST_PID);
	(void)fake_enter(0, PARENT);
	assert_int_equal(fake_leave(1), PARENT);
	assert_int_equal(nr_returns, 2);
	assert_ptr_equal(order[0], &returns[1]);
	assert_ptr_equal(order[1], &returns[0]);
}

static int setup_all(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build_many("func_", NR_FUNCS);
	ftrace_init();
	fake_thread_add(FIRST_PID, "caller");
	memcpy(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	return ftrace_is_dead();
}

static int setup(void **state)
{
	(void)state;
	fake_run(FIRST_PID);
	out_before = fake_alloc_out;
	make_all();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_breakpoint = 0;
	fake_alloc_budget = -1;
	unmake_all();
	while (fake_run_later())
		;
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(fake_nr_probes, 0);
	assert_int_equal(fake_alloc_out, out_before);
	assert_int_equal(ftrace_nr_enabled(), 0);
	return ftrace_is_dead();
}

static void one_batch(void **state)
{
	uint64_t before = fake_nr_batches;

	(void)state;
	assert_int_equal(switch_some(NR_EACH, true), 0);
	assert_int_equal(fake_nr_batches, before + 1);
	are_disabled(NR_EACH, false);
	check_called(NR_EACH, NR_EACH, NR_EACH);
	assert_int_equal(switch_some(NR_EACH / 2, false), 0);
	assert_int_equal(fake_nr_batches, before + 2);
	check_called(NR_EACH, NR_EACH / 2, NR_EACH / 2);
	assert_int_equal(switch_some(NR_EACH, true), 0); /* half of them are on */
	assert_int_equal(fake_nr_batches, before + 3);
	check_called(NR_EACH, NR_EACH, NR_EACH);
	check_order();
	assert_int_equal(switch_some(NR_EACH, false), 0);
	assert_int_equal(fake_nr_batches, before + 4);
	check_called(NR_EACH, 0, 0);
	assert_int_equal(switch_some(NR_EACH, false), 0); /* nothing to do */
	assert_int_equal(fake_nr_batches, before + 4);
}

/* One of either kind is not registered: the other kind is as before. */
static void not_registered(void **state)
{
	uint64_t before = fake_nr_batches;

	(void)state;
	unregister_kretprobe(&returns[1]);
	assert_int_equal(switch_some(NR_EACH, true), -EINVAL);
	unregister_kprobe(&probes[1]);
	assert_int_equal(switch_some(NR_EACH, true), -EINVAL);
	assert_int_equal(fake_nr_batches, before);
	assert_true(probes[0].flags & KPROBE_FLAG_DISABLED);
	assert_true(returns[0].kp.flags & KRETPROBE_FLAG_DISABLED);
}

/* An unknown breakpoint is at one place, when all come, and when all go. */
static void refused(void **state)
{
	uint8_t *busy = fake_text_at(probes[NR_EACH - 1].addr);

	(void)state;
	for (int on = 1; on >= 0; on--) {
		memcpy(text, fake_text_at(FAKE_TEXT), sizeof(text));
		*busy ^= 1;
		fake_breakpoint = probes[NR_EACH - 1].addr;
		assert_int_equal(switch_some(NR_EACH, on), -EBUSY);
		*busy ^= 1;
		fake_breakpoint = 0;
		assert_memory_equal(text, fake_text_at(FAKE_TEXT), sizeof(text));
		are_disabled(NR_EACH, on);
		check_called(NR_EACH, on ? 0 : NR_EACH, on ? 0 : NR_EACH);
		if (!on)
			check_order();
		assert_int_equal(switch_some(NR_EACH, on), 0);
	}
}

/* The same when no others have a part in it. */
static void kprobes_refused(void **state)
{
	uint8_t *busy = fake_text_at(probes[NR_EACH - 1].addr);

	(void)state;
	assert_int_equal(enable_kprobes(all_probes, NR_EACH), 0);
	fake_breakpoint = probes[NR_EACH - 1].addr;
	for (size_t first = 0; first < NR_EACH; first += NR_EACH - 1) {
		*busy ^= 1;
		assert_int_equal(disable_kprobes(all_probes + first, NR_EACH - first), -EBUSY);
		*busy ^= 1;
		check_called(NR_EACH, NR_EACH, 0);
		for (size_t i = 0; i < NR_EACH; i++)
			assert_int_equal(probes[i].flags & KPROBE_FLAG_DISABLED, 0);
	}
	fake_breakpoint = 0;
	assert_int_equal(disable_kprobes(all_probes, NR_EACH), 0);
	check_called(NR_EACH, 0, 0);
}

/* Each allocation fails once: nothing has changed, whether they come or go. */
static void no_memory(void **state)
{
	const size_t sizes[] = { FEW, NR_EACH };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		size_t nr = sizes[i / 2];
		bool on = i % 2 == 0;
		long budget = 0;
		int err;

		do {
			memcpy(text, fake_text_at(FAKE_TEXT), sizeof(text));
			fake_alloc_budget = budget++;
			err = switch_some(nr, on);
			fake_alloc_budget = -1;
			assert_true(!err || err == -ENOMEM);
			assert_int_equal(memcmp(text, fake_text_at(FAKE_TEXT), sizeof(text)) == 0,
					 !!err);
			are_disabled(nr, on == !!err);
		} while (err);
		check_called(nr, on ? (uint32_t)nr : 0, on ? (uint32_t)nr : 0);
	}
}

/* Disabling kretprobes alone needs no memory; their sites are switched off later. */
static void off_without_memory(void **state)
{
	(void)state;
	assert_int_equal(enable_kretprobes(all_returns, NR_EACH), 0);
	fake_alloc_budget = 0;
	assert_int_equal(disable_kretprobes(all_returns + 2, NR_EACH - 2), 0);
	fake_alloc_budget = -1;
	check_called(NR_EACH, 0, 2);
	assert_int_equal(ftrace_nr_enabled(), NR_EACH / 2);
	fake_alloc_budget = 0;
	assert_int_equal(disable_kretprobes(all_returns, 2), 0);
	fake_alloc_budget = -1;
	assert_int_equal(ftrace_nr_enabled(), 0);
	check_called(NR_EACH, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_batch, setup, teardown),
		cmocka_unit_test_setup_teardown(not_registered, setup, teardown),
		cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(kprobes_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(off_without_memory, setup, teardown),
	};

	return cmocka_run_group_tests_name("probe_parts", tests, setup_all, NULL);
}
