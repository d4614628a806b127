/* Watchpoints on the fake machine: who is called with which values, what is refused, what is missed. */
#include "unit.h"
#include <string.h>
#include <trace/recursion.h>
#include <trace/wprobe.h>
#include "fake/fake.h"

static uint64_t words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static uint64_t seen_old, seen_new, nr_seen;
static uint64_t *writes_in_handler;

static void on_hit(struct wprobe *wp, struct ftrace_regs *regs, uint64_t old, uint64_t value)
{
	const uint64_t other = 77;

	assert_non_null(wp);
	assert_int_equal(regs->rip, FAKE_TEXT);
	seen_old = old;
	seen_new = value;
	nr_seen++;
	if (writes_in_handler)
		fake_write(writes_in_handler, &other, sizeof(other));
}

static void write_word(uint32_t nr, uint64_t value)
{
	fake_write(&words[nr], &value, sizeof(value));
}

static struct wprobe of_word(uint32_t nr, uint32_t len, uint32_t type)
{
	return (struct wprobe){
		.addr = (uintptr_t)&words[nr], .len = len, .type = type, .handler = on_hit
	};
}

static void values(void **state)
{
	struct wprobe whole = of_word(0, 8, WPROBE_W), low = of_word(1, 2, WPROBE_RW);

	(void)state;
	assert_int_equal(register_wprobe(&whole), 0);
	write_word(0, 50);
	assert_int_equal(seen_old, 1);
	assert_int_equal(seen_new, 50);
	fake_read(&words[0], 8);
	write_word(1, 60);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(register_wprobe(&low), 0);
	write_word(1, 0x12345678);
	assert_int_equal(seen_old, 60);
	assert_int_equal(seen_new, 0x5678);
	fake_read(&words[1], 1);
	assert_int_equal(nr_seen, 3);
	assert_int_equal(seen_old, 0x5678);
	unregister_wprobe(&whole);
	unregister_wprobe(&whole);
	write_word(0, 3);
	assert_int_equal(nr_seen, 3);
	write_word(1, 3);
	assert_int_equal(nr_seen, 4);
	unregister_wprobe(&low);
	write_word(1, 3);
	assert_int_equal(nr_seen, 4);
}

static void four_and_no_more(void **state)
{
	struct wprobe wps[WPROBE_MAX + 1];
	char why[100];

	(void)state;
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		wps[i] = of_word(i, 8, WPROBE_W);
	for (uint32_t i = 0; i < WPROBE_MAX; i++)
		assert_int_equal(register_wprobe(&wps[i]), 0);
	assert_int_equal(register_wprobe(&wps[WPROBE_MAX]), -EBUSY);
	assert_int_equal(wprobe_refusal(&wps[WPROBE_MAX], why, sizeof(why)), -EBUSY);
	assert_string_equal(why, "all debug registers of the CPUs are in use");
	assert_int_equal(register_wprobe(&wps[0]), -EBUSY);
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		write_word(i, 100 + i);
	assert_int_equal(nr_seen, WPROBE_MAX);
	unregister_wprobe(&wps[2]);
	assert_int_equal(wprobe_refusal(&wps[WPROBE_MAX], why, sizeof(why)), 0);
	assert_int_equal(register_wprobe(&wps[WPROBE_MAX]), 0);
	write_word(WPROBE_MAX, 9);
	assert_int_equal(seen_old, 100 + WPROBE_MAX);
	assert_int_equal(nr_seen, WPROBE_MAX + 1);
	for (uint32_t i = 0; i <= WPROBE_MAX; i++)
		unregister_wprobe(&wps[i]);
}

/* A watchpoint that the host refuses leaves no trace: its place is free, and is not looked at. */
static void host_refuses(void **state)
{
	struct wprobe wps[WPROBE_MAX], *wp = malloc(sizeof(*wp));

	(void)state;
	assert_non_null(wp);
	*wp = of_word(7, 8, WPROBE_W);
	fake_watch_error = -EBUSY;
	for (uint32_t i = 0; i <= WPROBE_MAX; i++) {
		assert_int_equal(register_wprobe(wp), -EBUSY);
		assert_false(wp->is_registered);
	}
	fake_watch_error = 0;
	free(wp);
	for (uint32_t i = 0; i < WPROBE_MAX; i++) {
		wps[i] = of_word(i, 8, WPROBE_W);
		assert_int_equal(register_wprobe(&wps[i]), 0);
	}
	for (uint32_t i = 0; i < WPROBE_MAX; i++)
		unregister_wprobe(&wps[i]);
}

