/*
 * Tracepoints with the kernel's own static branches, as the kernel is compiled: one without
 * listeners is one instruction; a host that cannot switch its branches leaves everything as it
 * was.
 *
 * links: trace/ops/tracepoint.c
 */
#include "unit.h"
#include <string.h>
#include "fast.h"
#include <trace/platform.h>
#include <trace/tracepoint.h>
#include "ops/tracepoint_part.h"

#define MAX_INSNS 64u

DECLARE_TRACE(shelf_full, TP_PROTO(int shelf, long nr), TP_ARGS(shelf, nr));
DEFINE_TRACE(shelf_full, TP_PROTO(int shelf, long nr), TP_ARGS(shelf, nr));

static const uint8_t NOP[TRACE_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static int update_result;
static int nr_updates;

int trace_plat_static_branches_update(void)
{
	nr_updates++;
	return update_result;
}

size_t trace_plat_static_branches_list(struct trace_poke *pokes, size_t room)
{
	(void)pokes;
	(void)room;
	return 0;
}

static long nr_put;

static TRACE_NOINLINE void put(void *arg)
{
	nr_put += (long)arg;
	trace_shelf_full(1, 100);
}

static TRACE_NOINLINE void put_untold(void *arg)
{
	nr_put += (long)arg;
}

static void one_nop(void **state)
{
	uint8_t *insns[MAX_INSNS], *other[MAX_INSNS];
	size_t nr, nr_other, nr_nops = 0;

	(void)state;
	fast_trace(put, NULL, insns, MAX_INSNS, &nr);
	fast_trace(put_untold, NULL, other, MAX_INSNS, &nr_other);
	for (size_t i = 0; i < nr; i++)
		nr_nops += memcmp(insns[i], NOP, sizeof(NOP)) == 0;
	assert_int_equal(nr_nops, 1);
	assert_int_equal(nr, nr_other + 1);
}

static void note(void *data, int shelf, long nr)
{
	(void)shelf;
	*(long *)data = nr;
}

static void branches_cannot_be_switched(void **state)
{
	long noted = 0, out = fast_alloc_out;

	(void)state;
	update_result = -EINVAL;
	assert_int_equal(register_trace_shelf_full(note, &noted), -EINVAL);
	assert_int_equal(nr_updates, 1);
	assert_int_equal(fast_alloc_out, out);
	trace_shelf_full_call(1, 7);
	assert_int_equal(noted, 0);
	assert_int_equal(unregister_trace_shelf_full(note, &noted), -ENOENT);

	update_result = 0;
	assert_int_equal(register_trace_shelf_full(note, &noted), 0);
	trace_shelf_full_call(1, 7);
	assert_int_equal(noted, 7);
	update_result = -EINVAL; /* the branch stays as it is: it leads to no probe */
	assert_int_equal(unregister_trace_shelf_full(note, &noted), 0);
	assert_int_equal(fast_alloc_out, out);
	trace_shelf_full_call(1, 8);
	assert_int_equal(noted, 7);
}

/* Its branches are switched when the first probe comes and when the last one goes. */
static void switched_once(void **state)
{
	long first, second;

	(void)state;
	update_result = nr_updates = 0;
	assert_int_equal(register_trace_shelf_full(note, &first), 0);
	assert_int_equal(register_trace_shelf_full(note, &second), 0);
	assert_int_equal(nr_updates, 1);
	assert_int_equal(unregister_trace_shelf_full(note, &first), 0);
	assert_int_equal(nr_updates, 1);
	assert_int_equal(unregister_trace_shelf_full(note, &second), 0);
	assert_int_equal(nr_updates, 2);
}

static long noted[3];

/* How many probes are called. */
static long nr_called(void)
{
	memset(noted, 0, sizeof(noted));
	trace_shelf_full_call(1, 1);
	return noted[0] + noted[1] + noted[2];
}

static int switch_three(bool on, int result)
{
	struct tracepoint_change changes[3];
	struct tracepoint_part part;

	for (int i = 0; i < 3; i++)
		changes[i] = (struct tracepoint_change){ .tp = &trace_shelf_full_tracepoint,
							 .func = (tracepoint_probe_fn)note,
							 .data = &noted[i],
							 .prio = TRACEPOINT_DEFAULT_PRIO,
							 .is_add = on };
	update_result = result;
	tracepoint_part_init(&part, changes, 3);
	return tracepoint_part_change(&part);
}

/* All come, or go, or nothing has changed: whether code cannot be switched, or one is there already. */
static void check_all_or_none(void)
{
	assert_int_equal(switch_three(true, -EBUSY), -EBUSY);
	assert_int_equal(nr_called(), 0);
	update_result = 0;
	assert_int_equal(register_trace_shelf_full(note, &noted[2]), 0);
	assert_int_equal(switch_three(true, 0), -EEXIST);
	assert_int_equal(nr_called(), 1);
	assert_int_equal(switch_three(false, 0), -ENOENT);
	assert_int_equal(nr_called(), 1);
	assert_int_equal(unregister_trace_shelf_full(note, &noted[2]), 0);
	assert_int_equal(nr_called(), 0);
	assert_int_equal(switch_three(true, 0), 0);
	assert_int_equal(nr_called(), 3);
	assert_int_equal(switch_three(false, -EBUSY), -EBUSY);
	assert_int_equal(nr_called(), 3);
	assert_int_equal(switch_three(false, 0), 0);
	assert_int_equal(nr_called(), 0);
}

static void all_or_none(void **state)
{
	long out = fast_alloc_out, other;

	(void)state;
	check_all_or_none();
	assert_int_equal(register_trace_shelf_full(note, &other), 0); /* it stays throughout */
	check_all_or_none();
	trace_shelf_full_call(1, 7);
	assert_int_equal(other, 7);
	assert_int_equal(unregister_trace_shelf_full(note, &other), 0);
	assert_int_equal(fast_alloc_out, out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_nop),
		cmocka_unit_test(branches_cannot_be_switched),
		cmocka_unit_test(switched_once),
		cmocka_unit_test(all_or_none),
	};

	fast_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
