/*
 * Pending signals: which are queued, in which order they are taken, what remains without memory.
 *
 * links: kernel/process/signal_queue.c
 */
#include "unit.h"
#include <stdlib.h>
#include <kernel/mm.h>
#include "process/signal.h"

static bool has_memory = true;
static long nr_allocated;

void *kmalloc(size_t bytes)
{
	nr_allocated += has_memory;
	return has_memory ? malloc(bytes) : NULL;
}

void kfree(void *memory)
{
	nr_allocated -= memory != NULL;
	free(memory);
}

static struct sigpending pending;

static enum signal_result send(int sig, int code, uint64_t value)
{
	const struct user_siginfo info = { .signo = sig, .code = code, .from.value = value };

	return sigpending_add(&pending, sig, &info);
}

/* Take the next one; its value. */
static uint64_t take(int wanted_sig)
{
	struct user_siginfo info;

	assert_int_equal(sigpending_take(&pending, UINT64_MAX, &info), wanted_sig);
	assert_int_equal(info.signo, wanted_sig);
	return info.from.value;
}

static int set_up(void **state)
{
	(void)state;
	has_memory = true;
	sigpending_init(&pending);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sigpending_free(&pending);
	return nr_allocated != 0;
}

/* The lowest number first, but faults before all; those of one number as they were sent. */
static void test_order(void **state)
{
	struct user_siginfo info;

	(void)state;
	send(40, -1, 1);
	send(34, -1, 2);
	send(40, -1, 3);
	send(SIGHUP, SI_USER, 4);
	send(SIGSEGV, SEGV_MAPERR, 5);
	assert_int_equal(take(SIGSEGV), 5);
	assert_int_equal(take(SIGHUP), 4);
	assert_int_equal(take(34), 2);
	assert_int_equal(take(40), 1);
	assert_int_equal(pending.signals, sigmask(40));
	assert_int_equal(take(40), 3);
	assert_int_equal(sigpending_take(&pending, UINT64_MAX, &info), 0);
}

static void test_below_the_queued_ones_each_is_pending_once(void **state)
{
	(void)state;
	assert_int_equal(send(SIGTERM, SI_USER, 1), TRACE_SIGNAL_DELIVERED);
	assert_int_equal(send(SIGTERM, SI_USER, 2), TRACE_SIGNAL_ALREADY_PENDING);
	assert_int_equal(take(SIGTERM), 1);
	assert_int_equal(pending.signals, 0);
}

static void test_masks(void **state)
{
	struct user_siginfo info;

	(void)state;
	send(SIGTERM, SI_USER, 1);
	send(64, -1, 2);
	assert_int_equal(sigpending_take(&pending, ~sigmask(SIGTERM) & ~sigmask(64), &info), 0);
	assert_int_equal(sigpending_take(&pending, sigmask(64), &info), 64);
	flush_sigqueue_mask(&pending, sigmask(SIGTERM));
	assert_int_equal(pending.signals, 0);
}

/* The memory of one signal is that of the next. */
static void test_spare(void **state)
{
	(void)state;
	send(40, -1, 1);
	send(40, -1, 2);
	assert_int_equal(take(40), 1);
	assert_int_equal(take(40), 2);
	assert_int_equal(nr_allocated, 1);
	has_memory = false;
	assert_int_equal(send(41, -1, 3), TRACE_SIGNAL_DELIVERED);
	assert_int_equal(send(41, -1, 4), TRACE_SIGNAL_OVERFLOW_FAIL);
	assert_int_equal(take(41), 3);
}

/* A signal arrives without what it carries; one that a program has queued does not arrive. */
static void test_without_memory(void **state)
{
	(void)state;
	has_memory = false;
	assert_int_equal(send(SIGTERM, SI_USER, 7), TRACE_SIGNAL_LOSE_INFO);
	assert_int_equal(send(34, SI_USER, 7), TRACE_SIGNAL_LOSE_INFO);
	assert_int_equal(send(35, -1, 7), TRACE_SIGNAL_OVERFLOW_FAIL);
	assert_int_equal(sigpending_add(&pending, SIGKILL, NULL), TRACE_SIGNAL_DELIVERED);
	assert_int_equal(take(SIGKILL), 0);
	assert_int_equal(take(SIGTERM), 0);
	assert_int_equal(take(34), 0);
	assert_int_equal(pending.signals, 0);
}

static void test_limit(void **state)
{
	uint32_t nr = 0;

	(void)state;
	while (send(50, -1, nr) == TRACE_SIGNAL_DELIVERED)
		nr++;
	assert_int_equal(nr, SIGQUEUE_MAX);
	assert_int_equal(take(50), 0);
	assert_int_equal(send(50, -1, 1), TRACE_SIGNAL_DELIVERED);
	flush_sigqueue_mask(&pending, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_below_the_queued_ones_each_is_pending_once,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_masks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_spare, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
