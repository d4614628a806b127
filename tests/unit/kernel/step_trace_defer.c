/*
 * Work that probes leave for a thread: each piece runs once for each time that it was deferred, also
 * by a probe that interrupts another one in the middle of that.
 *
 * links: kernel/trace_defer.c
 */
#include "unit.h"
#include <kernel/softirq.h>
#include <kernel/work.h>
#include <trace/platform.h>
#include "fast.h"
#include "kernel_init.h"

#define NR_PIECES 3
#define MAX_INSNS 100u

static void (*softirq_fn)(void);
static bool is_raised;
static struct work *queued;

void open_softirq(enum softirq nr, void (*fn)(void))
{
	assert_int_equal(nr, SOFTIRQ_TRACE);
	softirq_fn = fn;
}

void raise_softirq(enum softirq nr)
{
	assert_int_equal(nr, SOFTIRQ_TRACE);
	is_raised = true;
}

void raise_softirq_notrace(enum softirq nr)
{
	raise_softirq(nr);
}

void work_init(struct work *work, void (*fn)(struct work *work))
{
	work->fn = fn;
}

bool queue_work(struct work *work)
{
	queued = work;
	return true;
}

/* The softirq comes, if it was raised, and the worker after it. Returns whether there was work. */
static bool run_soon(void)
{
	struct work *work;

	if (is_raised && softirq_fn) {
		is_raised = false;
		softirq_fn();
	}
	work = queued;
	queued = NULL;
	if (work)
		work->fn(work);
	return work;
}

struct piece {
	struct trace_plat_deferred deferred;
	int again; /* it defers itself so many times */
	int nr_runs;
};

static void run_piece(struct trace_plat_deferred *deferred)
{
	struct piece *piece = (struct piece *)deferred;

	piece->nr_runs++;
	if (piece->again-- > 0)
		trace_plat_defer(deferred);
}

/* Before there is a handler, a raised softirq comes to nothing. */
static void deferred_while_booting(void **state)
{
	static struct piece early = { .deferred.fn = run_piece };

	(void)state;
	trace_plat_defer(&early.deferred);
	is_raised = false;
	trace_defer_init();
	assert_true(run_soon());
	assert_int_equal(early.nr_runs, 1);
	assert_false(run_soon());
}

static void pieces_that_defer_themselves(void **state)
{
	struct piece pieces[NR_PIECES] = { { .again = 2 }, { .again = 0 }, { .again = 1 } };

	(void)state;
	for (int i = 0; i < NR_PIECES; i++) {
		pieces[i].deferred.fn = run_piece;
		trace_plat_defer(&pieces[i].deferred);
	}
	assert_true(run_soon());
	for (int i = 0; i < NR_PIECES; i++)
		assert_int_equal(pieces[i].nr_runs, 1);
	while (run_soon())
		;
	assert_int_equal(pieces[0].nr_runs, 3);
	assert_int_equal(pieces[1].nr_runs, 1);
	assert_int_equal(pieces[2].nr_runs, 2);
}

static struct piece outer = { .deferred.fn = run_piece };
static struct piece inner = { .deferred.fn = run_piece };

static void defer_outer(void *arg)
{
	(void)arg;
	trace_plat_defer(&outer.deferred);
}

static void defer_inner(void)
{
	trace_plat_defer(&inner.deferred);
}

static void deferred_by_a_probe_within_a_probe(void **state)
{
	uint8_t *insns[MAX_INSNS];
	size_t nr, nr_came = 0;

	(void)state;
	fast_trace(defer_outer, NULL, insns, MAX_INSNS, &nr);
	assert_in_range(nr, 1, MAX_INSNS - 1);
	assert_true(run_soon());
	for (size_t i = 0; i < nr; i++) {
		const struct fast_point point = { .insn = insns[i], .irq = defer_inner };
		int came;

		outer.nr_runs = 0;
		inner.nr_runs = 0;
		came = (int)fast_run_at(defer_outer, NULL, &point, 1);
		nr_came += (size_t)came;
		assert_true(run_soon());
		assert_int_equal(outer.nr_runs, 1);
		assert_int_equal(inner.nr_runs, came);
		assert_false(run_soon());
	}
	assert_in_range(nr_came, nr / 2, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deferred_while_booting),
		cmocka_unit_test(pieces_that_defer_themselves),
		cmocka_unit_test(deferred_by_a_probe_within_a_probe),
	};

	fast_init();
	return cmocka_run_group_tests_name("kernel/trace_defer", tests, NULL, NULL);
}
