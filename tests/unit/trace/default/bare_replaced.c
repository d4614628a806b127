/*
 * The same host with locks, CPUs and names of its own: they take the place of the defaults, the
 * others stay.
 */
#include "unit.h"
#include <string.h>
#include <trace/log.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "bare/host.h"

static uint32_t nr_locks, nr_unlocks;

void trace_plat_lock(struct trace_plat_lock *lock)
{
	(void)lock;
	nr_locks++;
}

void trace_plat_unlock(struct trace_plat_lock *lock)
{
	(void)lock;
	nr_unlocks++;
}

uint32_t trace_plat_nr_cpus(void)
{
	return 2;
}

bool trace_plat_thread_comm(int32_t pid, bool may_wait, char *out_comm)
{
	(void)pid;
	(void)may_wait;
	strcpy(out_comm, "main");
	return true;
}

/* Without it the default would wait for the other CPU, which never comes. */
void trace_plat_synchronize_preempt(void)
{
}

static void test_replaced(void **state)
{
	char line[TRACE_LOG_LINE];

	(void)state;
	assert_int_equal(trace_log_init(16384), 0);
	trace_printk("seen\n");
	assert_true(trace_log_read(line, sizeof(line)) > 0);
	assert_memory_equal(line, "            main-0       [000] ", 30);
	assert_true(nr_locks > 0);
	assert_int_equal(nr_locks, nr_unlocks);
	ring_buffer_reset(trace_log_buffer());
	assert_int_equal(ring_buffer_entries(trace_log_buffer()), 0);
	assert_true(ring_buffer_size(trace_log_buffer(), 1) > 0);
	trace_plat_alert("a default");
	assert_string_equal(bare_log, "a default");
	ring_buffer_free(trace_log_buffer());
	assert_int_equal(bare_nr_alloc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_replaced) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