static void refused(void **state)
{
	static const struct {
		uint32_t offset, len, type;
		const char *why;
	} bad[] = {
		{ 0, 0, WPROBE_W, "a watchpoint has 1, 2, 4 or 8 bytes" },
		{ 0, 3, WPROBE_W, "a watchpoint has 1, 2, 4 or 8 bytes" },
		{ 0, 16, WPROBE_W, "a watchpoint has 1, 2, 4 or 8 bytes" },
		{ 4, 8, WPROBE_W, "the address is no multiple of the length" },
		{ 1, 2, WPROBE_W, "the address is no multiple of the length" },
		{ 0, 8, WPROBE_R, "only writes, or reads and writes, can be watched" },
		{ 0, 8, 0, "only writes, or reads and writes, can be watched" },
	};
	struct wprobe silent = of_word(0, 8, WPROBE_W), wp = of_word(0, 8, WPROBE_W), own;
	char why[100];

	(void)state;
	silent.handler = NULL;
	assert_int_equal(register_wprobe(&silent), -EINVAL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct wprobe wrong = of_word(0, bad[i].len, bad[i].type);

		wrong.addr += bad[i].offset;
		assert_int_equal(register_wprobe(&wrong), -EINVAL);
		assert_int_equal(wprobe_refusal(&wrong, why, sizeof(why)), -EINVAL);
		assert_string_equal(why, bad[i].why);
	}
	fake_bad_page = (const void *)((uintptr_t)words & ~(uintptr_t)(FAKE_PAGE_BYTES - 1));
	assert_int_equal(register_wprobe(&wp), -EFAULT);
	fake_bad_page = NULL;
	fake_refused = wp.addr + 4;
	assert_int_equal(register_wprobe(&wp), -EINVAL);
	assert_int_equal(wprobe_refusal(&wp, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "the host has reasons");
	fake_refused = 0;
	own = of_word(0, 8, WPROBE_W);
	own.addr = (uintptr_t)&own.nmissed;
	assert_int_equal(wprobe_refusal(&own, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "a hit writes there itself: it would never end");
	fake_watch_error = -ENODEV;
	assert_int_equal(register_wprobe(&wp), -ENODEV);
	fake_watch_error = 0;
	for (int i = 0; i < 6; i++) { /* none of those has kept a place */
		assert_int_equal(register_wprobe(&wp), 0);
		unregister_wprobe(&wp);
	}
}

/* A handler that writes, and an interrupt in one that does. */
static void missed(void **state)
{
	struct wprobe first = of_word(0, 8, WPROBE_W), second = of_word(1, 8, WPROBE_W);

	(void)state;
	assert_int_equal(register_wprobe(&first), 0);
	assert_int_equal(register_wprobe(&second), 0);
	writes_in_handler = &words[1];
	write_word(0, 5);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(second.nmissed, 1);
	writes_in_handler = &words[0];
	write_word(0, 6);
	assert_int_equal(first.nmissed, 1);
	writes_in_handler = NULL;
	assert_true(trace_plat_recursion_set(TRACE_RECURSION_WATCH)); /* an NMI in a handler */
	atomic_fetch_add(&fake_this->preempt_count, TRACE_NMI_MASK);
	write_word(1, 8);
	atomic_fetch_sub(&fake_this->preempt_count, TRACE_NMI_MASK);
	trace_plat_recursion_clear(TRACE_RECURSION_WATCH);
	assert_int_equal(nr_seen, 3);
	assert_int_equal(second.nmissed, 1);
	assert_int_equal(fake_this->recursion, 0);
	unregister_wprobe(&first);
	unregister_wprobe(&second);
}

static int reset(void **state)
{
	(void)state;
	fake_reset();
	nr_seen = 0;
	writes_in_handler = NULL;
	for (uint32_t i = 0; i < 8; i++)
		words[i] = i + 1;
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values),  TEST(four_and_no_more), TEST(host_refuses),
		TEST(refused), TEST(missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
